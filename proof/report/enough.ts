// Whether enough happened for a run to prove anything. PASSED: every check holds, and every kind of fault and request occurred
// often enough. FAILED: a check does not hold. INVALID: no violation, but too little happened. In a simulation of many seeds a
// kind of fault that never takes effect is a mistake of the plan.
import { effectPrefix, effectsAtGateway, simulatedEffects } from '../faults.ts'
import { dropNames } from '../model/actions/exchange.ts'
import { outsideActions } from '../model/actions/outside-actions.ts'
import type { Check } from '../model/checks/evidence.ts'
import type { Figures } from '../model/figures.ts'
import type { StageName } from '../options.ts'
import { primaryChanged } from '../stages/patroni/failovers.ts'
import { type CampaignFault, clockShifted } from '../stages/processes/faults.ts'
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
  'holds extended': 1,
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
  'process: killed': 1,
}

/** By stage: how the database is lost in such a run. */
const losses = {
  processes: 'database: crashed',
  patroni: primaryChanged,
  citus: 'database: worker crashed',
} satisfies Partial<Record<StageName, string>>
export type CampaignStage = keyof typeof losses

const shareBetweenFailovers = 0.1
/** Long enough for each kind of failover. */
const longMinutes = 10

type Wanted = Pick<CampaignFault, 'name' | 'leastPerMinute' | 'kinds'>

/** From a minute on every kind has to occur at least once. */
export function findMissing(
  stage: CampaignStage,
  minutes: number,
  table: Wanted[],
  fired: Record<string, number>,
  figures: Figures,
): string[] {
  if (minutes < 1) {
    const short = Object.entries({ ...leastOfShortRun, [losses[stage]]: 1 })
    return tooFew(short.map(([name, times]) => ({ name, times, got: fired[name] ?? figures[name] })))
  }
  // Failovers leave the services without a database for most of the time.
  const share = stage === 'processes' ? 1 : shareBetweenFailovers
  const least = (perMinute: number) => Math.max(Math.floor(perMinute * minutes * share), 1)
  const once = [
    clockShifted,
    ...effectsAtGateway,
    ...dropNames,
    ...(stage === 'patroni' ? [primaryChanged] : []),
    ...(minutes < longMinutes ? [] : table.flatMap(({ kinds }) => kinds)),
  ]
  return tooFew([
    ...[...table, ...outsideActions].map(({ name, leastPerMinute: each }) => ({
      name,
      times: least(each),
      got: fired[name],
    })),
    ...once.map((name) => ({ name, times: 1, got: fired[name] })),
    ...Object.entries(leastPerMinute).map(([name, each]) => ({ name, times: least(each), got: figures[name] })),
  ])
}

function tooFew(wanted: { name: string; times: number; got: number | undefined }[]): string[] {
  return wanted
    .filter(({ times, got = 0 }) => got < times)
    .map(({ name, times, got = 0 }) => `${name}: ${got} of at least ${times}`)
}

export function verdictOf(checks: Check[], missing: string[]): CampaignResult['verdict'] {
  if (checks.some(({ violations }) => violations.length > 0)) return 'FAILED'
  return missing.length > 0 ? 'INVALID' : 'PASSED'
}

/** With fewer seeds no kind has to take effect. */
const enoughSeeds = 20

/**
 * From this many episodes on each effect has to be there: with these numbers the rarest is to be expected ten times. Of those
 * of the gateway one of many is drawn, and it waits for a call to which it applies.
 */
const enoughEpisodes = (effect: string) => (effectsAtGateway.includes(effect) ? 2_000 : 400)

/** The effect that a figure counts: "a>gateway hold" is "network hold"; undefined where it counts none. */
function effectOf(name: string): string | undefined {
  if (!name.startsWith(effectPrefix)) return undefined
  const effect = name.slice(effectPrefix.length)
  const sent = /^[^>]+>(?<to>\S+) (?<kind>.+)$/.exec(effect)?.groups
  return sent ? `${sent.to === 'database' ? 'database' : 'network'} ${sent.kind}` : effect
}

/** The effects of all runs together by name, with the known ones that never occurred. */
export function countEffects(figures: Record<string, number>[]): Record<string, number> {
  const counts = new Map(simulatedEffects.map((effect) => [effect, 0]))
  for (const [name, times] of figures.flatMap((each) => Object.entries(each))) {
    const effect = effectOf(name)
    if (effect !== undefined) counts.set(effect, (counts.get(effect) ?? 0) + times)
  }
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** The effects that a run of this size has to have, and that never occurred. */
export function findWithoutEffect(
  counts: Record<string, number>,
  { seeds, episodes }: { seeds: number; episodes: number },
): string[] {
  if (seeds < enoughSeeds) return []
  return simulatedEffects.filter((effect) => episodes >= enoughEpisodes(effect) && counts[effect] === 0)
}
