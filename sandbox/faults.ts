// Faults on demand, the ones Toss's own test mode cannot produce: failures, resets and silence before or after the
// money moved. A request takes the first fault of the list that is meant for its operation and has times left, so
// `times: 2` spoils two requests, replays included. The list lives in memory: a restart is a return to good weather.

import type { FastifyReply } from 'fastify'
import { errorAnswer } from './errors.ts'
import { findBreach, integer, oneOf } from './fields.ts'

export const operations = ['confirm', 'cancel', 'lookup'] as const

export type Operation = (typeof operations)[number]

/** Whether an effect strikes before or after the work, and the answer it leaves, null when there is none. */
export const faultKinds = {
  'error-before': { moment: 'before', strike: fail },
  'error-after': { moment: 'after', strike: fail },
  'reset-before': { moment: 'before', strike: reset },
  'reset-after': { moment: 'after', strike: reset },
  'hang-after': { moment: 'after', strike: hang },
  delay: { moment: 'none', strike: null },
} as const

export type FaultKind = keyof typeof faultKinds

export type Fault = { on: Operation; kind: FaultKind; times: number; delayMs?: number }

function fail(_reply: FastifyReply) {
  return errorAnswer('FAILED_INTERNAL_SYSTEM_PROCESSING')
}

function reset(reply: FastifyReply) {
  reply.hijack()
  reply.raw.socket?.resetAndDestroy()
  return null
}

/** The socket stays open until the client gives up or the sandbox stops. */
function hang(reply: FastifyReply) {
  reply.hijack()
  return null
}

const faultFields = { on: oneOf(operations), kind: oneOf(Object.keys(faultKinds)), times: integer(1) }
const delayFields = { ...faultFields, delayMs: integer(0) }

export type Faults = ReturnType<typeof createFaults>

export function createFaults() {
  let faults: Fault[] = []
  return {
    /** All or nothing; returns what is wrong with the list, or null. */
    replace(body: unknown): string | null {
      if (!Array.isArray(body)) return 'The body: expected an array of { on, kind, times, delayMs? }.'
      for (const [index, entry] of body.entries()) {
        const breach = findBreach(entry, entry?.kind === 'delay' ? delayFields : faultFields)
        if (breach !== null) return `Fault ${index}: ${breach}`
      }
      faults = body.map(({ on, kind, times, delayMs }) => ({ on, kind, times, ...(kind === 'delay' && { delayMs }) }))
      return null
    },
    clear(): void {
      faults = []
    },
    remaining: (): Fault[] => faults.filter((fault) => fault.times > 0),
    take(operation: Operation): Fault | undefined {
      const fault = faults.find((candidate) => candidate.on === operation && candidate.times > 0)
      if (fault !== undefined) fault.times -= 1
      return fault
    },
  }
}
