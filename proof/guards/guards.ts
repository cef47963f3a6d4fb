// The guards that a simulation is tried with: each breaks one, by the names of statements, fragments and exports.
import type { contract } from '../../src/console/contract.ts'
import type { chargeValues } from '../../src/credits/adjustments/adjust.sql.ts'
import type { isSecondPerson } from '../../src/credits/adjustments/adjust.ts'
import type { expireHolds } from '../../src/credits/holds/expire-holds.ts'
import type { openHold, requireSameEnd } from '../../src/credits/holds/holds.ts'
import type { withResultOfUsedReferences } from '../../src/credits/references.sql.ts'
import type { spendAnswerOf } from '../../src/credits/spend.ts'
import type { CheckedKey, createKeyCheck } from '../../src/customers/key-check.ts'
import type { failureKind } from '../../src/db/database.ts'
import type { isAccepted, Sent, send } from '../../src/events/deliver.ts'
import type { signingSecrets } from '../../src/events/endpoints.ts'
import type { listEvents, StoredEvent } from '../../src/events/events.sql.ts'
import type { capturedAndCancelled, unreadableOutcome } from '../../src/gateway/toss/adapter.ts'
import type { addSlice } from '../../src/payments/books/figures.sql.ts'
import type { confirm, isSamePayment } from '../../src/payments/confirm.ts'
import type { isLastSendOver, mayStillBeCaptured } from '../../src/payments/operations/run.ts'
import type { createFindOrder, insertOrders, OrderWithOutcome } from '../../src/payments/orders.sql.ts'
import type { listDueOrders } from '../../src/payments/recovery/expire.sql.ts'
import type { insertNotification } from '../../src/payments/recovery/notifications.sql.ts'
import type { processNotifications, reviewSafely } from '../../src/payments/recovery/notifications.ts'
import type { recover } from '../../src/payments/recovery/recover.ts'
import type { ruleFor } from '../../src/payments/recovery/review.ts'
import { exported, fragment, type Guard, guard, instead, replaced, without } from './guard.ts'

/** What a review does not do any more: it finds that the books agree. */
const agreesInsteadOf = (rule: ReturnType<typeof ruleFor>) =>
  exported<typeof ruleFor>('ruleFor', (ruleFor) => (...args) => {
    const found = ruleFor(...args)
    return found === rule ? 'agrees' : found
  })

/** By each of its events: the events that were read with it, and their deliveries. */
const readTogether = new WeakMap<StoredEvent, { events: StoredEvent[]; sending?: Promise<Sent>[] }>()

/** Notifications claim one of these. */
const claimedMoney = new Map<string | null, 'kept' | 'returned'>([
  ['DONE', 'kept'],
  ['CANCELED', 'returned'],
])

export const guards: Record<string, Guard> = {
  // Orders, payments and credits.
  'no-recovery': guard('I-13', 'The worker does not recover.', [
    exported<typeof recover>('recover', () => async () => ({ taken: 0, more: false })),
  ]),
  'silence-refuses': guard('C-17', 'Silence of the gateway counts as a refusal.', [
    exported<typeof unreadableOutcome>('unreadableOutcome', (unreadableOutcome) => (answer) => {
      return { ...unreadableOutcome(answer), kind: 'rejected' as never }
    }),
  ]),
  'missing-payment-refuses': guard('C-17', 'A payment the lookup does not find counts as refused.', [
    exported<typeof mayStillBeCaptured>('mayStillBeCaptured', () => () => false),
  ]),
  'every-cancel-succeeds': guard('I-27', "Every cancel after the background's gets a 200.", [
    without('payments.claimAnswer', 'and (answered_by is null or answered_by = $3)'),
  ]),
  'cancel-without-credits': guard('I-27', 'A cancel does not need the credits of its order.', [
    instead(
      'payments.claimCancels',
      'account.available >= credits_left and refundable_credits(account.customer_id) >= credits_left',
      'true',
    ),
  ]),
  'held-spendable': guard('I-27', 'Held credits can be spent.', [
    fragment('enoughCredits', () => `l.available + case m.kind when 'SPEND' then s.held else 0 end >= 0`),
  ]),
  'dashboard-cancel-ignored': guard('I-18', 'A cancellation in the dashboard is ignored.', [agreesInsteadOf('refund')]),
  'partial-cancel-hidden': guard('F-6', 'A part cancelled in the dashboard is not shown.', [
    agreesInsteadOf('PARTLY_CANCELLED_AT_GATEWAY'),
  ]),
  'failed-capture-kept': guard('I-18', 'Money captured for a FAILED order is kept.', [agreesInsteadOf('return')]),
  'idempotency-ignored': guard('I-14', 'The idempotency key of a purchase is ignored.', [
    exported<typeof insertOrders>('insertOrders', (insertOrders) => (database, orders) => {
      const keyless = orders.map((order) => ({ ...order, idempotencyKey: null }))
      return insertOrders(database, keyless)
    }),
  ]),
  'confirm-wrong-total': guard('I-22', 'A confirm answers a wrong total.', [
    exported<typeof confirm>('confirm', (confirm) => async (...args) => {
      const answer = await confirm(...args)
      return { ...answer, totalCredits: answer.totalCredits + 1 }
    }),
  ]),
  'confirm-joins-any-key': guard('I-22', 'A confirm with another payment key shares the answer of the one under way.', [
    exported<typeof isSamePayment>('isSamePayment', () => () => true),
  ]),
  'status-cached': guard('I-24', 'Status is read from a cache.', [
    exported<typeof createFindOrder>('createFindOrder', (createFindOrder) => (...args) => {
      const findOrder = createFindOrder(...args)
      const known = new Map<string, OrderWithOutcome>()
      return async (key) => {
        const order = await findOrder(key)
        if (order && !known.has(key.orderId)) known.set(key.orderId, order)
        return order && (known.get(key.orderId) ?? null)
      }
    }),
  ]),
  'orders-without-customer': guard('I-25', 'Orders are found without their customer.', [
    instead(
      'payments.findOrders',
      'where customer_id = i.customer_id and order_id = i.order_id',
      'where order_id = i.order_id',
    ),
  ]),
  'process-clock-expires': guard('E-7', "The process's clock decides about expiry.", [
    instead('payments.listDueOrders', "now() - $1::bigint * interval '1 ms'", 'to_timestamp($1::float8 / 1000)'),
    exported<typeof listDueOrders>('listDueOrders', (listDueOrders) => (database, lifetimeMs, limit) => {
      return listDueOrders(database, Date.now() - lifetimeMs, limit)
    }),
  ]),
  'hashes-not-chained': guard('I-1…17', "The ledger's hashes are not chained.", [
    fragment('chainedHash', replaced('s.last_hash', "''::bytea")),
  ]),
  'other-amount-succeeds': guard('H-2', 'Another amount under a reference gets a 200.', [
    exported<typeof spendAnswerOf>('spendAnswerOf', (spendAnswerOf) => (input, output) => {
      const credits = output.spent || input.credits
      return { ...spendAnswerOf({ ...input, credits }, output), credits: input.credits }
    }),
  ]),
  'capture-takes-all': guard('H-6', 'A capture of a part takes all.', [
    instead('credits.endHolds', 'coalesce(i.captured, h.credits)', 'h.credits'),
  ]),
  'holds-expire-early': guard('H-8', 'Holds expire two seconds early.', [
    instead('credits.listDueHolds', 'expires_at <= now()', "expires_at <= now() + interval '2 seconds'"),
    instead('credits.endHolds', 'expires_at <= now()', "expires_at <= now() + interval '2 seconds'"),
  ]),
  'holds-never-expire': guard('I-13', 'Holds never expire.', [
    exported<typeof expireHolds>('expireHolds', () => async () => ({ expired: 0, more: false })),
  ]),
  'reference-not-read-again': guard(
    'H-5',
    'A spend is refused for lack of credits without reading its reference again.',
    [
      exported<typeof withResultOfUsedReferences>(
        'withResultOfUsedReferences',
        (withResult) =>
          (database, references, outputs, { isRefused, outputOf }) => {
            const isRefusedHold = (output: (typeof outputs)[number]) =>
              !('spent' in (output as object)) && isRefused(output)
            return withResult(database, references, outputs, { isRefused: isRefusedHold, outputOf })
          },
      ),
    ],
    'It needs two statements that wait for one account inside PostgreSQL.',
  ),
  'hold-wrong-balance': guard('H-2', 'A hold answers a wrong balance.', [
    exported<typeof openHold>('openHold', (openHold) => async (...args) => {
      const answer = await openHold(...args)
      return { ...answer, balance: answer.balance + 1 }
    }),
  ]),
  'second-capture-succeeds': guard('H-6', 'A second, different capture is acknowledged.', [
    exported<typeof requireSameEnd>('requireSameEnd', (requireSameEnd) => (hold, request) => {
      const same = { ...request, captured: hold?.captured ?? null }
      return requireSameEnd(hold && { ...hold, isEndedByPart: false }, same)
    }),
  ]),
  'extension-shortens': guard('I-27', 'A later, shorter extension of a hold makes its expiry earlier.', [
    instead('credits.extendHolds', 'greatest(l.expires_at, l.extended_to)', 'l.extended_to'),
  ]),
  'finish-checks-nothing': guard('I-27', "Finish checks neither that the operation is open nor the order's state.", [
    without('payments.finishOperations', 'where o.status = i.from_status'),
    without('payments.finishOperations', "p.state = 'OPEN' and"),
  ]),
  'returned-capture-granted': guard(
    'C-18',
    'A payment that was cancelled in the dashboard before its confirm was settled is granted.',
    [
      exported<typeof capturedAndCancelled>('capturedAndCancelled', (capturedAndCancelled) => (payment) => {
        const found = capturedAndCancelled(payment)
        if (found.kind !== 'rejected' || !found.returned) return found
        return { kind: 'approved', transactionKey: payment.lastTransactionKey ?? null }
      }),
    ],
  ),
  'abandoned-while-sent': guard('C-17', 'A cancel ends a confirm as never sent while the confirm is on its way.', [
    exported<typeof isLastSendOver>('isLastSendOver', () => () => true),
  ]),
  'quote-ignores-movements': guard(
    'L-3',
    'A refund of the unused part does not notice credits that moved since it was computed.',
    [without('payments.claimCancels', 'and coalesce(account.last_entry = at_entry, true)')],
  ),
  'figures-added-twice': guard('I-1…17', 'A slice of the figures is added twice.', [
    without('payments.addSliceToFigures', 'and reached = $2::timestamptz'),
    exported<typeof addSlice>('addSlice', (addSlice) => async (...args) => {
      await addSlice(...args)
      await addSlice(...args)
    }),
  ]),
  // Adjustments and budgets.
  'reversal-beyond-the-spend': guard('I-27', 'A reversal gives back more than was spent.', [
    instead('credits.reverse', 'wanted between 1 and credits_left', 'wanted >= 1'),
  ]),
  'reversal-by-another-service': guard('V-2', 'A service can reverse what another one has spent.', [
    without('credits.reverse', 'and spender.name = caller.name'),
  ]),
  'budget-not-given-back': guard('B-2', 'A hold that is released stays counted in its budget.', [
    fragment('giveBackUsage', () => ' given_back as (select)', 'credits.endHolds'),
  ]),
  'hold-not-counted': guard('B-2', 'A hold is checked by its budgets and not counted in them.', [
    fragment('countUsage', () => ' counted as (select)', 'credits.openRestrictedHold'),
  ]),
  'own-approval': guard('W-4', 'The operator who requested an adjustment can approve it.', [
    exported<typeof isSecondPerson>('isSecondPerson', () => () => true),
    without('credits.approveAdjustment', 'and requested_by <> $3'),
  ]),
  'day-limit-ignored': guard('A-3', 'The limit of an operator for a day holds for each adjustment only.', [
    exported<typeof chargeValues>('chargeValues', (chargeValues) => (charge, perDay) => {
      return chargeValues(charge, Math.abs(charge.credits) <= perDay ? Number.MAX_SAFE_INTEGER : perDay)
    }),
  ]),
  // Notifications, keys, operators, connections and events.
  'notifications-ignored': guard('I-13', 'Notifications are not acted upon.', [
    exported<typeof processNotifications>('processNotifications', () => async () => ({ taken: 0, more: false })),
  ]),
  'notifications-not-stored': guard('W-6', 'Some notifications are answered 200 and not stored.', [
    exported<typeof insertNotification>('insertNotification', (insert) => async (database, notification) => {
      if (!/[a-f]$/.test(notification.transmissionId)) await insert(database, notification)
    }),
  ]),
  'webhook-believed': guard('I-18', 'A webhook is believed without a lookup at the gateway.', [
    exported<typeof reviewSafely>('reviewSafely', (reviewSafely) => async (context, key, due) => {
      const money = claimedMoney.get(due.status)
      const order = await context.batches.findOrder(key)
      if (!money || !order) return reviewSafely(context, key, due)
      const { orderId, amount } = order
      const balance = money === 'kept' ? amount : 0
      const { gateway } = context
      const claimed = { orderId, amount, money, balance, currency: 'KRW', status: money, transactionKey: null }
      const fetchPayment: typeof gateway.fetchPayment = async (paymentKey) =>
        paymentKey === due.paymentKey ? { kind: 'payment', paymentKey, ...claimed } : gateway.fetchPayment(paymentKey)
      return reviewSafely({ ...context, gateway: { ...gateway, fetchPayment } }, key, due)
    }),
  ]),
  'keys-share-a-place': guard('I-22', 'Two keys share a place in the cache of keys.', [
    exported<typeof createKeyCheck>('createKeyCheck', (createKeyCheck) => (options) => {
      const check = createKeyCheck(options)
      const known = new Map<number, unknown>()
      return async (secret) => {
        const place = `${secret}`.charCodeAt(10) % 4
        if (!options.pattern.test(`${secret}`)) return check(secret)
        const owner = known.get(place) ?? secret
        known.delete(place)
        const found = await check(owner)
        known.set(place, owner)
        return found
      }
    }),
  ]),
  'suspension-late': guard('O-5', 'A suspension reaches the other process half a minute late.', [
    exported<typeof createKeyCheck>(
      'createKeyCheck',
      (createKeyCheck) =>
        <Found extends CheckedKey>(options: Parameters<typeof createKeyCheck<Found>>[0]) => {
          const lists: { atMs: number; ids: string[] }[] = []
          const findSuspended: typeof options.findSuspended = async (...args) => {
            const atMs = performance.now()
            lists.unshift({ atMs, ids: await options.findSuspended(...args) })
            return lists.find((list) => list.atMs <= atMs - 30_000)?.ids ?? []
          }
          return createKeyCheck({ ...options, findSuspended })
        },
    ),
  ]),
  'rotation-keeps-the-old-key': guard('O-5', 'A rotation of a key does not suspend the old one.', [
    instead(
      'customers.replaceKey',
      "update api_keys set status = 'SUSPENDED' where key_id = $1 and status = 'ACTIVE' returning customer_id",
      "select customer_id from api_keys where key_id = $1 and status = 'ACTIVE'",
    ),
  ]),
  'refund-not-logged': guard('I-1…17', 'A refund in the console is not in the action log.', [
    exported<typeof contract>('contract', (contract) => {
      const { action: _, ...refundOrder } = contract.refundOrder
      return { ...contract, refundOrder: refundOrder as typeof contract.refundOrder }
    }),
  ]),
  'lost-connection-not-recognised': guard('H-3, I-23', 'A lost connection is not recognised as one.', [
    exported<typeof failureKind>('failureKind', (failureKind) => (error) => {
      const kind = failureKind(error)
      // Every SQLSTATE of a lost connection has a digit; without one it is the socket or the driver that has noticed.
      return kind === 'away' && !/\d/.test((error as { code?: string }).code ?? '') ? 'bug' : kind
    }),
  ]),
  'failed-event-skipped': guard('I-17', 'An event that failed is skipped.', [
    exported<typeof isAccepted>('isAccepted', () => () => true),
  ]),
  'events-side-by-side': guard('I-17', 'The events of a customer are sent side by side.', [
    exported<typeof listEvents>('listEvents', (listEvents) => async (...args) => {
      const events = await listEvents(...args)
      const together = { events }
      for (const event of events) readTogether.set(event, together)
      return events
    }),
    exported<typeof send>('send', (send) => (context, endpoint, event, listedAtMs) => {
      const together = readTogether.get(event)
      if (!together) return send(context, endpoint, event, listedAtMs)
      together.sending ??= together.events.map((each) => send(context, endpoint, each, listedAtMs))
      return together.sending[together.events.indexOf(event)] as Promise<Sent>
    }),
  ]),
  'only-the-old-secret-signs': guard('I-17', 'After a rotation only the old secret signs.', [
    exported<typeof signingSecrets>('signingSecrets', (signingSecrets) => (...args) => {
      return signingSecrets(...args).slice(-1)
    }),
  ]),
  'expiry-without-event': guard('I-17', 'The expiry of an order sends no event.', [
    instead('payments.expireOrders', '1 as events', '0 as events'),
    instead(
      'payments.expireOrders',
      'from due d join moved m using (customer_id, order_id)',
      'from due d join moved m using (customer_id, order_id) where false',
    ),
  ]),
  'low-hold-silent': guard('I-17', 'A hold that takes a balance below its threshold sends no event.', [
    fragment('takesAvailable', (condition) => `${condition} and m.kind <> 'HOLD'`),
  ]),
  'queue-forgets-while-busy': guard(
    'I-17',
    'An event that is written while others of its customer wait is not queued.',
    [
      fragment(
        'emitEvents',
        replaced(
          'last_event = excluded.last_event',
          'last_event = case when q.next_event > q.last_event then excluded.last_event else q.last_event end',
        ),
      ),
    ],
  ),
  // The transparency log and receipts. Triggers refuse a head of the log without its tiles, a run that does not continue the
  // log and a second append of the same entries: what is broken here is what no constraint can see.
  'checkpoint-signed-late': guard(
    'I-27',
    'The log grows under the checkpoint of its earlier size, until the worker runs again.',
    [instead('transparency.append', 'note = $5::text', "note = case when $5::text <> '' then note end")],
  ),
  'log-left-to-the-dead': guard(
    'I-13',
    'The process that has appended last is expected to go on, whether it lives or not.',
    [
      instead(
        'transparency.findHead',
        "appended_at > now() - $1::int * interval '1 ms' and appended_at <= now()",
        "appended_at > '-infinity' and $1::int > 0",
      ),
    ],
  ),
  'receipt-of-other-entries': guard('T-1', 'The receipt of an order has all entries of its customer.', [
    without('transparency.findOrderEntries', 'and e.order_id = o.order_id'),
  ]),
}
