// What is said of an audit whose row could not be written: the result stands, and nobody but the caller learns of it. Where
// nothing can be written at all, on a replica or as a role that only reads, that is known and not worth a word.

const readOnlyPlace = ['25006', '42501']

export function tellUnwritten(error: unknown): void {
  const { cause, message } = error as Error & { cause?: unknown }
  const { code = '', message: text } = (cause ?? error) as { code?: string; message?: string }
  if (readOnlyPlace.includes(code)) return
  process.stderr.write(`The audit is not on record: ${text ?? message}\n`)
}
