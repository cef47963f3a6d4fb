// Whether two actions differ in the time they take: Welch's t over the faster nine tenths of each, because a busy machine can
// only make a measurement slower.

/** A real difference shows in every sample; one caused by other load on the machine does not. */
const attempts = 3
export const differs = 4.5

/** |t| of two alternating actions: of the first sample that shows no difference, or of the last. */
export async function differenceInTime(actions: [Action, Action], rounds: number): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const [one, other] = await timesOf(actions, rounds)
    const t = Math.abs(welch(one, other))
    if (t < differs || attempt === attempts) return t
  }
}

/** Prepares its input, and returns the work that is measured. */
export type Action = () => () => Promise<unknown>

async function timesOf(actions: [Action, Action], rounds: number): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const work = actions[which]()
      const startedAt = process.hrtime.bigint()
      await work()
      if (round >= rounds / 10) times[which].push(Number(process.hrtime.bigint() - startedAt))
    }
  }
  return times
}

function welch(one: number[], other: number[]): number {
  const [left, right] = [momentsOf(one), momentsOf(other)]
  return (left.mean - right.mean) / Math.sqrt(left.variance / left.count + right.variance / right.count)
}

function momentsOf(values: number[]) {
  const kept = values.toSorted((left, right) => left - right).slice(0, Math.ceil(values.length * 0.9))
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1)
  return { mean, variance, count: kept.length }
}
