// A payment has external effects through two seams: the database connections and the gateway port. Every call over a seam has
// a number, and a fault can be applied to the n-th: to the first, then to the second, and so on to the last, so that no place
// where the service can fail is missed.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connections } from '../../../src/db/database.ts'
import type { FetchedPayment, Gateway, MovementPage, Unknown } from '../../../src/gateway/gateway.ts'
import { wrapConnections } from '../../../test/support/database/connections.ts'
import type { CallFault } from '../../faults.ts'

/** `at`: the number of the call. */
export type FaultAt = { at: number; kind: CallFault }

export type FaultyCalls = ReturnType<typeof createFaultyCalls>

type Query = Parameters<Connections['query']>[0]

/** Nothing in the database is older than `openedAt`. */
export function createFaultyCalls(fault: FaultAt | null, openedAt: Date) {
  const made: string[] = []
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

  async function pause(): Promise<void> {
    cutOff.resolve()
    await resumed.promise
  }

  async function applied<Value>(kind: CallFault, call: () => Promise<Value>, fail: () => Value): Promise<Value> {
    if (kind === 'killed-before') return die()
    if (kind === 'reset-before') return fail()
    if (kind === 'paused-before') await pause()
    const value = await call()
    if (kind === 'killed-after') return die()
    if (kind === 'away') condition = 'away'
    if (kind === 'paused-after') await pause()
    return kind === 'reset-after' || kind === 'away' ? fail() : value
  }

  async function make<Value>(name: string, call: () => Promise<Value>, fail: () => Value): Promise<Value> {
    if (condition === 'dead') return never
    made.push(name)
    // An answer never arrives in the same turn of the event loop, not even a failure.
    await nextTurn()
    if (condition === 'away') return fail()
    return made.length === fault?.at ? applied(fault.kind, call, fail) : call()
  }

  /** Reconciliation reads a whole day hour by hour: statements about times before the database existed are skipped. */
  function findsNothing({ name, values }: Query): boolean {
    return name === 'payments.listApprovedOperations' && (values[1] as Date) < openedAt
  }

  return {
    fault,
    /** The names of the calls so far: the statement, or `gateway.` and the verb. */
    made,
    tookEffect: () => fault !== null && made.length >= fault.at,
    /** The name of the call with the fault. */
    place: () => (fault === null ? undefined : made[fault.at - 1]),
    /** Resolves when the process has died or is paused: there will be no answer. */
    cutOff: cutOff.promise,
    /** Continues a paused process; false when it was already resumed. */
    resume(): boolean {
      const first = !woken
      woken = true
      resumed.resolve()
      return first
    },

    connections: (connections: Connections): Connections =>
      wrapConnections(connections, async (query, send) => {
        const isFaulty = condition !== 'well' || made.length + 1 === fault?.at
        if (isFaulty || !findsNothing(query)) return make(query.name, send, loseConnection)
        made.push(query.name)
        return { rows: [] }
      }),
    gateway: (gateway: Gateway): Gateway => ({
      ...gateway,
      confirm: (intent) => make('gateway.confirm', () => gateway.confirm(intent), noAnswer),
      cancel: (intent) => make('gateway.cancel', () => gateway.cancel(intent), noAnswer),
      findConfirm: (intent) => make('gateway.findConfirm', () => gateway.findConfirm(intent), noAnswer),
      findCancel: (intent) => make('gateway.findCancel', () => gateway.findCancel(intent), noAnswer),
      fetchPayment: (paymentKey) =>
        make<FetchedPayment>('gateway.look', () => gateway.fetchPayment(paymentKey), noAnswer),
      listMovements: (query) =>
        make<MovementPage | Unknown>('gateway.listMovements', () => gateway.listMovements(query), noAnswer),
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
