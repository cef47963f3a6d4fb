// Whether enough happened for a run to prove anything. PASSED: every check holds, and every kind of fault and request occurred
// often enough. FAILED: a check does not hold. INVALID: no violation, but too little happened. In a simulation of many seeds a
// kind of fault that never takes effect is a mistake of the plan.
import { dropNames } from '../model/actions/exchange.ts'
import { outsideActions } from '../model/actions/outside-actions.ts'
import type { Check } from '../model/checks/evidence.ts'
import type { Figures } from '../model/figures.ts'
import { primaryChanged } from '../stages/patroni/failovers.ts'
import { clockShifted, type Fault, faults } from '../stages/processes/faults.ts'
import { gatewayFaultNames } from '../stages/processes/gateway-faults.ts'
import type { CampaignResult } from './report.ts'

/** Per minute of load, on two shared cores. */
const leastPerMinute: Record<string, number> = {
  'API calls': 1_000,
  orders: 100,
  'payments captured': 60,
  'orders cancelled': 12,
  'orders expired by the clock': 5,
  spends: 50,
  holds: 40,
  'parts of holds captured': 5,
  'holds extended': 2,
  'holds captured': 10,
  'holds released': 5,
  'holds expired': 5,
  'captures and releases that came too late': 8,
  'reversals that went through': 8,
  'reversals refused': 5,
  receipts: 5,
  'spends and holds refused by a budget': 8,
  'spends and holds refused because the customer was suspended': 0,
  'events delivered': 80,
  'events delivered again': 15,
  'events of low credits': 4,
  'events signed with two secrets': 1,
  'operator calls that were answered': 60,
  'operator calls with a session from before a restart': 10,
  'operator sign-ins': 1,
  'operator settlements': 1,
  'operator refunds': 1,
  'operator resends of events': 1,
  'operator reconciliations': 1,
  'operator resolutions': 1,
  'keys issued': 3,
  'keys suspended': 3,
  'keys activated': 1,
  'calls refused for a suspended key': 5,
  recoveries: 8,
  'commits in doubt (log)': 10,
  'connections dropped by clients': 15,
}

/** For a run below a minute, which shows that the parts work together and not that nothing goes wrong. */
const leastOfShortRun: Record<string, number> = {
  'API calls': 100,
  orders: 10,
  'payments captured': 5,
  spends: 10,
  holds: 10,
  'events delivered': 10,
  'operator calls that were answered': 10,
  'operator sign-ins': 1,
  'service killed': 1,
}

const shareBetweenFailovers = 0.1
/** Long enough for each kind of failover. */
const longMinutes = 10

/** From a minute on every kind has to occur at least once. */
export function findMissing(
  minutes: number,
  fired: Record<string, number>,
  figures: Figures,
  table: Fault[] = faults,
): string[] {
  if (minutes < 1) {
    const lost = hasFailovers(table) ? primaryChanged : 'database crashed'
    const short = Object.entries({ ...leastOfShortRun, [lost]: 1 })
    return tooFew(short.map(([name, times]) => ({ name, times, got: fired[name] ?? figures[name] })))
  }
  // Failovers leave the services without a database for most of the time.
  const share = isCluster(table) ? shareBetweenFailovers : 1
  const least = (perMinute: number) => Math.max(Math.floor(perMinute * minutes * share), 1)
  return tooFew([
    ...[...table, ...outsideActions].map((row) => ({
      name: row.name,
      times: least(row.leastPerMinute),
      got: fired[row.name],
    })),
    ...(minutes < longMinutes ? [] : table.flatMap(({ kinds = [] }) => kinds)).map((name) => ({
      name,
      times: 1,
      got: fired[name],
    })),
    ...(hasFailovers(table) ? [{ name: primaryChanged, times: least(0), got: fired[primaryChanged] }] : []),
    ...[clockShifted, ...gatewayFaultNames, ...dropNames].map((name) => ({ name, times: least(0), got: fired[name] })),
    ...Object.entries(leastPerMinute).map(([name, each]) => ({ name, times: least(each), got: figures[name] })),
  ])
}

function hasFailovers(table: Fault[]): boolean {
  return table.some(({ name }) => name === 'cluster struck')
}

function isCluster(table: Fault[]): boolean {
  return !table.some(({ name }) => name === 'database crashed')
}

function tooFew(wanted: { name: string; times: number; got: number | undefined }[]): string[] {
  return wanted
    .filter(({ times, got = 0 }) => got < times)
    .map(({ name, times, got = 0 }) => `${name}: ${got} of at least ${times}`)
}

export function judge(checks: Check[], missing: string[]): CampaignResult['verdict'] {
  if (checks.some(({ violations }) => violations.length > 0)) return 'FAILED'
  return missing.length > 0 ? 'INVALID' : 'PASSED'
}

/** A figure of a run whose name begins with it counts a fault that had an effect. */
export const struckPrefix = 'struck: '

/** With fewer seeds no kind has to strike. */
const enoughSeeds = 20

const ofProcess = [
  'killed',
  'both killed',
  'stopped',
  'paused',
  'paused past its lease',
  'paused in its call',
  'starved',
]
const ofNetwork = ['refuse', 'reset-before', 'reset-after', 'delay', 'delay-answer', 'double', 'hold', 'hold-answer']
const ofDatabase = ['reset-before', 'reset-after', 'delay-answer', 'away', 'ended', 'locked']

const steps = [
  ...ofNetwork.map((kind) => `network ${kind}`),
  ...ofDatabase.map((kind) => `database ${kind}`),
  'database: clock jumps',
  ...[...ofProcess, 'clock jumps'].map((what) => `process: ${what}`),
  ...['frozen', 'killed', 'behaviour changed', 'webhooks redirected'].map((what) => `gateway: ${what}`),
  'consumer: unavailable',
  'consumer: deliveries fail',
]

/** From so many episodes on each has to strike: with these numbers the rarest kind is to be expected ten times. */
const known: { kinds: string[]; fromEpisodes: number }[] = [
  { kinds: steps, fromEpisodes: 400 },
  // One of many is drawn, and it waits for a call to which it applies.
  { kinds: gatewayFaultNames, fromEpisodes: 2_000 },
]
export const knownKinds: string[] = known.flatMap(({ kinds }) => kinds)

/** The kind that a figure counts: "a>gateway hold" is "network hold"; undefined where it counts no fault. */
function kindOf(name: string): string | undefined {
  if (!name.startsWith(struckPrefix)) return undefined
  const struck = name.slice(struckPrefix.length)
  const sent = /^[^>]+>(?<to>\S+) (?<kind>.+)$/.exec(struck)?.groups
  return sent ? `${sent.to === 'database' ? 'database' : 'network'} ${sent.kind}` : struck
}

export type Struck = Map<string, number>

/** Of all runs together, with the known kinds that never struck. */
export function countStruck(figures: Record<string, number>[]): Struck {
  const struck: Struck = new Map(knownKinds.map((kind) => [kind, 0]))
  for (const [name, times] of figures.flatMap((each) => Object.entries(each))) {
    const kind = kindOf(name)
    if (kind !== undefined) struck.set(kind, (struck.get(kind) ?? 0) + times)
  }
  return struck
}

/** Of those that had to strike in a run of that size. */
export function findNeverStruck(struck: Struck, { seeds, episodes }: { seeds: number; episodes: number }): string[] {
  if (seeds < enoughSeeds) return []
  const expected = known.filter(({ fromEpisodes }) => episodes >= fromEpisodes).flatMap(({ kinds }) => kinds)
  return expected.filter((kind) => struck.get(kind) === 0)
}
