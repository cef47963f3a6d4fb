// A person accepts that part of a payment was cancelled at the gateway, in its dashboard. The order stays CONFIRMED: what went
// back is booked, the credits that the person names are taken, and the rest keeps its value and can be refunded. From then on the
// gateway and our books agree, and the discrepancy is resolved for good. No call moves money here. The won stand for a credit
// each 1,000, together with what earlier parts have left below that. What a person takes less or more is given or taken like an
// adjustment, within the limits of adjustments: above what one person may do alone a second one approves it.
import { randomUUID } from 'node:crypto'
import { assert } from '../../core/assert.ts'
import {
  type AdjustmentRequest,
  type Charge,
  findAdjustmentState,
  findPartRequest,
  insertPartRequest,
} from '../../credits/adjustments/adjust.sql.ts'
import {
  type AdjustmentLimits,
  type AdjustmentResult,
  isOverDailyLimit,
  refuseOverDailyLimit,
  requireApprovable,
  requireLimit,
} from '../../credits/adjustments/adjust.ts'
import { findLot } from '../../credits/lots/lots.sql.ts'
import type { PaymentContext } from '../context.ts'
import { findOrderForReview } from '../operations/read.sql.ts'
import type { OrderKey } from '../orders.sql.ts'
import { findDoubtsOfOrder, resolveDiscrepancies } from '../recovery/discrepancies.sql.ts'
import { isFor, partlyCancelled, returnedAmountOf } from '../recovery/review.ts'
import { acceptRefusals, orderNotFound, refundBlockOf, refundRefusals } from '../refusals.ts'
import { findPart, insertPart, type PartToAccept } from './accept.sql.ts'
import { creditsOfPart } from './rule.ts'

export type PartQuote = {
  orderId: string
  /** KRW of the order. */
  paid: number
  creditsOfTheOrder: number
  creditsUsed: number
  /** KRW that the gateway has returned, and that was not accepted before. */
  amount: number
  /** The credits that the won stand for, as far as they are unused. */
  proposed: number
  /** The most credits that can be taken: those with the bonus, as far as they are unused. */
  most: number
  /** Credits of the order that are unused now. */
  unused: number
  /** KRW that the rest of the order is worth afterwards. */
  valueAfter: number
}

/** What the statement that books the part needs besides: it books nothing when these have changed. */
type Place = Pick<PartToAccept, 'paymentKey' | 'transactionKey' | 'atEntry' | 'acceptedBefore'>

/** What an acceptance would do now. Throws where there is nothing to accept. */
export async function quotePart(context: PaymentContext, key: PartKey): Promise<PartQuote> {
  return (await quoteNow(context, key)).quote
}

/** Those that the won stand for, unless others are named. */
export function creditsToTake({ proposed, most }: PartQuote, credits: number | undefined): number {
  if (credits === undefined) return proposed
  if (credits > most) throw acceptRefusals.moreThanLeft(most)
  return credits
}

async function quoteNow(context: PaymentContext, key: PartKey): Promise<{ quote: PartQuote; place: Place }> {
  const found = await findOrderForReview(context.database, key)
  if (!found) throw orderNotFound(key.orderId)
  const { order, openOperation, paymentKey } = found
  const block = refundBlockOf(order.status, openOperation)
  if (block?.refusal === 'open') throw acceptRefusals.open()
  if (block || !paymentKey) throw refundRefusals.notConfirmed(order.status)
  const [payment, lot, doubts] = await Promise.all([
    context.gateway.fetchPayment(paymentKey),
    findLot(context.database, key.customerId, key.orderId),
    findDoubtsOfOrder(context.database, key),
  ])
  assert(lot, 'a confirmed order without its lot')
  // What is left of this order is not known while another one's is under way.
  if (lot.othersUnderWay) throw acceptRefusals.open()
  if (payment.kind === 'unknown') throw acceptRefusals.gatewayAway()
  if (payment.kind === 'absent' || payment.money !== 'partly returned' || !isFor(order, payment)) {
    throw acceptRefusals.notPartlyCancelled()
  }
  const { orderId, amount: paid, credits, partsAmount: acceptedBefore, partsCredits } = order
  const amount = returnedAmountOf(payment) - acceptedBefore
  if (amount <= 0) throw acceptRefusals.notPartlyCancelled()
  // Another discrepancy of the order would be resolved without having been looked at.
  const isOpen = doubts.some(
    ({ discrepancyId, kind }) => discrepancyId === key.discrepancyId && kind === partlyCancelled,
  )
  if (!isOpen) throw acceptRefusals.notAPart()
  const part = { amount, amountBefore: acceptedBefore, creditsBefore: partsCredits, paid, creditsOfTheOrder: credits }
  const { standsFor, most: mostUnused } = creditsOfPart(part)
  const mostOf = (unused: number) => Math.min(unused, mostUnused)
  const most = mostOf(lot.unused)
  const proposed = Math.min(most, standsFor)
  // What a hold leaves must not decide what the won stand for.
  if (proposed < Math.min(mostOf(lot.unused + lot.held), standsFor)) {
    throw acceptRefusals.creditsHeld(lot.held)
  }
  const numbers = { creditsOfTheOrder: credits, creditsUsed: lot.used, amount, proposed, most, unused: lot.unused }
  const { transactionKey } = payment
  return {
    quote: { orderId, paid, ...numbers, valueAfter: Math.max(0, lot.value - amount) },
    place: { paymentKey, transactionKey, atEntry: lot.lastEntry, acceptedBefore },
  }
}

/** The discrepancy that is ended, and its order. */
export type PartKey = OrderKey & { discrepancyId: string }

export type Acceptance = PartKey & {
  /** How many of the order's credits are taken; undefined: those that are proposed. */
  credits?: number | undefined
  reason: string
  actor: string
}

/** What was accepted, and what is left of the order; PENDING: it waits for a second person. */
export type AcceptAnswer = {
  orderId: string
  discrepancyId: string
  state: 'DONE' | 'PENDING'
  requestId: string | null
  /** KRW. */
  amount: number
  creditsTaken: number
  creditsLeft: number
  /** KRW. */
  value: number
}

export async function acceptPart(
  context: PaymentContext,
  acceptance: Acceptance,
  { perDay, approvalAbove }: AdjustmentLimits,
): Promise<AcceptAnswer> {
  const { database } = context
  const known = (await findAnswer(context, acceptance)) ?? (await findWaiting(context, acceptance))
  if (known) return known
  const quoted = await quoteUnlessDone(context, acceptance)
  if ('state' in quoted) return quoted
  const { quote, place } = quoted
  const credits = creditsToTake(quote, acceptance.credits)
  const charge = chargeOf({ ...acceptance, credits }, quote)
  const { amount } = quote
  if (charge.credits > 0) requireLimit(perDay)
  if (charge.credits <= approvalAbove) {
    const part = { ...acceptance, credits, amount, ...place, approval: null }
    const booked = await book(context, part, charge, perDay)
    if (booked) return booked
    if (!(await isOverDailyLimit(database, charge, perDay))) throw acceptRefusals.changed()
  }
  await insertPartRequest(database, { ...acceptance, credits, adjustmentId: randomUUID(), amount })
  const stored = (await findAnswer(context, acceptance)) ?? (await findWaiting(context, acceptance))
  if (stored) return stored
  throw acceptRefusals.changed()
}

/** What is taken less or more than the won stand for counts in the operator's day. */
function chargeOf(acceptance: Acceptance & { credits: number }, { proposed }: PartQuote): Charge {
  const { customerId, discrepancyId, credits, actor } = acceptance
  return { customerId, adjustmentId: discrepancyId, kind: 'PART', credits: Math.abs(proposed - credits), actor }
}

/** By another operator than the one who requested it, whose limit covers it too. */
export async function approvePart(
  context: PaymentContext,
  requestId: string,
  actor: string,
  perDay: number,
): Promise<AdjustmentResult> {
  const request = await requireApprovable(context.database, requestId, actor)
  const { customerId, kind, credits, amount } = request
  const acceptance = { ...partOf(request), actor }
  const quoted = (await findAnswer(context, acceptance)) ?? (await quoteUnlessDone(context, acceptance))
  if (!('state' in quoted)) {
    const { quote, place } = quoted
    if (quote.amount !== amount || credits > quote.most) throw acceptRefusals.changed()
    const part = { ...acceptance, amount, ...place, approval: { requestId, approver: actor } }
    const charge = chargeOf(acceptance, quote)
    if (!(await book(context, part, charge, perDay))) {
      await refuseOverDailyLimit(context.database, charge, perDay)
      throw acceptRefusals.changed()
    }
  }
  // Another operator may have decided it meanwhile.
  await requireApprovable(context.database, requestId, actor)
  const { available } = await findAdjustmentState(context.database, { customerId, adjustmentId: null })
  return { adjustmentId: requestId, customerId, kind, credits, state: 'DONE', available }
}

function partOf({ customerId, credits, reason, discrepancyId, orderId }: AdjustmentRequest) {
  assert(discrepancyId && orderId, 'a request of a part without its order')
  return { customerId, orderId, discrepancyId, credits, reason }
}

/** Where the same acceptance was booked by another request meanwhile, nothing is left to accept. */
async function quoteUnlessDone(
  context: PaymentContext,
  acceptance: Named,
): Promise<AcceptAnswer | Awaited<ReturnType<typeof quoteNow>>> {
  try {
    return await quoteNow(context, acceptance)
  } catch (refusal) {
    const done = await findAnswer(context, acceptance)
    if (done) return done
    throw refusal
  }
}

/** Undefined when nothing was booked. */
async function book(
  context: PaymentContext,
  part: PartToAccept,
  charge: Charge,
  perDay: number,
): Promise<AcceptAnswer | undefined> {
  const { database, tallies } = context
  if (await insertPart(database, part, charge, perDay)) tallies.credits.refunded += part.credits
  return findAnswer(context, part)
}

type Named = Omit<Acceptance, 'actor'>

/** The answer for a part that was accepted: a repetition gets the same, and resolves a discrepancy that its process did not. */
async function findAnswer(context: PaymentContext, acceptance: Named): Promise<AcceptAnswer | undefined> {
  const { customerId, discrepancyId, credits, reason } = acceptance
  const done = await findPart(context.database, customerId, discrepancyId)
  if (!done) return undefined
  const { amount, credits: creditsTaken } = done
  if (credits !== undefined && credits !== creditsTaken) throw acceptRefusals.acceptedOtherwise(creditsTaken)
  await resolveDiscrepancies(context.database, [discrepancyId], reason)
  return answerOf(context, acceptance, { state: 'DONE', requestId: null, amount, creditsTaken })
}

/** The answer for a request that waits for a second person. */
async function findWaiting(context: PaymentContext, acceptance: Named): Promise<AcceptAnswer | undefined> {
  const waiting = await findPartRequest(context.database, acceptance)
  if (!waiting) return undefined
  const { adjustmentId: requestId, credits: creditsTaken, amount } = waiting
  if (creditsTaken !== acceptance.credits) throw acceptRefusals.requestedOtherwise(creditsTaken)
  return answerOf(context, acceptance, { state: 'PENDING', requestId, amount, creditsTaken })
}

async function answerOf(
  { database }: PaymentContext,
  { customerId, orderId, discrepancyId }: Named,
  outcome: Pick<AcceptAnswer, 'state' | 'requestId' | 'amount' | 'creditsTaken'>,
): Promise<AcceptAnswer> {
  const lot = await findLot(database, customerId, orderId)
  assert(lot, 'an accepted part of an order without its lot')
  return { orderId, discrepancyId, ...outcome, creditsLeft: lot.unused + lot.held, value: lot.value }
}
