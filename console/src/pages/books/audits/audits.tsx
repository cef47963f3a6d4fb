// All audits of the books, newest first; a row links to its findings.
import { Stack, Text } from '@mantine/core'
import { usePages } from '../../../api/hooks.ts'
import { useFormats } from '../../../format/formats.ts'
import { Age, Time } from '../../../format/time.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { useWords } from '../../../words/words.tsx'
import { type Audit, AuditResult, tookSeconds } from './audit-result.tsx'

export function Audits() {
  const { audits } = useWords()
  const { number } = useFormats()
  const pages = usePages('audits', {}, (data) => data.audits)
  const columns: Column<Audit>[] = [
    { header: audits.ended, cell: ({ endedAt }) => <Time at={endedAt} /> },
    { header: audits.cause, cell: ({ cause }) => audits.causes[cause] },
    { header: audits.result, cell: (audit) => <AuditResult {...audit} /> },
    { header: audits.rules, align: 'right', cell: ({ rules }) => number(rules) },
    { header: audits.rows, align: 'right', cell: ({ rows }) => number(rows) },
    { header: audits.took, align: 'right', cell: (audit) => <Age seconds={tookSeconds(audit)} /> },
  ]
  return (
    <Stack gap="md">
      <Text c="dimmed">{audits.intro}</Text>
      <DataTable
        caption={audits.caption}
        columns={columns}
        rows={pages.rows}
        pages={pages}
        keyOf={({ auditId }) => auditId}
        linkOf={({ auditId }) => `/books/audits/${auditId}`}
        empty={audits.empty}
      />
    </Stack>
  )
}
