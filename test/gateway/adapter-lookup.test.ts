// The result of a lookup for an earlier confirm or cancel, for every status a payment can have.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Gateway, LookupResult, PaymentDetail } from '../../src/gateway/gateway.ts'
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

const unsent: LookupResult = { kind: 'unsent' }
const absent: LookupResult = { kind: 'absent' }
const done = (transactionKey: string | null): LookupResult => ({ kind: 'approved', transactionKey })
const refused = (code: string): LookupResult => ({ kind: 'rejected', code })

/** The payment details that an operator reviews, without the payment key. */
function detailOf(members: Record<string, unknown>): PaymentDetail {
  const { orderId, status, totalAmount, balanceAmount, currency } = paymentObject(members)
  return { orderId, status, totalAmount, balanceAmount, currency } as PaymentDetail
}

function disagreement(code: string, members: Record<string, unknown>): LookupResult {
  return { kind: 'unknown', code, discrepancy: detailOf(members) }
}

/** Captured for us, and partly refunded elsewhere. */
function doneInPart(transactionKey: string | null, members: Record<string, unknown>): LookupResult {
  return { kind: 'approved', transactionKey, discrepancy: detailOf(members) }
}

type Line = { found: string; members: Record<string, unknown>; confirm: LookupResult; cancel: LookupResult }

const same = (members: Record<string, unknown>, code: string) => {
  const result = disagreement(code, members)
  return { members, confirm: result, cancel: result }
}

const cancelledWithoutCancel = { status: 'CANCELED', balanceAmount: 0, cancels: [] }
const cancelledWithBalance = { ...cancelled, balanceAmount: 5_000 }
const partsThatDoNotAddUp = { ...partlyCancelled, balanceAmount: 4_999 }
const neverCaptured = { balanceAmount: 0, lastTransactionKey: null }
const aborted = { status: 'ABORTED', ...neverCaptured }

function failedWith(code: string, confirmCode: string): Line {
  return {
    found: `ABORTED with the failure ${code}`,
    members: { ...aborted, failure: { code, message: '거절되었습니다.' } },
    confirm: refused(confirmCode),
    cancel: disagreement('PAYMENT_ABORTED', aborted),
  }
}

const table: Line[] = [
  {
    found: 'READY',
    members: { status: 'READY', ...neverCaptured },
    confirm: unsent,
    cancel: disagreement('PAYMENT_READY', { status: 'READY', ...neverCaptured }),
  },
  {
    found: 'IN_PROGRESS',
    members: { status: 'IN_PROGRESS', ...neverCaptured },
    confirm: unsent,
    cancel: disagreement('PAYMENT_IN_PROGRESS', { status: 'IN_PROGRESS', ...neverCaptured }),
  },
  { found: 'WAITING_FOR_DEPOSIT', ...same({ status: 'WAITING_FOR_DEPOSIT' }, 'PAYMENT_WAITING_FOR_DEPOSIT') },
  { found: 'DONE', members: {}, confirm: done('transaction-1'), cancel: unsent },
  {
    found: 'DONE without a transaction key',
    members: { lastTransactionKey: undefined },
    confirm: done(null),
    cancel: unsent,
  },
  {
    found: 'CANCELED',
    members: cancelled,
    confirm: { kind: 'rejected', code: 'CANCELED', returned: true },
    cancel: done('transaction-2'),
  },
  {
    found: 'CANCELED without a cancel entry',
    members: cancelledWithoutCancel,
    confirm: { kind: 'rejected', code: 'CANCELED', returned: true },
    cancel: done('transaction-1'),
  },
  { found: 'CANCELED with a remaining balance', ...same(cancelledWithBalance, 'PAYMENT_CANCELED') },
  { found: 'parts that do not add up', ...same(partsThatDoNotAddUp, 'PAYMENT_PARTIAL_CANCELED') },
  {
    found: 'PARTIAL_CANCELED with a remaining balance',
    members: partlyCancelled,
    confirm: doneInPart(null, partlyCancelled),
    cancel: unsent,
  },
  {
    found: 'PARTIAL_CANCELED with a balance of zero',
    members: cancelledInParts,
    confirm: { kind: 'rejected', code: 'PARTIAL_CANCELED', returned: true },
    cancel: done('transaction-3'),
  },
  {
    found: 'ABORTED',
    members: aborted,
    confirm: refused('ABORTED'),
    cancel: disagreement('PAYMENT_ABORTED', aborted),
  },
  {
    found: 'EXPIRED',
    members: { status: 'EXPIRED', ...neverCaptured },
    confirm: refused('EXPIRED'),
    cancel: disagreement('PAYMENT_EXPIRED', { status: 'EXPIRED', ...neverCaptured }),
  },
  failedWith('INVALID_CARD_EXPIRATION', 'INVALID_CARD_EXPIRATION'),
  // These codes decide nothing in the answer to a confirm.
  failedWith('EXPIRED_PAYMENT', 'ABORTED'),
  failedWith('PROVIDER_ERROR', 'ABORTED'),
  failedWith('UNAUTHORIZED_KEY', 'ABORTED'),
  failedWith('FORBIDDEN_REQUEST', 'ABORTED'),
  {
    found: 'ABORTED with an unreadable failure',
    members: { ...aborted, failure: 'INVALID_CARD_EXPIRATION' },
    confirm: refused('ABORTED'),
    cancel: disagreement('PAYMENT_ABORTED', aborted),
  },
  { found: 'an undocumented status', ...same({ status: 'ON_HOLD' }, 'PAYMENT_ON_HOLD') },
  {
    found: 'DONE for another order',
    members: { orderId: 'ord_other' },
    confirm: refused('PAYMENT_OF_ANOTHER_ORDER'),
    cancel: disagreement('PAYMENT_DIFFERS', { orderId: 'ord_other' }),
  },
  {
    found: 'another order, cancelled',
    members: { ...cancelled, orderId: 'ord_other' },
    confirm: refused('PAYMENT_OF_ANOTHER_ORDER'),
    cancel: disagreement('PAYMENT_DIFFERS', { ...cancelled, orderId: 'ord_other' }),
  },
  { found: 'DONE with another amount', ...same({ totalAmount: 20_001 }, 'PAYMENT_DIFFERS') },
  { found: 'ABORTED with another amount', ...same({ totalAmount: 1, status: 'ABORTED' }, 'PAYMENT_DIFFERS') },
  { found: 'cancelled with another amount', ...same({ ...cancelled, totalAmount: 1 }, 'PAYMENT_DIFFERS') },
  { found: 'DONE in another currency', ...same({ currency: 'USD' }, 'PAYMENT_DIFFERS') },
  { found: 'DONE for another payment key', ...same({ paymentKey: 'pay_other' }, 'PAYMENT_DIFFERS') },
  {
    found: 'another payment, of another order',
    ...same({ paymentKey: 'pay_other', orderId: 'ord_other' }, 'PAYMENT_DIFFERS'),
  },
]

test('the key of a cancel is not taken for that of the capture: of a payment that was cancelled in part it is not known', async () => {
  server.play(answer(200, paymentObject({ ...partlyCancelled, lastTransactionKey: 'key-of-the-cancel' })))
  const found = await gateway.findConfirm(intent)
  assert.deepEqual([found.kind, found.kind === 'approved' && found.transactionKey], ['approved', null])
})

for (const { found, members, confirm, cancel } of table) {
  test(`a lookup returns ${found}: ${confirm.kind} for a confirm, ${cancel.kind} for a cancel`, async () => {
    server.play(answer(200, paymentObject(members)), answer(200, paymentObject(members)))
    assert.deepEqual(await gateway.findConfirm(intent), confirm)
    assert.deepEqual(await gateway.findCancel(intent), cancel)
    assert.equal(server.requests.length, 2)
  })
}

const parts = (...amounts: number[]) => ({
  status: 'PARTIAL_CANCELED',
  balanceAmount: amounts.reduce((left, cancelAmount) => left - cancelAmount, 20_000),
  cancels: amounts.map((cancelAmount, place) => ({ cancelAmount, transactionKey: `part_${place}` })),
})
const ownPart = { kind: 'approved', transactionKey: 'part_0' }
const notOurs = { kind: 'rejected', code: 'NOT_MATCHES_REFUNDABLE_AMOUNT' }
const lookupsOfPart: [found: string, members: Record<string, unknown>, result: object][] = [
  ['an untouched payment', {}, { kind: 'unsent' }],
  ['the part', parts(15_000), ownPart],
  ['another part', parts(4_000), notOurs],
  ['another part before one of the same amount', parts(4_000, 15_000), notOurs],
  ['the whole cancelled at once', cancelled, notOurs],
]

for (const [found, members, result] of lookupsOfPart) {
  test(`a lookup of a cancel of 15,000 of 20,000 returns ${found}: ${(result as LookupResult).kind}`, async () => {
    server.play(answer(200, paymentObject(members)))
    assert.deepEqual(await gateway.findCancel({ ...intent, cancelAmount: 15_000 }), result)
  })
}

test('a lookup of a cancel of a part with another cancel after it is approved, for a person to look at', async () => {
  server.play(answer(200, paymentObject(parts(15_000, 5_000))))
  const found = await gateway.findCancel({ ...intent, cancelAmount: 15_000 })
  assert.deepEqual({ ...found, discrepancy: undefined }, { ...ownPart, discrepancy: undefined })
  assert.ok('discrepancy' in found)
})

// Only a payment the gateway does not know is absent. Every other answer is no result.
const withoutPayment: [found: string, script: Script, result: LookupResult][] = [
  ['404 NOT_FOUND_PAYMENT', refusal(404, 'NOT_FOUND_PAYMENT'), absent],
  ['404 NOT_FOUND', refusal(404, 'NOT_FOUND'), { kind: 'unknown', code: 'NOT_FOUND' }],
  ['404 with HTML', answerText(404, '<html>no</html>'), { kind: 'unknown', code: 'HTTP_404' }],
  ['404 with an empty object', answer(404, {}), { kind: 'unknown', code: 'HTTP_404' }],
  [
    '403 FORBIDDEN_CONSECUTIVE_REQUEST',
    refusal(403, 'FORBIDDEN_CONSECUTIVE_REQUEST'),
    { kind: 'unknown', code: 'FORBIDDEN_CONSECUTIVE_REQUEST' },
  ],
  ['403 REJECT_CARD_COMPANY', refusal(403, 'REJECT_CARD_COMPANY'), { kind: 'unknown', code: 'REJECT_CARD_COMPANY' }],
  [
    '404 NOT_FOUND_PAYMENT_SESSION',
    refusal(404, 'NOT_FOUND_PAYMENT_SESSION'),
    { kind: 'unknown', code: 'NOT_FOUND_PAYMENT_SESSION' },
  ],
  ['500 COMMON_ERROR', refusal(500, 'COMMON_ERROR'), { kind: 'unknown', code: 'COMMON_ERROR' }],
  ['200 with an empty array', answer(200, []), { kind: 'unknown', code: 'HTTP_200' }],
  ['a reset', resetAfterReading, { kind: 'unknown', code: 'ECONNRESET' }],
]

for (const [found, script, result] of withoutPayment) {
  test(`a lookup is answered with ${found}: ${result.kind}`, async () => {
    server.play(script, script)
    assert.deepEqual(await gateway.findConfirm(intent), result)
    assert.deepEqual(await gateway.findCancel(intent), result)
    assert.equal(server.requests.length, 2)
  })
}

test('a lookup with refused credentials is unknown, and logged as an error', async () => {
  for (const [status, code] of [
    [401, 'UNAUTHORIZED_KEY'],
    [403, 'INCORRECT_BASIC_AUTH_FORMAT'],
    [400, 'INVALID_API_KEY'],
  ] as const) {
    logged.length = 0
    server.play(refusal(status, code), refusal(status, code))
    assert.deepEqual(await gateway.findConfirm(intent), { kind: 'unknown', code })
    assert.deepEqual(await gateway.findCancel(intent), { kind: 'unknown', code })
    assert.deepEqual(
      logged.map((line) => line.fields),
      [{ code }, { code }],
    )
    assert.equal(gateway.state().state, 'refusing our credentials')
  }
})
