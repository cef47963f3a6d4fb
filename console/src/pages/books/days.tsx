// Days of Korea: what the gateway has moved, what our books account for, and the difference to the won. Whoever may can
// have a day compared again and sees here how it ends.
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
import { useKeptFocus } from '../../shell/keep-focus.ts'
import { useWords } from '../../words/words.tsx'
import { Following } from './following.tsx'
import { askEveryMs } from './run-parts.tsx'
import { SpanChooser, useSpan } from './span.tsx'

type DayRow = Data<'days'>['days'][number]

const tones: Record<DayRow['state'], Tone> = {
  agrees: 'good',
  repaired: 'good',
  differs: 'bad',
  'under way': 'calm',
  'not compared': 'over',
}

/** What is compared elsewhere, too, is followed to its end. */
const whileUnderWay = {
  keepLast: true,
  refetchMs: askEveryMs,
  until: ({ days }: Data<'days'>) => days.every(({ state }) => state !== 'under way'),
}

/** Where a row is a card, as the table has it. */
const narrow = '(max-width: 47.99em)'

/** The newest can be compared at once; of the others those that have something to say. */
const isWorthACard = ({ state }: DayRow, place: number) => place === 0 || state !== 'not compared'

export function Days() {
  const { books } = useWords()
  const chosen = useSpan()
  const query = chosen.span
  const mayCompare = useMay('reconcile')
  const { day: dayText } = useFormats()
  const { data, error, isLoading } = useEndpoint('days', { query }, whileUnderWay)
  const isNarrow = useMediaQuery(narrow, false, { getInitialValueInEffect: false })
  const [isWhole, setIsWhole] = useState(false)
  const { frame, keepFocus } = useKeptFocus()
  const days = data?.days ?? []
  const shown = isNarrow && !isWhole ? days.filter(isWorthACard) : days
  const [asked, setAsked] = useState({ day: '', isOpen: false })
  const [following, setFollowing] = useState<{ day: string; reconciliationId: string } | null>(null)
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
            onClick={() => setAsked({ day, isOpen: true })}
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
      {following && <Following key={following.reconciliationId} {...following} onClose={() => setFollowing(null)} />}
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
        opened={asked.isOpen}
        title={asked.day && books.days.compareDay(dayText(asked.day))}
        text={books.days.compareText}
        action={books.days.compareFirst}
        endpoint="reconcile"
        inputOf={(reason) => ({ body: { from: asked.day, to: asked.day, reason } })}
        refreshes={['days', 'runs']}
        onDone={({ reconciliationId }) => setFollowing({ day: dayText(asked.day), reconciliationId })}
        onClose={() => setAsked({ ...asked, isOpen: false })}
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
