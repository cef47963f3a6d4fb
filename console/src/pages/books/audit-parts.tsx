// What the list of audits, the page of one and the first page have in common.
import type { Data } from '../../api/client.ts'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge } from '../../format/status-badge.tsx'
import { useWords } from '../../words/words.tsx'

export type Audit = Data<'audits'>['audits'][number]

/** Clean, how many violations, or not all read. */
export function AuditResult({ violationCount, isOnlyUnread }: Pick<Audit, 'violationCount' | 'isOnlyUnread'>) {
  const { audits } = useWords()
  const { number } = useFormats()
  if (violationCount === 0) return <StatusBadge status="clean" label={audits.clean} tone="good" />
  if (isOnlyUnread) return <StatusBadge status="unread" label={audits.unread} tone="waiting" />
  const label = violationCount === 1 ? audits.brokenOnce : audits.broken(number(violationCount))
  return <StatusBadge status="broken" label={label} tone="bad" />
}

export function tookSeconds({ begunAt, endedAt }: Pick<Audit, 'begunAt' | 'endedAt'>): number {
  return Math.ceil((Date.parse(endedAt) - Date.parse(begunAt)) / 1_000)
}
