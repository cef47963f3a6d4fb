// Warns on stderr when the row of an audit could not be written: the result itself stands. On a replica, or as a role that
// only reads, nothing can be written, and no warning is shown.

/** SQLSTATE: read_only_sql_transaction, insufficient_privilege. */
const readOnlyStates = ['25006', '42501']

export function warnUnrecordedAudit(error: unknown): void {
  const { cause, message } = error as Error & { cause?: unknown }
  const { code = '', message: text } = (cause ?? error) as { code?: string; message?: string }
  if (readOnlyStates.includes(code)) return
  process.stderr.write(`The audit was not recorded: ${text ?? message}\n`)
}
