// Every request of a client and its answer, with times of a monotonic clock: `invoke` when a request is sent, then `ok`
// (a success), `fail` (a definite refusal) or `info` (no answer, or "unavailable": it may or may not have happened).
// Kept in memory for the checks and written as JSON lines for the analysis of a failure.
import { createWriteStream } from 'node:fs'
import { catalogue, type ErrorCode } from '../../src/core/errors.ts'
import type { PackageType } from '../../src/payments/packages.ts'
import type { Answer } from './actions/exchange.ts'

export type ServiceName = 'a' | 'b'

/** `customer` is the index of the customer in the campaign's list. */
export type Request =
  | { op: 'purchase'; customer: number; packageType: PackageType; idempotencyKey: string | null }
  | { op: 'confirm'; customer: number; orderId: string; paymentKey: string; amount: number; as: ConfirmVariant }
  | { op: 'cancel'; customer: number; orderId: string; paymentKey: string; reason: string; foreign: boolean }
  | { op: 'status'; customer: number; orderId: string; foreign: boolean }
  | { op: 'balance'; customer: number }
  | { op: 'packages'; customer: number }
  | { op: 'invalid'; customer: number; what: string; codes: string[] }
  | UseRequest
  | PartRequest
  | ExtendRequest
  | EndRequest
  | ReverseRequest
  | ReceiptRequest

/** A request of a sibling service; `sibling` is its index in the campaign's list. */
export type UseRequest = SpendRequest | HoldRequest
type Use = { customer: number; sibling: number; credits: number; reference: string }
export type SpendRequest = Use & { op: 'spend' }
/** `expiresInSeconds` is null where it is left to the service. */
export type HoldRequest = Use & { op: 'hold'; expiresInSeconds: number | null; atMost: boolean }
export type PartRequest = Use & { op: 'part'; holdId: string }
export type ExtendRequest = {
  op: 'extend'
  customer: number
  sibling: number
  holdId: string
  expiresInSeconds: number
}
export type EndRequest =
  /** `credits` is null for all of them. */
  | { op: 'capture'; customer: number; sibling: number; holdId: string; credits: number | null }
  | { op: 'release'; customer: number; sibling: number; holdId: string }
/** Gives back the spend or the captured hold with the reference `reversed`; `credits` is null for all that is left. */
export type ReverseRequest = Omit<Use, 'credits'> & { op: 'reverse'; credits: number | null; reversed: string }

/** A request for the receipt of a confirmed order, or of a used reference. */
export type ReceiptRequest = {
  op: 'receipt'
  customer: number
  sibling: number
  of: { orderId: string } | { reference: string }
}

export type ConfirmVariant = 'right' | 'wrong amount' | 'wrong key' | 'foreign order'

export type Data = Record<string, unknown>

export type Outcome =
  | { kind: 'ok'; status: number; data: Data | unknown[]; message: string | null }
  | { kind: 'fail'; status: number; code: string; message: string; metadata: Data | null }
  | { kind: 'info'; cause: string }

export type Call<Of extends Request = Request> = {
  number: number
  service: ServiceName
  request: Of
  /** The customer's key it was sent with; null: another secret, or none that was issued. */
  keyId: string | null
  invokedAtMs: number
  endedAtMs: number
  outcome: Outcome
  /** What is wrong with the shape of the answer, or null. */
  breach: string | null
  /** The client closed the connection itself: the service is not to blame for the missing answer. */
  dropped: boolean
}

export type History = ReturnType<typeof createHistory>

/** Where the lines of a history go. */
export type Sink = { write(line: object): void; close(): Promise<void> }

/** JSON lines in a file. Nothing is written after the end, even if a campaign was stopped half way. */
export function writeLines(file: string): Sink {
  const stream = createWriteStream(file)
  let closed = false
  return {
    write: (line) => void (closed || stream.write(`${JSON.stringify(line)}\n`)),
    close() {
      closed = true
      return new Promise((resolve) => stream.end(resolve))
    },
  }
}

export function createHistory({ write, close }: Sink) {
  const calls: Call[] = []
  let started = 0

  return {
    calls,
    nowMs: () => Math.round(performance.now() * 1_000) / 1_000,
    invoke(service: ServiceName, request: Request): { number: number; invokedAtMs: number } {
      const invoked = { number: ++started, invokedAtMs: this.nowMs() }
      write({ type: 'invoke', at: invoked.invokedAtMs, number: invoked.number, service, ...request })
      return invoked
    },
    /** Completes a call; the time of the end is now. */
    complete(call: Omit<Call, 'endedAtMs'>): Call {
      const whole = { ...call, endedAtMs: this.nowMs() }
      calls.push(whole)
      const { outcome, breach, dropped } = call
      const { kind: type, ...rest } = outcome
      write({ type, at: whole.endedAtMs, number: call.number, ...rest, ...(breach && { breach }), dropped })
      return whole
    },
    /** Everything besides calls: faults, refunds, notifications, events. */
    note(event: string, fields: object = {}): void {
      write({ type: 'event', at: this.nowMs(), event, ...fields })
    },
    close,
  }
}

/** The five fields, not yet checked. */
type Body = { success: unknown; data: Data; message: string; code: string; metadata: Data | null }

const successStatus: Partial<Record<Request['op'], number>> = { purchase: 201, hold: 201 }
const fields = ['success', 'data', 'message', 'code', 'metadata']

export type Checked = { outcome: Outcome; breach: string | null }

export function checkAnswer(op: Request['op'], answer: Answer): Checked {
  return checkEnvelope({ status: successStatus[op] ?? 200, hasMessage: op !== 'cancel', hasData: true }, answer)
}

/** What a success has to have. */
type Success = { status: number; hasMessage: boolean; hasData: boolean }

/** Section 1 and section 7: the five fields, a code of the catalogue, its status. */
export function checkEnvelope(expected: Success, answer: Answer): Checked {
  if (answer.kind === 'none') return { outcome: { kind: 'info', cause: answer.cause }, breach: null }
  const { status, text } = answer
  const breach = (what: string) => ({
    outcome: { kind: 'info', cause: `HTTP ${status}` } as const,
    breach: `${what}: HTTP ${status} ${text.slice(0, 200)}`,
  })
  const body = parse(text)
  if (!body || Object.keys(body).join() !== fields.join()) return breach('not the envelope')
  if (!answer.contentType.startsWith('application/json')) return breach(`content type ${answer.contentType}`)
  const { success, data, message, code, metadata } = body as Body
  if (code === 'SUCCESS') {
    if (status !== expected.status) return breach('a success with another status')
    if (success !== true || metadata !== null) return breach('a success that is not one')
    if ((data !== null) !== expected.hasData) return breach('the data of a success')
    if ((message !== null) !== expected.hasMessage) return breach('the message of a success')
    return { outcome: { kind: 'ok', status, data, message }, breach: null }
  }
  if (catalogue[code as ErrorCode]?.status !== status) return breach('a code with another status')
  if (success !== false || data !== null || typeof message !== 'string') return breach('an error that is not one')
  if (code === 'INT001') return breach('an unexpected error')
  if (code === 'SVC001') return { outcome: { kind: 'info', cause: code }, breach: null }
  return { outcome: { kind: 'fail', status, code, message, metadata }, breach: null }
}

function parse(text: string): object | null {
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' ? body : null
  } catch {
    return null
  }
}
