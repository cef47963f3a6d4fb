// A whole service with its console built and its worker off, so that nothing is repaired before an operator does it, with
// customers: successful purchases, and one whose confirm got no answer from the gateway.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { type Cleaner, defer, repository } from '../../../harness/processes.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { addDays, koreanDayOf } from '../../../src/core/korean-days.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { insertAttempt } from '../../../src/events/attempts/attempts.sql.ts'
import { addEndpoint } from '../../../src/events/endpoints.ts'
import { addOperator } from '../../../src/operators/operators.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import { insertAudit } from '../../../src/payments/audit/record.sql.ts'
import type { PackageType } from '../../../src/payments/packages.ts'
import { assertInvariants } from '../audit/invariants.ts'
import { type Client, clientOf, codeOf } from '../service/clients.ts'
import { secretKey, testPeppers } from '../service/service.ts'
import { startWholeService } from '../service/whole-service.ts'
import { logEntries } from '../spending/receipts.ts'
import { spendingCalls } from '../spending/spending.ts'
import { type Operator, signedIn } from './console.ts'

export type ConsoleWorld = Awaited<ReturnType<typeof startConsoleWorld>>
export type Customer = Awaited<ReturnType<ConsoleWorld['newCustomer']>>

const capturedStates = ['DONE', 'PARTIAL_CANCELED', 'CANCELED']
const settings = {
  WORKER: 'off',
  TOSS_SECRET_KEY: secretKey,
  EVENT_PRIVATE_ADDRESSES: 'allow',
  ADJUSTMENT_APPROVAL_ABOVE: '40',
}

export async function startConsoleWorld(t: Cleaner) {
  // As by `npm start`; it does nothing when the sources have not changed.
  execFileSync(process.execPath, [join(repository, 'console/build.ts')], { stdio: ['ignore', 'inherit', 'inherit'] })
  const service = await startWholeService(t, settings)
  defer(t, () => assertInvariants(service.database))
  const { internalUrl, publicUrl, sandbox } = service
  const spending = spendingCalls(internalUrl, (await service.newToken()).token)
  const operators = new Map<Role, Promise<Operator>>()

  /** The operator of that role, with one session for all tests. */
  function operator(role: Role): Promise<Operator> {
    const found = operators.get(role) ?? signedIn(service, role)
    operators.set(role, found)
    return found
  }

  async function newCustomer(name: string) {
    const admin = await operator('admin')
    const made = await admin.get('createCustomerWithKey', { body: { name, reason: 'signed a contract' } })
    return { ...made, name, client: clientOf(publicUrl, made.apiKey) }
  }

  return {
    ...service,
    url: `${internalUrl}/console`,
    spending,
    operator,
    newCustomer,
    /** An operator with a first password who has never signed in. */
    async newcomer(name: string, role: Role): Promise<string> {
      const added = await addOperator(createDatabase(service.database.pool, silentLog), name, role)
      assert.ok(added)
      return added.firstPassword
    },
    /** The buyer has paid, the gateway has captured the money, and its answer was lost: the order stays PENDING. */
    async paidWithoutAnswer(client: Client, packageType: PackageType = 'STANDARD') {
      const { orderId, amount } = await client.purchaseCredits({ packageType })
      await sandbox.setFaults([
        { on: 'confirm', kind: 'reset-after', times: 9 },
        { on: 'lookup', kind: 'reset-before', times: 9 },
      ])
      assert.equal(await codeOf(client.confirm(orderId, amount)), 'SVC001')
      await sandbox.clearFaults()
      return { orderId, amount, paymentKey: `pay_${orderId}` }
    },
    /** The gateway's own record of movements: KRW, and their number. */
    async movedAtGateway() {
      const captured = (await sandbox.payments()).filter(({ status }) => capturedStates.includes(status))
      const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0)
      return {
        movements: sum(captured.map(({ cancels }) => 1 + (cancels?.length ?? 0))),
        captured: sum(captured.map(({ totalAmount }) => totalAmount)),
        cancelled: sum(captured.map(({ totalAmount, balanceAmount }) => totalAmount - balanceAmount)),
      }
    },
  }
}

/** At least one row for everything that a page can show. */
export async function fillWorld(world: ConsoleWorld) {
  const { sandbox, spending, newCustomer, database } = world
  const admin = await world.operator('admin')
  const direct = createDatabase(database.pool, silentLog)
  const endpoint = { url: 'https://platform.example/events', types: [] }
  const { endpointId } = await addEndpoint(direct, testPeppers[0], endpoint)

  const spender = await newCustomer('Text analyses')
  await spender.client.buy('PRO')
  for (const [credits, label, userId] of [
    [3, 'summary', 'user-17'],
    [1, 'search', 'user-17'],
    [12, 'summary', 'user-4711'],
  ] as const) {
    await spending.spend(spender.customerId, credits, undefined, { label, userId, units: credits * 420 })
  }
  await spending.hold(spender.customerId, 20, { reference: 'batch-2026-11' })
  await spender.client.cancel(await spender.client.buy('BASIC'))
  const refused = await spender.client.purchaseCredits({ packageType: 'STANDARD' })
  await codeOf(spender.client.confirmPayment({ ...refused, paymentKey: `decline_${refused.orderId}` }))

  const attempted = { customerId: spender.customerId, endpointId }
  for (const [status, error] of [[200, null] as const, [500, 'HTTP 500'] as const, [null, 'TimeoutError'] as const]) {
    const attempt = { eventNumber: 1, attemptedAt: new Date(), status, error, tookMs: 1_234 }
    await insertAttempt(direct, attempted, attempt)
  }
  await database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     values ($1, $2, 1, 84, 'HTTP 500')`,
    [spender.customerId, endpointId],
  )
  await logEntries(direct)
  const budget = { value: 'analyses', period: 'MONTH', credits: 5_000, reason: 'agreed with the team' } as const
  await admin.get('setServiceBudget', { body: budget })

  const doubtful = await newCustomer('Weather maps')
  const [open, resolved] = [await doubtful.client.buy('STANDARD'), await doubtful.client.buy('STANDARD')]
  for (const orderId of [open, resolved]) await sandbox.cancel(`pay_${orderId}`, 5_000)
  const day = koreanDayOf(new Date())
  const requested = { from: day, to: day, reason: 'to see that it works' }
  const { reconciliationId } = await admin.get('reconcile', { body: requested })
  const stateOf = async () => (await admin.get('run', { params: { reconciliationId } })).state
  await until('the run has ended', async () => (await stateOf()) === 'finished')
  const { discrepancies } = await admin.get('discrepancies')
  const idOf = (of: string) => discrepancies.find(({ orderId }) => orderId === of)?.discrepancyId ?? ''
  const [discrepancyId, resolvedId] = [idOf(open), idOf(resolved)]
  const body = { reason: 'agreed with the customer' }
  await admin.get('resolveDiscrepancy', { params: { discrepancyId: resolvedId }, body })
  const refunded = await doubtful.client.buy('STANDARD')
  await spending.spend(doubtful.customerId, 50)
  await admin.get('refundOrder', { params: { orderId: refunded }, body: { reason: 'the service was down' } })

  const waiting = await newCustomer('Weather reports')
  const unanswered = await world.paidWithoutAnswer(waiting.client)
  const days = { from: addDays(day, -3), to: day }
  const auditId = await foundBroken(world, { customerId: doubtful.customerId, orderId: open })
  const ids = { reconciliationId, discrepancyId, resolvedId, auditId, endpointId }
  return { ...ids, spender, open, refunded, unanswered: unanswered.orderId, days }
}

/** Stores an audit with findings, although the books are right. */
async function foundBroken({ database }: ConsoleWorld, subject: object): Promise<string> {
  const auditId = crypto.randomUUID()
  const guard = { kind: 'trigger', table: 'orders', name: 'orders_transitions', fault: 'is disabled' }
  await insertAudit(createDatabase(database.pool, silentLog), {
    auditId,
    cause: 'DAILY',
    tookMs: 2_300,
    rules: 49,
    violationCount: 1_201,
    // Not more than exist: later audits must not count fewer.
    checked: {
      accounts: 2,
      entries: 5,
      holds: 1,
      adjustments: 0,
      orders: 3,
      operations: 3,
      events: 3,
      usage: 0,
      customers: 2,
      apiKeys: 2,
      serviceTokens: 1,
      operators: 2,
      operatorActions: 2,
      discrepancies: 1,
      audits: 0,
      budgets: 0,
      eventEndpoints: 0,
      logCheckpoints: 0,
      journalEntries: 10,
      loggedEntries: 0,
      publishedCheckpoints: 0,
    },
    findings: [
      { invariant: 'SCHEMA', rule: `the schema's guards are in place`, count: 1, subjects: [guard] },
      {
        invariant: 'I-9',
        rule: 'amount and credits are those of the catalogue',
        count: 1_200,
        subjects: [{ ...subject }],
      },
    ],
  })
  return auditId
}
