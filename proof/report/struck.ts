// How often each kind of fault struck in a run of several seeds. A kind that never does shows nothing, and in many seeds it is a
// mistake of the plan: then the run fails.
import { gatewayFaultNames } from '../stages/processes/gateway-faults.ts'

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

export function linesOfStruck(struck: Struck): string[] {
  return [...struck].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([kind, times]) => `  ${kind}: ${times}`)
}
