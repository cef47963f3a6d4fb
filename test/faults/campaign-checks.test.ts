// The checks of a campaign (proof/model/checks) on reversals, adjustments, budgets, suspensions and failovers can find something:
// correct evidence passes them, and each reports the fault it is for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdjustmentCall } from '../../proof/model/actions/account-actions.ts'
import type { BookedOrder, Check, Evidence } from '../../proof/model/checks/evidence.ts'
import { checkFailovers } from '../../proof/model/checks/failovers.ts'
import { checkKeys } from '../../proof/model/checks/keys.ts'
import { checkAdjustments } from '../../proof/model/checks/money/adjustments.ts'
import { checkBalances } from '../../proof/model/checks/money/balances.ts'
import type {
  BookedAdjustment,
  BookedHold,
  BookedUse,
  UsageEntry,
  UsedStep,
} from '../../proof/model/checks/money/booked.ts'
import { checkBudgets } from '../../proof/model/checks/money/budgets.ts'
import { checkGateway } from '../../proof/model/checks/money/gateway.ts'
import { checkHolds } from '../../proof/model/checks/money/holds.ts'
import { checkReversals } from '../../proof/model/checks/money/reversals.ts'
import { checkSpends } from '../../proof/model/checks/money/spends.ts'
import { isQuoteOf } from '../../proof/model/checks/operators.ts'
import { groundless } from '../../proof/model/checks/reasons.ts'
import { checkSuspensions } from '../../proof/model/checks/suspensions.ts'
import type { Call, Outcome, Request } from '../../proof/model/history.ts'
import { findMissing } from '../../proof/report/enough.ts'
import type { CampaignBudget } from '../../proof/world/budgets.ts'
import type { World } from '../../proof/world/world.ts'

const customerId = 'acme'
/** Wall clock, of a moment of the history. */
const at = (ms: number) => performance.timeOrigin + ms
const hour = (ms: number) => `${new Date(at(ms) + 9 * 3_600_000).toISOString().slice(0, 13)}:59:59.999+09:00`

let calls = 0
function call<Of extends Request>(request: Of, outcome: Outcome, [invokedAtMs, endedAtMs]: [number, number]): Call<Of> {
  calls += 1
  const sent = { number: calls, service: 'a', request, keyId: null, invokedAtMs, endedAtMs } as const
  return { ...sent, outcome, breach: null, dropped: false }
}
const ok = (data: object): Outcome => ({ kind: 'ok', status: 200, data: { ...data }, message: '' })
const fail = (code: string, metadata: object): Outcome => ({
  kind: 'fail',
  status: 400,
  code,
  message: '',
  metadata: { ...metadata },
})
const fault = (field: string, rule: string) => fail('VAL003', { fields: [{ field, rule }] })

const confirm = { op: 'confirm', customer: 0, orderId: 'order-1', paymentKey: 'pay', amount: 1, as: 'right' } as const
const own = { customer: 0, sibling: 0 }
const spent = { ...own, op: 'spend', credits: 9, reference: 'use-1' } as const
const reversal = { ...own, op: 'reverse', reversed: 'use-1', credits: 4, reference: 'use-2' } as const
const use: BookedUse = {
  customerId,
  reference: 'use-1',
  kind: 'SPEND',
  credits: 9,
  requested: null,
  balance: 11,
  serviceId: 'svc_1',
  holdId: null,
  reversed: null,
  entryNumber: 2,
  entries: 1,
}
const reversed: BookedUse = {
  ...use,
  reference: 'use-2',
  kind: 'REVERSAL',
  credits: 4,
  balance: 15,
  reversed: 'use-1',
  entryNumber: 3,
}
const budget: CampaignBudget = {
  budgetId: 'budget-1',
  customerId,
  scope: 'CUSTOMER',
  value: null,
  period: 'HOUR',
  limits: [{ credits: 10, fromMs: Number.NEGATIVE_INFINITY }],
  step: 5,
  busy: false,
}
const limit = { budgetId: 'budget-1', scope: 'CUSTOMER', value: null, period: 'HOUR', credits: 10, left: 1 }
const goodwill: BookedAdjustment = {
  customerId,
  adjustmentId: 'adjustment-1',
  kind: 'GOODWILL',
  credits: 5,
  actor: 'kim',
  approvedBy: null,
  requestState: null,
  decidedBy: null,
  available: 20,
  day: '2026-11-16',
  approvalDay: null,
}
const answer = {
  adjustmentId: 'adjustment-1',
  customerId,
  kind: 'GOODWILL',
  credits: 5,
  state: 'DONE',
  available: 20,
} as const
const adjusted: AdjustmentCall = {
  by: 'adjust',
  customer: 0,
  actor: 'kim',
  adjustment: { adjustmentId: 'adjustment-1', kind: 'GOODWILL', credits: 5 },
  outcome: { kind: 'ok', result: answer },
  invokedAtMs: 3_000,
  endedAtMs: 3_100,
}
const suspension = {
  customer: 0,
  suspended: { invokedAtMs: 10_000, endedAtMs: 10_100 },
  activated: { invokedAtMs: 12_000, endedAtMs: 12_100 },
}
const usedNine: UsedStep = { at: at(1_050), reference: 'use-1', begunAt: at(1_050), used: 9, refunded: 0 }
const gaveBack = (credits: number): UsedStep => ({ ...usedNine, at: at(2_050), used: -credits })
const paidBack = (ms: number, refunded: number, begunMs = ms): UsedStep => ({
  at: at(ms),
  reference: null,
  begunAt: at(begunMs),
  used: 0,
  refunded,
})
const taken: UsageEntry = {
  customerId,
  serviceId: 'svc_1',
  reference: 'use-1',
  credits: 9,
  at: at(1_050),
  takenAt: at(1_050),
  isOfAnother: false,
}
const counted = { budgetId: 'budget-1', value: '', periodStart: at(1_050), used: 9 }

const bought = {
  customer: 0,
  orderId: 'order-1',
  amount: 20_000,
  credits: 20,
  status: 'CONFIRMED',
  partsAmount: 0,
  partsCredits: 0,
} as BookedOrder

type Parts = {
  spends: Evidence['callsOf']['spend']
  reversals: Evidence['callsOf']['reverse']
  balances: Evidence['callsOf']['balance']
  more: Partial<Evidence>
}

/** 9 of 20 credits are spent, 4 of them given back, and 5 granted; a spend of 2 more is refused by the budget of 10. */
function evidenceOf({ spends = [], reversals = [], balances, more = {} }: Partial<Parts> = {}): Evidence {
  const answers = { reference: 'use-1', credits: 9, balance: 11 }
  const refused = fail('BUS002', { requested: 2, available: 11, limit: { ...limit, renewsAt: hour(1_000) } })
  const spend = [
    call(spent, ok(answers), [1_000, 1_100]),
    call({ ...spent, credits: 2, reference: 'use-3' }, refused, [1_200, 1_300]),
    ...spends,
  ]
  const reverse = [
    call(reversal, ok({ reference: 'use-2', credits: 4, balance: 15 }), [2_000, 2_100]),
    call(reversal, ok({ reference: 'use-2', credits: 4, balance: 15 }), [2_000, 2_200]),
    ...reversals,
  ]
  const balance = balances ?? [balanceOf(20)]
  const evidence: Partial<Evidence> = {
    calls: [...spend, ...reverse, ...balance],
    callsOf: {
      purchase: [],
      confirm: [call(confirm, ok({}), [10, 40])],
      cancel: [],
      status: [],
      packages: [],
      invalid: [],
      hold: [],
      part: [],
      extend: [],
      capture: [],
      release: [],
      receipt: [],
      spend,
      reverse,
      balance,
    },
    shop: {
      customers: [{ index: 0, customerId, key: { keyId: 'key_1', apiKey: '' }, formerKeys: [], lowCredits: null }],
      siblings: [
        { serviceId: 'svc_1', name: 'usage', token: '', scopes: ['hold', 'manage-holds'] },
        { serviceId: 'svc_2', name: 'exports', token: '', scopes: ['hold'] },
        { serviceId: 'svc_3', name: 'reports', token: '', scopes: ['hold'] },
      ],
      budgets: [budget],
    } as unknown as Evidence['shop'],
    orders: new Map([['order-1', bought]]),
    uses: new Map([
      [`${customerId}/use-1`, use],
      [`${customerId}/use-2`, reversed],
    ]),
    courses: new Map([
      [
        customerId,
        [20, 11, 15, 20].map((available, entry) => ({ entryNumber: entry + 1, available, at: at(entry * 1_000 + 50) })),
      ],
    ]),
    usedCredits: new Map([[customerId, [usedNine, gaveBack(4)]]]),
    holds: new Map(),
    reversals: [],
    consoleCalls: [],
    adjustments: [goodwill],
    adjustmentDays: [],
    adjustmentCalls: [adjusted],
    suspensions: [suspension],
    usage: [taken],
    countedUsage: [counted],
    available: [20],
    ...more,
  }
  return evidence as Evidence
}

const books = { query: async () => [{ keyId: 'key_1', customerId, status: 'ACTIVE' }] }

async function violations(parts: Partial<Parts>): Promise<string[]> {
  const evidence = evidenceOf(parts)
  const checks: Check[] = [
    ...checkSpends(evidence),
    ...checkReversals(evidence),
    ...checkAdjustments(evidence),
    ...checkBudgets(evidence),
    ...checkSuspensions({ clockSpreadMs: 0 }, evidence),
    ...checkBalances(evidence),
    ...(await checkKeys({ books } as unknown as World, evidence)),
  ]
  return checks.filter((check) => check.violations.length > 0).map(({ id }) => id)
}

const refusedBy = (changes: object) =>
  call(
    { ...spent, credits: 2, reference: 'use-4' },
    fail('BUS002', { requested: 2, available: 11, limit: { ...limit, renewsAt: hour(1_000), ...changes } }),
    [1_200, 1_300],
  )
const leftOf = (left: number) => fault('credits', `must be at most what is left to reverse, ${left}`)
const refusedReversal = (left: number) =>
  call({ ...reversal, credits: 6, reference: 'use-5' }, leftOf(left), [3_000, 3_100])
const inLedger = (...steps: UsedStep[]): Partial<Parts> => ({ more: { usedCredits: new Map([[customerId, steps]]) } })
const withKey = (outcome: Outcome, times: [number, number]) => ({
  ...call({ op: 'balance', customer: 0 } as const, outcome, times),
  keyId: 'key_1',
})
const inBooks = (changes: Partial<BookedAdjustment>): Partial<Parts> => ({
  more: { adjustments: [{ ...goodwill, ...changes }] },
})
const refusedAdjustment = (code: string, about: string): Partial<Parts> => ({
  more: { adjustmentCalls: [adjusted, { ...adjusted, outcome: { kind: 'fail', code, about } }] },
})

const balanceOf = (credits: number) => call({ op: 'balance', customer: 0 } as const, ok({ credits }), [20_000, 20_100])
const ids = Array.from({ length: 20 }, (_, place) => `adjustment-${place}`)

/** Adjustments of 5 credits, all that were made on the day, and one more, which became a request. */
function withRequest(done: number): Partial<Parts> {
  const made = ids.slice(0, done).map((adjustmentId) => ({ ...goodwill, adjustmentId }))
  const waiting = { ...goodwill, adjustmentId: 'adjustment-waiting', requestState: 'PENDING' as const, available: null }
  const calls = [...made, waiting].map(({ adjustmentId, requestState, available }): AdjustmentCall => {
    const state = requestState === null ? ('DONE' as const) : ('PENDING' as const)
    const result = { ...answer, adjustmentId, state, available }
    return { ...adjusted, adjustment: { ...adjusted.adjustment, adjustmentId }, outcome: { kind: 'ok', result } }
  })
  const charges = made.map(({ adjustmentId }) => `${customerId}/${adjustmentId}/GOODWILL/5`)
  const days = [{ actor: 'kim', day: '2026-11-16', credits: 5 * done, charges }]
  const available = 15 + 5 * done
  return {
    balances: [balanceOf(available)],
    more: {
      available: [available],
      adjustments: [...made, waiting],
      adjustmentCalls: calls,
      adjustmentDays: days,
    },
  }
}

/** Titles begin with the checks that have to find it. */
const faults: Record<string, Partial<Parts>> = {
  'no check reports: nothing is wrong': {},
  'no check reports: more is refused than is left to reverse': {
    reversals: [call({ ...reversal, credits: 6, reference: 'use-5' }, leftOf(5), [3_000, 3_100])],
  },
  'H-2 reports: a reversal is answered with other credits than are booked': {
    reversals: [call(reversal, ok({ reference: 'use-2', credits: 3, balance: 15 }), [3_000, 3_100])],
  },
  'H-2 reports: a reversal was acknowledged and is not in the ledger': {
    reversals: [
      call({ ...reversal, reference: 'use-5' }, ok({ reference: 'use-5', credits: 4, balance: 15 }), [3_000, 3_100]),
    ],
  },
  'H-3 reports: a reversal is refused although less was requested than was left': {
    reversals: [call({ ...reversal, reference: 'use-5' }, leftOf(5), [3_000, 3_100])],
  },
  'H-3 reports: a reversal is refused with what was never left': {
    reversals: [call({ ...reversal, reference: 'use-5' }, leftOf(2), [3_000, 3_100])],
  },
  'no check reports: a full refund leaves less to reverse than the reversals of a spend do': {
    ...inLedger(usedNine, gaveBack(4), paidBack(2_500, 3)),
    reversals: [refusedReversal(2)],
  },
  'no check reports: a full refund leaves nothing to reverse, having paid back what a hold has not captured yet': {
    ...inLedger(usedNine, gaveBack(4), paidBack(2_500, 8)),
    reversals: [refusedReversal(0)],
  },
  'H-3 reports: a reversal is refused for a full refund long before it began': {
    ...inLedger(usedNine, gaveBack(4), paidBack(60_000, 3)),
    reversals: [refusedReversal(2)],
  },
  'H-3 reports: a reversal is refused for a full refund long after the gateway has refused it': {
    ...inLedger(paidBack(-60_000, 3), paidBack(-30_000, -3, -60_000), usedNine, gaveBack(4)),
    reversals: [refusedReversal(2)],
  },
  'H-3 reports: a spend that was acknowledged is not found': {
    reversals: [call({ ...reversal, reference: 'use-5' }, fail('NOT000', {}), [3_000, 3_100])],
  },
  'H-3 reports: a repeated reversal is refused as used before': {
    reversals: [call(reversal, fault('reference', 'was used to reverse 4 credits'), [3_000, 3_100])],
  },
  'I-23 reports: a reversal has two entries': {
    more: {
      uses: new Map([
        [`${customerId}/use-1`, use],
        [`${customerId}/use-2`, { ...reversed, entries: 2 }],
      ]),
    },
  },
  'V-1 reports: more was given back than was spent': {
    more: {
      usedCredits: new Map([[customerId, [usedNine, gaveBack(10)]]]),
    },
  },
  'V-3 reports: a reversal gave back use that a full refund had paid back': inLedger(
    usedNine,
    paidBack(1_500, 6),
    gaveBack(4),
  ),
  'no check reports: a reversal gave back what was used beyond the shortfall of a full refund': inLedger(
    usedNine,
    paidBack(1_500, 5),
    gaveBack(4),
  ),
  'no check reports: a full refund follows a reversal, and pays back more than was used': inLedger(
    usedNine,
    gaveBack(4),
    paidBack(2_500, 6),
  ),
  'no check reports: a reversal follows a full refund that the gateway had refused': inLedger(
    usedNine,
    paidBack(1_500, 9),
    paidBack(1_600, -9, 1_500),
    gaveBack(4),
  ),
  'H-2, V-2 reports: another service gave back': {
    more: {
      uses: new Map([
        [`${customerId}/use-1`, { ...use, serviceId: 'svc_2' }],
        [`${customerId}/use-2`, reversed],
      ]),
    },
  },
  'I-24, I-20 reports: the credits of a reversal and of goodwill are not in the balance': { balances: [balanceOf(11)] },
  'A-1, I-24, I-20 reports: an adjustment was acknowledged and is not in the books': { more: { adjustments: [] } },
  'A-1 reports: an adjustment is answered with another balance': inBooks({ available: 19 }),
  'A-2 reports: an adjustment has another actor': inBooks({ actor: 'lee' }),
  'A-2, I-24, I-20 reports: an adjustment is in the books twice': { more: { adjustments: [goodwill, goodwill] } },
  'A-2 reports: an adjustment that needs a second person has none': {
    balances: [balanceOf(35)],
    more: {
      available: [35],
      adjustments: [{ ...goodwill, credits: 20 }],
      adjustmentCalls: [
        {
          ...adjusted,
          adjustment: { ...adjusted.adjustment, credits: 20 },
          outcome: { kind: 'ok', result: { ...answer, credits: 20 } },
        },
      ],
    },
  },
  'A-2 reports: a request for what the limits of its operator allow': withRequest(17),
  'no check reports: a request for what is more than is left of the day': withRequest(18),
  'A-3 reports: an operator has adjusted more than a day allows': {
    balances: [balanceOf(115)],
    more: {
      available: [115],
      adjustments: ids.map((adjustmentId) => ({ ...goodwill, adjustmentId })),
      adjustmentCalls: ids.map((adjustmentId) => ({
        ...adjusted,
        adjustment: { ...adjusted.adjustment, adjustmentId },
      })),
    },
  },
  'A-4 reports: an adjustment is refused for lack of credits': refusedAdjustment('BUS002', ''),
  'A-4 reports: an adjustment is refused for a limit': refusedAdjustment('VAL003', 'adjustment limit'),
  'A-5 reports: a day is charged with an adjustment that its operator did not request': {
    more: { adjustmentDays: [{ actor: 'x', day: '2026-01-01', credits: 5, charges: ['customer/id/GOODWILL/5'] }] },
  },
  'A-4 reports: a repeated adjustment is refused': refusedAdjustment('VAL003', 'adjustmentId'),
  'B-1 reports: a budget is exceeded': {
    more: {
      usage: [taken, { ...taken, credits: 2, reference: 'use-7', at: at(1_500), takenAt: at(1_500) }],
      countedUsage: [{ ...counted, used: 11 }],
    },
  },
  'B-2 reports: what a hold gave back stays counted in its budget': {
    more: { countedUsage: [{ ...counted, used: 13 }] },
  },
  'B-2 reports: a spend is not counted in its budget': { more: { countedUsage: [] } },
  'H-5 reports: a refusal names a budget that does not exist': { spends: [refusedBy({ budgetId: 'budget-2' })] },
  'H-5 reports: a refusal names a limit that was never set': { spends: [refusedBy({ credits: 11 })] },
  'H-5 reports: a budget that has enough left refuses': { spends: [refusedBy({ left: 2 })] },
  'H-5 reports: a refusal names what was never left of a budget': { spends: [refusedBy({ left: 0 })] },
  'S-1 reports: a suspended customer spends': {
    more: {
      usage: [taken, { ...taken, credits: 1, at: at(11_000), takenAt: at(11_000) }],
      countedUsage: [{ ...counted, used: 10 }],
    },
  },
  'H-3 reports: a customer is refused as suspended who is not': {
    spends: [call({ ...spent, reference: 'use-8' }, fault('customerId', 'the customer is suspended'), [5_000, 5_100])],
  },
  'O-5 reports: a key of a suspended customer works': {
    more: { calls: [withKey(ok({ credits: 20 }), [11_500, 11_600])] },
  },
  'O-5 reports: a key is refused long after its customer was activated': {
    more: { calls: [withKey({ kind: 'info', cause: 'AUTH003' }, [14_000, 14_100])] },
  },
}

for (const [title, parts] of Object.entries(faults)) {
  test(title, async () => assert.deepEqual(await violations(parts), title.match(/[A-Z]-\d+(?=.* reports:)/g) ?? []))
}

test('F-1 reports a failover in which no write was answered for longer than the lease and ten seconds', () => {
  const spentAt = (ms: number) => call(spent, ok({}), [ms - 100, ms])
  const violationsOf = (answeredAtMs: number[]) => {
    const outages = [{ kind: 'frozen', fromMs: 1_000, toMs: 60_000 }]
    const cluster = { outages, leaseSeconds: 20 } as World['cluster']
    return checkFailovers({ cluster }, { calls: answeredAtMs.map(spentAt) } as Evidence)[0]?.violations
  }
  assert.deepEqual(violationsOf([20_000, 45_000]), [])
  assert.deepEqual(violationsOf([20_000, 59_000]), ['frozen: no write was answered for 39 s'])
  assert.deepEqual(violationsOf([]), ['frozen: no write was answered for 59 s'])
})

test('F-6 and I-20 know an accepted part: it needs no discrepancy, and its credits are gone', async () => {
  const moved = { orderId: 'order-1', paymentKey: 'pay', transactionKey: 'tx-1', at: '' }
  const movements = [
    { ...moved, kind: 'capture', amount: 20_000 } as const,
    { ...moved, kind: 'cancel', amount: 3_150, transactionKey: 'tx-2' } as const,
  ]
  const found = async (order: Partial<BookedOrder>, available: number) => {
    const orders = new Map([['order-1', { ...bought, ...order }]])
    const reversals = [{ kind: 'partial cancel', orderId: 'order-1', invokedAtMs: 10_000 } as Evidence['reversals'][0]]
    const more = { orders, available: [available], movements, reversals, discrepancies: [] }
    const checks = checkGateway(evidenceOf({ balances: [balanceOf(available)], more }))
    const reported = await violations({ balances: [balanceOf(available)], more })
    return [
      ...reported,
      ...checks.filter((each) => each.id === 'F-6' && each.violations.length > 0).map(({ id }) => id),
    ]
  }
  assert.deepEqual(await found({ partsAmount: 3_150, partsCredits: 3 }, 17), [])
  assert.deepEqual(await found({ partsAmount: 3_150, partsCredits: 3 }, 20), ['I-20'])
  assert.deepEqual(await found({}, 20), ['F-6'])
  assert.deepEqual(await found({ partsAmount: 3_000 }, 20), ['F-6'])
})

test('R-6 knows that an order whose discrepancy an operator has resolved still differs, and may have others', () => {
  const known = { subject: 'order-1', orderId: 'order-1' }
  const [more, other] = [
    { ...known, kind: 'REFUNDED_MORE_AT_GATEWAY' },
    { ...known, kind: 'PAYMENT_DIFFERS', isOpen: true },
  ]
  const cancel = {
    kind: 'dashboard cancel',
    orderId: 'order-1',
    paymentKey: 'pay',
    amount: 1_000,
    invokedAtMs: 0,
  } as const
  const shop = { orders: new Map() } as unknown as Evidence['shop']
  const found = (discrepancies: Evidence['discrepancies'], reversals: Evidence['reversals'] = [cancel]) =>
    groundless({ discrepancies, reversals, shop })
  assert.deepEqual(found([{ ...more, isOpen: true }, other]), [])
  assert.deepEqual(found([{ ...more, isOpen: false }, other]), [])
  assert.deepEqual(found([other]), ['PAYMENT_DIFFERS of order-1'])
  assert.deepEqual(found([{ ...more, isOpen: true }], []), ['REFUNDED_MORE_AT_GATEWAY of order-1'])
  assert.deepEqual(found([{ ...more, isOpen: false }], []), [])
})

test('O-8 knows that a part has taken credits of the order that a refund is quoted for', () => {
  const order = { ...bought, amount: 20_000, credits: 21, partsCredits: 11 }
  const quote = { paid: 20_000, creditsOfTheOrder: 21, creditsTakenBack: 6, shortfall: 4, backToTheCard: null }
  assert.equal(isQuoteOf(order, quote), true)
  assert.equal(isQuoteOf(order, { ...quote, shortfall: 15 }), true)
  for (const wrong of [{ shortfall: 3 }, { shortfall: 16 }, { paid: 19_000 }, { backToTheCard: 20_001 }]) {
    assert.equal(isQuoteOf(order, { ...quote, ...wrong }), false, JSON.stringify(wrong))
  }
  assert.equal(isQuoteOf({ ...order, partsCredits: 0 }, quote), false)
})

test('A-5 knows what is charged for an accepted part: once, to who accepts parts, of a customer with one', async () => {
  const charge = `${customerId}/part-1/PART/1`
  const reversals = [{ kind: 'partial cancel', orderId: 'order-1', invokedAtMs: 10_000 } as Evidence['reversals'][0]]
  const found = (actor: string, charges: string[], more: Partial<Evidence> = {}) => {
    const adjustmentDays = [{ actor, day: '2026-11-16', credits: charges.length, charges }]
    return violations({ more: { adjustmentDays, reversals, ...more } })
  }
  assert.deepEqual(await found('campaign', [charge]), [])
  assert.deepEqual(await found('kim', [charge]), ['A-5'])
  assert.deepEqual(await found('campaign', [charge, charge]), ['A-5'])
  assert.deepEqual(await found('campaign', [charge], { reversals: [] }), ['A-5'])
})

test('a long campaign without one of the kinds of failover proves nothing', () => {
  const table = [{ name: 'database: primary lost', leastPerMinute: 0, kinds: ['frozen'] }]
  const missing = (minutes: number) =>
    findMissing('patroni', minutes, table, {}, {}).filter((line) => line.startsWith('frozen'))
  assert.deepEqual(missing(10), ['frozen: 0 of at least 1'])
  assert.deepEqual(missing(5), [])
})

test('H-6, H-7, H-8, B-1, B-2 and S-1 know that a service with the scope ends holds of others, by its own budgets', () => {
  const [captured, denied] = [{ op: 'capture', customer: 0, holdId: 'hold-1', credits: 9 } as const, fail('NOT000', {})]
  const held: BookedUse = { ...use, kind: 'HOLD', reference: 'use-9', serviceId: 'svc_2', holdId: 'hold-1' }
  const end = { kind: 'CAPTURE', delta: -9, heldDelta: -9, balance: 11, serviceId: 'svc_1', reference: null }
  const hold = { customerId, holdId: 'hold-1', reference: 'use-9', credits: 9, state: 'CAPTURED', captured: 9, end }
  const rest = { capturedInParts: 0, openings: 1, endings: 1, isOverdue: false, earlyMs: null }
  const answered = ok({ holdId: 'hold-1', captured: 9, released: 0, balance: 11 })
  const ofService: CampaignBudget = { ...budget, scope: 'SERVICE', value: 'usage' }
  const named = { ...limit, scope: 'SERVICE', value: 'usage', renewsAt: hour(1_000) }
  const overBudget = fail('BUS002', { requested: 9, available: 11, limit: { ...named, left: 8 } })
  const counted = { ...taken, reference: 'use-9', isOfAnother: true }

  const found = (sibling: number, outcome: Outcome, more: Partial<Evidence> = {}) => {
    const evidence = evidenceOf()
    const all: Evidence = {
      ...evidence,
      callsOf: {
        ...evidence.callsOf,
        capture: [
          call({ ...captured, sibling: 0 }, answered, [1_000, 1_100]),
          call({ ...captured, sibling }, outcome, [1_000, 1_100]),
        ],
      },
      uses: new Map([[`${customerId}/use-9`, held]]),
      holds: new Map([['hold-1', { ...hold, ...rest } as unknown as BookedHold]]),
      shop: { ...evidence.shop, budgets: [ofService] },
      usage: [counted],
      ...more,
    }
    const checks = [...checkHolds(all), ...checkBudgets(all), ...checkSuspensions({ clockSpreadMs: 0 }, all)]
    return checks.filter((check) => check.violations.length > 0).map(({ id }) => id)
  }
  assert.deepEqual(found(0, answered), [])
  assert.deepEqual(found(2, denied), [])
  // Asked for the same end, the one that holds gets the same answer; which one the entry names has asked for it.
  assert.deepEqual(found(1, answered), [])
  const endedBy = (serviceId: string) => {
    const ended = { ...hold, ...rest, end: { ...end, serviceId } } as unknown as BookedHold
    return { holds: new Map([['hold-1', ended]]) }
  }
  assert.deepEqual(found(1, answered, endedBy('svc_2')), [])
  assert.deepEqual(found(1, answered, endedBy('svc_3')), ['H-6'])
  assert.deepEqual(found(2, answered), ['H-6', 'H-7'])
  assert.deepEqual(found(0, denied), ['H-7'])
  assert.deepEqual(found(2, fault('holdId', 'the hold is CAPTURED, 9 of 9')), ['H-6', 'H-7'])

  const before = { ...counted, credits: 2, at: at(900), takenAt: at(900) }
  const inAll = {
    usage: [before, counted],
    countedUsage: [{ ...taken, budgetId: 'budget-1', value: '', periodStart: at(900), used: 11 }],
  }
  const raised = { ...ofService, limits: [...ofService.limits, { credits: 20, fromMs: 1_000 }] }
  const shop = { ...evidenceOf().shop, budgets: [raised] }
  assert.deepEqual(found(0, overBudget, { ...inAll, shop }), [])
  assert.deepEqual(found(0, overBudget), ['H-7'])
  assert.deepEqual(found(0, answered, inAll), ['B-1'])
  assert.deepEqual(found(0, answered, { countedUsage: [] }), ['B-2'])
  const suspended = { ...counted, at: at(11_000), takenAt: at(11_000) }
  assert.deepEqual(found(0, answered, { usage: [suspended] }), [])
})
