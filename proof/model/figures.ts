// The figures of a run: requests and answers, what happened to the money, how often the services were restarted.
// Counted at the end from the history, the books, the journal and the logs.
import type { EndpointName } from '../../src/console/endpoints.ts'
import type { Service } from '../world/service.ts'
import type { World } from '../world/world.ts'
import { suspendedCause } from './actions/client.ts'
import { type Evidence, wasConfirmed } from './checks/evidence.ts'
import { firstFault } from './checks/money/holds.ts'
import type { Call, Data } from './history.ts'
import type { ConsoleCall } from './operators/console-client.ts'

export type Figures = Record<string, number>

export async function countFigures(world: World, evidence: Evidence, faultsFromMs: number): Promise<Figures> {
  const { calls, orders, movements } = evidence
  const all = [...orders.values()]
  const of = (status: string) => all.filter((order) => order.status === status).length
  const answered = calls.filter(({ dropped }) => !dropped)
  const served = answered.filter(wasServed)
  const operations = await countOperations(world)
  const log = world.services.map(readLog).reduce((sum, each) => ({
    ambiguous: sum.ambiguous + each.ambiguous,
    recovered: sum.recovered + each.recovered,
  }))
  return {
    'API calls': calls.length,
    'connections dropped by clients': calls.length - answered.length,
    'without a definite answer': answered.length - served.length,
    'availability in percent': percent(served.length, answered.length),
    'slowest answer in ms': Math.round(slowest(answered)),
    orders: all.length,
    'orders confirmed': all.filter(wasConfirmed).length,
    'orders failed': of('FAILED'),
    'orders cancelled': of('CANCELLED'),
    'orders refunded': of('REFUNDED'),
    'orders pending': of('PENDING'),
    'payments captured': movements.filter(({ kind }) => kind === 'capture').length,
    'payments cancelled': movements.filter(({ kind }) => kind === 'cancel').length,
    'won kept at the gateway': movements.reduce(
      (sum, { kind, amount }) => sum + (kind === 'capture' ? amount : -amount),
      0,
    ),
    ...countSpending(evidence),
    ...(await countEvents(world)),
    ...countOperatorCalls(evidence),
    ...operations,
    'recovered by the worker (log)': log.recovered,
    'commits in doubt (log)': log.ambiguous,
    'open discrepancies': evidence.discrepancies.length,
    'availability before the faults in percent': availabilityBefore(answered, faultsFromMs),
    'service starts': starts(world.services, 'starts'),
    'service starts refused': starts(world.services, 'refusedStarts'),
  }
}

const isSuspension = (metadata: Data | null) => firstFault(metadata).field === 'customerId'

/** Requests count by reference, however often each was sent. */
function countSpending({ callsOf, uses, holds }: Evidence): Figures {
  const references = (calls: { request: { customer: number; reference: string } }[]) =>
    new Set(calls.map(({ request }) => `${request.customer}/${request.reference}`)).size
  const refusals = [...callsOf.spend, ...callsOf.hold].flatMap(({ outcome }) =>
    outcome.kind === 'fail' ? [outcome] : [],
  )
  const refused = (code: string, isBy: (metadata: Data | null) => boolean = () => true) =>
    refusals.filter((refusal) => refusal.code === code && isBy(refusal.metadata)).length
  const inState = (state: string) => [...holds.values()].filter((hold) => hold.state === state).length
  return {
    spends: references(callsOf.spend),
    'spends that went through': [...uses.values()].filter(({ kind }) => kind === 'SPEND').length,
    holds: references(callsOf.hold),
    'holds that went through': holds.size,
    'spends and holds refused for lack of credits': refused('BUS002', (metadata) => !metadata?.limit),
    'spends and holds refused by a budget': refused('BUS002', (metadata) => Boolean(metadata?.limit)),
    'spends and holds refused because the customer was suspended': refused('VAL003', isSuspension),
    'spends and holds refused because the reference was used differently': refused(
      'VAL003',
      (metadata) => !isSuspension(metadata),
    ),
    'parts of holds captured': [...uses.values()].filter(({ kind }) => kind === 'CAPTURE').length,
    'holds extended': [...holds.values()].filter(({ isExtended }) => isExtended).length,
    'holds of fewer credits than requested': [...uses.values()].filter(
      ({ credits, requested }) => requested !== null && credits < requested,
    ).length,
    'holds captured': inState('CAPTURED'),
    'holds released': inState('RELEASED'),
    'holds expired': inState('EXPIRED'),
    'holds open in the end': inState('ACTIVE'),
    receipts: callsOf.receipt.filter(({ outcome }) => outcome.kind === 'ok').length,
    'reversals that went through': [...uses.values()].filter(({ kind }) => kind === 'REVERSAL').length,
    'reversals refused': callsOf.reverse.filter(({ outcome }) => outcome.kind === 'fail').length,
    'captures and releases that came too late': [...callsOf.capture, ...callsOf.release].filter(
      ({ outcome }) => outcome.kind === 'fail',
    ).length,
  }
}

/** Answers to operators. A rotation issues a key and suspends one. */
function countOperatorCalls({ consoleCalls, calls }: Evidence): Figures {
  const succeeded = consoleCalls.filter(({ outcome }) => outcome.kind === 'ok')
  const of = (...endpoints: EndpointName[]) => succeeded.filter(({ endpoint }) => endpoints.includes(endpoint)).length
  const isOlder = ({ sessionFromMs, processFromMs }: ConsoleCall) =>
    sessionFromMs !== null && sessionFromMs < processFromMs
  return {
    'operator calls': consoleCalls.length,
    'operator calls that were answered': consoleCalls.filter(({ outcome }) => outcome.kind !== 'info').length,
    'operator calls with a session from before a restart': succeeded.filter(isOlder).length,
    'operator sign-ins': of('signIn'),
    'operator settlements': of('settleOrder'),
    'operator refunds': of('refundOrder') + of('refundUnused'),
    'operator resends of events': of('resendEvents'),
    'operator reconciliations': of('reconcile'),
    'operator resolutions': of('resolveDiscrepancy'),
    'keys issued': of('issueKey', 'rotateKey'),
    'keys suspended': of('suspendKey', 'rotateKey'),
    'keys activated': of('activateKey'),
    'calls refused for a suspended key': calls.filter(
      ({ outcome }) => outcome.kind === 'info' && outcome.cause === suspendedCause,
    ).length,
  }
}

async function countEvents({ books, consumer: { deliveries } }: World): Promise<Figures> {
  const [row] = await books.query<Figures>(
    `select count(*)::int as "events", count(*) filter (where type = 'credits.low')::int as "events of low credits"
    from events`,
  )
  const accepted = new Set(deliveries.filter(({ accepted: at }) => at !== null).map(({ eventId }) => eventId)).size
  return {
    ...row,
    'events delivered': accepted,
    'events delivered again': deliveries.length - new Set(deliveries.map(({ eventId }) => eventId)).size,
    'events signed with two secrets': deliveries.filter(({ signatures }) => signatures > 1).length,
  }
}

async function countOperations({ books }: World): Promise<Figures> {
  const [row] = await books.query<Figures>(
    `select count(*) filter (where attempts > 0 and state <> 'OPEN')::int as "recoveries",
      count(*) filter (where state = 'EXPIRED')::int as "orders expired by the clock",
      count(*) filter (where kind = 'RETURN' and state = 'APPROVED')::int as "payments returned"
    from payment_operations`,
  )
  const [received] = await books.query<Figures>('select count(*)::int as "notifications" from webhook_notifications')
  return { ...row, ...received }
}

function starts(services: readonly Service[], of: 'starts' | 'refusedStarts'): number {
  return services.reduce((sum, { counts }) => sum + counts[of], 0)
}

/** `ambiguous`: statements whose connection was lost, so it is not known whether they were committed. */
function readLog(service: Service): { ambiguous: number; recovered: number } {
  const lines = service.readLog().split('\n')
  const has = (text: string) => lines.filter((line) => line.includes(text))
  const disconnected = has('"msg":"statement failed"').filter((line) => line.includes('"kind":"away"'))
  return { ambiguous: disconnected.length, recovered: has('"msg":"recovered"').length }
}

function slowest(calls: Call[]): number {
  return calls.reduce((longest, { invokedAtMs, endedAtMs }) => Math.max(longest, endedAtMs - invokedAtMs), 0)
}

/** The refusal of a suspended key is a definite answer. */
function wasServed({ outcome }: Call): boolean {
  return outcome.kind !== 'info' || outcome.cause === suspendedCause
}

function availabilityBefore(answered: Call[], faultsFromMs: number): number {
  const early = answered.filter(({ endedAtMs }) => endedAtMs < faultsFromMs)
  return percent(early.filter(wasServed).length, early.length)
}

function percent(part: number, whole: number): number {
  return Math.round((part / Math.max(1, whole)) * 10_000) / 100
}
