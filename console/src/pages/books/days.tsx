// Days in Korea: the transactions of the gateway, our books, and the difference to the won. With the permission a day can be
// reconciled again.
import { Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Data } from '../../../../src/console/contract.ts'
import { koreanDayOf } from '../../../../src/core/korean-days.ts'
import { useEndpoint, useMay } from '../../api/hooks.ts'
import { Won } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { StatusBadge, type Tone } from '../../format/status-badge.tsx'
import { Day, Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { ReasonDialog } from '../../parts/reason-dialog.tsx'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { pollEveryMs } from './runs/run-parts.tsx'
import { RunProgress } from './runs/run-progress.tsx'

type DayRow = Data<'days'>['days'][number]

type Sums = NonNullable<DayRow['gateway']>
/** The last row: the sums of the days that were compared. */
type Total = { total: true; gateway: Sums; books: Sums; difference: number }
type Row = DayRow | Total

const isTotal = (row: Row): row is Total => 'total' in row

/** None without a day that was compared. */
function totalOf(days: DayRow[]): Total[] {
  const compared = days.filter(({ gateway }) => gateway !== null)
  if (compared.length === 0) return []
  const difference = compared.reduce((sum, day) => sum + day.difference, 0)
  return [{ total: true, gateway: sumOf(compared, 'gateway'), books: sumOf(compared, 'books'), difference }]
}

function sumOf(days: DayRow[], side: 'gateway' | 'books'): Sums {
  const sum = (name: keyof Sums) => days.reduce((total, day) => total + (day[side]?.[name] ?? 0), 0)
  return { captured: sum('captured'), cancelled: sum('cancelled'), net: sum('net') }
}

/** Days that can be compared from the list, beside today; the others from the page of their run. */
const toCompare: DayRow['state'][] = ['not compared', 'differs']

const tones: Record<DayRow['state'], Tone> = {
  agrees: 'good',
  repaired: 'good',
  explained: 'good',
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
  const compareColumn: Column<Row> = {
    header: books.action,
    cell: (row) => {
      if (isTotal(row)) return null
      const { day, state } = row
      const label = state === 'not compared' ? books.days.compareFirst : books.days.compare
      return (
        (toCompare.includes(state) || day === koreanDayOf(new Date())) &&
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
  const columns: Column<Row>[] = [
    {
      header: books.days.day,
      place: 'title',
      cell: (row) => (isTotal(row) ? <Text fw={700}>{books.days.total}</Text> : <Day day={row.day} />),
    },
    {
      header: books.days.state,
      place: 'badge',
      cell: (row) => (isTotal(row) ? null : <DayState row={row} />),
    },
    { header: books.days.gateway, align: 'right', cell: ({ gateway }) => <Money value={gateway} /> },
    { header: books.days.books, align: 'right', cell: ({ books: ours }) => <Money value={ours} /> },
    { header: books.days.difference, place: 'amount', align: 'right', cell: (row) => <Difference row={row} /> },
    {
      header: books.days.compared,
      cell: (row) => !isTotal(row) && row.comparedAt && <Time at={row.comparedAt} />,
    },
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
          rows={[...shown, ...totalOf(days)]}
          keyOf={(row) => (isTotal(row) ? 'total' : row.day)}
          linkOf={(row) => (!isTotal(row) && row.reconciliationId ? `/books/runs/${row.reconciliationId}` : null)}
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

function DayState({ row: { day, state } }: { row: DayRow }) {
  const { days } = useWords().books
  const isSoFar = day === koreanDayOf(new Date()) && state !== 'under way' && state !== 'not compared'
  const label = isSoFar ? days.soFar(days.states[state]) : days.states[state]
  return <StatusBadge status={state} label={label} tone={tones[state]} />
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

function Difference({ row: { gateway, difference } }: { row: Pick<Row, 'gateway' | 'difference'> }) {
  if (!gateway) return null
  return (
    <Text span fw={difference === 0 ? 400 : 700} c={difference === 0 ? undefined : 'red'}>
      <Won value={difference} />
    </Text>
  )
}
