// The result and the duration of an audit, for the list, the page of one audit and the home page.
import type { Data } from '../../../api/client.ts'
import { useFormats } from '../../../format/formats.ts'
import { StatusBadge } from '../../../format/status-badge.tsx'
import { useWords } from '../../../words/words.tsx'

export type Audit = Data<'audits'>['audits'][number]

/** Passed, the number of violations, or incomplete. */
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
