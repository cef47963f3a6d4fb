// The lists of discrepancies: the open ones with age, meaning and what to do, and the resolved ones with their resolution.
import { Box, Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import type { Data } from '../../../../src/console/contract.ts'
import { useEndpoint, useMay, usePages } from '../../api/hooks.ts'
import { affectedByResolution } from '../../api/refreshes.ts'
import { useFormats } from '../../format/formats.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { announce } from '../../shell/announce.ts'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { About, Amount, Customer, Found, Kind, Resolved } from './discrepancy-cells.tsx'

type Row = Data<'discrepancies'>['discrepancies'][number]
const states = ['open', 'resolved'] as const
type State = (typeof states)[number]

export function Discrepancies() {
  const { books } = useWords()
  const [state, setState] = useQueryState<State>('state', states, 'open')
  const choices = states.map((value) => ({ value, label: books.discrepancies[value] }))
  return (
    <Stack gap="md">
      <Text c="dimmed">{books.discrepancies.intro}</Text>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={books.discrepancies.state}
          data={choices}
          value={state}
          onChange={(next) => setState(next as State)}
        />
        <SaveCsv name="discrepancies" query={{ state }} />
      </Group>
      {state === 'open' && <OpenSum />}
      <List key={state} state={state} />
    </Stack>
  )
}

/** The sum of all open discrepancies, of which the list may show a part. */
function OpenSum() {
  const { discrepancies } = useWords().books
  const { won } = useFormats()
  const { data } = useEndpoint('discrepancies', { query: { state: 'open', limit: '1' } })
  if (!data || data.discrepancies.length === 0 || data.open.amount === null) return null
  const { amount, withoutAmount } = data.open
  const parts = [
    discrepancies.sum(won(amount)),
    ...(withoutAmount > 0 ? [discrepancies.withoutAmount(withoutAmount)] : []),
  ]
  return (
    <Text fw={600} title={discrepancies.amountHint}>
      {parts.join(' · ')}
    </Text>
  )
}

/** The discrepancies of a run that are still open. */
export function OpenOfRun({ reconciliationId }: { reconciliationId: string }) {
  const { books } = useWords()
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {books.run.found}
      </Title>
      <Text c="dimmed">{books.run.foundHint}</Text>
      <List state="open" reconciliationId={reconciliationId} empty={books.run.foundNothingOpen} />
    </Stack>
  )
}

type ListProps = { state: State; reconciliationId?: string; empty?: string }

function List({ state, reconciliationId, empty }: ListProps) {
  const { books } = useWords()
  const words = books.discrepancies
  const mayResolve = useMay('resolve discrepancies')
  const pages = usePages('discrepancies', { query: { state, reconciliationId } }, (data) => data.discrepancies)
  const { frame, keepFocus } = useKeptFocus()
  const [dialog, setDialog] = useState({ discrepancyId: '', isOpen: false })
  const isOpen = state === 'open'
  const columns: Column<Row>[] = [
    { header: words.about, place: 'title', cell: (row) => <About row={row} /> },
    { header: words.amount, place: 'amount', align: 'right', cell: (row) => <Amount row={row} /> },
    { header: words.customer, place: 'line', cell: (row) => <Customer row={row} /> },
    { header: words.kind, cell: (row) => <Kind row={row} /> },
    { header: words.found, cell: (row) => <Found row={row} /> },
    ...(isOpen ? [] : [{ header: words.resolution, cell: (row: Row) => <Resolved row={row} /> }]),
    ...(isOpen && mayResolve
      ? [
          {
            header: books.action,
            cell: ({ discrepancyId }: Row) => (
              <Button size="compact-sm" variant="default" onClick={() => setDialog({ discrepancyId, isOpen: true })}>
                {words.resolve}
              </Button>
            ),
          },
        ]
      : []),
  ]
  const caption = isOpen ? words.captionOpen : words.captionResolved
  return (
    <Box ref={frame} tabIndex={-1} role="group" aria-label={caption} style={{ outline: 'none' }}>
      <DataTable
        caption={caption}
        columns={columns}
        rows={pages.rows}
        pages={pages}
        keyOf={(row) => row.discrepancyId}
        linkOf={({ discrepancyId }) => `/books/discrepancies/${discrepancyId}`}
        empty={empty ?? (isOpen ? words.emptyOpen : words.emptyResolved)}
      />
      <ReasonDialog
        opened={dialog.isOpen}
        title={words.resolveTitle}
        text={words.resolveText}
        action={words.resolve}
        endpoint="resolveDiscrepancy"
        inputOf={(reason) => ({ params: { discrepancyId: dialog.discrepancyId }, body: { reason } })}
        refreshes={affectedByResolution}
        onDone={() => {
          announce(words.resolvedNow)
          keepFocus()
        }}
        onClose={() => setDialog({ ...dialog, isOpen: false })}
      />
    </Box>
  )
}
