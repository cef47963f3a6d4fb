// The timelines of an order and of a discrepancy, built from their rows. The page translates the field names in `detail`.
import type { StoredEvent } from '../../events/events.sql.ts'
import type { Delivery, EndOfOrder } from '../../events/order-events.sql.ts'
import { cancelledAtGateway } from '../../gateway/gateway.ts'
import type {
  OrderStory,
  StoryAction,
  StoryDiscrepancy,
  StoryEntry,
  StoryOperation,
} from '../../payments/books/order-story.sql.ts'
import { outcomeOf } from '../../payments/kinds.ts'
import type { momentKinds } from './contract.ts'

type MomentKind = (typeof momentKinds)[number]
export type TimelineMoment = { at: string; kind: MomentKind; detail: Record<string, unknown> }

/** An event with its deliveries. */
export type EventWithDeliveries = StoredEvent & { deliveries: Omit<Delivery, 'eventNumber' | 'url'>[] }

export function listEnds({ operations }: OrderStory): EndOfOrder[] {
  return operations.flatMap(({ kind, state, closedAt }) => {
    const type = outcomeOf(kind, state)?.event
    return type?.startsWith('order.') && closedAt ? [{ type, at: closedAt }] : []
  })
}

/** The order of moments with the same time: causes first. */
const ranks: Record<MomentKind, number> = {
  PURCHASE: 0,
  WEBHOOK: 1,
  OPERATOR: 2,
  OPERATION_BEGUN: 3,
  ATTEMPT: 4,
  OPERATION_ENDED: 5,
  LEDGER: 6,
  EVENT: 7,
  DISCREPANCY_FOUND: 8,
  DISCREPANCY_RESOLVED: 9,
}

export function orderTimeline(story: OrderStory, events: EventWithDeliveries[]): TimelineMoment[] {
  const { operations, attempts, entries, discrepancies, notifications, actions } = story
  const moments = [
    purchaseOf(story),
    ...operations.flatMap(momentsOfOperation),
    ...attempts.map(({ happenedAt: at, ...detail }) => moment(at, 'ATTEMPT', detail)),
    ...entries.map(momentOfEntry),
    ...events.map(momentOfEvent),
    ...notifications.map((each) => moment(each.receivedAt, 'WEBHOOK', each)),
    ...discrepancies.flatMap(momentsOfDiscrepancy),
    ...actions.map(momentOfAction),
  ]
  return foldAttempts(sortByTime(moments))
}

/** An action of an operator that resolved it is one moment, with the note. */
export function discrepancyTimeline(discrepancy: StoryDiscrepancy, actions: StoryAction[]): TimelineMoment[] {
  const isByAction = actions.some((action) => hasResolved(action, discrepancy))
  const moments = momentsOfDiscrepancy(discrepancy).filter(
    ({ kind }) => !(isByAction && kind === 'DISCREPANCY_RESOLVED'),
  )
  return sortByTime([...moments, ...actions.map(momentOfAction)])
}

function hasResolved({ command, outcome, at, endedAt }: StoryAction, { resolvedAt }: StoryDiscrepancy): boolean {
  const isDone = /^discrepancies /.test(command) && outcome === 'ok'
  return isDone && resolvedAt !== null && endedAt !== null && at <= resolvedAt && resolvedAt <= endedAt
}

/** Neighbouring attempts of an operation become one moment. */
function foldAttempts(moments: TimelineMoment[]): TimelineMoment[] {
  const folded: TimelineMoment[] = []
  for (const each of moments) {
    const last = folded.at(-1)
    const isNext = each.kind === 'ATTEMPT' && last?.kind === 'ATTEMPT'
    if (last && isNext && last.detail.operationId === each.detail.operationId) addAttempt(last, each)
    else folded.push(each)
  }
  return folded
}

type CountedCode = { gatewayCode: unknown; count: number }

function addAttempt(first: TimelineMoment, { at, detail: { gatewayCode } }: TimelineMoment): void {
  const { operationId, count = 1, codes = [{ gatewayCode: first.detail.gatewayCode, count: 1 }] } = first.detail
  const counted = codes as CountedCode[]
  const known = counted.find((each) => each.gatewayCode === gatewayCode)
  if (known) known.count += 1
  else counted.push({ gatewayCode, count: 1 })
  first.detail = { operationId, count: (count as number) + 1, until: at, codes: counted }
}

function sortByTime(moments: TimelineMoment[]): TimelineMoment[] {
  return moments.sort((one, other) => compare(one.at, other.at) || ranks[one.kind] - ranks[other.kind])
}

function momentsOfDiscrepancy(discrepancy: StoryDiscrepancy): TimelineMoment[] {
  const { foundAt, resolvedAt, resolution, discrepancyId, kind, detail, lastSeenAt } = discrepancy
  return [
    moment(foundAt, 'DISCREPANCY_FOUND', { discrepancyId, kind, lastSeenAt, resolvedAt, detail }),
    ...(resolvedAt ? [moment(resolvedAt, 'DISCREPANCY_RESOLVED', { discrepancyId, kind, resolution })] : []),
  ]
}

function momentOfAction({ at, ...detail }: StoryAction): TimelineMoment {
  return moment(at, 'OPERATOR', detail)
}

/** ISO times of one format sort as text. */
function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

function moment(at: string, kind: MomentKind, detail: object): TimelineMoment {
  return { at, kind, detail: { ...detail } }
}

function purchaseOf({ createdAt, packageType, amount, credits }: OrderStory): TimelineMoment {
  return moment(createdAt.toISOString(), 'PURCHASE', { packageType, amount, credits })
}

/** An expiry, and a cancellation that was made at the gateway, are no call of ours: they have only an end. */
function momentsOfOperation(operation: StoryOperation): TimelineMoment[] {
  const { operationId, kind, state, paymentKey, amount, reason, openedAt, closedAt } = operation
  const { gatewayCode, transactionKey, attempts, creditsHeld, refundRule } = operation
  const rule = refundRule && { refundRule }
  const begun = { operationId, kind, paymentKey, amount, reason, creditsHeld, ...rule }
  const ended = { operationId, kind, state, gatewayCode, transactionKey, attempts }
  if (closedAt && gatewayCode === cancelledAtGateway)
    return [moment(closedAt, 'OPERATION_ENDED', { ...begun, ...ended })]
  return [
    ...(state === 'EXPIRED' ? [] : [moment(openedAt, 'OPERATION_BEGUN', begun)]),
    ...(closedAt ? [moment(closedAt, 'OPERATION_ENDED', ended)] : []),
  ]
}

function momentOfEntry({ createdAt, ...detail }: StoryEntry): TimelineMoment {
  return moment(createdAt, 'LEDGER', detail)
}

function momentOfEvent({ createdAt, eventNumber, eventId, type, deliveries }: EventWithDeliveries): TimelineMoment {
  return moment(createdAt.toISOString(), 'EVENT', { type, eventNumber, eventId, deliveries })
}
