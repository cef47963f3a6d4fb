// Shared parts of the worker's tests: open operations, making them due, discrepancies, and a gateway whose answers can be
// overridden.
import assert from 'node:assert/strict'
import { silentLog } from '../../../harness/silent-log.ts'
import { createCredits } from '../../../src/credits/credits.ts'
import { type Connections, createDatabase } from '../../../src/db/database.ts'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { createPaymentContext, type PaymentContext } from '../../../src/payments/context.ts'
import { recover } from '../../../src/payments/recovery/recover.ts'
import { closeAll } from '../closing.ts'
import { wrapConnections } from '../database/connections.ts'
import { openTestPool } from '../database/database.ts'
import type { TestService } from './service.ts'

type Books = Pick<TestService, 'database'>

export type OperationRow = {
  kind: string
  state: string
  paymentKey: string | null
  attempts: number
  sendNumber: number
  creditsHeld: number
  gatewayCode: string | null
  reason: string | null
  leased: boolean
  settleInMs: number
  answered: boolean
}

/** The operations of an order, oldest first. */
export function operationsOf({ database }: Books, orderId: string): Promise<OperationRow[]> {
  return database.query<OperationRow>(
    `select kind, state, payment_key as "paymentKey", attempts, send_number as "sendNumber",
       credits_held as "creditsHeld", gateway_code as "gatewayCode", reason, lease_until > now() as leased,
       extract(epoch from settle_at - now())::float8 * 1000 as "settleInMs", answered_by is not null as answered
     from payment_operations where order_id = $1 order by opened_at, kind`,
    [orderId],
  )
}

export async function lastOperation(books: Books, orderId: string): Promise<OperationRow> {
  return (await operationsOf(books, orderId)).at(-1) ?? assert.fail(`no operation of ${orderId}`)
}

/** As `CONFIRM APPROVED`. */
export async function operationStates(books: Books, orderId: string): Promise<string[]> {
  return (await operationsOf(books, orderId)).map(({ kind, state }) => `${kind} ${state}`)
}

/** As if time had passed: every lease is over, and every open operation and notification is due. */
export async function makeDue({ database }: Books): Promise<void> {
  await database.query(
    `update payment_operations set lease_until = now() - interval '1 s', settle_at = now() - interval '1 s'
     where state = 'OPEN'`,
  )
  await database.query(
    `update webhook_notifications set process_at = now() - interval '1 s' where processed_at is null`,
  )
}

/** Runs the recovery until nothing is due. */
export async function settleAll(service: TestService, context: PaymentContext = service.payments): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await makeDue(service)
    const { taken } = await recover(context)
    if (taken === 0) return
  }
  assert.fail('an operation stays open')
}

export type DiscrepancyRow = { kind: string; resolution: string | null; detail: Record<string, unknown> }

/** The discrepancies of an order or a payment key, oldest first, resolved ones included. */
export function discrepanciesOf({ database }: Books, subject: string): Promise<DiscrepancyRow[]> {
  const text = `select kind, resolution, detail from discrepancies where subject = $1 or order_id = $1
    order by found_at, kind`
  return database.query<DiscrepancyRow>(text, [subject])
}

export async function openKinds(books: Books, subject: string): Promise<string[]> {
  return (await discrepanciesOf(books, subject)).filter((each) => each.resolution === null).map(({ kind }) => kind)
}

type Verb = 'confirm' | 'cancel' | 'findConfirm' | 'findCancel' | 'fetchPayment' | 'listMovements'
/** Undefined: the real gateway is called. */
export type Overrides = {
  [Name in Verb]?: (input: Parameters<Gateway[Name]>[0]) => ReturnType<Gateway[Name]> | undefined
}

/** Pass `wrapGateway` to startTestService, and set in `overrides` the answers to use instead. */
export function createOverrides() {
  const overrides: Overrides = {}
  function overridden<Name extends Verb>(gateway: Gateway, verb: Name): Gateway[Name] {
    const answer = (input: never) =>
      (overrides[verb] as ((input: never) => unknown) | undefined)?.(input) ?? gateway[verb](input)
    return answer as Gateway[Name]
  }
  return {
    overrides,
    clear(): void {
      for (const verb of Object.keys(overrides)) delete overrides[verb as Verb]
    },
    wrapGateway: (gateway: Gateway): Gateway => ({
      ...gateway,
      confirm: overridden(gateway, 'confirm'),
      cancel: overridden(gateway, 'cancel'),
      findConfirm: overridden(gateway, 'findConfirm'),
      findCancel: overridden(gateway, 'findCancel'),
      fetchPayment: overridden(gateway, 'fetchPayment'),
      listMovements: overridden(gateway, 'listMovements'),
    }),
  }
}

/** Contexts with their own pools, as in separate processes, on the service's database and gateway. */
export async function openContexts({ database, payments }: TestService, count: number) {
  const pools = await Promise.all(
    Array.from({ length: count }, () => openTestPool(database.connection, { maxConnections: 2 })),
  )
  return {
    contexts: pools.map((pool) => contextOver(payments, pool)),
    close: () => closeAll(...pools.map((pool) => ({ close: () => pool.end() }))),
  }
}

/** The same context on other connections: another pool, or one with injected faults. */
export function contextOver(context: PaymentContext, connections: Connections): PaymentContext {
  const database = createDatabase(connections, silentLog)
  return createPaymentContext({ ...context, database, credits: createCredits(database, context.tallies) })
}

/** Once, the statement is committed and its answer is lost. */
export function losingAnswerOf(connections: Connections, name: string): Connections & { lost(): boolean } {
  let lost = false
  const losing = wrapConnections(connections, async (query, send) => {
    const answer = await send()
    if (query.name !== name || lost) return answer
    lost = true
    throw new Error('Connection terminated unexpectedly')
  })
  return { ...losing, lost: () => lost }
}
