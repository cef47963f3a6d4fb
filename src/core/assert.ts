// For conditions that only a bug can violate. A failed assertion fails the request with INT001, not the process; its text goes
// to the log only.

export class AssertionFailed extends Error {
  override name = 'AssertionFailed'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message)
}

/** The end of an exhaustive switch: an unhandled new case does not compile. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unhandled case: ${JSON.stringify(value)}`)
}
