// What a customer has used: by service, key, user or label, in sums and by day. Days and dimension are in the URL, and the export has
// the same.
import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { Data } from '../../api/client.ts'
import { useEndpoint } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Day } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryState } from '../../parts/query-state.ts'
import { SpanChooser, useSpan } from '../../parts/span.tsx'
import { Waiting } from '../../parts/waiting.tsx'
import { useWords } from '../../words/words.tsx'

/** Loaded separately, as on the home page. */
const UseChart = lazy(async () => ({ default: (await import('./use-chart.tsx')).UseChart }))

type Used = Data<'use'>
type Dimension = Used['by']
type Sums = Pick<Used['sums'][number], 'credits' | 'units' | 'count'>

const dimensions: Dimension[] = ['service', 'key', 'user', 'label']
/** The most that the API adds up. */
const mostDays = 92
/** The rest is in the file. */
const mostRows = 200

export function Use({ customerId }: { customerId: string }) {
  const { use: words } = useWords().customers
  const chosen = useSpan({ mostDays })
  const [by, setBy] = useQueryState<Dimension>('by', dimensions, 'service')
  const params = { customerId }
  const query = { ...chosen.span, by }
  const { data, error, refetch } = useEndpoint('use', { params, query }, { keepLast: true, enabled: !chosen.fault })
  return (
    <Stack gap="md">
      <Text c="dimmed">{words.intro}</Text>
      <Group justify="space-between" align="flex-end">
        <SpanChooser chosen={chosen} />
        <SaveCsv name="use" params={params} query={query} disabled={chosen.fault !== null} />
      </Group>
      <SegmentedControl
        aria-label={words.by}
        style={{ alignSelf: 'start' }}
        value={by}
        onChange={(next) => setBy(next as Dimension)}
        data={dimensions.map((value) => ({ value, label: words.dimensions[value] }))}
      />
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <Sections data={data} /> : !error && <Waiting />}
    </Stack>
  )
}

function Sections({ data }: { data: Used }) {
  const { use: words } = useWords().customers
  const { number } = useFormats()
  if (data.rows.length === 0) return <Text>{words.none}</Text>
  return (
    <>
      <Suspense fallback={<Waiting />}>
        <UseChart data={data} />
      </Suspense>
      <SumsTable data={data} />
      <DaysTable data={data} />
      {data.rows.length > mostRows && (
        <Text size="sm" c="dimmed">
          {words.newestRows(number(mostRows))}
        </Text>
      )}
    </>
  )
}

function useSumColumns<Row extends Sums>(): Column<Row>[] {
  const { use: words } = useWords().customers
  const { number } = useFormats()
  const { columns: headers } = words
  return [
    {
      header: headers.credits,
      place: 'amount',
      align: 'right',
      cell: ({ credits }) => <Credits value={credits} />,
    },
    { header: headers.units, align: 'right', cell: ({ units }) => number(units) },
    { header: headers.count, align: 'right', cell: ({ count }) => number(count) },
  ]
}

type SumRow = Sums & { key: string; name: string; isTotal: boolean }

function SumsTable({ data: { by, sums, others, total } }: { data: Used }) {
  const { use: words } = useWords().customers
  const columns: Column<SumRow>[] = [
    {
      header: words.dimensions[by],
      place: 'title',
      cell: ({ name, isTotal }) => (
        <Text span inherit fw={isTotal ? 700 : 400} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
      ),
    },
    ...useSumColumns<SumRow>(),
  ]
  const rows: SumRow[] = [
    ...sums.map(({ value, ...each }) => ({ ...each, ...nameOf(value, words.without), isTotal: false })),
    ...(others ? [{ ...others, key: 'others', name: words.others, isTotal: false }] : []),
    { ...total, key: 'total', name: words.total, isTotal: true },
  ]
  return <DataTable caption={words.sumsCaption} columns={columns} rows={rows} keyOf={({ key }) => key} />
}

const nameOf = (value: string | null, without: string) => ({ key: `value ${value ?? ''}`, name: value ?? without })

/** Newest first, and of a day in the order of the sums. */
function DaysTable({ data: { by, rows } }: { data: Used }) {
  const { use: words } = useWords().customers
  const columns: Column<Used['rows'][number]>[] = [
    { header: words.columns.day, place: 'line', cell: ({ day }) => <Day day={day} /> },
    {
      header: words.dimensions[by],
      place: 'title',
      cell: ({ value }) => <span style={{ overflowWrap: 'anywhere' }}>{value ?? words.without}</span>,
    },
    ...useSumColumns<Used['rows'][number]>(),
  ]
  return (
    <DataTable
      caption={words.daysCaption}
      columns={columns}
      rows={rows.toSorted((a, b) => b.day.localeCompare(a.day)).slice(0, mostRows)}
      keyOf={({ day, value }) => `${day} ${value ?? ''}`}
    />
  )
}
