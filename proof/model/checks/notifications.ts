// Notifications of the gateway: one that was answered with 200 is in the books, and has been acted on before the
// reconciliation. Those that were lost, or sent to a stopped service, are left to reconciliation.
import { readFileSync } from 'node:fs'
import type { JournalEntry } from '../../../sandbox/journal.ts'
import type { Books } from '../../world/postgres.ts'
import type { World } from '../../world/world.ts'
import { type Check, checksOf } from './evidence.ts'

export type Received = { transmissionId: string; orderId: string; status: string }

/** Deliveries that were answered with 200, with the payment's state that they reported. */
export function readReceived(journalFile: string): Received[] {
  const reported = new Map<string, { orderId: string; status: string }>()
  const payments = new Map<string, { orderId: string; status: string }>()
  const received: Received[] = []
  for (const line of readFileSync(journalFile, 'utf8').split('\n').filter(Boolean)) {
    const { changed, webhooks = [], delivery } = JSON.parse(line) as JournalEntry
    for (const { paymentKey, orderId, status } of changed) payments.set(paymentKey, { orderId, status })
    for (const { id, paymentKey } of webhooks) reported.set(id, payments.get(paymentKey) ?? { orderId: '', status: '' })
    const payment = delivery && reported.get(delivery.id)
    if (!payment) continue
    for (const { status, transmissionId } of delivery.attempts) {
      if (status === 200) received.push({ transmissionId, ...payment })
    }
  }
  return received
}

/**
 * Before reconciliation: orders that are CONFIRMED although a notification reported their payment as cancelled. Where
 * the lookup for the notification lied, there is a discrepancy, even if an operator has resolved it: reconciliation
 * repairs that.
 */
export async function findIgnoredNotifications({ books, gateway }: World): Promise<string[]> {
  const cancelled = new Set<string>()
  for (const { orderId, status } of readReceived(gateway.journalFile)) if (status === 'CANCELED') cancelled.add(orderId)
  const rows = await books.query<{ orderId: string }>(
    `select order_id as "orderId" from orders
    where status = 'CONFIRMED' and order_id = any ($1::text[])
      and order_id not in (select d.order_id from discrepancies d where d.order_id is not null
        and (d.resolved_at is null or d.resolution like 'as call %'))`,
    [[...cancelled]],
  )
  return rows.map(({ orderId }) => `${orderId}: its cancellation was notified and accepted, and it is CONFIRMED`)
}

export async function checkNotifications({ books, gateway }: World, ignoredNotifications: string[]): Promise<Check[]> {
  return checksOf({
    'W-6 every accepted notification is stored': await forgotten(books, gateway.journalFile),
    'W-3 notifications are acted on before a reconciliation': ignoredNotifications,
  })
}

async function forgotten(books: Books, journalFile: string): Promise<string[]> {
  const rows = await books.query<{ transmissionId: string }>(
    `select transmission_id as "transmissionId" from webhook_notifications`,
  )
  const stored = new Set(rows.map(({ transmissionId }) => transmissionId))
  return readReceived(journalFile)
    .filter(({ transmissionId }) => !stored.has(transmissionId))
    .map(({ transmissionId, orderId, status }) => `${transmissionId} (${orderId} is ${status}) was answered 200`)
}
