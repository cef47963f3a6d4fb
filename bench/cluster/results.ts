// The results of the clusters: what a request costs each server. Tables are made from the summary alone.
import type { WorkloadName } from '../load/workloads.ts'
import { type Spread, spreadOf } from '../report/spread.ts'
import { counted, ratio, short, table, whole } from '../report/table.ts'
import { describeMachine, type Machine } from '../stage/machine.ts'

/** In this order: reading the balances makes the service remember the keys of the customers. */
export const measuredOnClusters: WorkloadName[] = ['balance', 'purchase', 'confirm', 'spend over many customers']

/** Whose customers send the requests. */
export const reaches = ['one group', 'all groups'] as const
export type Reach = (typeof reaches)[number]

/** Processor time and transactions of one server. */
export type Counts = { cpuMicroseconds: number; transactions: number }

type Subject = { reach: Reach; workload: WorkloadName; connections: number; workers: number }

/** Of one request, less what the server does without any in that time: for each server. */
export type Measurement = Subject & {
  round: number
  perSecond: number
  serviceCpuMicroseconds: number
  servers: Counts[]
}

/** Without load, of one second. */
export type Idle = { round: number; workers: number; servers: Counts[] }

type Summed = Record<keyof Counts, Spread | null>
export type Line = Subject & {
  perSecond: Spread | null
  serviceCpuMicroseconds: Spread | null
  servers: Summed[]
  cpuOfAll: Spread | null
  toPlain: { perSecond: Spread | null; cpuOfAll: Spread | null }
}

export type Results = {
  machine: Machine
  options: { seconds: number; rounds: number }
  lines: Line[]
  idle: { workers: number; servers: Summed[] }[]
  measurements: Measurement[]
  failures: string[]
}

/** Of each server, or of a request. */
export function differenceOf(before: Counts[], after: Counts[], divisor = 1): Counts[] {
  return after.map((each, index) => ({
    cpuMicroseconds: (each.cpuMicroseconds - (before[index]?.cpuMicroseconds ?? 0)) / divisor,
    transactions: (each.transactions - (before[index]?.transactions ?? 0)) / divisor,
  }))
}

const cpuOfAll = ({ servers }: Measurement) => servers.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0)

/** What is measured beside each other. */
const besidesOf = ({ workload, connections }: Subject) => `${workload}, ${connections}`

/** Ratios are taken within a round. PostgreSQL alone has no groups, and is compared with both. */
export function linesOf(measurements: Measurement[]): Line[] {
  const groups = Map.groupBy(measurements, (each) => `${each.reach}, ${besidesOf(each)}, ${each.workers}`)
  return [...groups.values()].map((group) => {
    const { reach, workload, connections, workers } = group[0] as Measurement
    const toPlain = (of: (measurement: Measurement) => number) =>
      spreadOf(
        group.flatMap((each) => {
          const isPlain = (other: Measurement) =>
            other.workers === 0 && other.round === each.round && besidesOf(other) === besidesOf(each)
          const plain = measurements.find(isPlain)
          return plain ? [of(each) / of(plain)] : []
        }),
      )
    return {
      reach,
      workload,
      connections,
      workers,
      perSecond: spreadOf(group.map((each) => each.perSecond)),
      serviceCpuMicroseconds: spreadOf(group.map((each) => each.serviceCpuMicroseconds)),
      servers: summedOf(group),
      cpuOfAll: spreadOf(group.map(cpuOfAll)),
      toPlain: { perSecond: toPlain((each) => each.perSecond), cpuOfAll: toPlain(cpuOfAll) },
    }
  })
}

export function idleOf(idle: Idle[]): Results['idle'] {
  const groups = Map.groupBy(idle, ({ workers }) => workers)
  return [...groups].map(([workers, group]) => ({ workers, servers: summedOf(group) }))
}

function summedOf(group: { servers: Counts[] }[]): Summed[] {
  return (group[0]?.servers ?? []).map((_, index) => ({
    cpuMicroseconds: spreadOf(group.flatMap(({ servers }) => servers[index]?.cpuMicroseconds ?? [])),
    transactions: spreadOf(group.flatMap(({ servers }) => servers[index]?.transactions ?? [])),
  }))
}

export function tablesOf({ machine, options, lines, idle, failures }: Results): string {
  const { rounds, seconds } = options
  const parts = [
    `${describeMachine(machine)}; ${counted(rounds, 'round')} of ${seconds} s. ` +
      'For one request: processor time and transactions of each server, less what it does without load. Figures are medians; ' +
      'ratios are taken within a round. Everything shares the cores of one machine: requests a second do not grow with it.\n',
    ...reaches.map((reach) => `${titles[reach]}\n\n${tableOf(lines, reach)}`),
    `Without load, in a second:\n\n${idleTable(idle)}`,
    failures.map((failure) => `- FAILED: ${failure}\n`).join(''),
  ]
  return parts.filter((text) => text !== '').join('\n')
}

const titles: Record<Reach, string> = {
  'one group': 'Customers of one group, which is on worker 1:',
  'all groups': 'Customers of all groups:',
}

const serverNames = ['coordinator', 'worker 1', 'worker 2', 'worker 3']

/** PostgreSQL alone is where the customers are: in the column of worker 1. */
function serversOf({ workers, servers }: { workers: number; servers: Summed[] }): (Summed | undefined)[] {
  return workers === 0 ? [undefined, servers[0]] : servers
}

const nameOf = (workers: number) => (workers === 0 ? 'plain' : counted(workers, 'worker'))
const microseconds = (spread: Spread | null | undefined) => (spread ? `${short(spread.median)} µs` : '–')
const few = (spread: Spread | null | undefined) => (spread ? spread.median.toFixed(3) : '–')

function tableOf(lines: Line[], reach: Reach): string {
  const head = ['workload', 'connections', 'servers', 'requests/s', 'to plain', 'CPU service']
  const ofServers = [...serverNames.map((name) => `CPU ${name}`), 'CPU of all', 'to plain', 'transactions of each']
  const rows = lines
    .filter((line) => line.workers === 0 || line.reach === reach)
    .toSorted((one, other) => orderOf(one) - orderOf(other))
    .map((line) => {
      const servers = serversOf(line)
      const { workload, connections, workers, perSecond, toPlain } = line
      const transactions = servers.flatMap((each) => (each ? [few(each.transactions)] : [])).join(', ')
      return [
        workload,
        `${connections}`,
        nameOf(workers),
        whole(perSecond),
        ratio(toPlain.perSecond),
        microseconds(line.serviceCpuMicroseconds),
        ...serverNames.map((_, index) => microseconds(servers[index]?.cpuMicroseconds)),
        microseconds(line.cpuOfAll),
        ratio(toPlain.cpuOfAll),
        transactions,
      ]
    })
  return table([...head, ...ofServers], rows)
}

const orderOf = ({ workload, connections, workers }: Line) =>
  measuredOnClusters.indexOf(workload) * 100_000 + connections * 10 + workers

function idleTable(idle: Results['idle']): string {
  const rows = idle
    .toSorted((one, other) => one.workers - other.workers)
    .map((each) => {
      const servers = serversOf(each)
      return [
        nameOf(each.workers),
        ...serverNames.map((_, index) => microseconds(servers[index]?.cpuMicroseconds)),
        ...serverNames.map((_, index) => few(servers[index]?.transactions)),
      ]
    })
  const heads = ['CPU', 'transactions'].flatMap((what) => serverNames.map((name) => `${what} ${name}`))
  return table(['servers', ...heads], rows)
}
