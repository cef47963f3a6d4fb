// How an order was closed after its payment: when, by whom, why, what went back and which credits were taken. It follows from its
// approved cancel or refund; the operator is the one whose action was running when the refund began.
import { cancelledAtGateway } from '../../gateway/gateway.ts'
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
  const operator = actions.find((action) => hasBegun(action, closed))?.actor ?? null
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

function hasBegun({ command, at, endedAt }: StoryAction, { kind, openedAt }: StoryOperation): boolean {
  const isOfKind = kind === 'REFUND' && ['orders refund', 'discrepancies accept'].includes(command)
  return isOfKind && at <= openedAt && (endedAt === null || openedAt <= endedAt)
}
