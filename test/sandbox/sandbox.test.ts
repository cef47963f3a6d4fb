// The sandbox at its API: authentication, paths, bodies, forced errors, and the checkout that replaces the buyer.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { errorCodes } from '../../sandbox/protocol/errors.ts'
import {
  assertRefused,
  basic,
  call,
  type Json,
  openSandboxes,
  secretKey,
  shop,
} from '../support/gateway/sandbox-shop.ts'

const { start } = openSandboxes()

const documentedCodes = {
  400: `
    ALREADY_PROCESSED_PAYMENT PROVIDER_ERROR CARD_PROCESSING_ERROR INVALID_REQUEST INVALID_API_KEY
    EXCEED_MAX_CARD_INSTALLMENT_PLAN NOT_ALLOWED_POINT_USE INVALID_REJECT_CARD BELOW_MINIMUM_AMOUNT
    INVALID_CARD_EXPIRATION INVALID_STOPPED_CARD INVALID_CARD_LOST_OR_STOLEN INVALID_CARD_NUMBER
    INVALID_CARD_INSTALLMENT_PLAN NOT_SUPPORTED_INSTALLMENT_PLAN_CARD_OR_MERCHANT
    NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN EXCEED_MAX_DAILY_PAYMENT_COUNT EXCEED_MAX_PAYMENT_AMOUNT
    EXCEED_MAX_MONTHLY_PAYMENT_AMOUNT EXCEED_MAX_AMOUNT EXCEED_MAX_ONE_DAY_WITHDRAW_AMOUNT
    EXCEED_MAX_ONE_TIME_WITHDRAW_AMOUNT NOT_FOUND_TERMINAL_ID INVALID_AUTHORIZE_AUTH RESTRICTED_TRANSFER_ACCOUNT
    INVALID_UNREGISTERED_SUBMALL NOT_REGISTERED_BUSINESS INVALID_ACCOUNT_INFO_RE_REGISTER NOT_AVAILABLE_PAYMENT
    UNAPPROVED_ORDER_ID INVALID_IDEMPOTENCY_KEY INVALID_PAYMENT_KEY INVALID_ORDER_ID REQUIRED_AMOUNT
    INVALID_REQUIRED_PARAM ALREADY_COMPLETED_PAYMENT DUPLICATED_REQUEST DUPLICATED_ORDER_ID MAINTAINED_METHOD
    EXCEEDS_TRANSFER_AMOUNT_MAXIMUM INVALID_TEST_CODE ALREADY_CANCELED_PAYMENT INVALID_REFUND_ACCOUNT_INFO
    EXCEED_CANCEL_AMOUNT_DISCOUNT_AMOUNT INVALID_REFUND_ACCOUNT_NUMBER INVALID_BANK
    NOT_MATCHES_REFUNDABLE_AMOUNT REFUND_REJECTED ALREADY_REFUND_PAYMENT FORBIDDEN_BANK_REFUND_REQUEST
    INVALID_REFUND_AMOUNT ALREADY_REFUNDING_PAYMENT INVALID_DATE INVALID_ISO_DATE_FORMAT EXCEED_MAX_QUERY_LIMIT
    INVALID_PAGING_KEY INVALID_TRANSACTION_KEY NOT_SUPPORTED_MONTHLY_INSTALLMENT_PLAN_BELOW_AMOUNT`,
  401: `
    UNAUTHORIZED_KEY`,
  403: `
    REJECT_ACCOUNT_PAYMENT REJECT_CARD_PAYMENT REJECT_CARD_COMPANY FORBIDDEN_REQUEST
    REJECT_TOSSPAY_INVALID_ACCOUNT EXCEED_MAX_AUTH_COUNT EXCEED_MAX_ONE_DAY_AMOUNT NOT_AVAILABLE_BANK
    INVALID_PASSWORD INCORRECT_BASIC_AUTH_FORMAT FDS_ERROR NOT_CANCELABLE_AMOUNT NOT_CANCELABLE_PAYMENT
    FORBIDDEN_CONSECUTIVE_REQUEST EXCEED_MAX_REFUND_DUE NOT_ALLOWED_PARTIAL_REFUND_WAITING_DEPOSIT
    NOT_ALLOWED_PARTIAL_REFUND NOT_CANCELABLE_PAYMENT_FOR_DORMANT_USER EXCEED_CANCEL_LIMIT
    EXCEED_MAX_REFUND_AMOUNT NOT_SUPPORTED_REFUND NOT_ALLOWED_REFUND_BANK`,
  404: `
    NOT_FOUND_PAYMENT NOT_FOUND_PAYMENT_SESSION NOT_FOUND NOT_FOUND_HTTP_METHOD NOT_FOUND_MERCHANT`,
  409: `
    IDEMPOTENT_REQUEST_PROCESSING`,
  500: `
    FAILED_PAYMENT_INTERNAL_SYSTEM_PROCESSING FAILED_INTERNAL_SYSTEM_PROCESSING UNKNOWN_PAYMENT_ERROR
    COMMON_ERROR FAILED_DB_PROCESSING FAILED_METHOD_HANDLING UNKNOWN_ERROR FAILED_REFUND_PROCESS
    FAILED_METHOD_HANDLING_CANCEL FAILED_PARTIAL_REFUND`,
}

let url = ''
let toss = shop('')
before(async () => {
  url = (await start()).url
  toss = shop(url)
})

describe('authentication and paths', () => {
  test('a missing or foreign key is 401 UNAUTHORIZED_KEY', async () => {
    for (const authorization of ['', 'Bearer x', basic('test_sk_somebodyelse:')]) {
      for (const address of ['/v1/payments/any', '/%761/payments/any', '/v1/nowhere']) {
        assertRefused(await call(url + address, 'GET', undefined, { authorization }), 401, 'UNAUTHORIZED_KEY')
      }
    }
  })

  test('a key without its colon is 403 INCORRECT_BASIC_AUTH_FORMAT', async () => {
    const reply = await call(`${url}/v1/payments/confirm`, 'POST', {}, { authorization: basic(secretKey) })
    assertRefused(reply, 403, 'INCORRECT_BASIC_AUTH_FORMAT')
  })

  test('every answer has its own trace id', async () => {
    const answers = [
      await toss.lookup((await toss.paid()).paymentKey),
      await call(`${url}/v1/payments/any`, 'GET', undefined, { authorization: '' }),
      await call(`${url}/nowhere`, 'GET'),
      await call(`${url}/v1/payments/%zz`, 'GET'),
      await toss.confirm('{'),
    ]
    for (const answer of answers) assert.match(answer.traceId ?? '', /^[0-9a-f]{32}$/)
    assert.equal(new Set(answers.map((answer) => answer.traceId)).size, answers.length)
  })

  test('an unknown path is 404 NOT_FOUND', async () => {
    assertRefused(await call(`${url}/nowhere`, 'GET'), 404, 'NOT_FOUND')
    assertRefused(await call(`${url}/v1/nowhere`, 'POST', {}), 404, 'NOT_FOUND')
  })

  test('a body that is not JSON, not an object or above 64 KiB is 400 INVALID_REQUEST', async () => {
    for (const body of ['{"paymentKey":', '', '[]', 'null', JSON.stringify({ orderId: 'x'.repeat(65 * 1024) })]) {
      assertRefused(await toss.confirm(body), 400, 'INVALID_REQUEST')
    }
  })
})

describe('checkout', () => {
  test('an issued paymentKey has the form of Toss and is long enough not to be guessed', async () => {
    const { paymentKey } = await toss.checkout()
    assert.match(paymentKey, /^[a-z]{5}\d{14}[A-Za-z0-9]{20}$/)
  })

  test('bad input is 400 and names the field and what is expected', async () => {
    const bad: [Json, RegExp][] = [
      [{ amount: 1000 }, /^orderId: expected 6 to 64/],
      [{ orderId: 'short', amount: 1000 }, /^orderId: expected 6 to 64/],
      [{ orderId: 'order-1', amount: 99 }, /^amount: expected an integer of at least 100/],
      [{ orderId: 'order-1', amount: '1000' }, /^amount:/],
      [
        { orderId: 'order-1', amount: 1000, result: 'no' },
        /^result: expected one of approve, decline, insufficient, limit, expired-card, expire, hang/,
      ],
    ]
    for (const [body, message] of bad) {
      const reply = await call(`${url}/sandbox/payments`, 'POST', body, { authorization: '' })
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), message)
    }
  })

  test('all payments are listed without authentication', async () => {
    const { paymentKey } = await toss.checkout()
    const reply = await call(`${url}/sandbox/payments`, 'GET', undefined, { authorization: '' })
    const listed = (reply.body.payments as Json[]).find((payment) => payment.paymentKey === paymentKey)
    assert.equal(listed?.status, 'IN_PROGRESS')
  })

  test('a list is complete and in the order of the checkouts, however long it is', async () => {
    const own = await start({ name: 'long' })
    const list = async () => (await call(`${own.url}/sandbox/payments`, 'GET')).body
    assert.deepEqual(await list(), { payments: [] })
    const paymentKeys: string[] = []
    for (let count = 0; count < 405; count += 1) paymentKeys.push((await shop(own.url).checkout()).paymentKey)
    const { payments } = await list()
    assert.deepEqual(
      (payments as Json[]).map(({ paymentKey }) => paymentKey),
      paymentKeys,
    )
  })
})

describe('TossPayments-Test-Code', () => {
  const confirmWith = (code: string, address = url) =>
    call(`${address}/v1/payments/confirm`, 'POST', '{', { 'tosspayments-test-code': code })

  test('answers with any code by name and its status, whatever the request is', async () => {
    for (const [code, { status }] of Object.entries(errorCodes)) assertRefused(await confirmWith(code), status, code)
    const reply = await call(`${url}/v1/nowhere`, 'GET', undefined, { 'tosspayments-test-code': 'FDS_ERROR' })
    assertRefused(reply, 403, 'FDS_ERROR')
  })

  test('the tables have every code of confirm, cancel, lookup and transactions, with its status', () => {
    for (const [status, codes] of Object.entries(documentedCodes)) {
      for (const code of codes.trim().split(/\s+/)) {
        assert.equal((errorCodes as Record<string, { status: number }>)[code]?.status, Number(status), code)
      }
    }
  })

  test('an unknown code is 400 INVALID_TEST_CODE', async () => {
    for (const code of ['NO_SUCH_CODE', 'toString', 'fds_error']) {
      assertRefused(await confirmWith(code), 400, 'INVALID_TEST_CODE')
    }
  })

  test('does nothing, stores nothing and uses up no fault', async () => {
    const checkout = await toss.checkout()
    await toss.faults({ on: 'confirm', kind: 'delay', times: 1, delayMs: 0 })
    const headers = { 'idempotency-key': checkout.orderId, 'tosspayments-test-code': 'REJECT_CARD_COMPANY' }
    const forced = await call(`${url}/v1/payments/confirm`, 'POST', checkout, headers)
    assertRefused(forced, 403, 'REJECT_CARD_COMPANY')
    assert.equal((await call(`${url}/sandbox/faults`, 'GET')).text.includes('"times":1'), true)
    assert.equal((await toss.confirm(checkout, checkout.orderId)).body.status, 'DONE')
  })

  test('comes after authentication and is ignored with a live key', async () => {
    const otherKey = { authorization: basic('test_sk_other:'), 'tosspayments-test-code': 'FDS_ERROR' }
    assertRefused(await call(`${url}/v1/payments/x`, 'GET', undefined, otherKey), 401, 'UNAUTHORIZED_KEY')
    const live = await start({ name: 'live', secretKey: 'live_sk_sandboxtests' })
    const headers = { authorization: basic('live_sk_sandboxtests:'), 'tosspayments-test-code': 'FDS_ERROR' }
    assertRefused(await call(`${live.url}/v1/payments/x`, 'GET', undefined, headers), 404, 'NOT_FOUND_PAYMENT')
  })
})
