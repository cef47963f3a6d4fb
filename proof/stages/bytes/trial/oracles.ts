// What must be true of every answer, every exchange and every log line, as tables: a name and a function that returns
// what is wrong. About the bytes sent they use only what framing.ts is certain of.
import { cardNumbersIn } from '../../../../harness/card-numbers.ts'
import { type Answer, closes, type Exchange, type Reading } from '../../../../harness/raw-http.ts'
import { catalogue, type ErrorCode } from '../../../../src/core/errors.ts'
import { securityHeaders } from '../../../../src/http/envelope.ts'
import type { ListenerName } from '../cases/routes.ts'
import type { Framed } from './framing.ts'

export type Breach = { oracle: string; detail: string }

/** By name; none may appear in an answer or a log line. */
export type Secrets = Record<string, string>

type Document = Record<string, unknown> | undefined

const documents = new WeakMap<Answer, { document: Document }>()

/** Undefined where it is not a JSON object. Cached, because many oracles read it. */
export function bodyOf(answer: Answer): Document {
  const known = documents.get(answer)
  if (known) return known.document
  const document = parse(answer.body)
  documents.set(answer, { document })
  return document
}

function parse(body: Buffer | null): Document {
  try {
    const document: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body ?? undefined))
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document)
    return isObject ? (document as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

export type Answered = { answer: Answer; listener: ListenerName; secrets: Secrets }

type Oracle<Of> = (subject: Of) => string | undefined

const envelopeFields = ['code', 'data', 'message', 'metadata', 'success']
/** Health checks have no envelope; on the internal listener only. */
const healthFields = ['status', 'database,gateway,log,migrations,money,status,writes']

/** Stack traces, SQL, paths, and error names of libraries and systems. The tests use it as well. */
export const internals = new RegExp(
  [
    String.raw`\n\s+at |\bat \w+ \(|\bstack\b|node_modules|node:internal|\.[cm]?[tj]s:\d+|/src/|/home/|/tmp/|/usr/|/var/`,
    String.raw`\b(select|update|delete|insert)\b.{1,200}\b(from|set|into|where)\b|SQLSTATE|syntax error|violates|relation "`,
    String.raw`\b(FST_ERR|HPE_|ERR_|ECONN|ENOENT|EPIPE)|\b(TypeError|RangeError|SyntaxError|ReferenceError|Error):`,
    String.raw`\bundefined\b|\[object |Unexpected (token|end)|JSON at position|Cannot read|is not a function|fastify|postgres`,
  ].join('|'),
  'is',
)

function textOf({ body }: Answer): string {
  return body?.toString('utf8') ?? ''
}

function fieldsOf(answer: Answer): string[] {
  return Object.keys(bodyOf(answer) ?? {}).toSorted()
}

function isHealth({ answer, listener }: Answered): boolean {
  return listener === 'internal' && healthFields.includes(fieldsOf(answer).join(','))
}

/** An answer to a HEAD has its headers only. */
const ofBody =
  (test: Oracle<Answered>): Oracle<Answered> =>
  (answered) =>
    answered.answer.body === null || isHealth(answered) ? undefined : test(answered)

export const answerOracles: Record<string, Oracle<Answered>> = {
  'the content type is application/json; charset=utf-8': ({ answer }) => {
    const types = answer.headers.get('content-type') ?? []
    return types.join() === 'application/json; charset=utf-8' ? undefined : `Content-Type: ${types.join(' | ')}`
  },
  'every security header is there, once': ({ answer }) => {
    const wrong = Object.entries(securityHeaders).filter(([name, value]) => answer.headers.get(name)?.join() !== value)
    return wrong.length === 0 ? undefined : wrong.map(([name]) => name).join(', ')
  },
  'the body has exactly the five fields of the envelope': ofBody(({ answer }) => {
    const fields = fieldsOf(answer)
    return fields.join() === envelopeFields.join() ? undefined : `${fields.join()}: ${textOf(answer).slice(0, 200)}`
  }),
  'success and failure each have their form': ofBody(({ answer }) => {
    const { success, data, message, metadata } = bodyOf(answer) ?? {}
    const hasTexts = message === null || typeof message === 'string'
    const isWhole = success === true ? metadata === null : success === false && data === null && message !== null
    return hasTexts && isWhole && typeof metadata === 'object' ? undefined : textOf(answer).slice(0, 200)
  }),
  'the code is one of the catalogue, with its status': ofBody(({ answer }) => {
    const { success, code } = bodyOf(answer) ?? {}
    const isRight =
      success === true
        ? code === 'SUCCESS' && (answer.status === 200 || answer.status === 201)
        : Object.hasOwn(catalogue, String(code)) && catalogue[code as ErrorCode].status === answer.status
    return isRight ? undefined : `${answer.status} ${code}`
  }),
  'no answer is INT001': ofBody(({ answer }) =>
    bodyOf(answer)?.code === 'INT001' ? textOf(answer).slice(0, 200) : undefined,
  ),
  'a refusal has no internal details': ofBody(({ answer }) => {
    const { success, code, message, metadata } = bodyOf(answer) ?? {}
    if (success !== false) return undefined
    // Its metadata has the caller's own texts.
    const text = JSON.stringify({ message, metadata: code === 'PAYMENT_CANCEL_FAILED' ? null : metadata })
    const [found] = internals.exec(text) ?? []
    return found && `${JSON.stringify(found)} in ${text.slice(0, 200)}`
  }),
  'no answer has a secret': ({ answer, secrets }) => {
    const text = `${textOf(answer)}\n${[...answer.headers.values()].flat().join('\n')}`
    return secretIn(text, secrets)
  },
  'a 503 has Retry-After': ({ answer }) =>
    answer.status !== 503 || answer.headers.has('retry-after') || fieldsOf(answer).includes('gateway')
      ? undefined
      : 'SVC001 without Retry-After',
}

export function checkAnswer(answered: Answered): Breach[] {
  return breachesOf(answerOracles, answered)
}

export type Exchanged = {
  framed: Framed
  reading: Reading
  ended: Exchange['ended']
  sentBytes: number
  /** For each valid request at the beginning: whether an answer fits it. */
  fits: ((answer: Answer) => boolean)[]
}

/** After a larger unwanted body the server closes the connection after its answer. */
const mostDrainedBytes = 1_000_000
/** A client that sends more at once may get a reset before it has read the answer. */
const mostBytesBeforeReset = 100_000

export const exchangeOracles: Record<string, Oracle<Exchanged>> = {
  'every answer is well-formed HTTP/1.1': ({ reading }) => reading.fault,
  'a connection is answered or closed within the limits': ({ ended }) =>
    ended === 'hung' ? 'neither answered nor closed' : undefined,
  'an answer that has begun is finished': ({ reading, ended }) =>
    reading.isCut && ended === 'closed' ? 'closed in the middle of an answer' : undefined,
  'no answer is missing': ({ framed, reading, ended, sentBytes }) => {
    if (ended === 'hung' || reading.fault || reading.answers.some(closes)) return undefined
    if (ended === 'reset' && sentBytes > mostBytesBeforeReset) return undefined
    const cut = framed.requests.findIndex(({ bodyBytes }) => bodyBytes > mostDrainedBytes)
    const due = cut < 0 ? framed.requests.length : cut + 1
    return reading.answers.length < due ? `${reading.answers.length} answers to ${due} requests` : undefined
  },
  'no answer is surplus': ({ framed: { requests, rest, headsInRest }, reading: { answers } }) => {
    const most = requests.length + { none: 0, incomplete: 1, uncertain: headsInRest + 1 }[rest]
    return answers.length > most ? `${answers.length} answers to ${most} requests at most` : undefined
  },
  'nothing follows an answer that closes': ({ reading: { answers } }) => {
    const closing = answers.findIndex(closes)
    return closing >= 0 && closing < answers.length - 1
      ? `${answers.length} answers, and number ${closing + 1} closes`
      : undefined
  },
  'only an unreadable request closes the connection before the last answer': ({ framed, reading: { answers } }) => {
    const closing = answers.findIndex(closes)
    if (closing < 0 || closing >= framed.requests.length - 1) return undefined
    const { code } = bodyOf(answers[closing] as Answer) ?? {}
    return code === 'VAL001'
      ? undefined
      : `${code} closes, and ${framed.requests.length - closing - 1} requests are not answered`
  },
  'answers come in the order of their requests': ({ reading: { answers }, fits }) => {
    const wrong = answers.slice(0, fits.length).findIndex((answer, place) => !fits[place]?.(answer))
    return wrong < 0 ? undefined : `number ${wrong + 1} does not fit: ${textOf(answers[wrong] as Answer).slice(0, 200)}`
  },
}

export function checkExchange(exchanged: Exchanged): Breach[] {
  return breachesOf(exchangeOracles, exchanged)
}

export type Logged = { line: string; secrets: Secrets }

/** Levels of pino. */
const errorLevel = 50

export const logOracles: Record<string, Oracle<Logged>> = {
  'a line of the log is a JSON object': ({ line }) => (parsed(line) ? undefined : line.slice(0, 500)),
  'nothing unexpected is logged': ({ line }) => {
    const { level } = parsed(line) ?? {}
    return typeof level === 'number' && level >= errorLevel ? line.slice(0, 2_000) : undefined
  },
  'no secret is logged': ({ line, secrets }) => secretIn(line, secrets),
  'no card number is logged': ({ line }) => cardNumbersIn(line)[0],
}

export function checkLine(logged: Logged): Breach[] {
  return breachesOf(logOracles, logged)
}

/** The service after everything was sent. */
export type AtEnd = {
  /** After a garbage collection; null where there is no /proc. */
  megabytesBefore: number | null
  megabytesAfter: number | null
  /** More than before, and the most allowed. */
  sockets: number
  mostSockets: number
  /** What is wrong; undefined where nothing is. */
  round: string | undefined
  audit: string | undefined
  stop: string | undefined
}

const mostGrowthMegabytes = 50

export const endOracles: Record<string, Oracle<AtEnd>> = {
  'memory does not grow': ({ megabytesBefore: before, megabytesAfter: after }) =>
    before !== null && after !== null && after - before >= mostGrowthMegabytes
      ? `${Math.round(before)} MB, then ${Math.round(after)} MB`
      : undefined,
  'no connection is left behind': ({ sockets, mostSockets }) =>
    sockets > mostSockets ? `${sockets} more than before` : undefined,
  'a purchase, its confirm and its cancel work afterwards': ({ round }) => round,
  'the audit finds no rule broken': ({ audit }) => audit,
  'the process stops cleanly': ({ stop }) => stop,
}

export function checkEnd(atEnd: AtEnd): Breach[] {
  return breachesOf(endOracles, atEnd)
}

function breachesOf<Of>(oracles: Record<string, Oracle<Of>>, subject: Of): Breach[] {
  return Object.entries(oracles).flatMap(([oracle, test]) => {
    const detail = test(subject)
    return detail === undefined ? [] : [{ oracle, detail }]
  })
}

function secretIn(text: string, secrets: Secrets): string | undefined {
  return Object.entries(secrets).find(([, secret]) => text.includes(secret))?.[0]
}

function parsed(line: string): { level?: unknown } | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === 'object' && entry !== null ? entry : undefined
  } catch {
    return undefined
  }
}
