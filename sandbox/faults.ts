// Faults on demand, the ones Toss's own test mode cannot produce: failures, resets and silence before or after the
// money moved, webhooks that come twice, late, in the wrong order or never. A request or a webhook takes the first fault
// of the list that is meant for it and has times left, so `times: 2` spoils two requests, replays included. The list
// lives in memory: a restart is a return to good weather.

import type { FastifyReply } from 'fastify'
import { type ErrorAnswer, errorAnswer } from './errors.ts'
import { findBreach, integer, oneOf } from './fields.ts'

export const operations = ['confirm', 'cancel', 'lookup', 'transactions'] as const

export type Operation = (typeof operations)[number]

type Effect = {
  /** Before the work, which then does not happen, or after it. */
  moment: 'before' | 'after' | 'none'
  /** What is answered instead, null for what would be answered anyway, or nothing. */
  answer: ErrorAnswer | null
  /** What is done to the connection. */
  strike: ((reply: FastifyReply) => void) | null
}

const serverError = errorAnswer('FAILED_INTERNAL_SYSTEM_PROCESSING')

export const faultKinds = {
  'error-before': { moment: 'before', answer: serverError, strike: null },
  'error-after': { moment: 'after', answer: serverError, strike: null },
  'reset-before': { moment: 'before', answer: null, strike: reset },
  'reset-after': { moment: 'after', answer: null, strike: reset },
  'hang-after': { moment: 'after', answer: null, strike: hang },
  delay: { moment: 'none', answer: null, strike: null },
} as const satisfies Record<string, Effect>

export type FaultKind = keyof typeof faultKinds

/** Sent twice, never, later, or behind the one that follows it. */
export const webhookFaultKinds = ['duplicate', 'drop', 'delay', 'reorder'] as const

export type WebhookFaultKind = (typeof webhookFaultKinds)[number]

export type RequestFault = { on: Operation; kind: FaultKind; times: number; delayMs?: number }
export type WebhookFault = { on: 'webhook'; kind: WebhookFaultKind; times: number; delayMs?: number }
export type Fault = RequestFault | WebhookFault

function reset(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.socket?.resetAndDestroy()
}

/** The socket stays open until the client gives up or the sandbox stops. */
export function hang(reply: FastifyReply): void {
  reply.hijack()
}

const faultFields = { on: oneOf([...operations, 'webhook']), times: integer(1) }
const requestKind = { kind: oneOf(Object.keys(faultKinds)) }
const webhookKind = { kind: oneOf(webhookFaultKinds) }
const delay = { delayMs: integer(0) }

function findFaultBreach(entry: Partial<Fault> | null): string | null {
  return findBreach(entry, {
    ...faultFields,
    ...(entry?.on === 'webhook' ? webhookKind : requestKind),
    ...(entry?.kind === 'delay' && delay),
  })
}

export type Faults = ReturnType<typeof createFaults>

export function createFaults() {
  let faults: Fault[] = []

  function take(on: Fault['on']): Fault | undefined {
    const fault = faults.find((candidate) => candidate.on === on && candidate.times > 0)
    if (fault !== undefined) fault.times -= 1
    return fault
  }

  return {
    /** All or nothing; returns what is wrong with the list, or null. */
    replace(body: unknown): string | null {
      if (!Array.isArray(body)) return 'The body: expected an array of { on, kind, times, delayMs? }.'
      for (const [index, entry] of body.entries()) {
        const breach = findFaultBreach(entry)
        if (breach !== null) return `Fault ${index}: ${breach}`
      }
      faults = body.map(({ on, kind, times, delayMs }) => ({ on, kind, times, ...(kind === 'delay' && { delayMs }) }))
      return null
    },
    clear(): void {
      faults = []
    },
    remaining: (): Fault[] => faults.filter((fault) => fault.times > 0),
    take: (operation: Operation) => take(operation) as RequestFault | undefined,
    takeForWebhook: () => take('webhook') as WebhookFault | undefined,
  }
}
