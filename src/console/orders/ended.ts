// How an order was closed after its payment: when, by whom, why, what went back and which credits were taken, without the parts that
// were cancelled at the gateway before. It follows from its approved cancel or refund; the operator is the one whose action was
// running when the refund began. An action whose process was killed has no end, hence the last one.
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import { serviceActor } from '../../operators/action-log.ts'
import type { OrderStory, StoryAction, StoryOperation } from '../../payments/books/order-story.sql.ts'
import type { Data } from '../contract.ts'

type Ended = NonNullable<Data<'order'>['order']['ended']>

/** By the status of the order that it leads to. */
const closing: Record<string, StoryOperation['kind']> = { CANCELLED: 'CANCEL', REFUNDED: 'REFUND' }

export function findEnd(story: OrderStory): Ended | null {
  const { status, operations, actions, entries } = story
  const closed = operations.find(({ kind, state }) => kind === closing[status] && state === 'APPROVED')
  if (!closed?.closedAt) return null
  const { closedAt: at, reason, amount, keyLastFour } = closed
  const operator = refunderOf(closed, actions)
  const taken = entries.filter(({ kind }) => kind === 'ROLLBACK' || kind === 'REFUND')
  return {
    at,
    by: whoEnded(closed, operator),
    operator,
    keyLastFour,
    reason,
    amount,
    credits: taken.reduce((credits, { delta }) => credits - delta, 0) - (acceptedPartsOf(story)?.credits ?? 0),
  }
}

/** What was cancelled at the gateway in parts and accepted, while the order was CONFIRMED. */
export function acceptedPartsOf({
  operations,
}: Pick<OrderStory, 'operations'>): { amount: number; credits: number } | null {
  const parts = operations.filter(({ kind }) => kind === 'PART')
  if (parts.length === 0) return null
  const sum = (of: (part: StoryOperation) => number) => parts.reduce((total, part) => total + of(part), 0)
  return { amount: sum(({ amount }) => amount), credits: sum(({ creditsHeld }) => creditsHeld) }
}

function whoEnded({ kind, gatewayCode }: StoryOperation, operator: string | null): Ended['by'] {
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
  // Its end may be earlier: a second operator has approved it.
  if (kind === 'PART') return command === 'discrepancies accept' && at <= openedAt
  const wanted = gatewayCode === cancelledAtGateway ? 'discrepancies accept' : 'orders refund'
  const isOfKind = kind === 'REFUND' && command === wanted
  return isOfKind && at <= openedAt && (endedAt === null || openedAt <= endedAt)
}
