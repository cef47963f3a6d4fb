// What a request costs each server of a cluster, beside one PostgreSQL.
import type { WorkloadName } from '../load/workloads.ts'
import { ratioWithin, spreadOver } from '../report/figures.ts'
import { brief, columnsTable, counted, few, type Report, ratio, whole } from '../report/report.ts'

/** In this order: reading the balances makes the service remember the keys of the customers. */
export const measuredOnClusters: WorkloadName[] = ['balance', 'purchase', 'confirm', 'spend over many customers']

/** Whose customers send the requests. */
export const reaches = ['one group', 'all groups'] as const
export type Reach = (typeof reaches)[number]

/** Processor time and transactions of one server. */
export type Counts = { cpuMicroseconds: number; transactions: number }

/** What one request costs each server, less what the server does in that time without any. */
export type Measurement = {
  round: number
  reach: Reach
  workload: WorkloadName
  connections: number
  workers: number
  perSecond: number
  serviceCpuMicroseconds: number
  servers: Counts[]
}

/** Without load, of one second. */
export type Idle = { round: number; workers: number; servers: Counts[] }

export type Measured = { measurements: Measurement[]; idle: Idle[] }

/** What each server has counted, or a share of it: for one request, for one second. */
export function differenceOf(before: Counts[], after: Counts[], divisor = 1): Counts[] {
  return after.map((each, index) => ({
    cpuMicroseconds: (each.cpuMicroseconds - (before[index]?.cpuMicroseconds ?? 0)) / divisor,
    transactions: (each.transactions - (before[index]?.transactions ?? 0)) / divisor,
  }))
}

const perSecond = (each: Measurement) => each.perSecond
const cpuOfAll = ({ servers }: Measurement) => servers.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0)

/** The measurements of a row, and those of PostgreSQL alone beside them. */
type Line = { first: Measurement; group: Measurement[]; plain: Measurement[] }

/** PostgreSQL alone has no groups, and is compared with both. */
function linesOf(measurements: Measurement[], reach: Reach): Line[] {
  const shown = measurements.filter((each) => each.workers === 0 || each.reach === reach)
  const lines = Map.groupBy(shown, ({ workload, connections, workers }) => `${workload}, ${connections}, ${workers}`)
  return [...lines.values()]
    .map((group): Line => {
      const first = group[0] as Measurement
      const isBeside = ({ workload, connections, workers }: Measurement) =>
        workers === 0 && workload === first.workload && connections === first.connections
      return { first, group, plain: measurements.filter(isBeside) }
    })
    .toSorted((one, other) => orderOf(one.first) - orderOf(other.first))
}

const orderOf = ({ workload, connections, workers }: Measurement) =>
  measuredOnClusters.indexOf(workload) * 100_000 + connections * 10 + workers

const serverNames = ['coordinator', 'worker 1', 'worker 2', 'worker 3']

/** PostgreSQL alone is where the customers are: in the column of worker 1. */
function spreadAt(group: (Measurement | Idle)[], column: number, what: keyof Counts) {
  return spreadOver(group, ({ workers, servers }) => servers[workers === 0 ? column - 1 : column]?.[what] ?? null)
}

const cpuColumns = serverNames.map(
  (name, column) =>
    [
      `CPU ${name}`,
      (group: (Measurement | Idle)[]) => brief(spreadAt(group, column, 'cpuMicroseconds'), 'µs'),
    ] as const,
)
const nameOf = (workers: number) => (workers === 0 ? 'plain' : counted(workers, 'worker'))

const columns: Record<string, (line: Line) => string> = {
  workload: ({ first }) => first.workload,
  connections: ({ first }) => `${first.connections}`,
  servers: ({ first }) => nameOf(first.workers),
  'requests/s': ({ group }) => whole(spreadOver(group, perSecond)),
  'to plain': ({ group, plain }) => ratio(ratioWithin(group, plain, perSecond)),
  'CPU service': ({ group }) =>
    brief(
      spreadOver(group, (each) => each.serviceCpuMicroseconds),
      'µs',
    ),
  ...Object.fromEntries(cpuColumns.map(([name, cell]) => [name, ({ group }: Line) => cell(group)])),
  'CPU of all': ({ group }) => brief(spreadOver(group, cpuOfAll), 'µs'),
  'CPU to plain': ({ group, plain }) => ratio(ratioWithin(group, plain, cpuOfAll)),
  'transactions of each': ({ group }) =>
    serverNames
      .flatMap((_, column) => {
        const spread = spreadAt(group, column, 'transactions')
        return spread ? [few(spread)] : []
      })
      .join(', '),
}

const idleColumns: Record<string, (group: Idle[]) => string> = {
  servers: ([first]) => nameOf(first?.workers ?? 0),
  ...Object.fromEntries(cpuColumns),
  ...Object.fromEntries(
    serverNames.map((name, column) => [
      `transactions ${name}`,
      (group: Idle[]) => few(spreadAt(group, column, 'transactions')),
    ]),
  ),
}

export function reportOf(
  { measurements, idle }: Measured,
  { rounds, seconds }: { rounds: number; seconds: number },
): Pick<Report, 'how' | 'tables'> {
  const tableOf = (reach: Reach) => columnsTable(linesOf(measurements, reach), columns)
  const idleGroups = [...Map.groupBy(idle, ({ workers }) => workers)].toSorted(([one], [other]) => one - other)
  return {
    how:
      `${counted(rounds, 'round')} of ${seconds} s. ` +
      'For one request: processor time and transactions of each server, less what it does without load. Figures are medians; ' +
      'ratios are taken within a round. Everything shares the cores of one machine: requests a second do not grow with it.',
    tables: [
      `Customers of one group, which is on worker 1:\n\n${tableOf('one group')}`,
      `Customers of all groups:\n\n${tableOf('all groups')}`,
      `Without load, in a second:\n\n${columnsTable(
        idleGroups.map(([, group]) => group),
        idleColumns,
      )}`,
    ],
  }
}
