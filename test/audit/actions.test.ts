// Goodwill, corrections and refunds have an action in the log of operators, which is journalled. Credits or money that the
// serving role moves by itself have none, and the audit reports them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  type Adjustment,
  type Charge,
  chargeDay,
  chargeValues,
  insertAdjustment,
} from '../../src/credits/adjustments/adjust.sql.ts'
import { adjust, approve, reject } from '../../src/credits/adjustments/adjust.ts'
import { findLot } from '../../src/credits/lots/lots.sql.ts'
import { definedStatements } from '../../src/db/database.ts'
import { cancelledAtGateway } from '../../src/gateway/gateway.ts'
import { beginAction } from '../../src/operators/action-log.sql.ts'
import { endLost, recordAction } from '../../src/operators/action-log.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import { actionRules } from '../../src/payments/audit/check-actions.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { cancelledElsewhere } from '../../src/payments/kinds.ts'
import { findDoubtsOfOrder, resolveDiscrepancies } from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { insertPart } from '../../src/payments/refunds/accept.sql.ts'
import { approvePending } from '../../src/payments/refunds/approve.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { lastOperation, settleAll } from '../support/service/recovery.ts'
import { startTestService, type TestService } from '../support/service/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

/** The day of kim is charged for what is forged in the name of kim, too. */
const limits = { perDay: 100_000_000, approvalAbove: 100 }

const brokenNow = async () => {
  const { violations } = await audit(service.payments.database)
  return violations.map(({ rule }) => rule).toSorted()
}

/** What is broken by some damage of the owner, which is undone. */
async function brokenBetween(damage: string[], undo: string[]): Promise<string[]> {
  for (const text of damage) await service.database.queryUnguarded(text)
  const broken = await brokenNow()
  for (const text of undo) await service.database.queryUnguarded(text)
  return broken
}

const goodwill = (customerId: string, credits = 5): Adjustment => ({
  customerId,
  adjustmentId: crypto.randomUUID(),
  kind: 'GOODWILL',
  credits,
  reason: 'slow answers',
  actor: 'kim',
})

/** As the console does it. */
function act<Result extends object>(
  command: string,
  by: string,
  subject: string,
  ids: string[],
  work: () => Promise<Result>,
) {
  const log = { database: service.payments.database, onUnwritten: () => assert.fail('an end was not written') }
  const action = { actor: `${by} in the console from ::1`, command, arguments: ids, subject, reason: 'agreed' }
  return recordAction(log, action, work)
}

const grant = (adjustment: Adjustment, form = ['--credits', `${adjustment.credits}`]) =>
  act(
    adjustment.kind === 'GOODWILL' ? 'adjustments grant' : 'adjustments correct',
    'Kim',
    adjustment.customerId,
    form,
    () => adjust(service.payments.database, adjustment, limits),
  )

/** As the serving role can: with its charge, and without an action. */
async function forge(adjustment: Adjustment): Promise<void> {
  await insertAdjustment(service.payments.database, adjustment, limits.perDay)
}

const charge = (charged: Charge) =>
  service.payments.database.run(chargeDay.statement, chargeValues(charged, limits.perDay))

/** Ends the damage of a test for the audit at the end. */
const coverAdjustment = ({ customerId, credits }: Adjustment) =>
  service.database.query(
    `insert into operator_actions (action_id, step, actor, command, arguments, subject)
     values (gen_random_uuid(), 'BEGUN', 'kim', 'adjustments grant', array['--credits', $2], $1)`,
    [customerId, `${credits}`],
  )

const approveAs = (by: string, { customerId, adjustmentId }: Adjustment) =>
  act('adjustments approve', by, customerId, [adjustmentId], () =>
    approve(service.payments.database, adjustmentId, by, 1_000),
  )

test('goodwill and refunds of operators, of commands and of services pass', async () => {
  const { customerId } = await service.newCustomer()
  await grant(goodwill(customerId))
  const large = goodwill(customerId, 300)
  assert.equal((await grant(large)).state, 'PENDING')
  assert.equal((await approveAs('lee', large)).state, 'DONE')
  assert.deepEqual(await brokenNow(), [])
})

test('goodwill that the serving role writes is reported: no action, and no day that it is charged to', async () => {
  const forged = goodwill((await service.newCustomer()).customerId, 1_000_000)
  // The statement without its step.
  const { customerId, adjustmentId, kind, credits, reason, actor } = forged
  const uncharged = definedStatements.get('credits.adjustApart') ?? assert.fail('there is no such statement')
  await service.payments.database.run(uncharged, [customerId, adjustmentId, kind, credits, reason, actor])
  assert.deepEqual(await brokenNow(), [actionRules.charge.rule, actionRules.adjustment.rule].toSorted())
  // An old action about the same customer does not cover it.
  await service.database.query(
    `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
     values (gen_random_uuid(), 'BEGUN', now() - interval '3 days', 'kim', 'adjustments grant', '{--credits,1000000}', $1)`,
    [customerId],
  )
  assert.ok((await brokenNow()).includes(actionRules.adjustment.rule))
  // Ends this test's damage for the audit at the end.
  await coverAdjustment(forged)
  await charge(forged)
  assert.deepEqual(await brokenNow(), [])
})

test('an action of another operator, whose name begins with the same letters, is none of the one who has adjusted', async () => {
  const { customerId } = await service.newCustomer()
  const adjustment = goodwill(customerId)
  const actors = ['kimberly', 'Kimberly in the console from ::1', 'Kim Lee as root', 'kim in the office']
  for (const actor of actors) {
    await service.database.query(
      `insert into operator_actions (action_id, step, actor, command, arguments, subject)
       values (gen_random_uuid(), 'BEGUN', $1, 'adjustments grant', '{--credits,5}', $2)`,
      [actor, customerId],
    )
  }
  await adjust(service.payments.database, adjustment, limits)
  assert.deepEqual(await brokenNow(), [actionRules.adjustment.rule])
  await service.database.query(
    `insert into operator_actions (action_id, step, actor, command, arguments, subject)
     values (gen_random_uuid(), 'BEGUN', 'KIM as root', 'adjustments grant', '{--credits,5}', $1)`,
    [customerId],
  )
  assert.deepEqual(await brokenNow(), [])
})

test('an approved adjustment that is not charged to the day of the one who approved it is reported', async () => {
  const { customerId } = await service.newCustomer()
  const large = goodwill(customerId, 300)
  await grant(large)
  await approveAs('lee', large)
  const charge = `${customerId}/${large.adjustmentId}/GOODWILL/300`
  const change = (how: string) =>
    `update adjustment_days set charges = ${how}(charges, '${charge}') where actor = 'lee'`
  assert.deepEqual(
    await brokenBetween([change('array_remove')], [change('array_append')]),
    [actionRules.charge.rule, actionRules.total.rule].toSorted(),
  )
  assert.deepEqual(await brokenNow(), [])
})

test('an action covers one adjustment with its credits, and no other one of the same operator and customer', async () => {
  const { customerId } = await service.newCustomer()
  await grant(goodwill(customerId))
  await grant({ ...goodwill(customerId, -2), kind: 'CORRECTION' })
  await grant({ ...goodwill(customerId, 3), kind: 'CORRECTION' }, ['--customer', 'acme', '--credits', '+3'])
  assert.deepEqual(await brokenNow(), [])
  for (const credits of [1_000_000, 5]) {
    const forged = goodwill(customerId, credits)
    await forge(forged)
    assert.deepEqual(await brokenNow(), [actionRules.adjustment.rule])
    await coverAdjustment(forged)
    assert.deepEqual(await brokenNow(), [])
  }
})

test('an action that was refused before covers no adjustment', async () => {
  const { customerId } = await service.newCustomer()
  const refused = act('adjustments grant', 'Kim', customerId, ['--credits', '5'], () =>
    adjust(service.payments.database, goodwill(customerId), { ...limits, perDay: 0 }),
  )
  await assert.rejects(refused, { code: 'VAL003' })
  const forged = goodwill(customerId)
  await forge(forged)
  assert.deepEqual(await brokenNow(), [actionRules.adjustment.rule])
  await coverAdjustment(forged)
  assert.deepEqual(await brokenNow(), [])
})

test('an action of the console, which has the id of the adjustment, covers this one alone', async () => {
  const { customerId } = await service.newCustomer()
  const adjustment = goodwill(customerId)
  const { adjustmentId } = adjustment
  const form = [customerId, '--adjustmentId', adjustmentId.toUpperCase(), '--credits', '5']
  await grant(adjustment, form)
  // A dialog that was sent twice.
  await grant(adjustment, form)
  assert.deepEqual(await brokenNow(), [])
  const forged = goodwill(customerId)
  await forge(forged)
  assert.deepEqual(await brokenNow(), [actionRules.adjustment.rule])
  await coverAdjustment(forged)
  assert.deepEqual(await brokenNow(), [])
})

test('as many actions as adjustments with the same credits are enough, in whatever pieces the audit reads them', async () => {
  const { customerId } = await service.newCustomer()
  for (let round = 0; round < 3; round += 1) await grant(goodwill(customerId))
  const { violations } = await audit(service.payments.database, { chunkRows: 1 })
  assert.deepEqual(violations, [])
  await forge(goodwill(customerId))
  const found = await audit(service.payments.database, { chunkRows: 1 })
  assert.deepEqual(
    found.violations.map(({ rule }) => rule),
    [actionRules.adjustment.rule],
  )
  await coverAdjustment(goodwill(customerId))
})

test('the total of a day that is not the sum of what it is charged for is reported', async () => {
  const { customerId } = await service.newCustomer()
  await grant(goodwill(customerId))
  const raise = (credits: number) => `update adjustment_days set credits = credits + ${credits} where actor = 'kim'`
  assert.deepEqual(await brokenBetween([raise(1)], [raise(-1)]), [actionRules.total.rule])
  // What has not the form of a charge counts as none.
  const charge = (set: string) => `update adjustment_days set charges = ${set} where actor = 'kim'`
  assert.deepEqual(
    await brokenBetween([charge(`charges || array['a/b/PART/c']`)], [charge(`array_remove(charges, 'a/b/PART/c')`)]),
    [],
  )
  assert.deepEqual(
    await brokenBetween([charge(`charges || array['a/b/PART/-4']`)], [charge(`array_remove(charges, 'a/b/PART/-4')`)]),
    [actionRules.total.rule],
  )
})

test('the wrong totals of two days are both reported, in whatever pieces the audit reads them', async () => {
  const { customerId } = await service.newCustomer()
  const large = goodwill(customerId, 300)
  await grant(goodwill(customerId))
  await grant(large)
  await approveAs('choi', large)
  const raise = (credits: number) =>
    service.database.queryUnguarded(
      `update adjustment_days set credits = credits + ${credits} where actor in ('kim', 'choi')`,
    )
  await raise(1)
  const { violations } = await audit(service.payments.database, { chunkRows: 1 })
  await raise(-1)
  assert.deepEqual(
    violations.map(({ rule, detail }) => [rule, (detail as { actor: string }).actor]),
    [
      [actionRules.total.rule, 'choi'],
      [actionRules.total.rule, 'kim'],
    ],
  )
})

test('an approval that was changed or removed together with its request is reported', async () => {
  const { customerId } = await service.newCustomer()
  const large = goodwill(customerId, 300)
  await grant(large)
  await approveAs('lee', large)
  const of = `where adjustment_id = '${large.adjustmentId}'`
  const sets = (adjustments: string, requests: string) => [
    `update adjustments set ${adjustments} ${of}`,
    `update adjustment_requests set ${requests} ${of}`,
  ]
  assert.deepEqual(
    await brokenBetween(
      sets(`approved_by = 'park'`, `decided_by = 'park'`),
      sets(`approved_by = 'lee'`, `decided_by = 'lee'`),
    ),
    [actionRules.approval.rule, actionRules.charge.rule].toSorted(),
  )
  assert.deepEqual(
    await brokenBetween(sets(`actor = 'park'`, `requested_by = 'park'`), sets(`actor = 'kim'`, `requested_by = 'kim'`)),
    [actionRules.adjustment.rule],
  )
  const elsewhere = crypto.randomUUID()
  assert.deepEqual(
    await brokenBetween(
      [
        `update adjustments set approved_by = null ${of}`,
        `update adjustment_requests set customer_id = '${elsewhere}' ${of}`,
      ],
      [
        `update adjustment_requests set customer_id = '${customerId}' ${of}`,
        `update adjustments set approved_by = 'lee' ${of}`,
      ],
    ),
    [actionRules.approval.rule, actionRules.charge.rule].toSorted(),
  )
})

test('an action of an operator whose name only begins with that of the adjustment does not cover it', async () => {
  const { customerId } = await service.newCustomer()
  const adjustment = goodwill(customerId)
  const granted = await act('adjustments grant', 'Kimberly', customerId, ['--credits', '5'], () =>
    adjust(service.payments.database, adjustment, limits),
  )
  assert.equal(granted.state, 'DONE')
  assert.deepEqual(await brokenNow(), [actionRules.adjustment.rule])
  await grant(adjustment)
  assert.deepEqual(await brokenNow(), [])
})

const fullRefund = 'a full refund takes all that is left of the credits of its order'

test('a refund that the serving role inserts is reported after the worker has paid it', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey, amount } = await customer.confirmedOrder()
  // The schema may refuse this row; then the owner writes it.
  await service.database.queryUnguarded(
    `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held,
       holder_id, lease_until, settle_at)
     values ($1, gen_random_uuid(), $2, 'REFUND', $3, $4, 'agreed', 0, gen_random_uuid(), now() - interval '1 s', now())`,
    [customer.customerId, orderId, paymentKey, amount],
  )
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await brokenNow(), [fullRefund, actionRules.refund.rule].toSorted())
  await coverRefund(orderId)
  assert.deepEqual(await brokenNow(), [fullRefund])
  // For the audit at the end: as if it were a part that was cancelled at the gateway.
  await service.database.queryUnguarded('update payment_operations set accepted = true where order_id = $1', [orderId])
})

test('a refund that is open has an action already, or is reported before any money is back', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  const away = () => Promise.resolve({ kind: 'unknown' as const, code: 'ECONNRESET' })
  const gateway = { ...service.payments.gateway, cancel: away, findCancel: away }
  await refund({ ...service.payments, gateway }, { orderId, reason: 'agreed' }).catch(() => undefined)
  const stateText = `select state from payment_operations where order_id = $1 and kind = 'REFUND'`
  assert.deepEqual(await service.database.query(stateText, [orderId]), [{ state: 'OPEN' }])
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  await service.database.query(
    `insert into operator_actions (action_id, step, actor, command, arguments, subject)
     values (gen_random_uuid(), 'BEGUN', 'kim', 'orders refund', '{}', $1)`,
    [orderId],
  )
  assert.deepEqual(await brokenNow(), [])
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'REFUNDED')
})

test('a cancellation at the gateway needs no action, also when the process ended before it was booked', async () => {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await service.sandbox.cancel(paymentKey)
  const killed = { ...service.payments.batches, finishOperation: () => Promise.reject(new Error('killed')) }
  const key = { customerId: customer.customerId, orderId }
  await assert.rejects(review({ ...service.payments, batches: killed } as PaymentContext, key), /killed/)
  assert.deepEqual(await brokenNow(), [])
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await brokenNow(), [])
})

/** Ends the damage of a test for the audit at the end. */
const coverRefund = (orderId: string) =>
  service.database.query(
    `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
     select gen_random_uuid(), 'BEGUN', opened_at, 'kim', 'orders refund', '{}', order_id
     from payment_operations where order_id = $1 and kind = 'REFUND'`,
    [orderId],
  )

for (const { what, faults } of [
  { what: '', faults: [] },
  { what: ', also where the answer would be lost', faults: [{ on: 'cancel', kind: 'reset-after', times: 1 }] },
] as const) {
  test(`a refund with the reason of a cancellation at the gateway is never sent${what}: it ends as rejected`, async () => {
    const { customerId, ...customer } = await service.newCustomer()
    const { orderId, paymentKey } = await customer.confirmedOrder()
    const forged = { customerId, operationId: crypto.randomUUID(), kind: 'REFUND', paymentKey, leaseMs: 0 } as const
    assert.ok(await service.payments.batches.claimCancel({ ...forged, reason: cancelledElsewhere }))
    const { cancel } = service.calls
    await service.sandbox.setFaults([...faults])
    await settleAll(service, { ...service.payments, settings: { ...service.payments.settings, operationLeaseMs: 0 } })
    await service.sandbox.clearFaults()
    assert.equal(service.calls.cancel, cancel)
    const { state, gatewayCode } = await lastOperation(service, orderId)
    assert.deepEqual([state, gatewayCode], ['REJECTED', 'ABANDONED'])
    assert.equal(await customer.status(orderId), 'CONFIRMED')
    const [account] = await service.database.query('select held from accounts where customer_id = $1', [customerId])
    assert.deepEqual(account, { held: 0 })
    assert.deepEqual(await brokenNow(), [])
  })
}

test('a refund that the serving role writes as cancelled at the gateway, with a reason of its own, is reported', async () => {
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  const forged = { customerId, operationId: crypto.randomUUID(), kind: 'REFUND', paymentKey, leaseMs: 0 } as const
  assert.ok(await service.payments.batches.claimCancel({ ...forged, reason: 'agreed' }))
  const { batches } = service.payments
  await settleAll(service, {
    ...service.payments,
    batches: {
      ...batches,
      finishOperation: (input) => batches.finishOperation({ ...input, gatewayCode: cancelledAtGateway }),
    },
  })
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  await coverRefund(orderId)
  assert.deepEqual(await brokenNow(), [])
})

test('a refund of our own that a lookup finds done is not taken for a cancellation at the gateway: it needs its action', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await service.sandbox.setFaults([{ on: 'cancel', kind: 'reset-after', times: 1 }])
  await assert.rejects(refund(service.payments, { orderId, reason: 'agreed' }), { code: 'SVC001' })
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  assert.equal((await lastOperation(service, orderId)).gatewayCode, null)
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  await coverRefund(orderId)
  assert.deepEqual(await brokenNow(), [])
})

test('an action whose process is gone is open until the worker ends it as unknown, which is its end', async () => {
  const { database } = service.payments
  const actionId = crypto.randomUUID()
  const what = { command: 'reconcile', arguments: [], subject: null, reason: null }
  await beginAction(database, { actionId, actor: 'kim', ...what })
  assert.deepEqual(await brokenNow(), [])
  await service.database.query('update open_actions set lease_until = now() where action_id = $1', [actionId])
  await endLost(database, { warn: () => undefined, error: () => undefined })
  const steps = await service.database.query(
    'select step from operator_actions where action_id = $1 order by happened_at',
    [actionId],
  )
  assert.deepEqual(steps, [{ step: 'BEGUN' }, { step: 'LOST' }])
  assert.deepEqual(await brokenNow(), [])
})

/** As the serving role does it; the worker pays it. */
async function forgedRefund(): Promise<string> {
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder()
  await act('orders refund', 'kim', orderId, [orderId], () =>
    refund(service.payments, { orderId, reason: 'agreed', unused: { amount: 1, credits: 1 } }),
  ).catch(({ code }) => assert.equal(code, 'PAYMENT_CANCEL_FAILED'))
  const forged = { customerId, operationId: crypto.randomUUID(), kind: 'REFUND', paymentKey, leaseMs: 0 } as const
  assert.ok(await service.payments.batches.claimCancel({ ...forged, reason: 'agreed' }))
  await settleAll(service)
  assert.equal(await customer.status(orderId), 'REFUNDED')
  return orderId
}

test('an action that was refused before covers no refund', async () => {
  const orderId = await forgedRefund()
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  await coverRefund(orderId)
  assert.deepEqual(await brokenNow(), [])
})

for (const { what, ago, ending } of [
  { what: 'that began more than a day before', ago: '25 hours', ending: null },
  { what: 'that began afterwards', ago: '-1 hour', ending: null },
  { what: 'that was refused an hour before', ago: '2 hours', ending: 'VAL003: another one' },
]) {
  test(`an action ${what} covers no refund`, async () => {
    const orderId = await forgedRefund()
    const actionId = crypto.randomUUID()
    await service.database.query(
      `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
       select $1, 'BEGUN', opened_at - $3::interval, 'kim', 'orders refund', '{}', $2
       from payment_operations where order_id = $2 and kind = 'REFUND'`,
      [actionId, orderId, ago],
    )
    if (ending) {
      await service.database.query(
        `insert into operator_actions (action_id, step, happened_at, outcome, about)
         values ($1, 'ENDED', now() - interval '1 hour', $2, '{}')`,
        [actionId, ending],
      )
    }
    assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
    await coverRefund(orderId)
    assert.deepEqual(await brokenNow(), [])
  })
}

test('an action whose outcome was not known covers the refund that began in it, also when it ends afterwards', async () => {
  for (const outcome of [
    'SVC001: not known yet',
    'ok',
    'PAYMENT_CANCEL_FAILED: Not refunded: the gateway refused it.',
  ]) {
    const orderId = await forgedRefund()
    const actionId = crypto.randomUUID()
    await service.database.query(
      `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
       select $1, 'BEGUN', opened_at - interval '1 s', 'kim', 'orders refund', '{}', $2
       from payment_operations where order_id = $2 and kind = 'REFUND'`,
      [actionId, orderId],
    )
    await service.database.query(
      `insert into operator_actions (action_id, step, outcome, about) values ($1, 'ENDED', $2, '{}')`,
      [actionId, outcome],
    )
    assert.deepEqual(await brokenNow(), [])
  }
})

/** An order of 110 credits, of which a part of 5,000 won was cancelled at the gateway. */
async function partlyCancelled() {
  const customer = await service.newCustomer()
  const { orderId, paymentKey } = await customer.confirmedOrder('PRO')
  await service.sandbox.cancel(paymentKey, 5_000)
  const key = { customerId: customer.customerId, orderId }
  await review(service.payments, key)
  const [doubt] = await findDoubtsOfOrder(service.payments.database, key)
  return { ...key, paymentKey, discrepancyId: doubt?.discrepancyId ?? assert.fail('no discrepancy') }
}

type PartlyCancelled = Awaited<ReturnType<typeof partlyCancelled>>

/** As the serving role can: without an action or a charge. */
async function forgePart(order: PartlyCancelled, credits: number): Promise<void> {
  const { customerId, orderId, paymentKey, discrepancyId } = order
  const { database } = service.payments
  const lot = await findLot(database, customerId, orderId)
  const place = { transactionKey: null, atEntry: lot?.lastEntry ?? 0, acceptedBefore: 0, approval: null }
  const part = { customerId, orderId, paymentKey, discrepancyId, amount: 5_000, credits, reason: 'agreed', ...place }
  const uncharged = { customerId, adjustmentId: discrepancyId, kind: 'PART', credits: 0, actor: 'kim' } as const
  assert.ok(await insertPart(database, part, uncharged, limits.perDay))
  await resolveDiscrepancies(database, [discrepancyId], 'agreed')
}

const coverPart = ({ discrepancyId }: PartlyCancelled, credits: number, actor = 'kim') =>
  service.database.query(
    `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
     select gen_random_uuid(), 'BEGUN', opened_at, $2, 'discrepancies accept', array['--credits', $3], $1
     from payment_operations where operation_id::text = $1`,
    [discrepancyId, actor, `${credits}`],
  )

test('a part that the serving role books is reported: no action of an operator, and no charge of what it leaves', async () => {
  const order = await partlyCancelled()
  await forgePart(order, 2)
  assert.deepEqual(await brokenNow(), [actionRules.part.rule, actionRules.partCharge.rule].toSorted())
  // An action for other credits does not cover it, nor does one that was refused before.
  await act('discrepancies accept', 'kim', order.discrepancyId, ['--credits', '5'], async () => ({}))
  await coverPart(order, 5)
  assert.ok((await brokenNow()).includes(actionRules.part.rule))
  await coverPart(order, 2)
  assert.deepEqual(await brokenNow(), [actionRules.partCharge.rule])
  const part = { customerId: order.customerId, adjustmentId: order.discrepancyId, kind: 'PART' } as const
  await charge({ ...part, credits: 2, actor: 'kim' })
  await charge({ ...part, credits: 3, actor: 'lee' })
  assert.deepEqual(await brokenNow(), [actionRules.partCharge.rule])
  await charge({ ...part, credits: 3, actor: 'kim' })
  assert.deepEqual(await brokenNow(), [])
})

test('an action that names no credits covers only a part that takes those of its won', async () => {
  const order = await partlyCancelled()
  await act('discrepancies accept', 'kim', order.discrepancyId, [], async () => ({}))
  await forgePart(order, 0)
  const { customerId, discrepancyId: adjustmentId } = order
  await charge({ customerId, adjustmentId, kind: 'PART', credits: 5, actor: 'kim' })
  assert.deepEqual(await brokenNow(), [actionRules.part.rule, actionRules.partCharge.rule].toSorted())
  await coverPart(order, 0)
  assert.deepEqual(await brokenNow(), [])
})

test('a request for a second person covers no part that is booked without its approval, nor does an approval that was refused', async () => {
  const asking = { credits: 0, limits: { ...limits, approvalAbove: 4 } }
  const [rejected, refused] = [await partlyCancelled(), await partlyCancelled()]
  for (const order of [rejected, refused]) {
    const { requestId } = await acceptPartOf(service.payments, order, { ...asking, discrepancyId: order.discrepancyId })
    assert.ok(requestId)
    if (order === rejected) {
      await reject(service.payments.database, requestId, 'lee')
      await forgePart(order, 0)
      assert.deepEqual(await brokenNow(), [actionRules.part.rule, actionRules.partCharge.rule].toSorted())
      await coverPart(order, 0)
      const { customerId, discrepancyId: adjustmentId } = order
      await charge({ customerId, adjustmentId, kind: 'PART', credits: 5, actor: 'kim' })
      assert.deepEqual(await brokenNow(), [])
    } else {
      const approve = (perDay: number) => approvePending(service.payments, requestId, 'park', perDay)
      await assert.rejects(act('adjustments approve', 'park', order.customerId, [requestId], () => approve(1)))
      await approve(1_000)
      assert.deepEqual(await brokenNow(), [actionRules.partApproval.rule])
      await act('adjustments approve', 'park', order.customerId, [requestId], () => approve(1_000))
      assert.deepEqual(await brokenNow(), [])
    }
  }
})

test('an acceptance that was refused covers no part that the serving role books afterwards', async () => {
  const order = await partlyCancelled()
  const key = { customerId: order.customerId, orderId: order.orderId }
  await assert.rejects(acceptPartOf(service.payments, key, { credits: 16, limits }), { code: 'VAL003' })
  await forgePart(order, 5)
  assert.deepEqual(await brokenNow(), [actionRules.part.rule])
  await coverPart(order, 5)
  assert.deepEqual(await brokenNow(), [])
})

test('a part that ends the discrepancy of another order is reported', async () => {
  const [order, other] = [await partlyCancelled(), await partlyCancelled()]
  await acceptPartOf(service.payments, order, { ...order, limits })
  const orderOf = (orderId: string, customerId: string) =>
    `update discrepancies set order_id = '${orderId}', customer_id = '${customerId}'
     where discrepancy_id = '${order.discrepancyId}'`
  assert.ok(
    (
      await brokenBetween([orderOf(other.orderId, other.customerId)], [orderOf(order.orderId, order.customerId)])
    ).includes(actionRules.part.rule),
  )
})

test('a part that was approved by a second person has the actions of both, and is charged to the second', async () => {
  const order = await partlyCancelled()
  const { customerId, orderId, discrepancyId } = order
  const asked = await acceptPartOf(service.payments, order, {
    discrepancyId,
    credits: 0,
    limits: { ...limits, approvalAbove: 4 },
  })
  const requestId = asked.requestId ?? assert.fail('no request')
  await act('adjustments approve', 'lee', customerId, [requestId], () =>
    approvePending(service.payments, requestId, 'lee', 1_000),
  )
  assert.deepEqual(await brokenNow(), [])
  const decidedBy = (name: string) =>
    `update adjustment_requests set decided_by = '${name}' where adjustment_id = '${requestId}'`
  assert.deepEqual(
    await brokenBetween([decidedBy('park')], [decidedBy('lee')]),
    [actionRules.partApproval.rule, actionRules.partCharge.rule].toSorted(),
  )
  const requestedBy = (name: string) =>
    `update adjustment_requests set requested_by = '${name}' where adjustment_id = '${requestId}'`
  assert.deepEqual(await brokenBetween([requestedBy('park')], [requestedBy('kim')]), [actionRules.part.rule])
  // What was accepted for one part covers no refund of the rest.
  const paymentKey = order.paymentKey
  const forged = { customerId, operationId: crypto.randomUUID(), kind: 'REFUND', paymentKey, leaseMs: 0 } as const
  assert.ok(await service.payments.batches.claimCancel({ ...forged, reason: 'agreed' }))
  await settleAll(service)
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  await coverRefund(orderId)
  assert.deepEqual(await brokenNow(), [])
})

test('refunds and adjustments from before the version that checks them are left out', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder()
  await refund(service.payments, { orderId, reason: 'long ago' })
  assert.deepEqual(await brokenNow(), [actionRules.refund.rule])
  const entry = (number: number, writtenAt: string, hash = `sha256('')`) =>
    `insert into record_journal (record_number, table_name, row_key, content_hash, written_at, journal_hash)
     values (${number}, 'schema_migrations', '54', ${hash}, ${writtenAt}, sha256(''))`
  const isLeftOut = async (...entries: string[]) => {
    const undo = `delete from record_journal where table_name = 'schema_migrations'`
    return !(await brokenBetween(entries, [undo])).includes(actionRules.refund.rule)
  }
  const ofMigration = `(select applied_at from schema_migrations where version = 54)`
  const afterwards = `now() + interval '1 hour'`
  assert.equal(await isLeftOut(entry(1_000_000, afterwards)), true)
  // An entry that is added later moves nothing, nor does one that a trigger has written: that of the migration is the hash of
  // nothing.
  assert.equal(await isLeftOut(entry(1_000_000, ofMigration), entry(1_000_001, afterwards)), false)
  assert.equal(await isLeftOut(entry(1_000_000, afterwards, `sha256('a row')`)), false)
  // Books that began with this version have no entry: one from days after the migration was added by hand.
  assert.equal(await isLeftOut(entry(1_000_000, `${ofMigration} + interval '25 hours'`)), false)
})
