// What operators were told, by itself: the envelope, no unexpected refusal, no session that ended by itself, what they looked
// for is found. And what they did about orders and books: a refund that was told is done once in the books and once at the
// gateway, one whose answer was lost is wholly done or wholly not, a run and a resolution that were told are there.

import type { Data } from '../../src/console/contract.ts'
import type { EndpointName } from '../../src/console/endpoints.ts'
import { type DeskCall, dataOf } from '../desk/console.ts'
import type { World } from '../world/world.ts'
import type { BookedOrder, Check, Evidence } from './evidence.ts'
import { carryOut, mayAsk } from './trail.ts'

export async function checkDesk(world: World, evidence: Evidence): Promise<Check[]> {
  const { desk } = evidence
  return [
    {
      id: 'O-4',
      title: 'a refund by an operator is done once, in the books and at the gateway, or not at all',
      violations: await refunds(world, evidence),
    },
    {
      id: 'O-7',
      title: 'operators are refused what is not theirs and nothing else, and no session ends by a restart',
      violations: desk.flatMap(wronglyAnswered),
    },
    {
      id: 'O-8',
      title: 'what operators look at is there',
      violations: desk.flatMap((call) => notShown(evidence, call)),
    },
    {
      id: 'O-9',
      title: 'reconciliations and resolutions that were told are in the books',
      violations: [...(await runs(world, desk)), ...(await resolutions(world, desk))],
    },
  ]
}

function nameOf({ number, operator, endpoint }: DeskCall): string {
  return `operator call ${number} (${operator}, ${endpoint})`
}

/** What somebody who may ask can be refused with: the order is not what it was, somebody else was quicker. */
const refusals: Partial<Record<EndpointName, string[]>> = {
  refundQuote: ['PAYMENT_CANCEL_FAILED'],
  refundOrder: ['PAYMENT_CANCEL_FAILED'],
  rotateKey: ['VAL003'],
  resolveDiscrepancy: ['NOT000'],
}

const unknown = 'AUTH001'
const forbidden = 'AUTH003'

function wronglyAnswered(call: DeskCall): string[] {
  const { outcome, breach, endpoint, amiss } = call
  const name = nameOf(call)
  if (breach !== null) return [`${name}: ${breach}`]
  if (outcome.kind === 'info') return []
  const told = outcome.kind === 'ok' ? 'a success' : outcome.code
  if (mayAsk(call)) {
    const isFine = outcome.kind === 'ok' || refusals[endpoint]?.includes(outcome.code)
    return isFine ? [] : [`${name} was answered ${told}: ${outcome.message}`]
  }
  const expected = amiss === null || amiss === 'origin' ? forbidden : unknown
  return told === expected ? [] : [`${name} with ${amiss ?? 'its role'} amiss was answered ${told}`]
}

/** Each as what is wrong with an answer. */
const shown: { [Name in EndpointName]?: (data: Data<Name>, call: DeskCall, evidence: Evidence) => string | false } = {
  order: ({ order }, { params }) => order.orderId !== params.orderId && `the story of ${order.orderId}`,
  customer: ({ customerId }, { params }) => customerId !== params.customerId && `the page of ${customerId}`,
  search: ({ results }, { query }) => results.length === 0 && `nothing found for ${query.q}`,
  settleOrder: ({ result, status }) =>
    status === 'PENDING' && result === 'repaired' && 'an order that was repaired, and is PENDING',
  refundQuote: (quote, { params }, { orders }) => {
    const order = orders.get(params.orderId ?? '')
    const { paid, creditsOfTheOrder, creditsTakenBack, shortfall, backToTheCard } = quote
    const isRight = paid === order?.amount && creditsOfTheOrder === order.credits && (backToTheCard ?? 0) <= paid
    return !(isRight && creditsTakenBack + shortfall === creditsOfTheOrder) && `the quote ${JSON.stringify(quote)}`
  },
}

function notShown(evidence: Evidence, call: DeskCall): string[] {
  const look = shown[call.endpoint] as
    | ((data: unknown, call: DeskCall, evidence: Evidence) => string | false)
    | undefined
  const data = dataOf(call)
  const fault = data && look?.(data, call, evidence)
  return fault ? [`${nameOf(call)}: ${fault}`] : []
}

type BookedRefund = { orderId: string; reason: string | null; state: string }

async function refunds({ books }: World, evidence: Evidence): Promise<string[]> {
  const asked = Map.groupBy(
    evidence.desk.filter(({ endpoint }) => endpoint === 'refundOrder'),
    ({ params }) => params.orderId ?? '',
  )
  const rows = await books.query<BookedRefund>(
    `select order_id as "orderId", reason, state from payment_operations where kind = 'REFUND' and state <> 'REJECTED'`,
  )
  const byOrder = Map.groupBy(rows, ({ orderId }) => orderId)
  const reasons = new Set([...asked.values()].flat().map(({ reason }) => reason))
  const unasked = rows
    .filter(({ reason }) => reason?.startsWith('as call ') && !reasons.has(reason))
    .map(({ orderId, reason }) => `${orderId} was refunded "${reason}", which nobody asked for`)
  const each = [...asked].flatMap(([orderId, calls]) => {
    const order = evidence.orders.get(orderId)
    const booked = byOrder.get(orderId) ?? []
    if (!order) return [`${orderId} is no order`]
    const given = evidence.movements.filter((each) => each.kind === 'cancel' && each.paymentKey === order.paymentKey)
    return refundsOf(order, calls, booked, sumOf(given))
  })
  return [...unasked, ...each]
}

function sumOf(movements: { amount: number }[]): number {
  return movements.reduce((sum, { amount }) => sum + amount, 0)
}

function refundsOf(order: BookedOrder, calls: DeskCall[], booked: BookedRefund[], given: number): string[] {
  const { orderId, status, amount, credits, refundShortfall } = order
  const isRefunded = status === 'REFUNDED'
  const states = booked.map(({ state }) => state).join()
  const isWhole = isRefunded ? states === 'APPROVED' && given === amount : states === ''
  const violations = isWhole ? [] : [`${orderId} is ${status}, its refunds are ${states}, ${given} was given back`]
  for (const call of calls) {
    const told = dataOf(call) as Data<'refundOrder'> | undefined
    if (!told) continue
    const shortfall = refundShortfall ?? Number.NaN
    const isTrue = told.creditsTakenBack === credits - shortfall && told.shortfall === shortfall
    if (!isRefunded || !isTrue)
      violations.push(`${nameOf(call)} was told ${JSON.stringify(told)}, ${orderId} is ${status}`)
  }
  return violations
}

async function runs({ books }: World, desk: DeskCall[]): Promise<string[]> {
  // A carry-out that was broken off ends with its error; one that is not on the trail to its end is looked at there.
  const rows = await books.query<{ id: string; isFinished: boolean; isCarriedOut: boolean; outcome: string | null }>(
    `select reconciliation_id as id, finished_at is not null as "isFinished", a.action_id is not null as "isCarriedOut",
      e.outcome
    from reconciliations r
    left join operator_actions a on a.command = '${carryOut}' and a.subject = r.reconciliation_id::text
    left join operator_actions e on e.action_id = a.action_id and e.step = 'ENDED'`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return desk.flatMap((call) => {
    const told = call.endpoint === 'reconcile' && (dataOf(call) as Data<'reconcile'> | undefined)
    if (!told) return []
    const run = byId.get(told.reconciliationId)
    if (!run) return [`${nameOf(call)} was told ${told.reconciliationId}, which is no run`]
    const isDone = run.outcome === 'ok' || run.outcome === 'failed'
    if (isDone && !run.isFinished) return [`${told.reconciliationId} was carried out, and has not finished`]
    return run.isFinished && !run.isCarriedOut ? [`${told.reconciliationId} has finished, and is not on the trail`] : []
  })
}

async function resolutions({ books }: World, desk: DeskCall[]): Promise<string[]> {
  const rows = await books.query<{ id: string; resolution: string | null }>(
    'select discrepancy_id as id, resolution from discrepancies',
  )
  const byId = new Map(rows.map(({ id, resolution }) => [id, resolution]))
  return desk
    .filter((call) => call.endpoint === 'resolveDiscrepancy' && call.outcome.kind === 'ok')
    .filter(({ params, reason }) => byId.get(params.discrepancyId ?? '') !== reason)
    .map((call) => `${nameOf(call)} was told resolved, the books have "${byId.get(call.params.discrepancyId ?? '')}"`)
}
