// Big books beside new ones, and large books beside small ones: figures and targets.
import type { Line } from '../books/commands.ts'
import type { Counts } from '../books/generate.ts'
import { ratioWithin, spreadOver } from '../report/figures.ts'
import { brief, columnsTable, counted, type Report, ratio, short, thousands, verdict, whole } from '../report/report.ts'
import { type Compared, compareSides, connections, type Measurement } from '../stage/sides.ts'
import type { Reading } from './statement.ts'

export type Side = 'empty' | 'full'
export type Size = 'small' | 'large' | 'full'

/** Target for the throughput on big books to that on new ones. */
const leastRatio = 0.9
/** Target for the time per row: linear, within the spread of two equal measurements. */
const mostGrowth = 1.1

export type Measured = {
  books: Record<Size, { counts: Counts; generatedSeconds: number | null; commands: Line[] }>
  measurements: Measurement<Side>[]
  readings: Record<'small' | 'full', Reading[]>
}

/** The time of a million rows or 1,000 entries, of what is small and of what is big. */
type Growth = { name: string; small: string; big: string; growth: string; met: boolean }

/** By the time per row, without commands that failed. */
export function commandsOf(smallBooks: Line[], largeBooks: Line[]): Growth[] {
  const perMillion = ({ rows, seconds }: Line) => (seconds * 1_000_000) / rows
  return largeBooks.flatMap((line) => {
    const beside = smallBooks.find(({ step }) => step === line.step)
    if (!beside || [beside, line].some(({ outcome }) => outcome.startsWith('FAILED'))) return []
    const [small, big] = [perMillion(beside), perMillion(line)]
    const [growth, met] = [(big / small).toFixed(2), big / small <= mostGrowth]
    return [{ name: `${line.step}, a million rows`, small: `${short(small)} s`, big: `${short(big)} s`, growth, met }]
  })
}

const numbered = (readings: Reading[], of: (reading: Reading) => number) =>
  readings.map((each, round) => ({ round, ms: of(each) }))

function compareMs(name: string, before: Reading[], after: Reading[], of: (reading: Reading) => number): Growth[] {
  const [ones, others] = [numbered(after, ({ allMs }) => allMs), numbered(before, of)]
  const growth = ratioWithin(ones, others, ({ ms }) => ms)
  if (!growth) return []
  const [small, big] = [others, ones].map((list) =>
    brief(
      spreadOver(list, ({ ms }) => ms),
      'ms',
    ),
  ) as [string, string]
  return [{ name, small, big, growth: ratio(growth), met: growth.median <= mostGrowth }]
}

/** Down one statement, and between the books: the cost of a page may depend on its depth, or on the size of the books. */
export function statementsOf({ small, full }: Measured['readings']): Growth[] {
  const entries = thousands(full[0]?.entries ?? 0)
  const name = 'statement, 1,000 entries: of the'
  return [
    ...compareMs(`${name} first tenth, of all ${entries}`, full, full, ({ firstMs }) => firstMs),
    ...compareMs(`${name} small books, of the full ones`, small, full, ({ allMs }) => allMs),
  ]
}

const perSecond = (each: { perSecond: number }) => each.perSecond

const workloadColumns: Record<string, (compared: Compared<Measurement<Side>>) => string> = {
  workload: ({ workload }) => workload,
  'empty/s': ({ others }) => whole(spreadOver(others, perSecond)),
  'full/s': ({ ones }) => whole(spreadOver(ones, perSecond)),
  'p99 full': ({ ones }) =>
    brief(
      spreadOver(ones, ({ p99Ms }) => p99Ms),
      'ms',
    ),
  'full to empty': (compared) => ratio(compared.ratio),
  [`wanted at least ${leastRatio}`]: (compared) => verdict(compared.ratio.median >= leastRatio),
}

const growthColumns: Record<string, (growth: Growth) => string> = {
  'grows with the books': ({ name }) => name,
  small: ({ small }) => small,
  big: ({ big }) => big,
  'big to small': ({ growth }) => growth,
  [`wanted at most ${mostGrowth}`]: ({ met }) => verdict(met),
}

const commandColumns: Record<string, (line: Line & { size: Size }) => string> = {
  command: ({ step, size }) => `${step}, ${size}`,
  rows: ({ rows }) => thousands(rows),
  seconds: ({ seconds }) => seconds.toFixed(1),
  'peak memory': ({ peakMegabytes }) => (peakMegabytes === null ? '–' : `${peakMegabytes.toFixed(0)} MB`),
}

export function reportOf(
  { books, measurements, readings }: Measured,
  { rounds, seconds }: { rounds: number; seconds: number },
): Pick<Report, 'how' | 'tables'> {
  const { small, large } = books
  const sizes = Object.entries({ Full: books.full, large, small }).map(([size, { counts, generatedSeconds }]) => {
    const made = generatedSeconds === null ? 'as they were found' : `generated in ${generatedSeconds.toFixed(0)} s`
    return `${size}: ${thousands(counts.orders)} orders with ${thousands(counts.entries)} ledger entries, ${made}`
  })
  const commands = (['small', 'large'] as const).flatMap((size) =>
    books[size].commands.map((line) => ({ ...line, size })),
  )
  return {
    how:
      `${counted(rounds, 'round')} of ${seconds} s, ${counted(connections, 'connection')}. ` +
      `${sizes.join('; ')}. Ratios are taken within a round.`,
    tables: [
      columnsTable(compareSides<Side, Measurement<Side>>(measurements, ['full', 'empty']), workloadColumns),
      columnsTable([...commandsOf(small.commands, large.commands), ...statementsOf(readings)], growthColumns),
      columnsTable(commands, commandColumns),
    ],
  }
}
