// The lease of an open operation: who is at work on it, until when, and when the worker takes it up if nobody has
// finished it. Times are the database's own.
import { type Database, statement } from '../../db/database.ts'
import { type Operation, operationJson } from './begin.sql.ts'

const claimLeaseStatement = statement(
  'payments.claimLease',
  `update payment_operations p
  set lease_until = now() + $3::int * interval '1 ms', holder_id = $4
  where p.customer_id = $1 and p.operation_id = $2 and p.state = 'OPEN'
    and (p.lease_until <= now() or p.holder_id = $4)
  returning ${operationJson('p')} as "operation"`,
)

/** The operation for its new holder; null when it is closed or somebody else is at work on it. */
export async function claimLease(
  database: Database,
  operation: Operation,
  holderId: string,
  leaseMs: number,
): Promise<Operation | null> {
  const [row] = await database.run<{ operation: Operation }>(claimLeaseStatement, [
    operation.customerId,
    operation.operationId,
    leaseMs,
    holderId,
  ])
  return row?.operation ?? null
}

// Those whose turn has come, oldest first. The next turn comes twice as late each time, up to a limit, and not for all
// at the same moment. When this process dies it comes with the end of the lease, if that is later.
const claimDueOperationsStatement = statement(
  'payments.claimDueOperations',
  `with due as (
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
      settle_at = now() + least($5::int, $4::int * 2 ^ least(p.attempts, 20)) * (0.5 + random() / 2) * interval '1 ms'
  from due
  where p.customer_id = due.customer_id and p.operation_id = due.operation_id
  returning ${operationJson('p')} as "operation"`,
)

export type DueClaim = {
  holderId: string
  limit: number
  leaseMs: number
  firstPauseMs: number
  longestPauseMs: number
}

/** Open operations that nobody works on and whose turn it is; now the holder's. */
export async function claimDueOperations(database: Database, claim: DueClaim): Promise<Operation[]> {
  const { limit, holderId, leaseMs, firstPauseMs, longestPauseMs } = claim
  const values = [limit, holderId, leaseMs, firstPauseMs, longestPauseMs]
  const rows = await database.run<{ operation: Operation }>(claimDueOperationsStatement, values)
  return rows.map((row) => row.operation)
}

const renewLeaseStatement = statement(
  'payments.renewLease',
  `update payment_operations
  set sent_at = now(),
      lease_until = now() + $4::int * interval '1 ms',
      send_number = $5
  where customer_id = $1 and operation_id = $2 and holder_id = $3 and state = 'OPEN'
  returning operation_id`,
)

/** Before the call is made again: notes the time of the send. False when the lease has gone to somebody else. */
export async function renewLease(database: Database, operation: Operation, leaseMs: number): Promise<boolean> {
  const { customerId, operationId, holderId, sendNumber } = operation
  const rows = await database.run(renewLeaseStatement, [customerId, operationId, holderId, leaseMs, sendNumber])
  return rows.length > 0
}

// What the gateway did not tell is kept, for whoever looks into it: in the same commit, once for each holder, because that
// is how often a holder gives an operation back. An operation that nobody can settle is tried for as long as it is open.
const releaseLeaseStatement = statement(
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

/** Of one operation. More say nothing that these do not. */
export const attemptsKept = 200

/** The gateway has not seen the call yet, and nobody makes it again. */
export const notArrivedYet = 'NOT_ARRIVED_YET'

/** Leaves the operation open for whoever comes next; a spent key is given up for the next number. */
export async function releaseLease(
  database: Database,
  operation: Operation,
  firstPauseMs: number,
  unknown: { code: string | null; keySpent?: boolean | undefined },
): Promise<void> {
  const { customerId, operationId, holderId, sendNumber } = operation
  const nextNumber = sendNumber + (unknown.keySpent ? 1 : 0)
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

const claimAnswerStatement = statement(
  'payments.claimAnswer',
  `update payment_operations
  set answered_by = $3
  where customer_id = $1 and operation_id = $2 and kind = 'CANCEL' and state = 'APPROVED'
    and (answered_by is null or answered_by = $3)
  returning operation_id`,
)

/** Whether nobody has been told of this approved cancel yet: then this request is the one. */
export async function claimAnswer(database: Database, operation: Operation, requestId: string): Promise<boolean> {
  const { customerId, operationId } = operation
  return (await database.run(claimAnswerStatement, [customerId, operationId, requestId])).length > 0
}
