// The log: one line of JSON per message, with fields that are chosen one by one where they are logged. Two safety nets: of an
// error object only fields without data are logged, since a database error may contain the values of a row (a text in `error` was
// chosen by the caller and stays); and fields that could hold a secret or personal data are redacted, up to three levels deep.
import { type DestinationStream, type Logger, pino } from 'pino'
import { visible } from './core/visible.ts'

type Fault = Error &
  Partial<Record<'code' | 'constraint' | 'table' | 'severity' | 'error' | 'suppressed', unknown>> & {
    errors?: unknown[]
  }

/** Errors may be nested, even in a cycle. */
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

/** A name in brackets is one that cannot follow a dot. */
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
    // The only line break is at the end of the line.
    hooks: { streamWrite: (line: string) => `${visible(line.slice(0, -1))}\n` },
  }
  return destination ? pino(options, destination) : pino(options)
}
