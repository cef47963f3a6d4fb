// How an order was closed after its payment: when, by whom, why, what went back and which credits were taken. It follows from its
// approved cancel or refund; the operator is the one whose action was running when the refund began. An action whose process was
// killed has no end, hence the last one.
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import { serviceActor } from '../../operators/action-log.ts'
import type { OrderStory, StoryAction, StoryOperation } from '../../payments/books/order-story.sql.ts'
import type { Data } from '../contract.ts'

type Ended = NonNullable<Data<'order'>['order']['ended']>

/** By the status of the order that it leads to. */
const closing: Record<string, StoryOperation['kind']> = { CANCELLED: 'CANCEL', REFUNDED: 'REFUND' }

export function endedOf(story: OrderStory): Ended | null {
  const { status, operations, actions, entries, refundedAmount } = story
  const closed = operations.find(({ kind, state }) => kind === closing[status] && state === 'APPROVED')
  if (!closed?.closedAt) return null
  const { closedAt: at, reason, amount, keyLastFour } = closed
  const operator = refunderOf(closed, actions)
  const taken = entries.filter(({ kind }) => kind === 'ROLLBACK' || kind === 'REFUND')
  return {
    at,
    by: enderOf(closed, operator),
    operator,
    keyLastFour,
    reason,
    amount: refundedAmount ?? amount,
    credits: taken.reduce((credits, { delta }) => credits - delta, 0),
  }
}

function enderOf({ kind, gatewayCode }: StoryOperation, operator: string | null): Ended['by'] {
  if (gatewayCode === cancelledAtGateway) return 'gateway'
  if (kind === 'CANCEL') return 'customer'
  return operator === null ? 'platform' : 'operator'
}

export type Refund = Pick<StoryOperation, 'kind' | 'gatewayCode' | 'openedAt'>
export type RefundAction = Pick<StoryAction, 'actor' | 'command' | 'at' | 'endedAt'>

/** The operator who refunded, or accepted what was cancelled at the gateway; null: a service, or not known. Oldest action first. */
export function refunderOf(refund: Refund, actions: RefundAction[]): string | null {
  const actor = actions.findLast((action) => hasBegun(action, refund))?.actor ?? null
  return actor !== null && serviceActor.test(actor) ? null : actor
}

function hasBegun({ command, at, endedAt }: RefundAction, { kind, gatewayCode, openedAt }: Refund): boolean {
  const wanted = gatewayCode === cancelledAtGateway ? 'discrepancies accept' : 'orders refund'
  const isOfKind = kind === 'REFUND' && command === wanted
  return isOfKind && at <= openedAt && (endedAt === null || openedAt <= endedAt)
}
