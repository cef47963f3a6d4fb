// The pages of orders: the list, and one order with its timeline and the actions that are possible now. Actions call the same
// functions as the commands.
import { findLot } from '../../credits/lots/lots.sql.ts'
import { findCustomerName } from '../../customers/names.sql.ts'
import { listEndpoints } from '../../events/endpoints.sql.ts'
import { hostOf } from '../../events/endpoints.ts'
import { findOrderEvents, listDeliveries } from '../../events/order-events.sql.ts'
import { resendEvents } from '../../events/resend.ts'
import { may, type Role } from '../../operators/permissions.ts'
import {
  findOrderStory,
  type OrderStory,
  type StoryNotification,
  type StoryOperation,
} from '../../payments/books/order-story.sql.ts'
import { attemptsKept } from '../../payments/operations/lease.sql.ts'
import type { ListedOrder } from '../../payments/order-list.sql.ts'
import { findOrderKeys, findOrders } from '../../payments/orders.sql.ts'
import { amountOf } from '../../payments/recovery/discrepancy-amount.ts'
import { reviewOrder } from '../../payments/recovery/review-order.ts'
import { quoteRefund } from '../../payments/refunds/quote.ts'
import { refund } from '../../payments/refunds/refund.ts'
import { orderNotFound, refundBlockOf } from '../../payments/refusals.ts'
import type { ConsoleContext } from '../context.ts'
import type { Data } from '../contract.ts'
import { refuseBecause } from '../refusals.ts'
import type { Handlers } from '../routes.ts'
import { acceptedPartsOf, findEnd } from './ended.ts'
import { failureIn, readOrders } from './list.ts'
import { paymentUrlOfDiscrepancy } from './payment-link.ts'
import { type EventWithDeliveries, listEnds, orderTimeline } from './timeline.ts'

type Names =
  | ('orders' | 'order' | 'settleOrder' | 'refundQuote' | 'refundOrder' | 'refundUnused' | 'resendEvents')
  | 'addOrderNote'
type OrderAction = Data<'order'>['actions'][number]
type Code = NonNullable<OrderAction['code']>

export function orderHandlers({ database, payments, deliveries, paymentUrlOf }: ConsoleContext): Handlers<Names> {
  async function storyFor(orderId: string): Promise<OrderStory> {
    const story = await findOrderStory(database, orderId)
    if (!story) throw noSuchOrder(orderId)
    return story
  }

  async function eventsFor(story: OrderStory): Promise<EventWithDeliveries[]> {
    const { customerId } = story
    const events = await findOrderEvents(database, story, listEnds(story))
    const deliveriesOfOrder = await listDeliveries(
      database,
      customerId,
      events.map(({ eventNumber }) => eventNumber),
    )
    return events.map((event) => ({
      ...event,
      deliveries: deliveriesOfOrder
        .filter(({ eventNumber }) => eventNumber === event.eventNumber)
        .map(({ eventNumber: _, url, ...rest }) => ({ ...rest, host: hostOf(url) })),
    }))
  }

  async function failedConfirmFor(story: OrderStory): Promise<ListedOrder['failed']> {
    if (story.status !== 'FAILED') return null
    const [order] = await findOrders(database, [story])
    return order?.failed ?? null
  }

  return {
    orders: ({ query }) => readOrders(database, query),

    async order({ operator, params }) {
      const story = await storyFor(params.orderId)
      const [events, lot, customerName, endpoints, failed] = await Promise.all([
        eventsFor(story),
        findLot(database, story.customerId, story.orderId),
        findCustomerName(database, story.customerId),
        listEndpoints(database, maxEndpoints),
        failedConfirmFor(story),
      ])
      const hasEndpoint = endpoints.some(({ status }) => status === 'ACTIVE')
      const { orderId, customerId, status, packageType, amount, credits, createdAt, confirmedAt } = story
      const paymentKey = paymentKeyOf(story)
      return {
        order: {
          orderId,
          customerId,
          customerName,
          status,
          packageType,
          amount,
          credits,
          createdAt,
          confirmedAt,
          paymentKey,
          cardNumber: story.cardNumber,
          approvalNumber: story.approvalNumber,
          paidWith: story.paidWith,
          receiptUrl: story.receiptUrl,
          paymentUrl: paymentKey && paymentUrlOf({ paymentKey, orderId }),
          refundShortfall: story.refundShortfall,
          refundedAmount: story.refundedAmount,
          failure: failureIn(failed),
          parts: acceptedPartsOf(story),
          ended: findEnd(story),
          notified: notifiedIn(story),
        },
        lot,
        story: orderTimeline(story, events),
        open: openShown(story),
        openDiscrepancies: story.discrepancies
          .filter(({ resolvedAt }) => resolvedAt === null)
          .map((each) => ({
            ...each,
            amount: amountOf(each),
            paymentUrl: paymentUrlOfDiscrepancy(paymentUrlOf, { ...each, orderId }),
          })),
        actions: actionsOf(operator.role, story, { hasEvents: events.length > 0, hasEndpoint }),
      }
    },

    settleOrder: ({ params }) => reviewOrder(payments, params.orderId),

    async refundQuote({ params }) {
      const story = await storyFor(params.orderId)
      const quote = await quoteRefund(payments, params.orderId)
      if (quote) return quote
      const changed = { refusal: 'changed', message: 'The order has changed meanwhile.' } as const
      const { refusal, message } = refundBlockOf(story.status, openOperationOf(story)) ?? changed
      throw refuseBecause('PAYMENT_CANCEL_FAILED', refusal, message)
    },

    refundOrder: ({ params: { orderId }, body: { reason } }) => refund(payments, { orderId, reason: reason.trim() }),

    refundUnused: ({ params: { orderId }, body: { reason, ...unused } }) =>
      refund(payments, { orderId, reason: reason.trim(), unused }),

    async resendEvents({ params }) {
      const story = await storyFor(params.orderId)
      const events = await findOrderEvents(database, story, listEnds(story))
      return resendEvents(deliveries, story.customerId, events)
    },

    // The action log has the note.
    async addOrderNote({ params: { orderId } }) {
      if (!(await findOrderKeys(database, [orderId])).has(orderId)) throw noSuchOrder(orderId)
      return null
    },
  }
}

/** Read to know whether one of them is active. */
const maxEndpoints = 100

function noSuchOrder(orderId: string) {
  return orderNotFound(orderId)
}

/** The key of the confirm that was approved or is in progress, else of the last one that was rejected. */
function paymentKeyOf({ operations }: OrderStory): string | null {
  const confirms = operations.filter(({ kind, paymentKey }) => kind === 'CONFIRM' && paymentKey !== null)
  return (confirms.find(({ state }) => state !== 'REJECTED') ?? confirms.at(-1))?.paymentKey ?? null
}

/** Why an action is not offered. */
type Block = { code: Code; why: string }

function openOperationOf({ operations }: OrderStory): StoryOperation | null {
  return operations.find(({ state }) => state === 'OPEN') ?? null
}

/** Attempts are counted as the timeline shows them: those of requests and those of the worker. */
function openShown(story: OrderStory): Data<'order'>['open'] {
  const open = openOperationOf(story)
  if (!open) return null
  const { operationId, kind, openedAt, gatewayCode, nextAttemptAt } = open
  const attempts = story.attempts.filter((each) => each.operationId === operationId).length
  return { kind, openedAt, attempts, attemptsAtMost: attemptsKept, gatewayCode, nextAttemptAt }
}

/** The last notification about the payment in progress or the order, if there is one: what our books do not have, or not yet. */
function notifiedIn(story: OrderStory): string | null {
  const paymentKey = openOperationOf(story)?.paymentKey ?? paymentKeyOf(story)
  const isOfPayment = (each: StoryNotification) => paymentKey === null || each.paymentKey === paymentKey
  const isNew = ({ outcome }: StoryNotification) => outcome === null || outcome === 'disagrees'
  const last = story.notifications.findLast((each) => each.status !== null && isOfPayment(each) && isNew(each))
  return last?.status ?? null
}

/** The page calls `not confirmed` a `state`. */
function refundBlock(story: OrderStory): Block | undefined {
  const block = refundBlockOf(story.status, openOperationOf(story))
  return block && { code: block.refusal === 'open' ? 'open' : 'state', why: block.message }
}

function resendBlock({ hasEvents, hasEndpoint }: { hasEvents: boolean; hasEndpoint: boolean }): Block | undefined {
  if (!hasEvents)
    return {
      code: 'no events',
      why: 'The order has no events to send: none yet, or they were deleted after EVENTS_KEPT_DAYS.',
    }
  if (!hasEndpoint) return { code: 'no endpoint', why: 'No endpoint is ACTIVE.' }
  return undefined
}

function actionsOf(role: Role, story: OrderStory, events: { hasEvents: boolean; hasEndpoint: boolean }): OrderAction[] {
  const blocks = {
    settle: undefined,
    refund: refundBlock(story),
    'resend events': resendBlock(events),
  }
  return (Object.keys(blocks) as OrderAction['action'][]).map((action) => {
    const forRole: Block | undefined = may(role, action)
      ? undefined
      : { code: 'role', why: `The role ${role} has no permission.` }
    const { code = null, why = null } = forRole ?? blocks[action] ?? {}
    return { action, allowed: code === null, why, code }
  })
}
