// Names and values for a person to read, whatever they are: what is nested stands below its name, what looks like a time
// is shown as one.
import type { ReactNode } from 'react'
import { useFormats } from '../../format/formats.ts'
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
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ value }: { value: unknown }): ReactNode {
  const { number } = useFormats()
  const { common } = useWords()
  if (typeof value === 'boolean') return value ? common.yes : common.no
  if (typeof value === 'number') return number(value)
  if (typeof value === 'string') return isoTime.test(value) ? <Time at={value} inline /> : value
  // biome-ignore lint/suspicious/noArrayIndexKey: equal ones are told apart by nothing else
  if (Array.isArray(value)) return value.map((each, place) => <Value key={place} value={each} />)
  if (typeof value === 'object' && value !== null) return <DetailList detail={value} />
  return String(value)
}
