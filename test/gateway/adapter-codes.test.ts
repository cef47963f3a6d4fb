// Every code of the confirm and cancel tables of Toss Payments, over real HTTP: its meaning for the order, whether a
// lookup follows, and whether the idempotency key may be used again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Gateway, Outcome } from '../../src/gateway/gateway.ts'
import { closeAll } from '../support/closing.ts'
import {
  answer,
  answerText,
  cancelled,
  cancelledInParts,
  intent,
  type LoggedLine,
  openPort,
  partlyCancelled,
  paymentObject,
  refusal,
  resetAfterReading,
  type Script,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/gateway/scripted-gateway.ts'

let server: ScriptedGateway
let gateway: Gateway
let logged: LoggedLine[]
before(async () => {
  server = await startScriptedGateway()
  ;({ gateway, logged } = openPort(server.url))
})
after(() => closeAll(gateway, server))

type Verb = 'confirm' | 'cancel'
/** Each line: an HTTP status and its codes. */
type Table = Record<number, string>

const refusedConfirms: Table = {
  400: `INVALID_REQUEST EXCEED_MAX_CARD_INSTALLMENT_PLAN NOT_ALLOWED_POINT_USE INVALID_REJECT_CARD BELOW_MINIMUM_AMOUNT
    INVALID_CARD_EXPIRATION INVALID_STOPPED_CARD INVALID_CARD_LOST_OR_STOLEN INVALID_CARD_NUMBER
    INVALID_CARD_INSTALLMENT_PLAN NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT
    NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN EXCEED_MAX_DAILY_PAYMENT_COUNT EXCEED_MAX_PAYMENT_AMOUNT
    EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT EXCEED_MAX_AMOUNT EXCEED_MAX_ONE_DAY_WITHDRAW_AMOUNT
    EXCEED_MAX_ONE_TIME_WITHDRAW_AMOUNT NOT_FOUND_TERMINAL_ID INVALID_AUTHORIZE_AUTH RESTRICTED_TRANSFER_ACCOUNT
    INVALID_UNREGISTERED_SUBMALL NOT_REGISTERED_BUSINESS INVALID_ACCOUNT_INFO_RE_REGISTER NOT_AVAILABLE_PAYMENT
    UNAPPROVED_ORDER_ID`,
  403: `REJECT_ACCOUNT_PAYMENT REJECT_CARD_PAYMENT REJECT_CARD_COMPANY REJECT_TOSSPAY_INVALID_ACCOUNT
    EXCEED_MAX_AUTH_COUNT EXCEED_MAX_ONE_DAY_AMOUNT NOT_AVAILABLE_BANK INVALID_PASSWORD FDS_ERROR`,
  404: 'NOT_FOUND_PAYMENT NOT_FOUND_PAYMENT_SESSION',
}
const refusedCancels: Table = {
  400: `INVALID_REFUND_ACCOUNT_INFO EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT INVALID_REQUEST INVALID_REFUND_ACCOUNT_NUMBER
    INVALID_BANK REFUND_REJECTED FORBIDDEN_BANK_REFUND_REQUEST`,
  403: `EXCEED_MAX_REFUND_DUE NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT
    NOT_ALLOWED_PARTIAL_REFUND NOT_AVAILABLE_BANK NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER EXCEED_CANCEL_LIMIT`,
}
// The last codes of each line are in the global list or in no list: their outcome is not documented.
const undecidedConfirms: Table = {
  400: `PROVIDER_ERROR CARD_PROCESSING_ERROR INVALID_IDEMPOTENCY_KEY INVALID_PAYMENT_KEY INVALID_ORDER_ID
    REQUIRED_AMOUNT INVALID_REQUIRED_PARAM ALREADY_COMPLETED_PAYMENT DUPLICATED_REQUEST DUPLICATED_ORDER_ID
    MAINTAINED_METHOD EXCEEDS_TRANSFER_AMOUNT_MAXIMUM INVALID_TEST_CODE ADDED_WITHOUT_NOTICE constructor`,
  403: 'FORBIDDEN_CONSECUTIVE_REQUEST',
  404: 'NOT_FOUND NOT_FOUND_HTTP_METHOD NOT_FOUND_MERCHANT',
  409: 'IDEMPOTENT_REQUEST_PROCESSING',
  429: 'TOO_MANY_REQUESTS',
  500: `FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING FAILED_INTERNAL_SYSTEM_PROCESSING UNKNOWN_PAYMENT_ERROR COMMON_ERROR
    FAILED_DB_PROCESSING FAILED_METHOD_HANDLING UNKNOWN_ERROR`,
}
const undecidedCancels: Table = {
  400: 'PROVIDER_ERROR INVALID_IDEMPOTENCY_KEY INVALID_REFUND_AMOUNT ALREADY_REFUNDING_PAYMENT toString',
  403: `FORBIDDEN_CONSECUTIVE_REQUEST EXCEED_MAX_REFUND_AMOUNT NOT_SUPPORTED_REFUND NOT_ALLOWED_REFUND_BANK
    REJECT_CARD_COMPANY`,
  404: 'NOT_FOUND_PAYMENT',
  409: 'IDEMPOTENT_REQUEST_PROCESSING',
  429: 'TOO_MANY_REQUESTS',
  500: `FAILED_INTERNAL_SYSTEM_PROCESSING FAILED_REFUND_PROCESS FAILED_METHOD_HANDLING_CANCEL FAILED_PARTIAL_REFUND
    COMMON_ERROR FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING`,
}
const ourCredentials: Table = { 400: 'INVALID_API_KEY', 401: 'UNAUTHORIZED_KEY', 403: 'INCORRECT_BASIC_AUTH_FORMAT' }

function* lines(table: Table): Generator<{ status: number; code: string }> {
  for (const [status, codes] of Object.entries(table)) {
    for (const code of codes.trim().split(/\s+/)) yield { status: Number(status), code }
  }
}

/**
 * The gateway repeats a 4xx for its key. 409 and 429 mean that no request was completed under it; a 5xx means nothing.
 */
const isKeyUsedUp = (status: number) => status < 500 && status !== 409 && status !== 429
const serverErrorOf = (status: number) => (status >= 500 ? { serverError: true } : {})

async function play(verb: Verb, ...scripts: Script[]): Promise<{ outcome: Outcome; lookups: number; sent: number }> {
  logged.length = 0
  server.play(...scripts)
  const outcome = await gateway[verb](intent)
  const lookups = server.requests.filter((request) => request.method === 'GET').length
  return { outcome, lookups, sent: server.requests.length }
}

for (const [verb, table] of [['confirm', refusedConfirms] as const, ['cancel', refusedCancels] as const]) {
  for (const { status, code } of lines(table)) {
    test(`${verb}: ${status} ${code} is a definite refusal, without a lookup`, async () => {
      const { outcome, sent } = await play(verb, refusal(status, code))
      assert.deepEqual(outcome, { kind: 'rejected', code })
      assert.equal(sent, 1)
    })
  }
}

for (const [verb, table] of [['confirm', undecidedConfirms] as const, ['cancel', undecidedCancels] as const]) {
  for (const { status, code } of lines(table)) {
    const keyUsedUp = isKeyUsedUp(status)
    test(`${verb}: ${status} ${code} is unknown; its idempotency key is ${keyUsedUp ? 'used up' : 'reusable'}`, async () => {
      const { outcome, sent } = await play(verb, refusal(status, code))
      assert.deepEqual(outcome, { kind: 'unknown', code, needsNewIdempotencyKey: keyUsedUp, ...serverErrorOf(status) })
      assert.equal(sent, 1)
      assert.deepEqual(logged, [])
    })
  }
}

for (const verb of ['confirm', 'cancel'] as const) {
  for (const { status, code } of lines(ourCredentials)) {
    test(`${verb}: ${status} ${code} is our own fault: unknown, logged as an error, and the order is not changed`, async () => {
      const { outcome, sent } = await play(verb, refusal(status, code))
      assert.deepEqual(outcome, { kind: 'unknown', code, needsNewIdempotencyKey: true })
      assert.equal(sent, 1)
      const message = 'the gateway refuses our credentials: check TOSS_SECRET_KEY'
      assert.deepEqual(logged, [{ fields: { code }, message }])
    })
  }
}

test('a code means the same with any HTTP status but 200', async () => {
  for (const status of [201, 302, 400, 409, 422, 500, 503]) {
    const { outcome } = await play('confirm', refusal(status, 'REJECT_CARD_COMPANY'))
    assert.deepEqual(outcome, { kind: 'rejected', code: 'REJECT_CARD_COMPANY' }, `status ${status}`)
  }
  const { outcome } = await play('confirm', refusal(200, 'REJECT_CARD_COMPANY'))
  assert.deepEqual(outcome, { kind: 'unknown', code: 'HTTP_200' })
})

// --------------------------------------------------------------------------- codes that require a lookup

const found = (members: Record<string, unknown> = {}) => answer(200, paymentObject(members))
const notFound = refusal(404, 'NOT_FOUND_PAYMENT')
const approvedBy = (transactionKey: string): Outcome => ({ kind: 'approved', transactionKey })
const refusedBy = (code: string): Outcome => ({ kind: 'rejected', code })
const undecided = (code: string): Outcome => ({ kind: 'unknown', code, needsNewIdempotencyKey: true })

type Explained = [verb: Verb, status: number, code: string, finding: string, lookup: Script, outcome: Outcome]

function explainedConfirms(status: number, code: string, nothingDone: Outcome): Explained[] {
  const findings: [string, Script, Outcome][] = [
    ['DONE', found(), approvedBy('transaction-1')],
    ['IN_PROGRESS', found({ status: 'IN_PROGRESS' }), nothingDone],
    ['READY', found({ status: 'READY' }), nothingDone],
    ['nothing', notFound, nothingDone],
    ['ABORTED', found({ status: 'ABORTED' }), refusedBy('ABORTED')],
    ['EXPIRED', found({ status: 'EXPIRED' }), refusedBy('EXPIRED')],
    ['DONE for another order', found({ orderId: 'ord_other' }), refusedBy('PAYMENT_OF_ANOTHER_ORDER')],
    ['a 500', refusal(500, 'COMMON_ERROR'), undecided('COMMON_ERROR')],
    ['a reset', resetAfterReading, undecided('ECONNRESET')],
    ['HTML', answerText(502, '<html>'), undecided('HTTP_502')],
  ]
  return findings.map(([finding, lookup, outcome]) => ['confirm', status, code, finding, lookup, outcome])
}

function explainedCancels(status: number, code: string, nothingDone: Outcome): Explained[] {
  const findings: [string, Script, Outcome][] = [
    ['CANCELED', found(cancelled), approvedBy('transaction-2')],
    ['PARTIAL_CANCELED with a balance of zero', found(cancelledInParts), approvedBy('transaction-3')],
    ['PARTIAL_CANCELED with a remaining balance', found(partlyCancelled), nothingDone],
    ['DONE', found(), nothingDone],
    ['nothing', notFound, nothingDone],
    ['a 500', refusal(500, 'COMMON_ERROR'), undecided('COMMON_ERROR')],
    ['a reset', resetAfterReading, undecided('ECONNRESET')],
  ]
  return findings.map(([finding, lookup, outcome]) => ['cancel', status, code, finding, lookup, outcome])
}

const explained: Explained[] = [
  ...explainedConfirms(403, 'FORBIDDEN_REQUEST', refusedBy('FORBIDDEN_REQUEST')),
  ...explainedConfirms(400, 'ALREADY_PROCESSED_PAYMENT', undecided('ALREADY_PROCESSED_PAYMENT')),
  ...explainedCancels(403, 'FORBIDDEN_REQUEST', refusedBy('FORBIDDEN_REQUEST')),
  ...explainedCancels(400, 'NOT_MATCHES_REFUNDABLE_AMOUNT', undecided('NOT_MATCHES_REFUNDABLE_AMOUNT')),
  ...explainedCancels(403, 'NOT_CANCELABLE_AMOUNT', refusedBy('NOT_CANCELABLE_AMOUNT')),
  ...explainedCancels(403, 'NOT_CANCELABLE_PAYMENT', refusedBy('NOT_CANCELABLE_PAYMENT')),
  ...explainedCancels(400, 'ALREADY_CANCELED_PAYMENT', undecided('ALREADY_CANCELED_PAYMENT')),
  ...explainedCancels(400, 'ALREADY_REFUND_PAYMENT', undecided('ALREADY_REFUND_PAYMENT')),
]

for (const [verb, status, code, finding, lookup, expected] of explained) {
  test(`${verb}: ${status} ${code}, and the lookup returns ${finding}: ${expected.kind}`, async () => {
    const { outcome, lookups, sent } = await play(verb, refusal(status, code), lookup)
    assert.deepEqual([lookups, sent], [1, 2])
    assert.deepEqual(outcome, expected)
  })
}
