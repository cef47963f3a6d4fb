// The texts of an order's timeline and of refusals: every value that the service can write has a sentence in both languages,
// and an unknown value is shown unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { books as booksInEnglish } from '../../../console/src/words/en/books.ts'
import { discrepancy as discrepancyInEnglish } from '../../../console/src/words/en/discrepancy.ts'
import { gateway as gatewayInEnglish } from '../../../console/src/words/en/gateway.ts'
import { home as homeInEnglish } from '../../../console/src/words/en/home.ts'
import { orders as ordersInEnglish } from '../../../console/src/words/en/orders.ts'
import { problems as problemsInEnglish } from '../../../console/src/words/en/problems.ts'
import { timeline as timelineInEnglish } from '../../../console/src/words/en/timeline.ts'
import { books as booksInKorean } from '../../../console/src/words/ko/books.ts'
import { discrepancy as discrepancyInKorean } from '../../../console/src/words/ko/discrepancy.ts'
import { gateway as gatewayInKorean } from '../../../console/src/words/ko/gateway.ts'
import { home as homeInKorean } from '../../../console/src/words/ko/home.ts'
import { orders as ordersInKorean } from '../../../console/src/words/ko/orders.ts'
import { problems as problemsInKorean } from '../../../console/src/words/ko/problems.ts'
import { timeline as timelineInKorean } from '../../../console/src/words/ko/timeline.ts'
import { type ConsoleEndpoint, contract } from '../../../src/console/contract.ts'
import { momentKinds } from '../../../src/console/orders/contract.ts'
import { orderTimeline } from '../../../src/console/orders/timeline.ts'
import { catalogue } from '../../../src/core/errors.ts'
import { cancelledAtGateway } from '../../../src/gateway/gateway.ts'
import { cancelCodes, confirmCodes } from '../../../src/gateway/toss/outcomes.ts'
import type { OrderStory } from '../../../src/payments/books/order-story.sql.ts'
import { failureReasons } from '../../../src/payments/failure-reasons.ts'

const languages = {
  en: {
    orders: ordersInEnglish,
    books: booksInEnglish,
    discrepancy: discrepancyInEnglish,
    gateway: gatewayInEnglish,
    timeline: timelineInEnglish,
    problems: problemsInEnglish,
  },
  ko: {
    orders: ordersInKorean,
    books: booksInKorean,
    discrepancy: discrepancyInKorean,
    gateway: gatewayInKorean,
    timeline: timelineInKorean,
    problems: problemsInKorean,
  },
}
type Language = keyof typeof languages
type Detail = Record<string, unknown>
type Described = { text: string; notes: string[]; tone: string }

// The page is compiled with its own settings, which differ from those of this program.
const page = '../../../console/src/pages/order/timeline'
const { describeMoment } = (await import(`${page}/moment-text.ts`)) as {
  describeMoment(moment: { at: string; kind: string; detail: Detail }, words: object, formats: object): Described
}
const { meaningOfCode } = (await import(`${page}/gateway-code.ts`)) as {
  meaningOfCode(words: object, code: string): string
}

const { valueText } = (await import(`${page}/value-text.ts`)) as {
  valueText(words: object, field: string, value: string): string
}
const { meaningOf } = (await import('../../../console/src/pages/order/meaning.ts' as string)) as {
  meaningOf(
    page: { order: object; open: object | null; story: object[]; openDiscrepancies: object[] },
    words: object,
  ): string
}

const { errorTextOf } = (await import('../../../console/src/parts/error-text.ts' as string)) as {
  errorTextOf(error: Error, words: object): { title: string; hint: string | null }
}
const { ApiError } = (await import('../../../console/src/api/client.ts' as string)) as {
  ApiError: new (status: number, code: string, message: string, metadata?: object) => Error
}

const formats = {
  number: (value: number) => `${value}`,
  won: (value: number) => `₩${value}`,
  time: (at: string) => ({ korea: at, utc: at }),
  day: (day: string) => day,
  timeSpan: (from: string, to: string) => `${from} – ${to}`,
}
const at = '2026-11-15T21:45:21.334Z'
const hangul = /[가-힣]/

function described(kind: string, detail: Detail, language: Language): Described {
  return describeMoment({ at, kind, detail }, languages[language], formats)
}

const operations = ['CONFIRM', 'CANCEL', 'REFUND', 'RETURN']
const ends = [
  ...operations.flatMap((kind) => ['APPROVED', 'REJECTED'].map((state) => ({ kind, state, gatewayCode: null }))),
  { kind: 'CONFIRM', state: 'EXPIRED', gatewayCode: null },
  ...['REFUND', 'PART'].map((kind) => {
    return { kind, state: 'APPROVED', gatewayCode: cancelledAtGateway, amount: 5_000, creditsHeld: 5, reason: 'agreed' }
  }),
]
const delivery = { endpointId: 'end_1', endpointStatus: 'ACTIVE', error: null, nextTryAt: null }

const refundRule = { from: '2026-12-01', fullPriceDays: 7, smallestAmount: 1_000, sharePercent: 80 }

/** The details that the service writes, by kind of moment. */
const written: Record<(typeof momentKinds)[number], Detail[]> = {
  PURCHASE: [{ packageType: 'STANDARD', amount: 20_000, credits: 21 }],
  OPERATION_BEGUN: [
    ...operations.map((kind) => ({ kind, amount: 15_000, reason: null })),
    { kind: 'REFUND', amount: 12_000, reason: null, refundRule },
  ],
  ATTEMPT: [
    { gatewayCode: 'ECONNRESET' },
    { gatewayCode: 'NOT_ARRIVED_YET' },
    { count: 3, until: '2026-11-15T21:46:00.000Z', codes: [{ gatewayCode: 'ECONNRESET', count: 3 }] },
  ],
  OPERATION_ENDED: ends,
  LEDGER: [null, 'REFUND', 'PART'].flatMap((operationKind) =>
    ['GRANT', 'ROLLBACK', 'REFUND', 'HOLD', 'RELEASE'].map((kind) => ({
      kind,
      delta: kind === 'HOLD' || kind === 'RELEASE' ? 0 : 21,
      heldDelta: 21,
      balanceAfter: 3_200,
      operationKind,
    })),
  ),
  EVENT: ['DELIVERED', 'WAITING', 'DEAD', 'NOT_SENT'].map((state) => ({
    type: 'order.confirmed',
    deliveries: [{ ...delivery, state }],
  })),
  WEBHOOK: [null, 'no such order', 'nothing new', 'agrees', 'repaired', 'disagrees', 'left to reconciliation'].map(
    (outcome) => ({ eventType: 'PAYMENT_STATUS_CHANGED', status: 'DONE', outcome }),
  ),
  DISCREPANCY_FOUND: Object.keys(booksInEnglish.discrepancies.kinds).flatMap((kind) => [
    { kind, resolvedAt: null },
    { kind, resolvedAt: at },
  ]),
  DISCREPANCY_RESOLVED: ['the gateway and our books agree', 'the operation was settled'].map((resolution) => ({
    kind: 'OPERATION_STUCK',
    resolution,
  })),
  OPERATOR: ['ok', 'requested', 'failed', null, 'SVC001: Not known yet.', 'PAYMENT_CANCEL_FAILED: Not refunded.'].map(
    (outcome) => ({
      actor: 'kim in the console from 127.0.0.1',
      command: 'orders settle',
      reason: 'asked',
      outcome,
    }),
  ),
}

test('a refund of the unused part names its rule in both languages', () => {
  const notesOf = (from: string | null, language: 'en' | 'ko') =>
    described('OPERATION_BEGUN', { kind: 'REFUND', amount: 12_000, refundRule: { ...refundRule, from } }, language)
      .notes
  assert.deepEqual(notesOf('2026-12-01', 'en'), [
    'Rule since 2026-12-01: full price within 7 days if unused, then 80% of the unused value, at least ₩1000.',
  ])
  assert.match(`${notesOf(null, 'en')}`, /^Rule from the beginning: /)
  assert.match(`${notesOf('2026-12-01', 'ko')}`, /^2026-12-01부터의 환불 규정: .*80%, 최소 ₩1000/)
  assert.match(`${notesOf(null, 'ko')}`, /^최초 환불 규정: /)

  const withoutDays = { ...refundRule, from: '2026-12-01', fullPriceDays: 0 }
  const sentences = (['en', 'ko'] as const).map(
    (language) =>
      described('OPERATION_BEGUN', { kind: 'REFUND', amount: 12_000, refundRule: withoutDays }, language).notes[0],
  )
  assert.deepEqual(sentences, [
    'Rule since 2026-12-01: 80% of the unused value, at least ₩1000.',
    '2026-12-01부터의 환불 규정: 미사용 금액의 80%, 최소 ₩1000.',
  ])
})

for (const kind of momentKinds) {
  test(`every moment of kind ${kind} has a text in both languages`, () => {
    for (const detail of written[kind]) {
      const [english, korean] = [described(kind, detail, 'en'), described(kind, detail, 'ko')]
      assert.equal(english.notes.length, korean.notes.length)
      for (const line of [english.text, ...english.notes]) {
        assert.match(line, /^\S.*\S$/)
        assert.doesNotMatch(line, /undefined|null|NaN|\[object/)
        assert.doesNotMatch(line, hangul)
      }
      for (const line of [korean.text, ...korean.notes]) assert.match(line, hangul, `${kind} ${JSON.stringify(detail)}`)
    }
  })
}

test('the entries of an accepted part are said to be of it: it is no refund, and waits for no outcome', () => {
  const ofPart = { operationKind: 'PART', delta: -5, balanceAfter: 105 }
  const texts = ['HOLD', 'REFUND'].map((kind) => described('LEDGER', { ...ofPart, kind }, 'en').text)
  assert.deepEqual(texts, [
    '5 credits set aside for the accepted partial cancellation, balance 105',
    '5 credits deducted by the accepted partial cancellation, balance 105',
  ])
  assert.match(described('LEDGER', { ...ofPart, operationKind: 'REFUND', kind: 'REFUND' }, 'en').text, /by the refund/)
})

test('a refused action says what is wrong and what to do: by the reason of the refusal, or by its field', () => {
  const action = { actor: 'kim', command: 'discrepancies accept', reason: 'agreed' }
  const noteOf = (refusal: string | null) =>
    described('OPERATOR', { ...action, outcome: 'VAL003: The service says.', refusal }, 'en').notes.at(-1)
  const { title, hint } = problemsInEnglish.reasons['requested already']
  assert.equal(noteOf('requested already'), `${title} ${hint}`)
  assert.equal(noteOf('credits'), problemsInEnglish.fields.credits)
  assert.equal(noteOf(null), 'Invalid input.')
})

test('what a discrepancy meant is said to be as it was found, once it is resolved', () => {
  const kind = 'PARTLY_CANCELLED_AT_GATEWAY'
  for (const language of ['en', 'ko'] as const) {
    const { meaning = '' } = languages[language].books.discrepancies.kinds[kind] ?? {}
    const { asFound } = languages[language].discrepancy
    assert.deepEqual(described('DISCREPANCY_FOUND', { kind, resolvedAt: null }, language).notes, [meaning])
    assert.deepEqual(described('DISCREPANCY_FOUND', { kind, resolvedAt: at }, language).notes, [`${asFound}${meaning}`])
  }
})

test('every kind of operation that waits on the home page has a name in both languages', () => {
  for (const { kinds } of [homeInEnglish, homeInKorean]) assert.deepEqual(Object.keys(kinds), operations)
})

test('the rows of an order become sentences: a confirm without an answer, settled by an operator', () => {
  const [customerId, operationId, orderId] = ['6ce6bb10-10b3-43c8-888e-ee4fa58bdbc0', 'op', 'ord_1']
  const second = (count: number) => `2026-11-15T21:45:0${count}.000Z`
  const rows: OrderStory = {
    orderId,
    customerId,
    status: 'CONFIRMED',
    packageType: 'STANDARD',
    amount: 20_000,
    credits: 21,
    createdAt: new Date(second(0)),
    confirmedAt: new Date(second(6)),
    refundShortfall: null,
    refundedAmount: null,
    receiptUrl: null,
    cardNumber: null,
    approvalNumber: null,
    paidWith: null,
    operations: [
      {
        operationId,
        kind: 'CONFIRM',
        state: 'APPROVED',
        amount: 20_000,
        paymentKey: 'pay_1',
        gatewayCode: null,
        transactionKey: 'txn_1',
        reason: null,
        creditsHeld: 0,
        attempts: 1,
        nextAttemptAt: null,
        keyLastFour: null,
        refundRule: null,
        openedAt: second(1),
        closedAt: second(5),
      },
    ],
    attempts: [{ operationId, gatewayCode: 'ECONNRESET', happenedAt: second(2) }],
    entries: [
      {
        entryNumber: 9,
        kind: 'GRANT',
        delta: 21,
        heldDelta: 0,
        balanceAfter: 3_200,
        createdAt: second(6),
        operationKind: null,
      },
    ],
    discrepancies: [],
    notifications: [
      {
        eventType: 'PAYMENT_STATUS_CHANGED',
        status: 'DONE',
        paymentKey: 'pay_1',
        receivedAt: second(3),
        processedAt: null,
        outcome: null,
      },
    ],
    actions: [
      {
        actionId: 'act',
        actor: 'kim in the console from ::1',
        command: 'orders settle',
        reason: 'no credits',
        at: second(4),
        outcome: 'ok',
        refusal: null,
        endedAt: second(7),
      },
    ],
  }
  const event = { eventNumber: 4, eventId: 'evt', type: 'order.confirmed', data: {}, ageMs: 0 } as const
  const deliveries = [{ ...delivery, state: 'DELIVERED', endpointStatus: 'ACTIVE', attempts: 0 } as const]
  const moments = orderTimeline(rows, [{ ...event, createdAt: new Date(second(7)), deliveries }])
  const lines = moments
    .map(({ kind, detail }) => described(kind, detail, 'en'))
    .map(({ text, notes }) => [text, ...notes])
  assert.deepEqual(lines, [
    ['Order created: STANDARD, ₩20000 for 21 credits'],
    ['Payment confirmation requested from the gateway'],
    ['Outcome unknown: The gateway closed the connection (ECONNRESET)'],
    ['Webhook received from the gateway: Payment status changed, Paid (DONE)', 'Not processed yet'],
    ['kim: sync with gateway', 'Reason: no credits', 'Done'],
    ['Payment captured'],
    ['21 credits granted, balance 3200'],
    ['Event order.confirmed', 'Delivered to end_1'],
  ])
})

test('what an order means follows its status, the operation in progress, the reason of its failure and the notification', () => {
  const order = { status: 'PENDING', failure: null, notified: null }
  const open = { kind: 'CONFIRM' }
  const cases: [order: object, open: object | null, meaning: RegExp][] = [
    [order, null, /^Waiting for payment/],
    [order, open, /^Paid or being paid: the outcome is being determined/],
    [{ ...order, notified: 'DONE' }, open, /^The gateway has reported the payment as paid/],
    [{ ...order, notified: 'DONE' }, null, /not in our books/],
    [{ ...order, status: 'CONFIRMED', notified: 'DONE' }, null, /^Paid\. The credits/],
    [{ ...order, status: 'CONFIRMED', notified: 'DONE' }, { kind: 'REFUND' }, /refund is in progress/],
    [{ ...order, status: 'FAILED', failure: { reason: 'order-expired' } }, { kind: 'RETURN' }, /being returned/],
    ...failureReasons.map((reason): [object, null, RegExp] => [
      { ...order, status: 'FAILED', failure: { reason } },
      null,
      /expired$/.test(reason) && reason !== 'card-expired'
        ? /^Expired: .*No card was charged/
        : /^(Declined|Not paid): /,
    ]),
  ]
  const nothing = { story: [], openDiscrepancies: [] }
  for (const [given, operation, meaning] of cases) {
    assert.match(meaningOf({ order: given, open: operation, ...nothing }, languages.en), meaning)
    assert.match(meaningOf({ order: given, open: operation, ...nothing }, languages.ko), hangul)
  }
})

test('a failed order whose payment was captured is never said to be unpaid: it is open, returned, or resolved', () => {
  const order = { status: 'FAILED', failure: { reason: 'order-expired' }, notified: null }
  const captured = { kind: 'CAPTURED_FOR_FAILED_ORDER' }
  const found = { kind: 'DISCREPANCY_FOUND', detail: captured }
  const ended = (state: string) => ({ kind: 'OPERATION_ENDED', detail: { kind: 'RETURN', state } })
  const cases: [story: object[], openDiscrepancies: object[], meaning: RegExp][] = [
    [[found, ended('REJECTED')], [captured], /has not been returned/],
    [[found, ended('APPROVED'), found], [captured], /has not been returned/],
    [[found, ended('APPROVED')], [], /was returned to the card/],
    [[found, ended('REJECTED')], [], /how this was resolved/],
  ]
  for (const [story, openDiscrepancies, meaning] of cases) {
    const given = { order, open: null, story, openDiscrepancies }
    assert.match(meaningOf(given, languages.en), meaning)
    assert.doesNotMatch(meaningOf(given, languages.ko), /결제된 금액은 없습니다/)
  }
})

test('values of details that the service writes are words in both languages, with the code of the gateway', () => {
  assert.equal(valueText(languages.ko, 'status', 'PARTIAL_CANCELED'), '부분 취소됨 (PARTIAL_CANCELED)')
  assert.equal(valueText(languages.ko, 'kind', 'CONFIRM'), '결제 승인 (CONFIRM)')
  assert.equal(valueText(languages.ko, 'outcome', 'nothing new'), '변경 없음')
  assert.equal(valueText(languages.ko, 'actor', 'kim in the console from ::1'), 'kim (콘솔, IP ::1)')
  assert.equal(valueText(languages.ko, 'status', 'OF_TOMORROW'), 'OF_TOMORROW')
  const { values } = timelineInEnglish
  const codes = Object.entries(values).flatMap(([field, table]) =>
    Object.keys(table).map((code) => [field, code] as const),
  )
  for (const [field, code] of codes) {
    assert.match(valueText(languages.ko, field, code), hangul)
    assert.doesNotMatch(valueText(languages.en, field, code), hangul)
  }
})

/** The service's own codes that take the place of a gateway code. */
const ourCodes = [
  'NOT_ARRIVED_YET',
  'ABANDONED',
  'GATEWAY_HELD_BACK',
  'PAYMENT_DIFFERS',
  'PAYMENT_OF_ANOTHER_ORDER',
  'CANCEL_NOT_WHOLE',
  'CANCEL_OF_ANOTHER_PART',
  cancelledAtGateway,
  'ANSWER_TOO_LARGE',
  'UNSENDABLE_KEY',
  'TimeoutError',
  'ABORTED',
  'EXPIRED',
  'CANCELED',
]

test('every gateway code that the service knows has an explanation in both languages', () => {
  for (const code of [...confirmCodes.keys(), ...cancelCodes.keys(), ...ourCodes]) {
    for (const language of ['en', 'ko'] as const) {
      assert.match(meaningOfCode(languages[language], code), new RegExp(`^.+ \\(${code}\\)$`))
    }
  }
})

test('a code, a kind of entry or an outcome without a translation is shown unchanged', () => {
  assert.equal(meaningOfCode(languages.ko, 'A_CODE_OF_TOMORROW'), 'A_CODE_OF_TOMORROW')
  assert.match(meaningOfCode(languages.en, 'HTTP_418'), /418/)
  assert.match(meaningOfCode(languages.ko, 'PAYMENT_OF_SOME_KIND'), /OF_SOME_KIND/)
  assert.match(described('OPERATION_BEGUN', { kind: 'TOMORROW', reason: null }, 'ko').text, /TOMORROW/)
  assert.match(described('LEDGER', { kind: 'TOMORROW', delta: 5, balanceAfter: 7 }, 'ko').text, /TOMORROW 5, 7/)
  const outcome = 'TOMORROW001: not in the list'
  const [, note] = described('OPERATOR', { actor: 'kim', command: 'x', reason: 'y', outcome }, 'ko').notes
  assert.equal(note, outcome)
})

test('the actor of a console action is named without the network address', () => {
  const [detail = {}] = written.OPERATOR
  assert.equal(described('OPERATOR', detail, 'en').text, 'kim: sync with gateway')
})

test('a refusal is shown by its reason or code in the language of the reader, never with the message of the service', () => {
  const sentence = 'The key is suspended already.'
  const { codes, reasons } = problemsInEnglish
  const refusals = [
    ...Object.entries(catalogue).map(([code, { status }]) => new ApiError(status, code, sentence)),
    ...Object.keys(reasons).map((reason) => new ApiError(400, 'VAL003', sentence, { reason })),
    new ApiError(0, 'NO_ANSWER', sentence),
    new ApiError(502, 'HTTP 502', sentence),
    new Error(sentence),
    new ApiError(418, 'HTTP 418', sentence),
  ]
  for (const refusal of refusals) {
    const { title, hint } = errorTextOf(refusal, languages.ko)
    assert.match(title, hangul, JSON.stringify(refusal))
    assert.doesNotMatch(`${title} ${hint ?? ''}`, /[a-z]{4}/, JSON.stringify(refusal))
    assert.doesNotMatch(errorTextOf(refusal, languages.en).title, hangul)
  }
  const [reasoned, strange] = ['suspended key', 'of tomorrow'].map((reason) => {
    return errorTextOf(new ApiError(400, 'VAL003', sentence, { reason }), languages.en)
  })
  assert.deepEqual([reasoned, strange], [reasons['suspended key'], codes.VAL003])
  const proxied = [401, 403, 404, 500, 502, 503, 504].map((status) => {
    return errorTextOf(new ApiError(status, `HTTP ${status}`, ''), languages.en)
  })
  const { AUTH001, AUTH003, NOT000, INT001, NO_ANSWER } = codes
  assert.deepEqual(proxied, [AUTH001, AUTH003, NOT000, INT001, NO_ANSWER, NO_ANSWER, NO_ANSWER])
})

test('the text about a field is right wherever the field occurs: each of its numbers is in each rule of the field', () => {
  const rules = Object.values<ConsoleEndpoint>(contract)
    .flatMap(({ query, body }) => [query, body])
    .flatMap((schema) => Object.entries((schema as { properties?: object } | undefined)?.properties ?? {}))
  const numbersIn = (text: string): string[] => text.match(/\d+/g) ?? []
  let compared = 0
  for (const { fields } of [problemsInEnglish, problemsInKorean]) {
    const texts: Record<string, string> = fields
    for (const [field, rule] of rules) {
      const known = numbersIn(JSON.stringify(rule))
      const numbers = numbersIn(texts[field] ?? '')
      const unknown = numbers.filter((number) => !known.includes(number))
      assert.deepEqual(unknown, [], `${field} ${JSON.stringify(rule)}`)
      compared += numbers.length
    }
  }
  assert.ok(compared > 0)
})
