// The lease of an open operation: which holder works on it (`holder_id`), until when (`lease_until`), and when the worker
// claims it if it is still open (`settle_at`). That moment is set in three places: the claim that opens the operation sets it
// to the end of its lease, the release after the first attempt to the first pause, and each claim of the worker to a pause that
// doubles with the attempts, up to a limit and to twice the age of the operation. Retries of a caller lengthen the pause after
// the worker's next attempt, but do not move that attempt. All times are the database's.
//
// A claim finds that the attempt before it has ended without an outcome, because it was released or its lease has ended: that
// is where attempts are counted, once for each, whether a request or the worker has made them.
import { type Database, statement } from '../../db/database.ts'
import { takeFromGroups } from '../../db/groups.ts'
import { sql } from '../../db/sql.ts'
import type { Operation } from './begin.sql.ts'
import { operationJson } from './read.sql.ts'

// An operation that became due while its lease was held is the worker's turn until `$5` after the end of that lease: a caller
// that retries without a pause would otherwise take it again each time before the worker looks.
const claimLeaseStatement = statement.ofCustomer(
  'payments.claimLease',
  sql`update payment_operations p
  set lease_until = now() + $3::int * interval '1 ms',
      holder_id = $4,
      attempts = p.attempts + (p.holder_id <> $4)::int
  where p.customer_id = $1 and p.operation_id = $2 and p.state = 'OPEN'
    and (p.holder_id = $4
         or p.lease_until <= now()
            and (p.settle_at >= p.lease_until or p.lease_until <= now() - $5::int * interval '1 ms'))
  returning ${operationJson(sql`p`)} as "operation"`,
)

/** The operation with its new holder; null when it is closed, another holder has the lease, or it is the worker's turn. */
export async function claimLease(
  database: Database,
  operation: Operation,
  holderId: string,
  leaseMs: number,
  turnMs: number,
): Promise<Operation | null> {
  const [row] = await database.run<{ operation: Operation }>(claimLeaseStatement, [
    operation.customerId,
    operation.operationId,
    leaseMs,
    holderId,
    turnMs,
  ])
  return row?.operation ?? null
}

// The due ones, oldest first. The pause before the next try doubles each time, up to a limit, with jitter. If this process
// dies, the next try is not before the end of the lease. A caller that retries without a pause makes many attempts in a short
// outage, so the pause is also limited by the age of the operation. By twice the age, because that is never less than the next
// pause where only the worker tries: half of each pause is certain, and the halves add up to more than half of the next one.
const claimDueOperationsStatement = statement.ofEachGroup(
  'payments.claimDueOperations',
  sql`with due as (
    select customer_id, operation_id
    from payment_operations
    where state = 'OPEN' and settle_at <= now() and lease_until <= now()
    order by settle_at
    limit $1
    for no key update skip locked
  )
  update payment_operations p
  set holder_id = $2,
      lease_until = now() + $3::int * interval '1 ms',
      attempts = p.attempts + 1,
      settle_at = now() + least($5::int, $4::int * 2 ^ least(p.attempts, 20),
          greatest($4::int, 2000 * extract(epoch from now() - p.opened_at)))
        * (0.5 + random() / 2) * interval '1 ms'
  from due
  where p.customer_id = due.customer_id and p.operation_id = due.operation_id
  returning ${operationJson(sql`p`)} as "operation"`,
)

export type DueClaim = {
  holderId: string
  limit: number
  leaseMs: number
  firstPauseMs: number
  longestPauseMs: number
}

/** Open operations that are due and without a lease; the holder has their leases now. */
export async function claimDueOperations(database: Database, claim: DueClaim): Promise<Operation[]> {
  const { limit, holderId, leaseMs, firstPauseMs, longestPauseMs } = claim
  const rows = await takeFromGroups(database, limit, (group, left) => {
    const values = [left, holderId, leaseMs, firstPauseMs, longestPauseMs]
    return group.run<{ operation: Operation }>(claimDueOperationsStatement, values)
  })
  return rows.map((row) => row.operation)
}

const renewLeaseStatement = statement.ofCustomer(
  'payments.renewLease',
  `update payment_operations
  set sent_at = now(),
      lease_until = now() + $4::int * interval '1 ms',
      send_number = $5
  where customer_id = $1 and operation_id = $2 and holder_id = $3 and state = 'OPEN'
  returning operation_id`,
)

/** Before the call is sent again: stores the time of the send. False when another holder has the lease by now. */
export async function renewLease(database: Database, operation: Operation, leaseMs: number): Promise<boolean> {
  const { customerId, operationId, holderId, sendNumber } = operation
  const rows = await database.run(renewLeaseStatement, [customerId, operationId, holderId, leaseMs, sendNumber])
  return rows.length > 0
}

// The attempt is stored in the same commit, once for each holder, because a holder releases an operation once. An operation
// without an outcome is tried for as long as it is open.
const releaseLeaseStatement = statement.ofCustomer(
  'payments.releaseLease',
  `with released as (
    update payment_operations
    set lease_until = now(),
        settle_at = case attempts when 0 then now() + $6::int * interval '1 ms' else settle_at end,
        gateway_code = coalesce($4, gateway_code),
        send_number = $5
    where customer_id = $1 and operation_id = $2 and holder_id = $3 and state = 'OPEN'
    returning customer_id, operation_id, holder_id, greatest(opened_at, now()) as happened_at
  )
  insert into payment_attempts (customer_id, operation_id, holder_id, happened_at, gateway_code)
  select customer_id, operation_id, holder_id, happened_at, coalesce($4, $7)
  from released
  where (select count(*) from payment_attempts where customer_id = $1 and operation_id = $2) < $8
  on conflict do nothing`,
)

/** For each operation: more rows would add nothing. */
export const attemptsKept = 200

/** The gateway has not received the call yet, and this holder does not send it again. */
export const notArrivedYet = 'NOT_ARRIVED_YET'

/** Leaves the operation open for the next holder, with the next idempotency key where the old one is of no use. */
export async function releaseLease(
  database: Database,
  operation: Operation,
  firstPauseMs: number,
  unknown: { code: string | null; needsNewIdempotencyKey?: boolean | undefined },
): Promise<void> {
  const { customerId, operationId, holderId, sendNumber } = operation
  const nextNumber = sendNumber + (unknown.needsNewIdempotencyKey ? 1 : 0)
  await database.run(releaseLeaseStatement, [
    customerId,
    operationId,
    holderId,
    unknown.code,
    nextNumber,
    firstPauseMs,
    notArrivedYet,
    attemptsKept,
  ])
}

const claimAnswerStatement = statement.ofCustomer(
  'payments.claimAnswer',
  `update payment_operations
  set answered_by = $3
  where customer_id = $1 and operation_id = $2 and kind = 'CANCEL' and state = 'APPROVED'
    and (answered_by is null or answered_by = $3)
  returning operation_id`,
)

/** True for the first request after an approved cancel that no request has answered yet: it answers with success. */
export async function claimAnswer(database: Database, operation: Operation, requestId: string): Promise<boolean> {
  const { customerId, operationId } = operation
  return (await database.run(claimAnswerStatement, [customerId, operationId, requestId])).length > 0
}
