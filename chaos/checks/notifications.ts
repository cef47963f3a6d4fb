// What the gateway told us: a notification that was answered with 200 is in the books, and its fact has been acted upon
// before anybody reconciled. Those that were dropped, or met a dead service, are reconciliation's.
import { readFileSync } from 'node:fs'
import type { JournalEntry } from '../../sandbox/journal.ts'
import type { Books } from '../world/postgres.ts'
import type { World } from '../world/world.ts'
import type { Check } from './evidence.ts'

export type Received = { transmissionId: string; orderId: string; status: string }

/** What the journal has as received, with the state of the payment that was told. */
export function readReceived(journalFile: string): Received[] {
  const told = new Map<string, { orderId: string; status: string }>()
  const payments = new Map<string, { orderId: string; status: string }>()
  const received: Received[] = []
  for (const line of readFileSync(journalFile, 'utf8').trim().split('\n')) {
    const { changed, webhooks = [], delivery } = JSON.parse(line) as JournalEntry
    for (const { paymentKey, orderId, status } of changed) payments.set(paymentKey, { orderId, status })
    for (const { id, paymentKey } of webhooks) told.set(id, payments.get(paymentKey) ?? { orderId: '', status: '' })
    const payment = delivery && told.get(delivery.id)
    if (!payment) continue
    for (const { status, transmissionId } of delivery.attempts) {
      if (status === 200) received.push({ transmissionId, ...payment })
    }
  }
  return received
}

/**
 * Before reconciliation: orders whose whole payment was told to be cancelled, and which are CONFIRMED all the same. A
 * lookup that lied when the notification was dealt with has left a discrepancy, and that is for reconciliation, even where
 * an operator has closed it.
 */
export async function findUnheeded({ books, gateway }: World): Promise<string[]> {
  const cancelled = new Set<string>()
  for (const { orderId, status } of readReceived(gateway.journalFile)) if (status === 'CANCELED') cancelled.add(orderId)
  const rows = await books.query<{ orderId: string }>(
    `select order_id as "orderId" from orders o
    where status = 'CONFIRMED' and order_id = any ($1::text[])
      and not exists (select from discrepancies d where d.order_id = o.order_id
        and (d.resolved_at is null or d.resolution like 'as call %'))`,
    [[...cancelled]],
  )
  return rows.map(({ orderId }) => `${orderId}: its cancellation was told and taken, and it is CONFIRMED`)
}

export async function checkNotifications({ books, gateway }: World, unheeded: string[]): Promise<Check[]> {
  return [
    {
      id: 'W-6',
      title: 'no notification was taken and forgotten',
      violations: await forgotten(books, gateway.journalFile),
    },
    { id: 'W-3', title: 'what was told is acted upon, before anybody reconciles', violations: unheeded },
  ]
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
