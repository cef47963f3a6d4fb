// The bridge of a run: our books, every line that differs, and the gateway. The lines add up to the difference.
import { Alert, Stack, Text, Title } from '@mantine/core'
import { Won } from '../../../format/amounts.tsx'
import { useFormats } from '../../../format/formats.ts'
import { Id } from '../../../format/id.tsx'
import { StatusBadge, type Tone } from '../../../format/status-badge.tsx'
import { Time } from '../../../format/time.tsx'
import { type Column, DataTable } from '../../../parts/data-table.tsx'
import { useWords, type Words } from '../../../words/words.tsx'
import { discrepancyText } from '../../order/timeline/moment-text.ts'
import { booksNetOf, differenceOf, gatewayNetOf, type Result, type Run } from './run-figures.ts'

type Lines = NonNullable<Run['bridge']>
type Line = Lines['lines'][number]
/** The two sides and the rest are rows with a name and an amount. */
type Row = { key: string; name: string; amount: number; line: Line | null }

/** With more lines the sum would not be readable. */
const linesInSum = 8

export function Bridge({ bridge, result }: { bridge: Run['bridge']; result: Result }) {
  const { books } = useWords()
  if (!bridge) return differenceOf(result) !== 0 && <Alert color="gray">{books.run.bridgeMissing}</Alert>
  if (bridge.lines.length === 0) return null
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {books.run.bridge}
      </Title>
      <Text c="dimmed">{books.run.bridgeHint}</Text>
      <Sum bridge={bridge} result={result} />
      <BridgeTable bridge={bridge} result={result} />
    </Stack>
  )
}

type Props = { bridge: Lines; result: Result }

/** Gateway = books + line + line … */
function Sum({ bridge: { lines, rest }, result }: Props) {
  const { books } = useWords()
  const { won } = useFormats()
  const amounts = [...lines.map(({ amount }) => amount), ...(rest.lines > 0 ? [rest.amount] : [])]
  if (amounts.length > linesInSum) return null
  const terms = amounts.map((amount) => `${amount < 0 ? '−' : '+'} ${won(Math.abs(amount))}`)
  return (
    <Text fw={600}>{books.run.bridgeSum(won(gatewayNetOf(result)), won(booksNetOf(result)), terms.join(' '))}</Text>
  )
}

function BridgeTable({ bridge: { lines, rest }, result }: Props) {
  const words = useWords()
  const { run } = words.books
  const { number } = useFormats()
  const rows: Row[] = [
    { key: 'books', name: run.booksNet, amount: booksNetOf(result), line: null },
    ...lines.map((line, place) => ({ key: `${place}`, name: nameOf(words, line), amount: line.amount, line })),
    ...(rest.lines > 0 ? [{ key: 'rest', name: run.rest(number(rest.lines)), amount: rest.amount, line: null }] : []),
    { key: 'gateway', name: run.gatewayNet, amount: gatewayNetOf(result), line: null },
  ]
  const columns: Column<Row>[] = [
    { header: run.line, place: 'title', cell: (row) => <Name row={row} /> },
    { header: run.lineAbout, place: 'line', cell: ({ line }) => line && <About line={line} /> },
    { header: run.lineCustomer, place: 'line', cell: ({ line }) => line?.customerName },
    { header: run.lineTime, place: 'line', cell: ({ line }) => line && <Time at={line.at} /> },
    { header: run.lineState, place: 'badge', cell: ({ line }) => line && <LineState line={line} /> },
    { header: run.lineAmount, place: 'amount', align: 'right', cell: (row) => <Amount row={row} /> },
  ]
  return (
    <DataTable
      caption={run.bridge}
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      linkOf={({ line }) => line && pageOf(line)}
    />
  )
}

function nameOf(words: Words, { kind, result }: Line): string {
  return kind ? discrepancyText(words, kind).name : words.books.run.lineNames[result]
}

function pageOf({ discrepancyId, customerId, orderId }: Line): string | null {
  if (discrepancyId) return `/books/discrepancies/${discrepancyId}`
  return customerId ? `/orders/${orderId}` : null
}

function Name({ row: { name, line } }: { row: Row }) {
  const { lineKinds } = useWords().books.run
  return (
    <div>
      <Text fw={600}>{name}</Text>
      {line && (
        <Text size="xs" c="dimmed">
          {lineKinds[line.of][line.direction]}
        </Text>
      )}
    </div>
  )
}

function About({ line: { orderId, paymentKey } }: { line: Line }) {
  return (
    <div>
      <Id value={orderId} short />
      <br />
      <Id value={paymentKey} short />
    </div>
  )
}

function Amount({ row: { amount, line, key } }: { row: Row }) {
  return (
    <Text span fw={line ? 400 : 700}>
      <Won value={amount} signed={line !== null || key === 'rest'} />
    </Text>
  )
}

type LineStateName = keyof Words['books']['run']['lineStates']
const tones: Record<LineStateName, Tone> = {
  open: 'bad',
  resolved: 'good',
  corrected: 'good',
  matched: 'good',
  waiting: 'waiting',
  none: 'over',
}
const stateOfResult: Record<Line['result'], LineStateName> = {
  agrees: 'matched',
  repaired: 'corrected',
  disagrees: 'open',
  'under way': 'waiting',
  unknown: 'waiting',
  'unknown order': 'open',
  'other service': 'none',
}

function LineState({ line: { discrepancyId, resolvedAt, result } }: { line: Line }) {
  const { lineStates } = useWords().books.run
  const ofDiscrepancy = resolvedAt ? 'resolved' : 'open'
  // Without a discrepancy the payment of an unknown order was returned.
  const ofResult = result === 'unknown order' ? 'none' : stateOfResult[result]
  const state = discrepancyId ? ofDiscrepancy : ofResult
  return <StatusBadge status={state} label={lineStates[state]} tone={tones[state]} />
}
