// A part that was cancelled at the gateway, in one statement: the operation with its outcome, the entries that take the credits,
// the event, and the request that a second operator approves by it. Its operation has the id of the discrepancy, so that it is
// accepted once. What no part may do is refused by a trigger of the schema.
import { type Charge, chargeDay, chargeValues } from '../../credits/adjustments/adjust.sql.ts'
import { applyMovements, keepTimeOf, lockAccountsOf, lowCreditsEvents } from '../../credits/ledger.sql.ts'
import { movements } from '../../credits/movements.ts'
import { type Database, isRestrictViolation, statement } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { emitEvents } from '../../events/outbox.sql.ts'
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import type { OrderKey } from '../orders.sql.ts'

export type PartToAccept = OrderKey & {
  discrepancyId: string
  paymentKey: string
  /** KRW that the gateway has returned, and that no other part has. */
  amount: number
  /** KRW of the other parts when it was computed. */
  acceptedBefore: number
  credits: number
  reason: string
  transactionKey: string | null
  /** The last ledger entry when the part was computed: later movements may have changed what is left. */
  atEntry: number
  /** The request that the approver decides by it. */
  approval: { requestId: string; approver: string } | null
}

const acceptPartStatement = statement.ofCustomerAndStep(
  'payments.acceptPart',
  chargeDay,
  (charged) => sql`with recursive target as (
    select customer_id, order_id, confirmed_at as not_before
    from orders
    where customer_id = $1 and order_id = $2 and status = 'CONFIRMED'
    for no key update
  ),${lockAccountsOf('target')},
  request as (
    select r.customer_id, r.adjustment_id
    from account a
    cross join lateral (
      select * from adjustment_requests r
      where r.customer_id = a.customer_id and r.adjustment_id = $10 limit 1 for no key update
    ) r
    where r.state = 'PENDING' and r.requested_by <> $11
  ),
  acceptable as (
    select account.*
    from account
    cross join lateral (select amount from accepted_parts(customer_id, $2)) parts
    where last_entry = $9 and available >= $6::bigint and parts.amount = $12
      and ($10::uuid is null or exists (select from request))
  ),
  ${charged(sql`acceptable`)},
  accepted as (
    insert into payment_operations
      (customer_id, operation_id, order_id, kind, state, payment_key, amount, reason, credits_held, opened_at, closed_at,
       closed_by, holder_id, lease_until, gateway_code, transaction_key, total_credits, accepted)
    select customer_id, $3, $2, 'PART', 'APPROVED', $4, $5, $7, $6, moved_at, moved_at, $3, $3, moved_at,
           $13, $8, available - $6::bigint, true
    from acceptable cross join charged
    on conflict do nothing
    returning customer_id, operation_id, order_id, credits_held, opened_at, closed_at
  ),
  timed as (${keepTimeOf('accepted')}
  ),
  movement as (
    select customer_id, m.turn, m.kind, m.delta * credits_held as delta, m.held_delta * credits_held as held_delta, order_id,
           null::text as reference, operation_id as hold_id, null::text as service_id, m.events,
           null::timestamptz as not_before
    from accepted
    cross join (values (1, '${movements.hold.entry}', 0, 1, 0), (2, '${movements.part.entry}', -1, -1, 1)) as m (turn, kind, delta, held_delta, events)
    where credits_held > 0
  ),${applyMovements},
  decided as (
    update adjustment_requests r
    set state = 'APPROVED', decided_by = $11, decided_at = a.closed_at
    from accepted a
    where r.customer_id = a.customer_id and r.adjustment_id = $10
  ),
  event as (
    select customer_id, first_event as event_number, '${movements.part.event}' as type,
           json_build_object('customerId', customer_id, 'kind', 'PART', 'credits', delta, 'balance', available) as data,
           moved_at
    from moved
    where kind = '${movements.part.entry}'
    union all${lowCreditsEvents}
  ),${emitEvents}
  select operation_id from accepted`,
)

/**
 * False when the order, its credits or the request have changed, where it was accepted before, and where the day of the operator
 * does not allow the charge.
 */
export async function insertPart(
  database: Database,
  part: PartToAccept,
  charge: Charge,
  perDay: number,
): Promise<boolean> {
  const { customerId, orderId, discrepancyId, paymentKey, amount, credits, reason } = part
  const { transactionKey, atEntry, acceptedBefore } = part
  const { requestId = null, approver = null } = part.approval ?? {}
  const values = [
    customerId,
    orderId,
    discrepancyId,
    paymentKey,
    amount,
    credits,
    reason,
    transactionKey,
    atEntry,
    requestId,
    approver,
    acceptedBefore,
    cancelledAtGateway,
  ]
  try {
    const accepted = await database.run(acceptPartStatement, [...values, ...chargeValues(charge, perDay)])
    return accepted.length > 0
  } catch (error) {
    // An operation that was opened in between, for example.
    if (isRestrictViolation(error)) return false
    throw error
  }
}

export type AcceptedPart = { orderId: string; amount: number; credits: number }

const findPartStatement = statement.ofCustomer(
  'payments.findPart',
  (replicated) => sql`select order_id as "orderId", amount, credits_held as "credits"
  from payment_operations
  where customer_id = $1 and operation_id = $2 and kind = 'PART' and ${replicated}`,
)

export async function findPart(
  database: Database,
  customerId: string,
  discrepancyId: string,
): Promise<AcceptedPart | undefined> {
  const [row] = await database.run<AcceptedPart>(findPartStatement, [customerId, discrepancyId])
  return row
}
