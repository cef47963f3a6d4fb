// For what cannot happen unless the code is wrong. A failed assertion fails the request with INT001, not the process;
// its text goes to the log only.

export class AssertionFailed extends Error {
  override name = 'AssertionFailed'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message)
}

/** The end of an exhaustive switch: a new case that nobody handles does not compile. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unhandled case: ${JSON.stringify(value)}`)
}
