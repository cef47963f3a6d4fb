// What the measurement of spends is told on its command line.
import { parseArgs } from 'node:util'

export type Options = { seconds: number; rounds: number; connections: number; customers: number }

export class WrongArguments extends Error {}

const usage = `npm run spends -- [--seconds 5] [--rounds 3] [--connections 64] [--customers 1000]`

const known = {
  seconds: { fallback: 5, most: 600 },
  rounds: { fallback: 3, most: 100 },
  connections: { fallback: 64, most: 1_024 },
  customers: { fallback: 1_000, most: 100_000 },
} satisfies Record<keyof Options, { fallback: number; most: number }>

export function readOptions(args: string[]): Options {
  const names = Object.keys(known) as (keyof Options)[]
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  let values: Record<string, string | boolean | undefined>
  try {
    values = parseArgs({ args, options }).values
  } catch (error) {
    throw new WrongArguments(`${(error as Error).message}\n${usage}`)
  }
  const read = (name: keyof Options): number => {
    const { fallback, most } = known[name]
    const number = values[name] === undefined ? fallback : Number(values[name])
    if (Number.isInteger(number) && number >= 1 && number <= most) return number
    throw new WrongArguments(`--${name} must be a whole number from 1 to ${most}.\n${usage}`)
  }
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Options
}
