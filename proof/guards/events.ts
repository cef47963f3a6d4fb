// Sabotages of docs/reports/reliability.md that concern notifications, events, keys, operators and connections.
import type { Sabotage } from './sabotage.ts'

const notifications = 'src/payments/recovery/notifications.ts'
const deliver = 'src/events/deliver.ts'
const keyCheck = 'src/customers/key-check.ts'
const expiry = 'src/payments/recovery/expire.sql.ts'

export const eventSabotages: Record<string, Sabotage> = {
  'notifications-ignored': {
    what: 'Notifications are not acted upon.',
    changes: [
      {
        file: 'src/worker/jobs.ts',
        from: `{ name: notificationsJob, everyMs: 1_000, run: () => processNotifications(context) },`,
        to: `{ name: notificationsJob, everyMs: 1_000, run: async () => ({ more: false }) },`,
      },
    ],
  },
  'notifications-not-stored': {
    what: 'Some notifications are answered 200 and not stored.',
    changes: [
      {
        file: 'src/listeners/webhook.ts',
        from: `if (read.kind === 'payment') {`,
        to: `if (read.kind === 'payment' && !/[a-f]$/.test(String(transmissionId))) {`,
      },
    ],
  },
  'webhook-believed': {
    what: 'A webhook is believed without a lookup at the gateway.',
    changes: [
      {
        file: notifications,
        from: `key: OrderKey, { paymentKey, attempts }: DueNotification) {`,
        to: `key: OrderKey, { paymentKey, attempts, status }: DueNotification) {`,
      },
      {
        file: notifications,
        from: `return await review(context, key, paymentKey)`,
        to: `return await review({ ...context, claimed: status }, key, paymentKey)`,
      },
      {
        file: 'src/payments/recovery/review.ts',
        from: `const fetched = await context.gateway.fetchPayment(paymentKey)`,
        to: `const { orderId, amount } = found.order
    const isDone = context.claimed === 'DONE'
    const fetched =
      named === paymentKey && (isDone || context.claimed === 'CANCELED')
        ? { kind: 'payment', paymentKey, orderId, amount, currency: 'KRW', money: isDone ? 'kept' : 'returned',
            status: context.claimed, balance: isDone ? amount : 0, transactionKey: null }
        : await context.gateway.fetchPayment(paymentKey)`,
      },
    ],
  },
  'keys-share-a-place': {
    what: 'Two keys share a place in the cache of keys.',
    changes: [
      {
        file: keyCheck,
        from: `const known = cache.get(secret)`,
        to: `const known = cache.get(String(secret.charCodeAt(10) % 4))`,
      },
      {
        file: keyCheck,
        from: `cache.set(secret, { found, id: idOf(found), until })`,
        to: `cache.set(String(secret.charCodeAt(10) % 4), { found, id: idOf(found), until })`,
      },
    ],
  },
  'lost-connection-not-recognised': {
    what: 'A lost connection is not recognised as one.',
    changes: [
      {
        file: 'src/db/database.ts',
        from: `if (lostConnection.test(code) || lostConnectionText.test(message) || lostWorkerText.test(message)) return 'away'`,
        to: ``,
      },
    ],
  },
  'failed-event-skipped': {
    what: 'An event that failed is skipped.',
    changes: [
      {
        file: deliver,
        from: `if (!isAccepted(attempt)) return fail(context, endpoint, queue, event, attempt)`,
        to: ``,
      },
    ],
  },
  'events-side-by-side': {
    what: 'The events of a customer are sent side by side.',
    changes: [
      {
        file: deliver,
        from: `let queue = claimed\n`,
        to: `let queue = claimed
  const first = await findEndpoint(database, claimed.endpointId)
  const sending = events.map((event) => send(context, first, event, listedAtMs))\n`,
      },
      {
        file: deliver,
        from: `const attempt = await send(context, endpoint, event, listedAtMs)`,
        to: `const attempt = await sending[events.indexOf(event)]`,
      },
    ],
  },
  'only-the-old-secret-signs': {
    what: 'After a rotation only the old secret signs.',
    changes: [
      {
        file: 'src/events/endpoints.ts',
        from: `return valid.map(({ sealed }) => unseal(sealed, endpointId, sealing))`,
        to: `return valid.slice(-1).map(({ sealed }) => unseal(sealed, endpointId, sealing))`,
      },
    ],
  },
  'expiry-without-event': {
    what: 'The expiry of an order sends no event.',
    changes: [
      {
        file: expiry,
        from: `null::text as service_id, 1 as events, closed_at as not_before`,
        to: `null::text as service_id, 0 as events, closed_at as not_before`,
      },
      {
        file: expiry,
        from: `join moved m using (customer_id, order_id)\n  ),`,
        to: `join moved m using (customer_id, order_id)\n    where false\n  ),`,
      },
    ],
  },
  'rotation-keeps-the-old-key': {
    what: 'A rotation of a key does not suspend the old one.',
    changes: [
      {
        file: 'src/customers/customers.sql.ts',
        from: `update api_keys set status = 'SUSPENDED' where key_id = $1 and status = 'ACTIVE' returning customer_id\n`,
        to: `select customer_id from api_keys where key_id = $1 and status = 'ACTIVE'\n`,
      },
    ],
  },
  'suspension-late': {
    what: 'A suspension reaches the other process half a minute late.',
    changes: [
      { file: keyCheck, from: `const freshMs = 900`, to: `const freshMs = 30_900` },
      { file: keyCheck, from: `const refreshAfterMs = 300`, to: `const refreshAfterMs = 30_300` },
    ],
  },
  'refund-not-logged': {
    what: 'A refund in the console is not in the action log.',
    changes: [
      {
        file: 'src/console/contract.ts',
        from: `refundOrder: { for: 'refund', action: 'orders refund', params`,
        to: `refundOrder: { for: 'refund', params`,
      },
    ],
  },
  'figures-added-twice': {
    what: 'A slice of the figures is added twice.',
    changes: [
      {
        file: 'src/payments/books/figures.sql.ts',
        from: `update figures_reached set reached = $3::timestamptz
    where customer_id = $1::uuid and reached = $2::timestamptz`,
        to: `update figures_reached set reached = $3::timestamptz
    where customer_id = $1::uuid`,
      },
      {
        file: 'src/payments/books/figures.sql.ts',
        from: `await group.run(addSliceStatement, [anchorOf(group), from, to])`,
        to: `for (const _ of [1, 2]) await group.run(addSliceStatement, [anchorOf(group), from, to])`,
      },
    ],
  },
  'low-hold-silent': {
    what: 'A hold that takes a balance below its threshold sends no event.',
    changes: [
      {
        file: 'src/credits/ledger.sql.ts',
        from: `case when would.fits and would.available < would.available_before then least(`,
        to: `case when would.fits and m.kind <> 'HOLD' and would.available < would.available_before then least(`,
      },
    ],
  },
}
