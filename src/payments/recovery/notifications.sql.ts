// Notifications of the gateway, until the worker has looked the payment up: stored once per transmission, claimed by the
// worker, closed with the result.
import { type Database, statement } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

export type NewNotification = {
  transmissionId: string
  eventType: string
  orderId: string
  paymentKey: string | null
  status: string | null
}

const insertNotificationStatement = statement.global(
  'payments.insertNotification',
  (replicated) => sql`with stored as (
    insert into webhook_notifications (transmission_id, event_type, order_id, payment_key, status)
    values ($1, $2, $3, $4, $5)
    on conflict do nothing
  )
  select where ${replicated}`,
)

/** A repetition changes nothing. */
export async function insertNotification(database: Database, notification: NewNotification): Promise<void> {
  const { transmissionId, eventType, orderId, paymentKey, status } = notification
  await database.run(insertNotificationStatement, [transmissionId, eventType, orderId, paymentKey, status])
}

export type DueNotification = {
  orderId: string
  paymentKey: string | null
  /** The payment's status as the notification claims it; it proves nothing. */
  status: string | null
  attempts: number
  /** How many notifications are equal. */
  count: number
  /** To the microsecond, which a Date does not have. */
  claimedAt: string
}

// Equal notifications about one payment cause one lookup. The pause before the next try doubles each time.
const claimNotificationsStatement = statement.global(
  'payments.claimNotifications',
  `with due as (
    select transmission_id
    from webhook_notifications
    where processed_at is null and process_at <= now()
    order by process_at
    limit $1
    for no key update skip locked
  ),
  claimed as (
    update webhook_notifications n
    set attempts = n.attempts + 1,
        process_at = now() + least($3::int, $2::int * 2 ^ least(n.attempts, 20)) * (0.5 + random() / 2) * interval '1 ms'
    from due
    where n.transmission_id = due.transmission_id
    returning n.order_id, n.payment_key, n.status, n.attempts
  )
  select order_id as "orderId", payment_key as "paymentKey", status, max(attempts)::int as "attempts",
    count(*)::int as "count", now()::text as "claimedAt"
  from claimed
  group by order_id, payment_key, status`,
)

export function claimNotifications(
  database: Database,
  claim: { limit: number; firstPauseMs: number; longestPauseMs: number },
): Promise<DueNotification[]> {
  const { limit, firstPauseMs, longestPauseMs } = claim
  return database.run<DueNotification>(claimNotificationsStatement, [limit, firstPauseMs, longestPauseMs])
}

const closeNotificationsStatement = statement.global(
  'payments.closeNotifications',
  `update webhook_notifications
  set processed_at = now(), outcome = $5
  where order_id = $1 and payment_key is not distinct from $2 and status is not distinct from $3 and received_at <= $4::timestamptz
    and processed_at is null`,
)

/** Closes all equal ones that had arrived before the lookup. */
export async function closeNotifications(database: Database, due: DueNotification, outcome: string): Promise<void> {
  await database.run(closeNotificationsStatement, [due.orderId, due.paymentKey, due.status, due.claimedAt, outcome])
}

const deleteNotificationsStatement = statement.global(
  'payments.deleteNotifications',
  `delete from webhook_notifications
  where transmission_id in (
    select transmission_id from webhook_notifications
    where processed_at < now() - $1::int * interval '1 day'
    limit $2)
  returning transmission_id`,
)

/** Deletes those processed long ago, and returns how many there were. */
export async function deleteNotifications(database: Database, keptDays: number, limit: number): Promise<number> {
  return (await database.run(deleteNotificationsStatement, [keptDays, limit])).length
}
