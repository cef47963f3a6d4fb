// The order of measurements that are compared with each other, and taking one after the other.
import { createProgress, logLine } from '../report/progress.ts'

/** Forwards, or backwards every other round, so that disturbances affect all of them. */
export const inTurn = <Each>(round: number, all: readonly Each[]): readonly Each[] =>
  round % 2 === 1 ? all : all.toReversed()

/** In each round one group after the other, and the steps of each in turn. */
export function takeTurns<Step extends object>(
  rounds: number,
  groups: readonly (readonly Step[])[],
): (Step & { round: number })[] {
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    groups.flatMap((group) => inTurn(round, group).map((step) => ({ round, ...step }))),
  )
}

type Taking<Step> = {
  nameOf(step: Step): string
  /** Returns what is logged. */
  take(step: Step): Promise<string>
  /** Whether it was taken or has failed. */
  afterEach?(step: Step): Promise<void>
}

/** A failure does not stop the other steps. Returns the failures. */
export async function takeAll<Step>(
  parts: AsyncDisposableStack,
  steps: readonly Step[],
  { nameOf, take, afterEach }: Taking<Step>,
): Promise<string[]> {
  const progress = createProgress(steps.length)
  const failures: string[] = []
  for (const step of steps) {
    const name = nameOf(step)
    const outcome = await take(step).catch((error: Error) => {
      if (parts.disposed) throw error
      failures.push(`${name}: ${error.message}`)
      return `FAILED: ${error.message}`
    })
    logLine(progress(`${name}: ${outcome}`))
    await afterEach?.(step)
  }
  return failures
}
