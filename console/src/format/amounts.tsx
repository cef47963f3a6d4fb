// Amounts in won and credits, with tabular digits. A change has a sign.
import classes from './format.module.css'
import { useFormats } from './formats.ts'

export function Won({ value, signed = false }: { value: number; signed?: boolean }) {
  const { won } = useFormats()
  return <span className={classes.amount}>{`${signed && value > 0 ? '+' : ''}${won(value)}`}</span>
}

export function Credits({ value, signed = false }: { value: number; signed?: boolean }) {
  const { number } = useFormats()
  return <span className={classes.amount}>{`${signed && value > 0 ? '+' : ''}${number(value)}`}</span>
}
