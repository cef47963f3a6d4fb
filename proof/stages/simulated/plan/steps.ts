// The steps of a run: who does what, and when. A step has a seed of its own, so that leaving one out does not change the random
// numbers of another; what that one finds to choose from may change.

export const actors = [
  'customer',
  'service',
  'operator',
  'platform',
  'consumer',
  'gateway',
  'network',
  'database',
  'process',
  'observer',
] as const
export type Actor = (typeof actors)[number]

export type Step = {
  /** From the start of the run; what settling at a quiet moment takes is not counted. */
  atMs: number
  actor: Actor
  what: string
  seed: number
}

/** Everything under way ends, everything is settled and checked, and the time goes on after that. */
export const quietMoment = 'quiet moment'

export const isQuiet = ({ actor, what }: Step) => actor === 'observer' && what === quietMoment

/** The steps between two quiet moments, each with the time since the one before. */
export type Episode = { steps: Step[]; lastsMs: number }

export function episodesOf(steps: Step[]): Episode[] {
  const episodes: Episode[] = []
  let fromMs = 0
  let own: Step[] = []
  for (const step of steps.toSorted((one, other) => one.atMs - other.atMs)) {
    if (isQuiet(step)) {
      episodes.push({ steps: own, lastsMs: step.atMs - fromMs })
      fromMs = step.atMs
      own = []
    } else own.push({ ...step, atMs: step.atMs - fromMs })
  }
  if (own.length > 0) episodes.push({ steps: own, lastsMs: own.at(-1)?.atMs ?? 0 })
  return episodes
}

/** Reads the text of a file that `writeSteps` has written. */
export function readSteps(text: string): Step[] {
  const steps = JSON.parse(text) as Step[]
  const isStep = ({ atMs, actor, what, seed }: Step) =>
    Number.isInteger(atMs) && Number.isInteger(seed) && typeof what === 'string' && actors.includes(actor)
  if (!Array.isArray(steps) || !steps.every(isStep)) throw new Error('not a list of steps')
  return steps
}

/** One step a line. */
export function writeSteps(steps: Step[]): string {
  return `[\n${steps.map((step) => `  ${JSON.stringify(step)}`).join(',\n')}\n]\n`
}
