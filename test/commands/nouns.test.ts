// The rules of single commands, called in this process: who counts as one person, what is asked first, whom a filter leaves out,
// and what is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import type { Call, DatabaseCommand, Values } from '../../src/commands/command.ts'
import { commands } from '../../src/commands/command-table.ts'
import { newOperationId } from '../../src/core/ids.ts'
import { koreanDayOf } from '../../src/core/korean-days.ts'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import { createActionLog, recordAction } from '../../src/operators/action-log.ts'
import { resolveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { review } from '../../src/payments/recovery/review.ts'
import type { UnusedQuote } from '../../src/payments/refunds/quote.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { spend } from '../support/service/orders.ts'
import { startTestService, type TestService, testPeppers } from '../support/service/service.ts'

const adjustments = { limits: { viewer: 0, support: 0, finance: 1, admin: 250 }, approvalAbove: 200 }
let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.close())

const parts = (): Partial<Call> => ({
  database: service.payments.database,
  payments: async () => service.payments,
  adjustments,
  firstPasswordHours: 48,
  peppers: () => testPeppers,
})
const run = <Result = Record<string, unknown>>(name: string, values: Values, ...positionals: string[]) =>
  callCommand<Result>(commands, name, { values, positionals }, parts())
const commandOf = (name: string) => commands.find((each) => each.name === name) as DatabaseCommand
const callOf = (input: Partial<Call>) => ({ ...parts(), positionals: [], values: {}, ...input }) as never

const reason = 'agreed by mail'

test('commands adjust within the limit of an admin, and a name in capitals approves no request of the same person', async () => {
  const { customerId: customer } = await service.newCustomer()
  const grant = (credits: string, by: string) => run('adjustments grant', { customer, credits, reason, by })
  const approve = (id: unknown, by: string) => run('adjustments approve', { by }, `${id}`)
  assert.equal((await grant('10', 'Kim')).state, 'DONE')
  await assert.rejects(
    grant('241', 'park').then(({ adjustmentId }) => approve(adjustmentId, 'KIM ')),
    /limit of 250 credits/,
  )
  const { adjustmentId, state } = await grant('240', ' Kim')
  assert.equal(state, 'PENDING')
  await assert.rejects(approve(adjustmentId, 'KIM '), /another person/)
  assert.deepEqual(
    (await run<{ adjustmentId: string }[]>('adjustments pending', {})).map((each) => each.adjustmentId).at(-1),
    adjustmentId,
  )
  assert.equal((await approve(`${adjustmentId}`.toUpperCase(), 'lee')).available, 250)
})

test('the question before an adjustment has the balance after it; of more than the limit, given or taken, it asks to store a request', async () => {
  const { customerId: customer } = await service.newCustomer()
  for (const [credits, question, availableAfter] of [
    ['200', /^Adjust the balance/, 200],
    ['-200', /^Adjust the balance/, -200],
    ['201', /^Store this as a request/, undefined],
    ['-201', /^Store this as a request/, undefined],
  ] as const) {
    const asked = await commandOf('adjustments correct').confirm?.(callOf({ values: { customer, credits } }))
    assert.match(asked?.question ?? '', question, credits)
    const shown: { availableAfter?: number } = { ...asked?.preview }
    assert.equal(shown.availableAfter, availableAfter)
  }
})

test('a budget over all customers is of scope SERVICE and needs one server; budgets are listed of one customer, over all, or every one', async () => {
  const [customer, other] = [(await service.newCustomer()).customerId, (await service.newCustomer()).customerId]
  const of = { period: 'DAY', credits: '5' }
  await assert.rejects(run('budgets set', { ...of, customer: 'all', scope: 'CUSTOMER' }), /is of scope SERVICE/)
  await assert.rejects(
    run('budgets set', { ...of, customer, scope: 'CUSTOMER', 'warn-at': '6' }),
    /^Error: --warn-at: /,
  )
  const set = async (values: Values) => (await run('budgets set', { ...of, ...values })).budgetId
  const onCluster = { ...parts(), database: { ...service.payments.database, groups: [] } }
  const ofAll = { ...of, customer: 'all', scope: 'SERVICE', value: 'captions' }
  await assert.rejects(callCommand(commands, 'budgets set', { values: ofAll }, onCluster), /needs one server/)
  const own = await set({ customer, scope: 'CUSTOMER' })
  const ofOther = await set({ customer: other, scope: 'CUSTOMER' })
  const overAll = await set(ofAll)
  const list = async (values: Values) =>
    new Set((await run<{ budgetId: string }[]>('budgets list', values)).map(({ budgetId }) => budgetId))
  assert.deepEqual(await list({ customer }), new Set([own]))
  assert.deepEqual(await list({ customer: 'all' }), new Set([overAll]))
  assert.deepEqual(await list({}), new Set([own, ofOther, overAll]))
  const remove = commandOf('budgets remove')
  assert.equal(await remove.findSubject?.(callOf({ positionals: [`${own}`] })), customer, 'logged under its customer')
  await run('budgets remove', {}, `${own}`)
  await assert.rejects(run('budgets remove', {}, crypto.randomUUID()), /There is no budget/)
  assert.deepEqual(await list({}), new Set([ofOther, overAll]))
  for (const left of [ofOther, overAll]) await run('budgets remove', {}, `${left}`)
})

test('a budget that is set without --warn-at warns when 80 % of its credits are used, and with it at that many', async () => {
  const { customerId: customer } = await service.newCustomer()
  const values = { customer, scope: 'CUSTOMER', period: 'DAY', credits: '10' }
  assert.equal((await run('budgets set', values)).warnAt, 8)
  assert.equal((await run('budgets set', { ...values, 'warn-at': '3' })).warnAt, 3)
})

test('the value of what is left on a day includes that day in Korea, and at a time that moment', async () => {
  const customer = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder('BASIC')
  const { customerId } = customer
  const today = koreanDayOf(new Date())
  assert.ok((await run<string>('lots export', { at: today })).includes(orderId))
  const [{ at } = { at: new Date() }] = await service.database.query<{ at: Date }>(
    'select created_at as at from ledger_entries where customer_id = $1',
    [customerId],
  )
  assert.ok((await run<string>('lots export', { at: at.toISOString() })).includes(orderId), 'of that moment too')
})

test('a refund of the unused part does what was confirmed, or is refused when credits have moved since', async () => {
  const { customerId, ...customer } = await service.newCustomer()
  const { orderId } = await customer.confirmedOrder('STANDARD')
  const refund = commandOf('orders refund')
  const call = callOf({ positionals: [orderId], values: { unused: true, reason } })
  const asked = await refund.confirm?.(call)
  assert.match(asked?.question ?? '', /^Return this amount\?/)
  assert.ok(await spend(service, customerId, 1))
  await assert.rejects(async () => refund.run?.(call, asked?.preview), /credits have moved/)
  const again = (await refund.confirm?.(call))?.preview as unknown as UnusedQuote
  const refunded = (await refund.run?.(call, again)) as object
  assert.equal('refundedAmount' in refunded && refunded.refundedAmount, again.amount)
})

test('what does not exist is refused by name: a discrepancy, a customer, a key', async () => {
  const id = crypto.randomUUID()
  await assert.rejects(run('discrepancies resolve', { reason }, id), { message: `There is no open discrepancy ${id}.` })
  await assert.rejects(run('discrepancies accept', { reason }, id), {
    message: `There is no discrepancy ${id} of an order.`,
  })
  await assert.rejects(run('customers suspend', { reason }, id), { message: `There is no customer ${id}.` })
  await assert.rejects(run('balances show', { customer: 'nobody' }), { message: 'There is no customer nobody.' })
})

test('a key is suspended under its customer, and one for a new customer is logged under the id that it gets', async () => {
  const { keyId, customerId } = await service.newCustomer()
  assert.equal(await commandOf('keys suspend').findSubject?.(callOf({ positionals: [keyId] })), customerId)
  const issue = (customer: string) => commandOf('keys issue').findSubject?.(callOf({ values: { customer } }))
  const id = crypto.randomUUID()
  assert.equal(await issue(` ${id.toUpperCase()}`), id)
  assert.match(`${await issue('nobody yet')}`, /^[0-9a-f-]{36}$/)
})

test('one to ten thresholds of low credits are set, or none', async () => {
  const { customerId: customer } = await service.newCustomer()
  const set = (credits: string) => run('customers low-credits', { customer, credits })
  const ten = Array.from({ length: 10 }, (_, index) => 10 - index)
  assert.deepEqual((await set(ten.join())).lowCredits, ten)
  for (const credits of [`11,${ten.join()}`, '0', '5,', '']) await assert.rejects(set(credits), /one to ten numbers/)
  assert.equal((await set('off')).lowCredits, null)
})

test('goodwill is a whole number of credits from one on, and a correction any but zero', async () => {
  const { customerId: customer } = await service.newCustomer()
  const adjusted = (verb: string, credits: string) => run(`adjustments ${verb}`, { customer, credits, reason })
  for (const credits of ['-1', '0', '1.5', '+1']) await assert.rejects(adjusted('grant', credits), /at least 1/)
  for (const credits of ['0', '-0', '1.5']) await assert.rejects(adjusted('correct', credits), /other than 0/)
  await adjusted('correct', '+2')
  assert.equal((await adjusted('correct', '-1')).available, 1)
})

test('a key for a new customer asks first when another name is nearly equal, and names the existing customer', async () => {
  for (const name of ['새벽AI', 'Acme', 'Northern Lights Analytics', 'team 1']) await service.newCustomer(name)
  const issue = commandOf('keys issue')
  const similarTo = async (customer: string) => {
    const asked = await issue.confirm?.(callOf({ values: { customer } }))
    return asked && (asked.preview as { existingCustomer: string }).existingCustomer
  }
  assert.equal(await similarTo('새벽 AI'), '새벽AI')
  assert.equal(await similarTo('acme '), 'Acme')
  assert.equal(await similarTo('Acme.'), 'Acme')
  assert.equal(await similarTo('Northen Light Analytics'), 'Northern Lights Analytics')
  for (const name of ['Acme', 'Eastern Heights Analytics', 'team 2', crypto.randomUUID()]) {
    assert.equal(await similarTo(name), undefined, name)
  }
  const unasked = (customer: string, yes?: boolean) => run('keys issue', { customer, ...(yes && { yes }) })
  await assert.rejects(
    unasked('새벽 AI'),
    /^Error: No key was issued: .* but 새벽AI \(.+\)\. To create another one: --yes\.$/,
  )
  assert.equal((await service.database.query(`select from customers where name = '새벽 AI'`)).length, 0)
  for (const [name, yes] of [['Acme'], ['Eastern Heights Analytics'], ['새벽 AI', true]] as const) {
    await unasked(name, yes)
  }
})

test('a refund names the credits that it has not taken back, and a first password how long it is valid', async () => {
  const { confirmedOrder } = await service.newCustomer()
  const { orderId } = await confirmedOrder('STANDARD')
  const refunded = await run<object>('orders refund', { unused: true, reason }, orderId)
  const answer = { orderId, status: 'REFUNDED', refundedAmount: 20_000, creditsTakenBack: 21 }
  assert.deepEqual(refunded, { ...answer, creditsNotTakenBack: 0 })
  const again = await run<object>('orders refund', { json: true, reason }, orderId)
  assert.deepEqual(again, { ...answer, shortfall: 0 })
  const added = await run<{ validForHours: number }>('operators add', { role: 'viewer' }, 'noh')
  const reset = await run<{ validForHours: number }>('operators reset', {}, 'noh')
  assert.deepEqual([added.validForHours, reset.validForHours], [48, 48])
})

test('adjustments and requests that were typed name the user of the machine, too', async () => {
  const { customerId } = await service.newCustomer()
  const { database } = service.payments
  const log = { database, onUnwritten: () => undefined }
  const action = { actor: 'kim as root', command: 'adjustments grant', arguments: [], subject: customerId, reason }
  for (const [credits, approvalAbove] of [
    [5, 10],
    [6, 5],
  ] as const) {
    const adjustment = {
      customerId,
      adjustmentId: crypto.randomUUID(),
      kind: 'GOODWILL',
      credits,
      reason,
      actor: 'kim',
    } as const
    await recordAction(log, action, () => adjust(database, adjustment, { perDay: 100, approvalAbove }))
  }
  const [listed] = await run<{ actor: string }[]>('adjustments list', { customer: customerId })
  const pending = await run<{ customerId: string; requestedBy: string }[]>('adjustments pending', {})
  const waiting = pending.find((each) => each.customerId === customerId)
  assert.deepEqual([listed?.actor, waiting?.requestedBy], ['kim as root', 'kim as root'])
})

test('accepting more credits than there are names the most, before the question too, and a refund of the rest names the acceptance', async () => {
  const { customerId, confirmedOrder } = await service.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder('STANDARD')
  await service.sandbox.cancel(paymentKey, 5_000)
  const refund = () => run('orders refund', { unused: true, reason }, orderId)
  await assert.rejects(refund(), {
    message: new RegExp(`already\\. First: orders settle ${orderId}, which records it\\.$`),
  })
  await review(service.payments, { customerId, orderId })
  const listed = await run<{ discrepancyId: string; customerId: string }[]>('discrepancies list', {})
  const { discrepancyId = '' } = listed.find((each) => each.customerId === customerId) ?? {}
  await assert.rejects(refund(), { message: new RegExp(`already\\. First: discrepancies accept ${discrepancyId}\\.$`) })
  const values = { credits: '999', reason }
  const mostCredits = { message: /^At most 6 credits can be taken: / }
  await assert.rejects(run('discrepancies accept', values, discrepancyId), mostCredits)
  const call = callOf({ positionals: [discrepancyId], values })
  await assert.rejects(async () => commandOf('discrepancies accept').confirm?.(call), mostCredits)
})

test('a reason has 3 to 200 characters, as in the console, and rejecting a request needs one', async () => {
  const id = crypto.randomUUID()
  for (const name of ['adjustments reject', 'discrepancies resolve', 'customers suspend']) {
    for (const short of [undefined, 'x', ' no ', 'a'.repeat(201)]) {
      const values = short === undefined ? {} : { reason: short }
      await assert.rejects(run(name, values, id), /--reason TEXT is needed, 3 to 200 characters/, name)
    }
  }
})

test('a reconciliation says whether the span agrees, and the difference', async (t) => {
  const own = await startTestService()
  t.after(() => own.close())
  const { customerId, confirmedOrder } = await own.newCustomer()
  const { orderId, paymentKey } = await confirmedOrder('BASIC')
  const { payments, database } = own
  const ofOwn = { database: payments.database, payments: async () => payments, onProgress: () => undefined }
  const reconcile = async () => {
    const values = { from: koreanDayOf(new Date()), to: '2099-01-01' }
    const result = await commandOf('reconcile').run?.(callOf({ ...ofOwn, values, subject: newOperationId() }))
    const { state, difference, captured } = result as Record<string, unknown>
    return [state, difference, captured]
  }
  assert.deepEqual(await reconcile(), ['agrees', 0, 1_000])
  await own.sandbox.cancel(paymentKey, 500)
  assert.deepEqual(await reconcile(), ['differs', -500, 1_000])
  const [{ discrepancyId } = { discrepancyId: '' }] = await database.query<{ discrepancyId: string }>(
    'select discrepancy_id as "discrepancyId" from discrepancies where customer_id = $1 and order_id = $2',
    [customerId, orderId],
  )
  const action = { actor: 'kim', command: 'discrepancies resolve', arguments: [], subject: discrepancyId, reason }
  await recordAction(createActionLog(payments.database, silentLog), action, async () => ({
    kind: await resolveDiscrepancy(payments.database, discrepancyId, reason),
  }))
  assert.deepEqual(await reconcile(), ['explained', -500, 1_000])
})
