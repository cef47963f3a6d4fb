// The statement of a customer: every ledger entry, newest first, with the balance after it. Days and types are filtered by the URL,
// and the export has the same filter.
import { Anchor, Button, Chip, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { Link } from 'wouter'
import type { Data } from '../../api/client.ts'
import { useEndpoint, usePages } from '../../api/hooks.ts'
import { Credits } from '../../format/amounts.tsx'
import { useFormats } from '../../format/formats.ts'
import { Id, InsideLink } from '../../format/id.tsx'
import { paidWithText } from '../../format/paid-with.ts'
import { Time } from '../../format/time.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Figure } from '../../parts/figure.tsx'
import { SaveCsv } from '../../parts/files/save-csv.tsx'
import { SaveReceipt } from '../../parts/files/save-receipt.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useQueryChanges, useQueryState } from '../../parts/query-state.ts'
import { useWords } from '../../words/words.tsx'

type Entry = Data<'statement'>['entries'][number]
type EntryKind = Entry['kind']

const kinds: EntryKind[] = [
  'GRANT',
  'SPEND',
  'ROLLBACK',
  'REFUND',
  'HOLD',
  'CAPTURE',
  'RELEASE',
  'EXPIRE',
  'GOODWILL',
  'CORRECTION',
  'REVERSAL',
]
const day = /^\d{4}-\d\d-\d\d$/

/** The valid dates of the URL: days in Korea, both included. */
function spanOf(from: string, to: string) {
  return {
    ...(day.test(from) && { from: `${from}T00:00:00+09:00` }),
    ...(day.test(to) && { to: `${to}T23:59:59.999+09:00` }),
  }
}

export function Statement({ customerId }: { customerId: string }) {
  const [from] = useQueryState<string>('from', null, '')
  const [to] = useQueryState<string>('to', null, '')
  const [kindList] = useQueryState<string>('kind', null, '')
  const chosen = kinds.filter((kind) => kindList.split(',').includes(kind))
  const isBackwards = day.test(from) && day.test(to) && from > to
  const params = { customerId }
  const span = isBackwards ? {} : spanOf(from, to)
  const query = { ...span, ...(chosen.length > 0 && { kind: chosen.join(',') }) }
  const pages = usePages('statement', { params, query }, (data) => data.entries)
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end">
        <Filters from={from} to={to} chosen={chosen} isBackwards={isBackwards} />
        <Group gap="xs" align="flex-start">
          <SaveCsv name="statement" params={params} query={query} disabled={isBackwards} />
          <ReceiptOfRows customerId={customerId} rows={pages.rows} />
        </Group>
      </Group>
      {Object.keys(span).length > 0 && <Ends customerId={customerId} span={span} />}
      <Entries pages={pages} />
    </Stack>
  )
}

/** The most that one receipt has: of a longer list the newest. */
const receiptEntriesAtMost = 500

/** Covers everything between the oldest and the newest entry on the page: a receipt has no gaps. */
function ReceiptOfRows({ customerId, rows }: { customerId: string; rows: Entry[] }) {
  const { statement: words } = useWords().customers
  const { number } = useFormats()
  const to = rows.at(0)?.entryNumber
  const oldest = rows.at(-1)?.entryNumber
  if (to === undefined || oldest === undefined) return null
  const from = Math.max(oldest, to - receiptEntriesAtMost + 1)
  const input = { params: { customerId }, query: { from: `${from}`, to: `${to}` } }
  return <SaveReceipt endpoint="statementReceipt" input={input} label={words.receipt(number(from), number(to))} />
}

type FiltersProps = { from: string; to: string; chosen: EntryKind[]; isBackwards: boolean }

function Filters({ from, to, chosen, isBackwards }: FiltersProps) {
  const { statement: words } = useWords().customers
  const set = useQueryChanges()
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        {(['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={words[name]}
            value={{ from, to }[name]}
            error={isBackwards && name === 'to' ? words.spanWrong : null}
            onChange={(event) => set({ [name]: event.currentTarget.value })}
          />
        ))}
        {(from || to || chosen.length > 0) && (
          <Button variant="subtle" onClick={() => set({ from: '', to: '', kind: '' })}>
            {words.clear}
          </Button>
        )}
      </Group>
      <Text size="xs" c="dimmed">
        {words.daysHint}
      </Text>
      <Chip.Group multiple value={chosen} onChange={(next) => set({ kind: next.join(',') })}>
        <Group gap={6} role="group" aria-label={words.kinds}>
          {kinds.map((kind) => (
            <Chip key={kind} value={kind} size="xs" variant="outline">
              {words.entryKinds[kind]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
    </Stack>
  )
}

/** The balance before the first day and after the last. */
function Ends({ customerId, span }: { customerId: string; span: { from?: string; to?: string } }) {
  const { statement: words } = useWords().customers
  const input = { params: { customerId }, query: { ...span, limit: '1' } }
  const { data, error, refetch } = useEndpoint('statement', input, { keepLast: true })
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />
  return (
    <SimpleGrid cols={2} spacing="sm">
      <Figure label={words.opening} value={data ? <Credits value={data.opening.balance} /> : '…'} />
      <Figure label={words.closing} value={data ? <Credits value={data.closing.balance} /> : '…'} />
    </SimpleGrid>
  )
}

function Entries({ pages }: { pages: ReturnType<typeof usePages<'statement', Entry>> }) {
  const { statement: words } = useWords().customers
  const { number } = useFormats()
  const { columns: headers } = words
  const columns: Column<Entry>[] = [
    { header: headers.time, place: 'line', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: headers.kind, place: 'title', cell: ({ kind }) => words.entryKinds[kind] ?? kind },
    { header: headers.cause, place: 'line', cell: (entry) => <Cause entry={entry} /> },
    {
      header: headers.change,
      place: 'amount',
      align: 'right',
      cell: ({ delta }) => delta !== 0 && <Credits value={delta} signed />,
    },
    {
      header: headers.held,
      align: 'right',
      cell: ({ heldDelta }) => heldDelta !== null && heldDelta !== 0 && <Credits value={heldDelta} signed />,
    },
    {
      header: headers.balance,
      align: 'right',
      cell: ({ balanceAfter, heldAfter }) => (
        <div>
          <Credits value={balanceAfter} />
          {heldAfter !== null && heldAfter > 0 && (
            <Text size="xs" c="dimmed">
              {words.heldAfter(number(heldAfter))}
            </Text>
          )}
        </div>
      ),
    },
  ]
  return (
    <DataTable
      caption={words.caption}
      columns={columns}
      rows={pages.rows}
      keyOf={({ entryNumber }) => `${entryNumber}`}
      pages={pages}
      empty={words.none}
    />
  )
}

/** The order, or the reference of a service. */
function Cause({ entry }: { entry: Entry }) {
  const { orderId, reference, holdId, service, paidWith } = entry
  const allWords = useWords()
  const { statement: words } = allWords.customers
  const { won } = useFormats()
  if (orderId) {
    return (
      <div>
        <Anchor component={Link} href={`/orders/${encodeURIComponent(orderId)}`} inherit>
          <InsideLink value={true}>
            <Id value={orderId} />
          </InsideLink>
        </Anchor>
        {paidWith && (
          <Text size="xs" c="dimmed">
            {paidWithText(allWords, won, paidWith)}
          </Text>
        )}
      </div>
    )
  }
  return (
    <div style={{ overflowWrap: 'anywhere' }}>
      {reference ?? (holdId && <Id value={holdId} short />)}
      {service && (
        <Text size="xs" c="dimmed">
          {words.service(service)}
        </Text>
      )}
      <Details entry={entry} />
    </div>
  )
}

/** What the spend or hold was for. */
function Details({ entry: { keyId, userId, label, units } }: { entry: Entry }) {
  const { use, statement: words } = useWords().customers
  const { number } = useFormats()
  const named = [
    [use.dimensions.key, keyId],
    [use.dimensions.user, userId],
    [use.dimensions.label, label],
    [use.columns.units, units === null ? null : number(units)],
  ].flatMap(([name, value]) => (name && value ? [words.detail(name, value)] : []))
  if (named.length === 0) return null
  return (
    <Text size="xs" c="dimmed">
      {named.join(' · ')}
    </Text>
  )
}
