// A payment has external effects through two seams: the database connections and the gateway port. Every call over a seam
// is a crossing with a number, and a fault (a strike) can be injected at the n-th. A test strikes the first, then the
// second, and so on to the last, so that no place where the service can fail is missed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connections } from '../../../src/db/database.ts'
import type { FetchedPayment, Gateway, MovementPage, Unknown } from '../../../src/gateway/gateway.ts'
import { wrapConnections } from '../../../test/support/database/connections.ts'

/**
 * crash-before   the process dies before the call
 * crash-after    the call has its effect, then the process dies
 * error          the call fails without an effect: a lost connection, or no answer from the gateway
 * lost-answer    the call has its effect and its answer is lost: the ambiguous commit, the captured payment
 * away           as lost-answer, and everything after it fails too
 * stall-before   the process stalls before the call until the others are done, then continues normally
 * stall-after    the same between the effect and the answer
 */
export const modes = [
  'crash-before',
  'crash-after',
  'error',
  'lost-answer',
  'away',
  'stall-before',
  'stall-after',
] as const
export type Mode = (typeof modes)[number]

export type Strike = { at: number; mode: Mode }

export type Crossings = ReturnType<typeof createCrossings>

type Query = Parameters<Connections['query']>[0]

/** Nothing in the database is older than `openedAt`. */
export function createCrossings(strike: Strike | null, openedAt: Date) {
  const crossed: string[] = []
  const cutOff = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const never = new Promise<never>(() => undefined)
  let condition: 'well' | 'dead' | 'away' = 'well'
  let woken = false

  function die(): Promise<never> {
    condition = 'dead'
    cutOff.resolve()
    return never
  }

  async function stall(): Promise<void> {
    cutOff.resolve()
    await resumed.promise
  }

  async function struck<Value>(mode: Mode, call: () => Promise<Value>, fail: () => Value): Promise<Value> {
    if (mode === 'crash-before') return die()
    if (mode === 'error') return fail()
    if (mode === 'stall-before') await stall()
    const value = await call()
    if (mode === 'crash-after') return die()
    if (mode === 'away') condition = 'away'
    if (mode === 'stall-after') await stall()
    return mode === 'lost-answer' || mode === 'away' ? fail() : value
  }

  async function cross<Value>(name: string, call: () => Promise<Value>, fail: () => Value): Promise<Value> {
    if (condition === 'dead') return never
    crossed.push(name)
    // An answer never arrives in the same turn of the event loop, not even a failure.
    await nextTurn()
    if (condition === 'away') return fail()
    return crossed.length === strike?.at ? struck(strike.mode, call, fail) : call()
  }

  /** Reconciliation reads a whole day hour by hour: statements about times before the database existed are skipped. */
  function findsNothing({ name, values }: Query): boolean {
    return name === 'payments.listApprovedOperations' && (values[1] as Date) < openedAt
  }

  return {
    strike,
    /** The names of the crossings so far: the statement, or `gateway.` and the verb. */
    crossed,
    fired: () => strike !== null && crossed.length >= strike.at,
    /** The name of the crossing that was struck. */
    place: () => (strike === null ? undefined : crossed[strike.at - 1]),
    /** Resolves when the process has died or stalled: there will be no answer. */
    cutOff: cutOff.promise,
    /** Continues a stalled process; false when it was already resumed. */
    resume(): boolean {
      const first = !woken
      woken = true
      resumed.resolve()
      return first
    },

    connections: (connections: Connections): Connections =>
      wrapConnections(connections, async (query, send) => {
        const isStruck = condition !== 'well' || crossed.length + 1 === strike?.at
        if (isStruck || !findsNothing(query)) return cross(query.name, send, loseConnection)
        crossed.push(query.name)
        return { rows: [] }
      }),
    gateway: (gateway: Gateway): Gateway => ({
      ...gateway,
      confirm: (intent) => cross('gateway.confirm', () => gateway.confirm(intent), noAnswer),
      cancel: (intent) => cross('gateway.cancel', () => gateway.cancel(intent), noAnswer),
      findConfirm: (intent) => cross('gateway.findConfirm', () => gateway.findConfirm(intent), noAnswer),
      findCancel: (intent) => cross('gateway.findCancel', () => gateway.findCancel(intent), noAnswer),
      fetchPayment: (paymentKey) =>
        cross<FetchedPayment>('gateway.look', () => gateway.fetchPayment(paymentKey), noAnswer),
      listMovements: (query) =>
        cross<MovementPage | Unknown>('gateway.listMovements', () => gateway.listMovements(query), noAnswer),
    }),
  }
}

/** As node-postgres reports it: without an SQLSTATE, and without information whether the statement was committed. */
function loseConnection(): never {
  throw new Error('Connection terminated unexpectedly')
}

function noAnswer(): Unknown {
  return { kind: 'unknown', code: 'ECONNRESET' }
}
