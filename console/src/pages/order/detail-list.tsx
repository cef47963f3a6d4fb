// Names and values for a person to read, whatever they are: what is nested stands below its name, what looks like a time
// is shown as one.
import type { ReactNode } from 'react'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './detail-list.module.css'

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

export function DetailList({ detail }: { detail: object }) {
  const labels: Record<string, string> = useWords().story.fields
  const told = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined && value !== '')
  return (
    <dl className={classes.list}>
      {told.map(([name, value]) => (
        <div key={name} className={classes.pair}>
          <dt>{labels[name] ?? name}</dt>
          <dd>
            <Value name={name} value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** KRW by their name; credits have others. */
const money = ['amount', 'orderAmount', 'totalAmount', 'balance', 'balanceAmount']
/** States of an order, which have words; those of the gateway are shown as it writes them. */
const ofOrder = ['orderStatus']

function Value({ name, value }: { name: string; value: unknown }): ReactNode {
  const { number, won } = useFormats()
  const { common, story } = useWords()
  if (typeof value === 'number' && money.includes(name)) return won(value)
  if (typeof value === 'string' && ofOrder.includes(name)) return <StatusBadge status={value} />
  if (typeof value === 'boolean') return value ? common.yes : common.no
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string' && isoTime.test(value)) return <Time at={value} inline />
  if (typeof value === 'string') return (story.values as Record<string, string>)[value] ?? value
  // biome-ignore lint/suspicious/noArrayIndexKey: equal ones are told apart by nothing else
  if (Array.isArray(value)) return value.map((each, place) => <Value key={place} name={name} value={each} />)
  if (typeof value === 'object' && value !== null) return <DetailList detail={value} />
  return String(value)
}
