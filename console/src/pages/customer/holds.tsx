// The active holds of services, the next to expire first.
import type { Data } from '../../api/client.ts'
import { usePages } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { Id } from '../../format/id.tsx'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { useWords } from '../../words/words.tsx'

type Hold = Data<'holds'>['holds'][number]

export function Holds({ customerId }: { customerId: string }) {
  const { holds: words } = useWords().customers
  const { columns: headers } = words
  const pages = usePages('holds', { params: { customerId } }, (data) => data.holds)
  const columns: Column<Hold>[] = [
    { header: headers.hold, place: 'title', cell: ({ holdId }) => <Id value={holdId} short /> },
    { header: headers.credits, place: 'amount', align: 'right', cell: ({ credits }) => <Credits value={credits} /> },
    {
      header: headers.inParts,
      place: 'folded',
      align: 'right',
      cell: ({ capturedInParts }) => (capturedInParts > 0 ? <Credits value={capturedInParts} /> : '–'),
    },
    { header: headers.reference, cell: ({ reference }) => reference },
    { header: headers.service, cell: ({ service }) => service },
    { header: headers.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ]
  return (
    <DataTable
      caption={words.caption}
      columns={columns}
      rows={pages.rows}
      keyOf={({ holdId }) => holdId}
      pages={pages}
      empty={words.none}
    />
  )
}
