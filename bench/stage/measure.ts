// One measurement: a load on one contender, and what it costs the contender and the database. Its orders stay in the
// books until the caller removes them.
import { type Launched, messageOf } from '../../harness/launch.ts'
import { cpuSecondsOf, cpuSecondsOfFamily, megabytesOf, stolenSeconds } from '../../harness/process-usage.ts'
import type { LoadInput, LoadMessage } from '../load/main.ts'
import type { Metered } from '../load/meter.ts'
import type { Order, PlayName } from '../load/workloads.ts'
import { addOrders, awaitOperations, newOrders, removeOpenOrders } from './books.ts'
import { startPart } from './processes.ts'
import type { ContenderName, Stage } from './stage.ts'

export type Figures = {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** For one request, of the contender's process and of all of PostgreSQL; null where there is no /proc. */
  serviceCpuMicroseconds: number | null
  databaseCpuMicroseconds: number | null
  /** Resident memory of the contender at the end; null where there is no /proc. */
  megabytes: number | null
  /** The share of the processors' time that the host gave to other machines. */
  stolen: number
}

export type Wanted = Pick<LoadInput, 'workload' | 'connections' | 'seconds' | 'warmSeconds' | 'windows' | 'refusals'>

/** A load that has begun: it reports the beginning of its measurement, then the counts of each window. */
export type LoadUnderWay = {
  contender: Launched
  measuring(): Promise<void>
  measured(): Promise<Metered>
  /** When nothing of it can affect the next measurement. */
  finished(): Promise<void>
}

export async function beginLoad(stage: Stage, name: ContenderName, wanted: Wanted): Promise<LoadUnderWay> {
  const { parts, books } = stage
  const contender = stage.contenders[name]
  if (!contender) throw new Error(`the ${name} was not started`)
  const { token, customers } = books
  const orders = await prepareOrders(stage, name, wanted)
  const load = startPart(parts, 'bench/load/main.ts')
  const input: LoadInput = { ...wanted, ...contender.listening, token, customers, orders }
  load.child.send(input)
  return {
    contender: contender.running,
    async measuring() {
      await awaitMessage(load, 'measuring')
    },
    measured: () => awaitMessage(load, 'measured'),
    async finished() {
      // It ends when the last request under way is answered.
      await load.exited
      if (!parts.disposed) await awaitOperations(books)
    },
  }
}

/** Beyond this a measurement says more about the host than about the contender: it is repeated, and the least disturbed counts. */
const stolenLimit = 0.1
const measureAttempts = 5

export async function measure(stage: Stage, contender: ContenderName, wanted: Wanted): Promise<Figures> {
  let best = await measureOnce(stage, contender, wanted)
  for (let attempt = 2; best.stolen > stolenLimit && attempt <= measureAttempts; attempt += 1) {
    await removeOpenOrders(stage.books)
    const again = await measureOnce(stage, contender, wanted)
    if (again.stolen < best.stolen) best = again
  }
  return best
}

async function measureOnce(stage: Stage, contender: ContenderName, wanted: Wanted): Promise<Figures> {
  const load = await beginLoad(stage, contender, wanted)
  try {
    return await watch(load, stage.databasePid)
  } finally {
    await load.finished()
  }
}

async function watch(load: LoadUnderWay, databasePid: number): Promise<Figures> {
  const { pid } = load.contender
  const cpuSeconds = () => [cpuSecondsOf(pid), cpuSecondsOfFamily(databasePid)] as const
  await load.measuring()
  const before = cpuSeconds()
  const stolenBefore = stolenSeconds()
  const { seconds, done } = await load.measured()
  const after = cpuSeconds()
  const stolen = (stolenSeconds() - stolenBefore) / seconds
  const { count, p50Ms, p99Ms } = done
  const microseconds = (which: 0 | 1): number | null => {
    const [from, to] = [before[which], after[which]]
    return from === null || to === null ? null : ((to - from) * 1_000_000) / count
  }
  return {
    perSecond: count / seconds,
    p50Ms,
    p99Ms,
    stolen,
    megabytes: megabytesOf(pid),
    serviceCpuMicroseconds: microseconds(0),
    databaseCpuMicroseconds: microseconds(1),
  }
}

type MessageOf<Kind extends LoadMessage['kind']> = Extract<LoadMessage, { kind: Kind }>

async function awaitMessage<Kind extends LoadMessage['kind']>(load: Launched, kind: Kind): Promise<MessageOf<Kind>> {
  const message = await messageOf<LoadMessage>(load)
  if (message.kind === 'failed') throw new Error(message.failure)
  if (message.kind !== kind) throw new Error(`the load sent ${message.kind} before ${kind}`)
  if (message.kind === 'measured' && message.done.count === 0) throw new Error('nothing was answered')
  return message as MessageOf<Kind>
}

const warmConnections = 16

/**
 * Before anything is measured: the first measurement would pay for compiled code and plans. All contenders at once,
 * with a workload that has every request.
 */
export async function warmUp(stage: Stage, seconds: number): Promise<void> {
  const wanted: Wanted = { workload: 'mixed day', connections: warmConnections, seconds, warmSeconds: 0 }
  const contenders = Object.keys(stage.contenders) as ContenderName[]
  await Promise.all(contenders.map((contender) => measureOnce(stage, contender, wanted)))
  await removeOpenOrders(stage.books)
}

/** An order is confirmed once: more per second than any contender uses. */
const confirmsPerSecond: Record<ContenderName, number> = { service: 5_000, bare: 50_000, naive: 5_000 }
const ordersToLookAt = 10_000

const ordersNeeded: Partial<Record<PlayName, (contender: ContenderName, wanted: Wanted) => number>> = {
  confirm: (contender, { warmSeconds, seconds }) => confirmsPerSecond[contender] * (warmSeconds + seconds),
  status: () => ordersToLookAt,
}

async function prepareOrders({ books }: Stage, contender: ContenderName, wanted: Wanted): Promise<Order[]> {
  const count = ordersNeeded[wanted.workload]?.(contender, wanted) ?? 0
  // The bare routes take any order.
  return contender === 'bare' || count === 0 ? newOrders(books, count) : await addOrders(books, count)
}
