// Days in Korea: the transactions of the gateway, our books, and the difference to the won. With the permission a day can be
// reconciled again.
import { Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../../../src/console/contract.ts'
import { useEndpoint, useMay } from '../../api/hooks.ts'
import { Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Day, Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { SaveCsv } from '../../parts/save-csv.tsx'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { pollEveryMs } from './runs/run-parts.tsx'
import { RunProgress } from './runs/run-progress.tsx'

type DayRow = Data<'days'>['days'][number]

const tones: Record<DayRow['state'], Tone> = {
  agrees: 'good',
  repaired: 'good',
  differs: 'bad',
  'under way': 'calm',
  'not compared': 'over',
}

/** Also for runs that other operators have started. */
const polling = {
  keepLast: true,
  refetchMs: pollEveryMs,
  until: ({ days }: Data<'days'>) => days.every(({ state }) => state !== 'under way'),
}

/** The width below which the table shows cards. */
const narrow = '(max-width: 47.99em)'

/** On cards: the newest day, and those that were reconciled. */
const isWorthACard = ({ state }: DayRow, place: number) => place === 0 || state !== 'not compared'

export function Days() {
  const { books } = useWords()
  const chosen = useSpan()
  const query = chosen.span
  const mayCompare = useMay('reconcile')
  const { day: dayText } = useFormats()
  const { data, error, isLoading } = useEndpoint('days', { query }, polling)
  const isNarrow = useMediaQuery(narrow, false, { getInitialValueInEffect: false })
  const [isWhole, setIsWhole] = useState(false)
  const { frame, keepFocus } = useKeptFocus()
  const days = data?.days ?? []
  const shown = isNarrow && !isWhole ? days.filter(isWorthACard) : days
  const [dialog, setDialog] = useState({ day: '', isOpen: false })
  const [started, setStarted] = useState<{ day: string; reconciliationId: string } | null>(null)
  function showAll(): void {
    setIsWhole(true)
    keepFocus()
  }
  const compareColumn: Column<DayRow> = {
    header: books.action,
    cell: ({ day, state }) => {
      const label = state === 'not compared' ? books.days.compareFirst : books.days.compare
      return (
        state !== 'under way' && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`${label}: ${dayText(day)}`}
            onClick={() => setDialog({ day, isOpen: true })}
          >
            {label}
          </Button>
        )
      )
    },
  }
  const columns: Column<DayRow>[] = [
    { header: books.days.day, cell: ({ day }) => <Day day={day} /> },
    { header: books.days.state, cell: ({ state }) => <DayState state={state} /> },
    { header: books.days.gateway, align: 'right', cell: ({ gateway }) => <Money value={gateway} /> },
    { header: books.days.books, align: 'right', cell: ({ books: ours }) => <Money value={ours} /> },
    { header: books.days.difference, align: 'right', cell: (row) => <Difference row={row} /> },
    { header: books.days.compared, cell: ({ comparedAt }) => comparedAt && <Time at={comparedAt} /> },
    ...(mayCompare ? [compareColumn] : []),
  ]
  return (
    <Stack gap="md">
      <Text c="dimmed">{books.days.intro}</Text>
      <Group justify="space-between" align="flex-end">
        <SpanChooser chosen={chosen} />
        <SaveCsv name="days" query={query} disabled={chosen.fault !== null} />
      </Group>
      {days.some(({ state }) => state === 'differs') && (
        <Anchor component={Link} href="/books?tab=discrepancies" size="sm">
          {books.days.openDiscrepancies}
        </Anchor>
      )}
      {started && <RunProgress key={started.reconciliationId} {...started} onClose={() => setStarted(null)} />}
      <Box ref={frame} tabIndex={-1} role="group" aria-label={books.days.caption} style={{ outline: 'none' }}>
        <DataTable
          caption={books.days.caption}
          columns={columns}
          rows={shown}
          keyOf={(row) => row.day}
          linkOf={(row) => (row.reconciliationId ? `/books/runs/${row.reconciliationId}` : null)}
          isLoading={isLoading}
          error={error}
          empty={books.days.empty}
        />
        {shown.length < days.length && (
          <Button mt="md" fullWidth variant="default" onClick={showAll}>
            {books.days.showOthers(days.length - shown.length)}
          </Button>
        )}
      </Box>
      <ReasonDialog
        opened={dialog.isOpen}
        title={dialog.day && books.days.compareDay(dayText(dialog.day))}
        text={books.days.compareText}
        action={books.days.compareFirst}
        endpoint="reconcile"
        inputOf={(reason) => ({ body: { from: dialog.day, to: dialog.day, reason } })}
        refreshes={['days', 'runs']}
        onDone={({ reconciliationId }) => setStarted({ day: dayText(dialog.day), reconciliationId })}
        onClose={() => setDialog({ ...dialog, isOpen: false })}
      />
    </Stack>
  )
}

function DayState({ state }: { state: DayRow['state'] }) {
  const { books } = useWords()
  return <StatusBadge status={state} label={books.days.states[state]} tone={tones[state]} />
}

function Money({ value }: { value: DayRow['gateway'] }) {
  const { books } = useWords()
  const { won } = useFormats()
  if (!value) return null
  return (
    <div>
      <Won value={value.net} />
      {[books.days.captured(won(value.captured)), books.days.cancelled(won(value.cancelled))].map((part) => (
        <Text key={part} size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {part}
        </Text>
      ))}
    </div>
  )
}

function Difference({ row: { gateway, difference } }: { row: DayRow }) {
  if (!gateway) return null
  return (
    <Text span fw={difference === 0 ? 400 : 700} c={difference === 0 ? undefined : 'red'}>
      <Won value={difference} />
    </Text>
  )
}
