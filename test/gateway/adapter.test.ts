// The gateway port over Toss Payments: the requests it sends, the answers it accepts, the gateway state it reports, and
// the secrets it never logs. Codes, lookups and connection faults have their own files in this folder.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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
  scriptedSecretKey,
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

const done = answer(200, paymentObject())
const wholeCancel = answer(200, paymentObject(cancelled))
const basicAuth = `Basic ${Buffer.from(`${scriptedSecretKey}:`).toString('base64')}`

// ------------------------------------------------------------------------------------------------- requests

test('a confirm is one POST with the key, the order and the amount as a number, and nothing else', async () => {
  server.play(done)
  assert.deepEqual(await gateway.confirm(intent), { kind: 'approved', transactionKey: 'transaction-1' })
  const [request, ...others] = server.requests
  assert.deepEqual(others, [])
  assert.deepEqual([request?.method, request?.path], ['POST', '/v1/payments/confirm'])
  const { paymentKey, orderId, amount } = intent
  assert.deepEqual(JSON.parse(request?.body ?? ''), { paymentKey, orderId, amount })
  assert.match(request?.body ?? '', /"amount":20000[,}]/)
})

test('a cancel is one POST with only the reason: the whole remaining amount is cancelled', async () => {
  server.play(wholeCancel)
  assert.deepEqual(await gateway.cancel(intent), { kind: 'approved', transactionKey: 'transaction-2' })
  const [request, ...others] = server.requests
  assert.deepEqual(others, [])
  assert.deepEqual([request?.method, request?.path], ['POST', `/v1/payments/${intent.paymentKey}/cancel`])
  assert.deepEqual(JSON.parse(request?.body ?? ''), { cancelReason: intent.reason })
})

test('every call authenticates with the secret key and a colon; calls that move money carry their idempotency key', async () => {
  const standard = ['host', 'connection', 'authorization']
  const forBodies = [...standard, 'content-type', 'content-length', 'idempotency-key']
  for (const [verb, names] of [
    ['confirm', forBodies],
    ['cancel', forBodies],
    ['findConfirm', standard],
    ['findCancel', standard],
  ] as const) {
    server.play(done)
    await gateway[verb](intent)
    const headers = server.requests[0]?.headers ?? {}
    assert.deepEqual(Object.keys(headers).sort(), [...names].sort(), verb)
    assert.equal(headers.authorization, basicAuth)
    if (names === standard) continue
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(headers['idempotency-key'], intent.idempotencyKey)
  }
})

test('a lookup is one GET of the payment key', async () => {
  for (const verb of ['findConfirm', 'findCancel'] as const) {
    server.play(done)
    await gateway[verb](intent)
    assert.deepEqual(
      server.requests.map(({ method, path, body }) => [method, path, body]),
      [['GET', `/v1/payments/${intent.paymentKey}`, '']],
    )
  }
})

for (const paymentKey of [
  'a/../b',
  '../x',
  'orders/ord_1',
  'a?b=c#d',
  '%2e%2e',
  '..%2f',
  'a b',
  '한글',
  '.',
  '..',
  '.%2e',
]) {
  test(`the payment key ${paymentKey} is one segment of the path, or nothing is sent`, async () => {
    for (const [verb, after] of [
      ['cancel', '/cancel'],
      ['findConfirm', ''],
      ['findCancel', ''],
    ] as const) {
      server.play(answer(200, paymentObject({ ...cancelled, paymentKey })))
      await gateway[verb]({ ...intent, paymentKey })
      const expected = `/v1/payments/${encodeURIComponent(paymentKey)}${after}`
      for (const { path } of server.requests) assert.equal(path, expected, verb)
    }
  })
}

// --------------------------------------------------------------------------------------- accepted answers

const receipt = { url: 'https://dashboard.tosspayments.com/receipt/redirection?transactionId=t1&ref=PX' }
const card = { issuerCode: '61', number: '43301234****123*', approveNo: '00482913' }
const noPaidWith = { method: 'CARD', provider: null, cardAmount: null, walletAmount: null, pointsAmount: null } as const
const wholeSlip = { receiptUrl: receipt.url, cardNumber: card.number, approvalNumber: card.approveNo }

test('a captured payment comes with its card slip: of a confirm, of a lookup, also after a part was cancelled', async () => {
  for (const members of [{}, partlyCancelled]) {
    const body = paymentObject({ receipt, card, ...members })
    server.play(answer(200, body), answer(200, body))
    const found = await gateway.findConfirm(intent)
    const snapshot = await gateway.fetchPayment(intent.paymentKey)
    for (const each of [found, snapshot])
      assert.deepEqual('slip' in each && each.slip, { ...wholeSlip, paidWith: noPaidWith })
  }
  server.play(answer(200, paymentObject({ receipt, card })))
  const transactionKey = 'transaction-1'
  const slip = { ...wholeSlip, paidWith: noPaidWith }
  assert.deepEqual(await gateway.confirm(intent), { kind: 'approved', transactionKey, slip })
})

test('a member of the slip that is missing or malformed is left out, and the confirm stays approved', async () => {
  const longUrl = `https://pay.example/${'x'.repeat(481)}`
  const cases: [members: Record<string, unknown>, slip: Partial<typeof wholeSlip>][] = [
    [{ receipt: null, card: null }, {}],
    [{ receipt: 'https://pay.example', card: ['43301234****123*'] }, {}],
    [{ receipt: { url: longUrl.slice(0, 500) } }, { receiptUrl: longUrl.slice(0, 500) }],
    [{ receipt: { url: longUrl } }, {}],
    [{ receipt: { url: 'http://127.0.0.1:8082/receipt/1' } }, { receiptUrl: 'http://127.0.0.1:8082/receipt/1' }],
    ...[
      'http://pay.example/1',
      'http://127.0.0.1.pay.example/1',
      'javascript:alert(1)',
      'data:text/html,1',
      '//pay.example/1',
      'https://shop:secret@pay.example/1',
      'https://pay.example/1\r\nSet-Cookie: a=b',
      'https://pay.example/영수증',
      7,
    ].map((url): [Record<string, unknown>, object] => [{ receipt: { url } }, {}]),
    ...['', '123456789', '승인', '1\n2', 7, null].map((approveNo): [Record<string, unknown>, object] => [
      { card: { approveNo } },
      {},
    ]),
  ]
  for (const [members, slip] of cases) {
    server.play(answer(200, paymentObject(members)))
    const none = { receiptUrl: null, cardNumber: null, approvalNumber: null }
    const outcome = await gateway.confirm(intent)
    const { paidWith: _, ...found } = (outcome.kind === 'approved' && outcome.slip) || { ...none, paidWith: null }
    assert.deepEqual([outcome.kind, found], ['approved', { ...none, ...slip }], JSON.stringify(members))
  }
})

test('a card number is taken only if it is masked', async () => {
  const masked = { '4330-12**-****-123*': '433012******123*', '************1234': '************1234' }
  const unmasked = ['4330123412341234', '433012341234123*', '4330-1234-1234-123*', '4330 1234 1234 1234', '카드***']
  const numbers = [...Object.entries(masked), ...unmasked.map((number) => [number, null])]
  for (const [number, cardNumber] of numbers) {
    server.play(answer(200, paymentObject({ card: { ...card, number } })))
    const outcome = await gateway.confirm(intent)
    const slip = { receiptUrl: null, cardNumber, approvalNumber: card.approveNo, paidWith: noPaidWith }
    assert.deepEqual(outcome, { kind: 'approved', transactionKey: 'transaction-1', slip }, `${number}`)
  }
})

/** 20,000 won, as the gateway describes it, and as it is kept; parts: by card, from the wallet, with points. */
const ways: [way: string, members: Record<string, unknown>, kept: unknown[] | null, wrong?: number[]][] = [
  ['nothing that says it', {}, null],
  ['a card', { method: '카드', card: { ...card, amount: 20_000 } }, ['CARD', null, 20_000, 0, 0]],
  ['a card in a wallet', wallet({ amount: 20_000 }, 0, 0), ['EASY_PAY', '토스페이', 20_000, 0, 0]],
  ['a card and points', wallet({ amount: 15_000 }, 0, 5_000), ['EASY_PAY', '토스페이', 15_000, 0, 5_000]],
  ['the money of a wallet', wallet(null, 20_000, 0), ['EASY_PAY', '토스페이', 0, 20_000, 0]],
  ['money and points', wallet(null, 12_000, 8_000), ['EASY_PAY', '토스페이', 0, 12_000, 8_000]],
  ['points alone', wallet(null, 0, 20_000), ['EASY_PAY', '토스페이', 0, 0, 20_000]],
  ['a card of amount 0', wallet({ amount: 0 }, 20_000, 0), ['EASY_PAY', '토스페이', 0, 20_000, 0]],
  ['a new wallet', wallet(null, 20_000, 0, '새로운 Pay'), ['EASY_PAY', '새로운 Pay', 0, 20_000, 0]],
  ['a wallet without a name', wallet(null, 20_000, 0, null), ['EASY_PAY', null, 0, 20_000, 0]],
  ['a name with a line break', wallet(null, 20_000, 0, '토스\n페이'), ['EASY_PAY', null, 0, 20_000, 0]],
  ['a name that is too long', wallet(null, 20_000, 0, 'p'.repeat(51)), ['EASY_PAY', null, 0, 20_000, 0]],
  ['a method of its own', { method: '계좌이체', transfer: { bankCode: '20' } }, ['OTHER', null, null, null, null]],
  [
    'a method in English',
    { ...wallet({ amount: 20_000 }, 0, 0), method: 'Easy Pay' },
    ['EASY_PAY', '토스페이', 20_000, 0, 0],
  ],
  ['a wallet that is no object', { method: '간편결제', easyPay: '토스페이' }, ['EASY_PAY', null, null, null, null]],
  ['amounts as text', wallet({ amount: '20000' }, 0, 0), ['EASY_PAY', '토스페이', null, null, null]],
  ['too little', wallet({ amount: 15_000 }, 0, 4_999), ['EASY_PAY', '토스페이', null, null, null], [15_000, 0, 4_999]],
  ['too much', wallet({ amount: 20_000 }, 0, 5_000), ['EASY_PAY', '토스페이', null, null, null], [20_000, 0, 5_000]],
  [
    'a negative part',
    wallet({ amount: 25_000 }, -5_000, 0),
    ['EASY_PAY', '토스페이', null, null, null],
    [25_000, -5_000, 0],
  ],
  ['a card of nothing', { method: '카드', card: { amount: 0 } }, ['CARD', null, null, null, null], [0, 0, 0]],
]

function wallet(paidCard: object | null, amount: number, discountAmount: number, provider: unknown = '토스페이') {
  return { method: '간편결제', card: paidCard, easyPay: { provider, amount, discountAmount } }
}

for (const [way, members, kept, wrong] of ways) {
  test(`paid with ${way}: it is approved by its total, and how it was paid comes with it as far as it is known`, async () => {
    const body = paymentObject(members)
    server.play(answer(200, body), answer(200, body), answer(200, body))
    for (const verb of ['confirm', 'findConfirm', 'fetch'] as const) {
      const found = await (verb === 'fetch' ? gateway.fetchPayment(intent.paymentKey) : gateway[verb](intent))
      assert.ok(found.kind === 'approved' || found.kind === 'payment', verb)
      assert.deepEqual(found.slip?.paidWith ? Object.values(found.slip.paidWith) : null, kept, verb)
      assert.deepEqual(found.wrongParts && Object.values(found.wrongParts), wrong, verb)
    }
  })
}

/** An operator sees the payment as the gateway describes it, without the payment key. */
function disagreement(code: string, members: Record<string, unknown>): Outcome {
  const { orderId, status, totalAmount, balanceAmount, currency } = paymentObject(members)
  return { kind: 'unknown', code, discrepancy: { orderId, status, totalAmount, balanceAmount, currency } as never }
}

test('an answer to a confirm that names another payment, order, amount or currency is never a success', async () => {
  for (const members of [
    { paymentKey: 'pay_other' },
    { orderId: 'ord_other' },
    { totalAmount: 19_999 },
    { totalAmount: 20_000.5 },
    { currency: 'USD' },
    { currency: 'krw' },
  ]) {
    server.play(answer(200, paymentObject(members)))
    assert.deepEqual(await gateway.confirm(intent), disagreement('PAYMENT_DIFFERS', members))
    server.play(answer(200, paymentObject({ ...cancelled, ...members })))
    assert.deepEqual(await gateway.cancel(intent), disagreement('PAYMENT_DIFFERS', { ...cancelled, ...members }))
    assert.equal(server.requests.length, 1)
  }
})

test('a confirm that is answered 200 with a status other than DONE is unknown', async () => {
  const statuses = ['READY', 'IN_PROGRESS', 'WAITING_FOR_DEPOSIT', 'ABORTED', 'EXPIRED', 'CANCELED', 'done', '']
  for (const status of statuses) {
    server.play(answer(200, paymentObject({ status })))
    const outcome = await gateway.confirm(intent)
    assert.deepEqual([outcome.kind, (outcome as { code: string }).code], ['unknown', `PAYMENT_${status}`])
  }
})

test('a cancel is approved when the remaining balance is zero, whatever the status, and unknown otherwise', async () => {
  server.play(answer(200, paymentObject(cancelledInParts)))
  assert.deepEqual(await gateway.cancel(intent), { kind: 'approved', transactionKey: 'transaction-3' })
  for (const members of [{}, partlyCancelled, { balanceAmount: 0 }, { balanceAmount: 0, cancels: [] }]) {
    server.play(answer(200, paymentObject(members)))
    assert.deepEqual(await gateway.cancel(intent), disagreement('CANCEL_NOT_WHOLE', members))
  }
})

test('a payment that lacks a required member, or has it in another type, is unknown', async () => {
  for (const member of ['paymentKey', 'orderId', 'status', 'currency', 'totalAmount', 'balanceAmount']) {
    for (const value of [undefined, null, [], {}, member.endsWith('Amount') ? '20000' : 20_000]) {
      for (const verb of ['confirm', 'cancel', 'findConfirm', 'findCancel'] as const) {
        server.play(answer(200, paymentObject({ ...cancelled, [member]: value })))
        assert.deepEqual(await gateway[verb](intent), { kind: 'unknown', code: 'HTTP_200' }, `${verb} ${member}`)
      }
    }
  }
})

test('a success is HTTP 200 and nothing else', async () => {
  for (const status of [201, 202, 206, 400, 500]) {
    server.play(answer(status, paymentObject()))
    const extra = status === 500 ? { serverError: true } : {}
    assert.deepEqual(await gateway.confirm(intent), { kind: 'unknown', code: `HTTP_${status}`, ...extra })
  }
})

// Outcomes are stored and logged: PostgreSQL cannot store NUL, and a code is printable ASCII.
test('strings from the gateway are safe to store, whatever they contain', async () => {
  const hostile = ['A\u0000B', 'x'.repeat(100_000), 'two\nlines', '\ud800', '']
  for (const text of hostile) {
    const scripts: Script[] = [
      refusal(400, text),
      refusal(500, text),
      answer(200, paymentObject({ status: text })),
      answer(200, paymentObject({ orderId: text })),
      answer(200, paymentObject({ currency: text })),
      answer(200, paymentObject({ lastTransactionKey: text })),
    ]
    for (const verb of ['confirm', 'findConfirm'] as const) {
      for (const [index, script] of scripts.entries()) {
        server.play(script)
        for (const [name, value] of stringsOf(await gateway[verb](intent))) {
          assert.match(value, /^[\x20-\x7e]{0,200}$/, `${verb}, script ${index}, ${name} of ${value.length} characters`)
        }
      }
    }
  }
})

function stringsOf(value: object): [string, string][] {
  return Object.entries(value).flatMap(([name, each]): [string, string][] => {
    if (typeof each === 'string') return [[name, each]]
    return typeof each === 'object' && each !== null ? stringsOf(each) : []
  })
}

// ------------------------------------------------------------------------------------------- reports of the port

test('the state of the gateway is the result of the last call, with the time since when', async () => {
  const fresh = openPort(server.url)
  assert.deepEqual(fresh.gateway.state(), { state: 'untried', since: null })
  const steps: [Script, string][] = [
    [done, 'answering'],
    [refusal(403, 'REJECT_CARD_COMPANY'), 'answering'],
    [refusal(500, 'COMMON_ERROR'), 'failing'],
    [answerText(502, '<html>'), 'failing'],
    [resetAfterReading, 'failing'],
    [refusal(401, 'UNAUTHORIZED_KEY'), 'refusing our credentials'],
    [refusal(403, 'INCORRECT_BASIC_AUTH_FORMAT'), 'refusing our credentials'],
    [resetAfterReading, 'failing'],
    [refusal(404, 'NOT_FOUND_PAYMENT'), 'answering'],
  ]
  let before = fresh.gateway.state()
  for (const [index, [script, state]] of steps.entries()) {
    await sleep(2)
    const startedAt = new Date().toISOString()
    server.play(script)
    await fresh.gateway.confirm(intent)
    const now = fresh.gateway.state()
    assert.equal(now.state, state, `step ${index}`)
    if (now.state === before.state) assert.equal(now.since, before.since, `step ${index}: the state has not changed`)
    else assert.ok((now.since ?? '') >= startedAt, `step ${index}: the state is new`)
    before = now
  }
  await fresh.gateway.close()
})

test('lookups change the state too', async () => {
  const fresh = openPort(server.url)
  for (const [script, state] of [
    [refusal(404, 'NOT_FOUND_PAYMENT'), 'answering'],
    [refusal(401, 'UNAUTHORIZED_KEY'), 'refusing our credentials'],
    [refusal(500, 'COMMON_ERROR'), 'failing'],
  ] as const) {
    server.play(script)
    await fresh.gateway.findConfirm(intent)
    assert.equal(fresh.gateway.state().state, state)
  }
  await fresh.gateway.close()
})

test('neither the secret key nor a payment key is in the log or in an outcome', async () => {
  const shown: unknown[] = []
  const scripts: Script[] = [
    done,
    refusal(401, 'UNAUTHORIZED_KEY'),
    refusal(403, 'INCORRECT_BASIC_AUTH_FORMAT'),
    refusal(403, 'REJECT_CARD_COMPANY'),
    refusal(500, 'COMMON_ERROR'),
    answer(200, paymentObject({ totalAmount: 1 })),
    answer(200, paymentObject({ orderId: 'ord_other' })),
    answer(200, paymentObject({ status: 'CANCELED' })),
    answerText(500, `<html>${scriptedSecretKey} ${intent.paymentKey}</html>`),
    resetAfterReading,
  ]
  logged.length = 0
  for (const script of scripts) {
    for (const verb of ['confirm', 'cancel', 'findConfirm', 'findCancel'] as const) {
      server.play(script)
      shown.push(await gateway[verb](intent))
    }
  }
  assert.equal(logged.length, 8)
  const text = JSON.stringify([shown, logged, gateway.state()])
  for (const secret of [scriptedSecretKey, basicAuth.slice(6), intent.paymentKey, intent.idempotencyKey]) {
    assert.ok(!text.includes(secret), `${secret} is shown`)
  }
})
