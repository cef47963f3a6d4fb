// Counts the calls of the gateway by outcome, with their durations. It wraps the gateway port and changes nothing. The gateway's
// codes are unbounded, so the labels are classes of codes.
import type { Registry } from 'prom-client'
import { createDistribution, type Distribution, observe } from '../core/tallies.ts'
import type { Gateway, GatewayState } from '../gateway/gateway.ts'
import { addCounter, addGauge, addHistogram } from './families.ts'

const operations = {
  confirm: 'confirm',
  cancel: 'cancel',
  findConfirm: 'find_confirm',
  findCancel: 'find_cancel',
  fetchPayment: 'look',
  listMovements: 'list_movements',
} as const
type Verb = keyof typeof operations
type Answer = { kind: string; code?: string; serverError?: boolean; discrepancy?: unknown }

/** Why an outcome is unknown. The first that matches. */
const unknownReasons: { reason: string; matches: (answer: Answer) => boolean }[] = [
  { reason: 'contradiction', matches: ({ discrepancy }) => discrepancy !== undefined },
  { reason: 'held_back', matches: ({ code }) => code === 'GATEWAY_HELD_BACK' },
  { reason: 'timeout', matches: ({ code = '' }) => /TimeoutError|TIMEOUT/.test(code) },
  { reason: 'connection', matches: ({ code = '' }) => /^(E[A-Z]+$|EAI_|UND_ERR_)/.test(code) },
  {
    reason: 'server_error',
    matches: ({ code = '', serverError }) => serverError === true || /^HTTP_5/.test(code),
  },
  {
    reason: 'credentials',
    matches: ({ code = '' }) => /^(UNAUTHORIZED_KEY|INVALID_API_KEY|INCORRECT_BASIC_AUTH_FORMAT)$/.test(code),
  },
]

function reasonOf(answer: Answer): string {
  if (answer.kind === 'rejected') return 'refused'
  if (answer.kind !== 'unknown') return 'none'
  return unknownReasons.find(({ matches }) => matches(answer))?.reason ?? 'other'
}

type Call = { operation: string; outcome: string; reason: string; count: number }
export type GatewayCounts = { calls: Map<string, Call>; durationsMs: Map<string, Distribution> }

const boundsMs = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000]

export function createGatewayCounts(): GatewayCounts {
  const durations = Object.values(operations).map((operation) => [operation, createDistribution(boundsMs)] as const)
  const counts: GatewayCounts = { calls: new Map(), durationsMs: new Map(durations) }
  // Watched ones exist from the start: Prometheus sees an increase only after a zero.
  for (const verb of ['confirm', 'cancel'] as const) {
    for (const kind of ['approved', 'rejected'] as const) add(counts, verb, { kind }, 0)
    for (const code of ['GATEWAY_HELD_BACK', 'TimeoutError', 'ECONNRESET', 'HTTP_500'])
      add(counts, verb, { kind: 'unknown', code }, 0)
  }
  return counts
}

function add({ calls }: GatewayCounts, verb: Verb, answer: Answer, count: number): void {
  const call = { operation: operations[verb], outcome: answer.kind, reason: reasonOf(answer), count: 0 }
  const key = `${call.operation} ${call.outcome} ${call.reason}`
  const known = calls.get(key) ?? call
  calls.set(key, known)
  known.count += count
}

export function countedGateway(gateway: Gateway, counts: GatewayCounts): Gateway {
  function counted<Request, Result extends Answer>(verb: Verb, call: (request: Request) => Promise<Result>) {
    const durations = counts.durationsMs.get(operations[verb]) as Distribution
    return async (request: Request): Promise<Result> => {
      const startedAtMs = performance.now()
      const answer = await call(request)
      observe(durations, performance.now() - startedAtMs)
      add(counts, verb, answer, 1)
      return answer
    }
  }
  return {
    ...gateway,
    confirm: counted('confirm', gateway.confirm),
    cancel: counted('cancel', gateway.cancel),
    findConfirm: counted('findConfirm', gateway.findConfirm),
    findCancel: counted('findCancel', gateway.findCancel),
    fetchPayment: counted('fetchPayment', gateway.fetchPayment),
    listMovements: counted('listMovements', gateway.listMovements),
  }
}

const breakerStates = ['closed', 'open', 'half open'] as const
const gatewayStates: GatewayState['state'][] = ['untried', 'answering', 'failing', 'refusing our credentials']

export type GatewayParts = {
  counts: GatewayCounts
  gateway: Gateway
  breakerState(): (typeof breakerStates)[number]
}

export function addGatewayMetrics(registry: Registry, { counts, gateway, breakerState }: GatewayParts): void {
  addCounter(registry, 'credits_gateway_calls_total', 'Calls to the gateway, by outcome.', () =>
    [...counts.calls.values()].map(({ count, ...labels }) => [labels, count]),
  )
  addHistogram(
    registry,
    { name: 'credits_gateway_call_duration_seconds', help: 'Duration of calls to the gateway.', unit: 1_000 },
    () => [...counts.durationsMs].map(([operation, durations]) => [{ operation }, durations]),
  )
  addGauge(registry, 'credits_gateway_breaker_state', '1 for the current state of the circuit breaker.', () =>
    breakerStates.map((state) => [{ state: state.replace(' ', '_') }, breakerState() === state ? 1 : 0]),
  )
  addGauge(registry, 'credits_gateway_state', '1 for the state of the gateway after the last call.', () =>
    gatewayStates.map((state) => [{ state: state.replaceAll(' ', '_') }, gateway.state().state === state ? 1 : 0]),
  )
}
