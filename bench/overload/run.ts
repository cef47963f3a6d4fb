// Three times the load of the peak: whether throughput stays while the rest waits, and payers are served beside readers who
// wait. The peak is that of a few counts of connections; beyond it clients obey Retry-After, or retry at once.
import type { Refusals } from '../load/main.ts'
import type { Metered } from '../load/meter.ts'
import type { PlayName } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { logLine } from '../report/progress.ts'
import { publish } from '../report/report.ts'
import { removeOpenOrders } from '../stage/books.ts'
import { machineOf } from '../stage/machine.ts'
import { beginLoad, warmUp } from '../stage/measure.ts'
import { openStage, type Stage } from '../stage/stage.ts'
import { takeAll, takeTurns } from '../stage/turns.ts'
import { type Overloaded, overloaded, type Phase, reportOf, type Taken, workOf } from './report.ts'

/** Until all connections are open, and what waits longest has waited. */
const warmSeconds = 2

export async function runOverload(options: Options, parts: AsyncDisposableStack): Promise<boolean> {
  logLine('Starting PostgreSQL, the gateway and the service ...')
  const stage = await openStage(parts, ['service'])
  const { seconds, rounds, out } = options
  await warmUp(stage, seconds)
  const workloads = overloaded.filter((name) => options.workloads.includes(name))
  const taken: Taken[] = []
  const failures = await takeAll(parts, planOf({ rounds, workloads }), {
    nameOf: ({ round, subject, phase, play }) =>
      `round ${round}, ${subject}, ${phase}, ${play.connections} connections`,
    async take({ play, besides, ...step }) {
      const both = [play, ...(besides ? [besides] : [])].map((each) => measureOne(stage, each, seconds))
      // Both have ended, even if one fails.
      await Promise.allSettled(both)
      const [measured, second] = (await Promise.all(both)) as [Metered, Metered?]
      taken.push({ ...step, connections: play.connections, measured, ...(second && { besides: second }) })
      return `${workOf({ ...step, measured }).toFixed(0)}/s, ${measured.refused.count} refused`
    },
    afterEach: () => removeOpenOrders(stage.books),
  })
  const report = { machine: await machineOf(stage), ...reportOf(taken, options), failures }
  return publish(out, 'overload', report, { taken })
}

async function measureOne(stage: Stage, play: Play, seconds: number): Promise<Metered> {
  const load = await beginLoad(stage, 'service', { ...play, seconds, warmSeconds })
  try {
    await load.measuring()
    return await load.measured()
  } finally {
    await load.finished()
  }
}

type Play = { workload: PlayName; connections: number; refusals: Refusals }

/** `besides`: a second load that runs at the same time. */
type Step = { subject: Overloaded | 'payers'; phase: Phase; play: Play; besides?: Play }

const peakConnections = [64, 128, 256]

/** Three times the load of the peak, more than there are places for reads or writes. */
const tooMany = 3 * Math.max(...peakConnections)

const payers: Play = { workload: 'pay', connections: 32, refusals: 'insist' }
const readers = (connections: number): Play => ({ workload: 'balance', connections, refusals: 'insist' })

export function planOf({
  rounds,
  workloads,
}: {
  rounds: number
  workloads: Overloaded[]
}): (Step & { round: number })[] {
  return takeTurns(rounds, [
    [
      ...workloads.flatMap(stepsOf),
      { subject: 'payers', phase: 'calm', play: payers, besides: readers(64) },
      { subject: 'payers', phase: 'crowded', play: payers, besides: readers(tooMany) },
    ],
  ])
}

function stepsOf(workload: Overloaded): Step[] {
  const step = (phase: Phase, connections: number, refusals: Refusals): Step => ({
    subject: workload,
    phase,
    play: { workload, connections, refusals },
  })
  return [
    // A request that is refused at the peak does not count as work and is retried after Retry-After.
    ...peakConnections.map((count) => step('peak', count, 'wait')),
    step('polite', tooMany, 'wait'),
    step('rude', tooMany, 'insist'),
  ]
}
