// The log: one line of JSON for each thing worth knowing, with fields that were chosen one by one where they are written.
// Two nets below that: of an error only what names the fault is taken, since what a database says of it may hold the values
// of a row (a text given as `error` was chosen where it is written, and stays; one that was thrown, `err`, does not); and
// fields that could be a secret or personal are struck out wherever they turn up.
import { type DestinationStream, type Logger, pino } from 'pino'
import { visible } from './core/visible.ts'

type Fault = Error &
  Partial<Record<'code' | 'constraint' | 'table' | 'severity' | 'error' | 'suppressed', unknown>> & {
    errors?: unknown[]
  }

/** An error may be within another, and that within the first. */
const maxDepth = 4

function errorFields(error: unknown, depth = 0): object {
  if (!(error instanceof Error) || depth > maxDepth) return { type: typeof error }
  const {
    name,
    message,
    stack,
    code,
    constraint,
    table,
    severity,
    cause,
    errors,
    error: last,
    suppressed,
  } = error as Fault
  const within = { cause, error: last, suppressed }
  const inner = Object.entries(within).filter(([, value]) => value instanceof Error)
  return {
    type: name,
    message,
    code,
    severity,
    table,
    constraint,
    stack,
    ...Object.fromEntries(inner.map(([role, value]) => [role, errorFields(value, depth + 1)])),
    ...(Array.isArray(errors) && { errors: errors.map((each) => errorFields(each, depth + 1)) }),
  }
}

/** A name in brackets is one that cannot stand behind a dot. */
export const neverShown = [
  'apiKey',
  'secret',
  'secretKey',
  'token',
  'password',
  'paymentKey',
  'reason',
  'cancelReason',
  'authorization',
  '["service-api-key"]',
]

const anywhere = neverShown.flatMap((name) => [
  name,
  ...['*', '*.*'].map((above) => (name.startsWith('[') ? `${above}${name}` : `${above}.${name}`)),
])

export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    serializers: {
      err: (error: unknown) => errorFields(error),
      error: (error: unknown) => (typeof error === 'string' ? error : errorFields(error)),
    },
    redact: { paths: anywhere, censor: '[not shown]' },
    // A line ends with its only line break.
    hooks: { streamWrite: (line: string) => `${visible(line.slice(0, -1))}\n` },
  }
  return destination ? pino(options, destination) : pino(options)
}
