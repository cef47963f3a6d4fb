// Names and values of any detail: nested values are indented below their name, ISO times are formatted.
import type { ReactNode } from 'react'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { Time } from '../../format/time.tsx'
import { useWords } from '../../words/words.tsx'
import classes from './detail-list.module.css'
import { valueText } from './timeline/value-text.ts'

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

export function DetailList({ detail }: { detail: object }) {
  const labels: Record<string, string> = useWords().timeline.fields
  const shown = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined && value !== '')
  return (
    <dl className={classes.list}>
      {shown.map(([name, value]) => (
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

/** Fields in KRW. */
const money = [
  'amount',
  'orderAmount',
  'refundedAmount',
  'operationAmount',
  'totalAmount',
  'balance',
  'balanceAmount',
  'smallestAmount',
  'cardAmount',
  'walletAmount',
  'pointsAmount',
]
/** Order statuses. */
const ofOrder = ['orderStatus']

function Value({ name, value }: { name: string; value: unknown }): ReactNode {
  const { number, won } = useFormats()
  const words = useWords()
  const { common } = words
  if (typeof value === 'number' && money.includes(name)) return won(value)
  if (typeof value === 'string' && ofOrder.includes(name)) return <StatusBadge status={value} />
  if (typeof value === 'boolean') return value ? common.yes : common.no
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string' && isoTime.test(value)) return <Time at={value} />
  if (typeof value === 'string') return valueText(words, name, value)
  // biome-ignore lint/suspicious/noArrayIndexKey: equal values have no other key
  if (Array.isArray(value)) return value.map((each, place) => <Value key={place} name={name} value={each} />)
  if (typeof value === 'object' && value !== null) return <DetailList detail={value} />
  return String(value)
}
