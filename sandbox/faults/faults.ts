// Faults on demand that Toss's own test mode cannot produce: failures, resets and silence before or after the money
// moved, refusals that decide nothing, garbled answers, webhooks that come twice, late, in the wrong order, never or
// beside one that says the opposite. A request or a webhook takes the first fault of the list that applies to it and has times left, so `times: 2` affects
// two requests, replays included. List and counts are in memory: a restart clears them.

import type { FastifyReply } from 'fastify'
import { type ErrorAnswer, errorAnswer } from '../protocol/errors.ts'
import { type FieldRule, findBreach, integer, oneOf } from '../protocol/fields.ts'
import { emptyBody, type Garble, htmlPage, notDone, otherAmount, otherOrder, truncated } from './garble.ts'

export const operations = ['confirm', 'cancel', 'lookup', 'transactions'] as const

export type Operation = (typeof operations)[number]

type Effect = {
  on: readonly Operation[]
  /**
   * Before the work, which then does not happen, or after it. `instead` is before it too, but not for replays: a key
   * that has its answer gets that answer.
   */
  moment: 'before' | 'instead' | 'after' | 'none'
  /** What is answered instead. */
  answer?: ErrorAnswer
  /** What is done to the connection. */
  strike?: (reply: FastifyReply) => void
  /** Garbles the true answer. */
  garble?: Garble
}

const everywhere = operations
const withPayment = ['confirm', 'cancel', 'lookup'] as const
const withWork = ['confirm', 'cancel'] as const

const serverError = errorAnswer('FAILED_INTERNAL_SYSTEM_PROCESSING')
const inProgress = errorAnswer('IDEMPOTENT_REQUEST_PROCESSING')
const tooMany = errorAnswer('TOO_MANY_REQUESTS')
const tooFast = errorAnswer('FORBIDDEN_CONSECUTIVE_REQUEST')
const providerError = errorAnswer('PROVIDER_ERROR')

const requestFaults = {
  'error-before': { on: everywhere, moment: 'before', answer: serverError },
  'error-after': { on: everywhere, moment: 'after', answer: serverError },
  'reset-before': { on: everywhere, moment: 'before', strike: reset },
  'reset-after': { on: everywhere, moment: 'after', strike: reset },
  'hang-after': { on: everywhere, moment: 'after', strike: hang },
  delay: { on: everywhere, moment: 'none' },
  'delay-after': { on: everywhere, moment: 'after' },
  'html-after': { on: everywhere, moment: 'after', garble: htmlPage },
  'truncated-after': { on: everywhere, moment: 'after', garble: truncated },
  'empty-after': { on: everywhere, moment: 'after', garble: emptyBody },
  'other-order-after': { on: withPayment, moment: 'after', garble: otherOrder },
  'other-amount-after': { on: withPayment, moment: 'after', garble: otherAmount },
  'not-done-after': { on: withPayment, moment: 'after', garble: notDone },
  'in-progress': { on: withWork, moment: 'instead', answer: inProgress },
  'too-many': { on: everywhere, moment: 'before', answer: tooMany },
  'too-fast': { on: withPayment, moment: 'instead', answer: tooFast },
  'provider-error': { on: withWork, moment: 'instead', answer: providerError },
} as const satisfies Record<string, Effect>

export type FaultKind = keyof typeof requestFaults

export const faultKinds: Readonly<Record<FaultKind, Effect>> = requestFaults

/** Sent twice, never, later, behind the one that follows it, or with another one that says the opposite. */
export const webhookFaultKinds = ['duplicate', 'drop', 'delay', 'reorder', 'contradict'] as const

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

const targets = [...operations, 'webhook'] as const
const faultFields = { on: oneOf(targets), times: integer(1) }
const kindFields = new Map<unknown, FieldRule>(targets.map((on) => [on, kindRule(on)]))
const delayedKinds: readonly unknown[] = ['delay', 'delay-after'] satisfies FaultKind[]

function kindRule(on: (typeof targets)[number]): FieldRule {
  const requestKinds = Object.entries(faultKinds).filter(([, effect]) => effect.on.includes(on as Operation))
  const { accepts, expected } = oneOf(on === 'webhook' ? webhookFaultKinds : requestKinds.map(([kind]) => kind))
  return { accepts, expected: `${expected} (on ${on})` }
}

function findFaultBreach(entry: Partial<Fault> | null): string | null {
  const kind = kindFields.get(entry?.on)
  return findBreach(entry, {
    ...faultFields,
    ...(kind && { kind }),
    ...(delayedKinds.includes(entry?.kind) && { delayMs: integer(0) }),
  })
}

function sparesReplays(fault: Fault): boolean {
  return fault.on !== 'webhook' && faultKinds[fault.kind].moment === 'instead'
}

export type FiredFault = Pick<Fault, 'on' | 'kind' | 'times'>

export type Faults = ReturnType<typeof createFaults>

export function createFaults() {
  let faults: Fault[] = []
  const firedTimes = new Map<string, FiredFault>()

  function take(on: Fault['on'], spares: (fault: Fault) => boolean): Fault | undefined {
    const fault = faults.find((each) => each.on === on && each.times > 0 && !spares(each))
    if (fault !== undefined) use(fault, 1)
    return fault
  }

  function use(fault: Fault, times: 1 | -1): void {
    const { on, kind } = fault
    fault.times -= times
    const fired = firedTimes.get(`${on} ${kind}`) ?? { on, kind, times: 0 }
    firedTimes.set(`${on} ${kind}`, { ...fired, times: fired.times + times })
  }

  return {
    /** All or nothing; returns what is wrong with the list, or null. */
    replace(body: unknown): string | null {
      if (!Array.isArray(body)) return 'The body: expected an array of { on, kind, times, delayMs? }.'
      for (const [index, entry] of body.entries()) {
        const breach = findFaultBreach(entry)
        if (breach !== null) return `Fault ${index}: ${breach}`
      }
      faults = body.map(({ on, kind, times, delayMs }) =>
        delayedKinds.includes(kind) ? { on, kind, times, delayMs } : { on, kind, times },
      )
      return null
    },
    clear(): void {
      faults = []
    },
    remaining: (): Fault[] => faults.filter((fault) => fault.times > 0),
    /** How often each has occurred since the start of the process. */
    fired: (): FiredFault[] => [...firedTimes.values()].filter(({ times }) => times > 0),
    take: (operation: Operation, isReplay: boolean) =>
      take(operation, (fault) => isReplay && sparesReplays(fault)) as RequestFault | undefined,
    /** It had no effect: the next request gets it. */
    giveBack: (fault: RequestFault): void => use(fault, -1),
    takeForWebhook: (hasOpposite: boolean) =>
      take('webhook', ({ kind }) => kind === 'contradict' && !hasOpposite) as WebhookFault | undefined,
  }
}
