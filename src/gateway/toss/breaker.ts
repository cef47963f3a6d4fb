// Spares callers the wait while the gateway is down: after enough failures calls return "no answer" at once, and every few
// seconds one call is let through as a probe. A call that was not sent is unknown like any other without an answer: it is
// looked up and sent later, and an order never fails because of it.
import { type CircuitBreakerPolicy, CircuitState, circuitBreaker, handleWhenResult, SamplingBreaker } from 'cockatiel'
import type { Exchange, TossClient } from './client.ts'

export type BreakerSettings = {
  /** Opens when more than this share of the calls within the window has failed ... */
  failureShare: number
  windowMs: number
  /** ... and at least this many calls a second were made: a single failure at night opens nothing. */
  minimumCallsPerSecond: number
  probeAfterMs: number
}

export const defaultBreakerSettings: BreakerSettings = {
  failureShare: 0.5,
  windowMs: 10_000,
  minimumCallsPerSecond: 2,
  probeAfterMs: 5_000,
}

export type BreakerLog = { warn(fields: object, message: string): void }

const heldBack: Exchange = { kind: 'none', cause: 'GATEWAY_HELD_BACK' }

/** No answer, or a 5xx. A refusal is an answer. */
function isFailure(exchange: unknown): boolean {
  const { kind, status } = exchange as { kind: Exchange['kind']; status?: number }
  return kind === 'none' || (status ?? 0) >= 500
}

/** `half open`: one call is the probe. */
export type BreakerState = 'closed' | 'open' | 'half open'

const states: Record<CircuitState, BreakerState> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half open',
  [CircuitState.Isolated]: 'open',
}

export type GuardedClient = TossClient & { breakerState(): BreakerState }

export function withBreaker(client: TossClient, settings: BreakerSettings, log: BreakerLog): GuardedClient {
  const breaker: CircuitBreakerPolicy = circuitBreaker(handleWhenResult(isFailure), {
    halfOpenAfter: settings.probeAfterMs,
    breaker: new SamplingBreaker({
      threshold: settings.failureShare,
      duration: settings.windowMs,
      minimumRps: settings.minimumCallsPerSecond,
    }),
  })
  let brokeAtMs = 0
  breaker.onBreak(() => {
    brokeAtMs = performance.now()
    log.warn({ probeAfterMs: settings.probeAfterMs }, 'the gateway is failing: calls are held back')
  })
  breaker.onReset(() => log.warn({}, 'the gateway answers again'))

  async function guarded(call: () => Promise<Exchange>): Promise<Exchange> {
    // The probe is running. The library would make the other calls wait for it.
    if (breaker.state === CircuitState.HalfOpen) return heldBack
    try {
      return await breaker.execute(call)
    } catch {
      // The client never throws: this is the breaker's own error, and nothing was sent.
      return heldBack
    }
  }

  return {
    post: (segments, body, idempotencyKey) => guarded(() => client.post(segments, body, idempotencyKey)),
    get: (segments) => guarded(() => client.get(segments)),
    // A list may take a minute: as the probe it would hold the other calls back for so long. It is sent beside the breaker when
    // a probe is due: on a service without other calls nothing else would find out that the gateway is back.
    transactions: async (query) => {
      if (breaker.state === CircuitState.Closed) return guarded(() => client.transactions(query))
      return performance.now() - brokeAtMs < settings.probeAfterMs ? heldBack : client.transactions(query)
    },
    close: () => client.close(),
    breakerState: () => states[breaker.state],
  }
}
