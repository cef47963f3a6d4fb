// The answers to operators: the envelope, no unexpected refusal, no session lost by a restart, a search finds its
// subject. And their actions: an acknowledged refund is done once in the books and once at the gateway, one whose
// answer was lost is done wholly or not at all, an acknowledged run or resolution is in the books.
import type { Data } from '../../../src/console/contract.ts'
import type { EndpointName } from '../../../src/console/endpoints.ts'
import type { World } from '../../world/world.ts'
import { type ConsoleCall, dataOf } from '../operators/console-client.ts'
import { carryOut, isPermitted } from './action-log.ts'
import { type BookedOrder, type Check, checksOf, type Evidence } from './evidence.ts'

export async function checkOperators(world: World, evidence: Evidence): Promise<Check[]> {
  const { consoleCalls } = evidence
  return checksOf({
    'O-4 a refund by an operator is done once, in the books and at the gateway, or not at all': await refunds(
      world,
      evidence,
    ),
    'O-7 operators are refused what their role does not allow and nothing else, and no session ends by a restart':
      consoleCalls.flatMap(wronglyAnswered),
    'O-8 operators are shown what they look for': consoleCalls.flatMap((call) => notShown(evidence, call)),
    'O-9 acknowledged reconciliations and resolutions are in the books': [
      ...(await runs(world, consoleCalls)),
      ...(await resolutions(world, consoleCalls)),
    ],
  })
}

function nameOf({ number, operator, endpoint }: ConsoleCall): string {
  return `operator call ${number} (${operator}, ${endpoint})`
}

/** Codes of refusals with the permission: the order's state has changed, another request was first. */
const refusals: Partial<Record<EndpointName, string[]>> = {
  refundQuote: ['PAYMENT_CANCEL_FAILED'],
  refundOrder: ['PAYMENT_CANCEL_FAILED'],
  refundUnused: ['PAYMENT_CANCEL_FAILED'],
  rotateKey: ['VAL003'],
  resolveDiscrepancy: ['NOT000'],
}

const unknown = 'AUTH001'
const forbidden = 'AUTH003'

function wronglyAnswered(call: ConsoleCall): string[] {
  const { outcome, breach, endpoint, flaw } = call
  const name = nameOf(call)
  if (breach !== null) return [`${name}: ${breach}`]
  if (outcome.kind === 'info') return []
  const answered = outcome.kind === 'ok' ? 'a success' : outcome.code
  if (isPermitted(call)) {
    const isFine = outcome.kind === 'ok' || refusals[endpoint]?.includes(outcome.code)
    return isFine ? [] : [`${name} was answered with ${answered}: ${outcome.message}`]
  }
  const expected = flaw === null || flaw === 'origin' ? forbidden : unknown
  return answered === expected ? [] : [`${name} (wrong ${flaw ?? 'role'}) was answered with ${answered}`]
}

type Quoted = Pick<
  Data<'refundQuote'>,
  'paid' | 'creditsOfTheOrder' | 'creditsTakenBack' | 'shortfall' | 'backToTheCard'
>

/** Parts may have been accepted before the quote or after it. */
export function isQuoteOf(order: BookedOrder | undefined, quote: Quoted): boolean {
  const { paid, creditsOfTheOrder, creditsTakenBack, shortfall, backToTheCard } = quote
  const withoutParts = creditsOfTheOrder - creditsTakenBack - shortfall
  return (
    paid === order?.amount &&
    creditsOfTheOrder === order.credits &&
    (backToTheCard ?? 0) <= paid &&
    withoutParts >= 0 &&
    withoutParts <= order.partsCredits
  )
}

/** Each returns what is wrong with an answer. */
const shown: { [Name in EndpointName]?: (data: Data<Name>, call: ConsoleCall, evidence: Evidence) => string | false } =
  {
    order: ({ order }, { params }) => order.orderId !== params.orderId && `the page of ${order.orderId}`,
    customer: ({ customerId }, { params }) => customerId !== params.customerId && `the page of ${customerId}`,
    search: ({ results }, { query }) => results.length === 0 && `nothing found for ${query.q}`,
    settleOrder: ({ result, status }) =>
      status === 'PENDING' && result === 'repaired' && 'the order was repaired and is PENDING',
    refundQuote: (quote, { params }, { orders }) =>
      !isQuoteOf(orders.get(params.orderId ?? ''), quote) && `the quote ${JSON.stringify(quote)}`,
  }

function notShown(evidence: Evidence, call: ConsoleCall): string[] {
  const check = shown[call.endpoint] as
    | ((data: unknown, call: ConsoleCall, evidence: Evidence) => string | false)
    | undefined
  const data = dataOf(call)
  const fault = data && check?.(data, call, evidence)
  return fault ? [`${nameOf(call)}: ${fault}`] : []
}

type BookedRefund = { orderId: string; reason: string | null; state: string }

async function refunds({ books }: World, evidence: Evidence): Promise<string[]> {
  const requested = Map.groupBy(
    evidence.consoleCalls.filter(({ endpoint }) => endpoint === 'refundOrder' || endpoint === 'refundUnused'),
    ({ params }) => params.orderId ?? '',
  )
  const rows = await books.query<BookedRefund>(
    `select order_id as "orderId", reason, state from payment_operations where kind = 'REFUND' and state <> 'REJECTED'`,
  )
  const byOrder = Map.groupBy(rows, ({ orderId }) => orderId)
  const reasons = new Set([...requested.values()].flat().map(({ reason }) => reason))
  const unrequested = rows
    .filter(({ reason }) => reason?.startsWith('as call ') && !reasons.has(reason))
    .map(({ orderId, reason }) => `${orderId} was refunded "${reason}", which was not requested`)
  const each = [...requested].flatMap(([orderId, calls]) => {
    const order = evidence.orders.get(orderId)
    const booked = byOrder.get(orderId) ?? []
    if (!order) return [`${orderId} is no order`]
    const given = evidence.movements.filter((each) => each.kind === 'cancel' && each.paymentKey === order.paymentKey)
    return refundsOf(order, calls, booked, sumOf(given))
  })
  return [...unrequested, ...each]
}

function sumOf(movements: { amount: number }[]): number {
  return movements.reduce((sum, { amount }) => sum + amount, 0)
}

function refundsOf(order: BookedOrder, calls: ConsoleCall[], booked: BookedRefund[], given: number): string[] {
  const { orderId, status, credits, refundShortfall, refundedAmount, partsAmount, partsCredits } = order
  const isRefunded = status === 'REFUNDED'
  const states = booked.map(({ state }) => state).join()
  // More, if the rest was cancelled in the dashboard: the check of the gateway's journal covers that.
  const isWhole = isRefunded
    ? states === 'APPROVED' && given >= partsAmount + (refundedAmount ?? Number.NaN)
    : states === ''
  const violations = isWhole ? [] : [`${orderId} is ${status}, its refunds are ${states}, ${given} was refunded`]
  for (const call of calls) {
    const answer = dataOf(call) as Data<'refundOrder'> | undefined
    if (!answer) continue
    const shortfall = (refundShortfall ?? Number.NaN) - partsCredits
    const isTrue =
      answer.creditsTakenBack === credits - partsCredits - shortfall &&
      answer.shortfall === shortfall &&
      answer.refundedAmount === refundedAmount
    if (!isRefunded || !isTrue)
      violations.push(`${nameOf(call)} was answered with ${JSON.stringify(answer)}, ${orderId} is ${status}`)
  }
  return violations
}

async function runs({ books }: World, consoleCalls: ConsoleCall[]): Promise<string[]> {
  // A carry-out that was interrupted ends with its error; the check of the action log covers those without an end.
  const rows = await books.query<{ id: string; isFinished: boolean; isCarriedOut: boolean; outcome: string | null }>(
    `select reconciliation_id as id, finished_at is not null as "isFinished", a.action_id is not null as "isCarriedOut",
      e.outcome
    from reconciliations r
    left join operator_actions a on a.command = '${carryOut}' and a.subject = r.reconciliation_id::text
    left join operator_actions e on e.action_id = a.action_id and e.step = 'ENDED'`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return consoleCalls.flatMap((call) => {
    const started = call.endpoint === 'reconcile' && (dataOf(call) as Data<'reconcile'> | undefined)
    if (!started) return []
    const run = byId.get(started.reconciliationId)
    if (!run) return [`${nameOf(call)} started ${started.reconciliationId}, which is no run`]
    const isDone = run.outcome === 'ok' || run.outcome === 'failed'
    if (isDone && !run.isFinished) return [`${started.reconciliationId} was carried out, and has not finished`]
    return run.isFinished && !run.isCarriedOut
      ? [`${started.reconciliationId} has finished, and is not in the action log`]
      : []
  })
}

async function resolutions({ books }: World, consoleCalls: ConsoleCall[]): Promise<string[]> {
  const rows = await books.query<{ id: string; resolution: string | null }>(
    'select discrepancy_id as id, resolution from discrepancies',
  )
  const byId = new Map(rows.map(({ id, resolution }) => [id, resolution]))
  return consoleCalls
    .filter((call) => call.endpoint === 'resolveDiscrepancy' && call.outcome.kind === 'ok')
    .filter(({ params, reason }) => byId.get(params.discrepancyId ?? '') !== reason)
    .map((call) => `${nameOf(call)} was acknowledged, the books have "${byId.get(call.params.discrepancyId ?? '')}"`)
}
