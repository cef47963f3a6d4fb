// The environment of the cases of the fault table: a database and a gateway, for one case after the other. The worker's
// jobs claim everything that is due, for any customer, so no two cases share a world at the same time, and subjects that
// wait for their case are not due. Time in a world only passes when a test moves it past every lease and pause.
import { closeAll } from '../../../test/support/closing.ts'
import { wrapConnections } from '../../../test/support/database/connections.ts'
import { createTestDatabase, type TestDatabase } from '../../../test/support/database/database.ts'
import { openDirectSandbox } from './sandbox.ts'
import type { Given, Subject } from './scenario.ts'

/** The number of concurrent cases: enough to keep the processor busy while one of them pauses. */
export const worldCount = 3

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld() {
  // One connection for the service and one for the test, to each server: one case at a time needs no more, and each connection
  // plans every statement itself.
  const books = await createTestDatabase({ maxConnections: 1 })
  // Only processes of the service crash here, never the database server.
  await books.queryServers(`alter database ${books.connection.database} set synchronous_commit = off`)
  let last: Promise<unknown> = Promise.resolve()
  function oneByOne<Value>(run: () => Promise<Value>): Promise<Value> {
    const answer = last.then(run)
    last = answer.catch(() => undefined)
    return answer
  }
  const database: Pick<TestDatabase, 'query' | 'queryOf' | 'queryUnguarded'> = {
    query: <Row extends object>(...query: [string, unknown[]?]) => oneByOne(() => books.query<Row>(...query)),
    queryOf: <Row extends object>(...query: [string, string, unknown[]?]) =>
      oneByOne(() => books.queryOf<Row>(...query)),
    queryUnguarded: (...query) => oneByOne(() => books.queryUnguarded(...query)),
  }
  const sandbox = openDirectSandbox()
  return {
    database,
    connections: wrapConnections(books.pool, (_query, send) => oneByOne(send)),
    sandbox,
    openedAt: new Date(),
    /** Subjects that wait for their case. */
    stock: new Map<Given, Subject[]>(),
    /** Orders that are left unfinished. */
    retired: new Set<string>(),
    async close(): Promise<void> {
      // The database is removed with the server: dropping it now would cost half a second.
      await closeAll(sandbox, ...[books.pool, books.ownerPool].map((pool) => ({ close: () => pool.end() })))
    },
  }
}

/** Postpones open operations until their case runs. */
export async function postpone({ database }: World, customerIds: string[]): Promise<void> {
  await database.query(
    `update payment_operations set lease_until = now(), sent_at = sent_at - interval '1 minute', settle_at = 'infinity'
     where customer_id = any($1) and state = 'OPEN'`,
    [customerIds],
  )
}

/** Prevents the remains of a case from affecting the next ones. */
export async function retire(world: World, { customerId, orderId }: Subject): Promise<void> {
  world.retired.add(orderId)
  await postpone(world, [customerId])
  await world.database.query(
    `with notification as (
      update webhook_notifications set process_at = 'infinity' where order_id = $2 and processed_at is null
    ),
    movement as (
      delete from gateway_movements where order_id = $2
    )
    update discrepancies set resolved_at = now(), resolution = 'the case is over'
    where customer_id = $1 and resolved_at is null`,
    [customerId, orderId],
  )
  await world.database.queryOf(
    customerId,
    `update orders set created_at = now() where customer_id = $1 and status = 'PENDING'`,
    [customerId],
  )
}

/** Moves past every lease and every pause of a case. */
export async function moveClock({ database }: World, { customerId, orderId }: Subject): Promise<void> {
  await database.query(
    `with notification as (
      update webhook_notifications set process_at = now() where order_id = $1 and processed_at is null
    )
    update reconciliations set lease_until = now() where finished_at is null`,
    [orderId],
  )
  await database.queryOf(
    customerId,
    `update payment_operations
    set lease_until = now(), settle_at = now(), sent_at = sent_at - interval '1 minute'
    where customer_id = $1 and state = 'OPEN'`,
    [customerId],
  )
}

/** Hides the payments of earlier cases: their movements are deleted, and their operations are older than any span. */
export async function hideOtherPayments({ database }: World, { customerId }: Subject): Promise<void> {
  await database.query('delete from gateway_movements')
  await database.query(
    `update payment_operations set opened_at = '2020-01-01' where customer_id <> $1 and opened_at > '2020-01-01'`,
    [customerId],
  )
}

/** Makes one day due for reconciliation: the last one, on which the first customer was created. */
export async function makeDayDue({ database }: World): Promise<void> {
  await database.query('delete from reconciliations')
  await database.query('update customers set created_at = $1 where created_at > $1', [noonOfLastDay()])
}

/** Days are Korean, and due half an hour after their end. */
export function noonOfLastDay(): Date {
  const dayMs = 86_400_000
  const offsetMs = 9 * 3_600_000
  const today = Math.floor((Date.now() - dayMs / 48 + offsetMs) / dayMs) * dayMs - offsetMs
  return new Date(today - dayMs / 2)
}
