// Describes a moment of a timeline in a sentence, from the fields of its detail: a table by kind. Unknown values are shown as they
// are.
import type { cancelledAtGateway as Code } from '../../../../../src/gateway/gateway.ts'
import type { RefundRule } from '../../../../../src/payments/refunds/dated-rules.ts'
import type { Data } from '../../../api/client.ts'
import type { Formats } from '../../../format/formats.ts'
import type { Tone } from '../../../format/status-badge.tsx'
import { refusalIn, textOfRefusal } from '../../../parts/error-text.ts'
import type { Words } from '../../../words/words.tsx'
import { refundRuleText } from '../refund-rule.ts'
import { deliveryError } from './delivery-error.ts'
import { meaningOfCode } from './gateway-code.ts'
import { valueText } from './value-text.ts'

export type Moment = Data<'order'>['story'][number]
export type MomentKind = Moment['kind']
export type MomentText = { text: string; notes: string[]; tone: Tone }

type Input = { at: string; detail: Record<string, unknown>; words: Words; formats: Formats }

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** The text for a key of a table, or the key itself. */
function labelOf(table: object, key: unknown): string {
  return (table as Record<string, string>)[textOf(key)] ?? textOf(key)
}

/** Without empty notes. */
function notesOf(...notes: (string | false | null | undefined)[]): string[] {
  return notes.filter((note): note is string => typeof note === 'string' && note !== '')
}

/** The name without the address, which is in the details. */
export function nameOf(actor: string): string {
  return actor.replace(/ in the console from .*$/, '')
}

const toneOfEnd: Record<string, Tone> = { APPROVED: 'good', REJECTED: 'bad', EXPIRED: 'over' }

/** The code of a refund, or of a part, that was made at the gateway and not by this service. */
const cancelledAtGateway: typeof Code = 'CANCELLED_AT_GATEWAY'

/** The reason of an operation; the service's own reasons are translated. */
function reasonOf({ reason, reasons }: Words['timeline'], detail: Input['detail']): string {
  const given = textOf(detail.reason)
  return given && reason(labelOf(reasons, given))
}

const describers: Record<MomentKind, (input: Input) => MomentText> = {
  PURCHASE: ({ detail, words, formats }) => ({
    text: words.timeline.purchase(
      textOf(detail.packageType),
      formats.won(numberOf(detail.amount)),
      formats.number(numberOf(detail.credits)),
    ),
    notes: [],
    tone: 'calm',
  }),

  OPERATION_BEGUN: ({ detail, words, words: { timeline }, formats }) => {
    const kind = textOf(detail.kind)
    const sentence = (timeline.begun as Record<string, typeof timeline.begun.REFUND>)[kind]
    return {
      text: sentence ? sentence(formats.won(numberOf(detail.amount))) : kind,
      notes: notesOf(
        reasonOf(timeline, detail),
        detail.refundRule ? refundRuleText(words, formats, detail.refundRule as RefundRule) : null,
      ),
      tone: 'calm',
    }
  },

  ATTEMPT: ({ detail, words, formats: { number, timeSpan }, at }) => {
    const { timeline } = words
    if (!detail.until) {
      return { text: timeline.attempt(meaningOfCode(words, textOf(detail.gatewayCode))), notes: [], tone: 'waiting' }
    }
    const codes = (detail.codes ?? []) as { gatewayCode: string; count: number }[]
    return {
      text: timeline.attempts(number(numberOf(detail.count)), timeSpan(at, textOf(detail.until))),
      notes: codes.map(({ gatewayCode, count }) =>
        timeline.attemptCode(meaningOfCode(words, gatewayCode), number(count)),
      ),
      tone: 'waiting',
    }
  },

  OPERATION_ENDED: ({ detail, words, words: { timeline }, formats }) => {
    const code = textOf(detail.gatewayCode)
    const [won, credits] = [formats.won(numberOf(detail.amount)), formats.number(numberOf(detail.creditsHeld))]
    const atGateway = detail.kind === 'PART' ? timeline.partAccepted(won, credits) : timeline.cancelledAtGateway(won)
    return {
      text:
        code === cancelledAtGateway
          ? atGateway
          : labelOf(timeline.ended, `${textOf(detail.kind)} ${textOf(detail.state)}`),
      notes: notesOf(code && meaningOfCode(words, code), reasonOf(timeline, detail)),
      tone: toneOfEnd[textOf(detail.state)] ?? 'calm',
    }
  },

  LEDGER: ({ detail, words, formats }) => {
    const kind = textOf(detail.kind)
    const moved = Math.abs(numberOf(detail.delta) || numberOf(detail.heldDelta))
    const [credits, balance] = [formats.number(moved), formats.number(numberOf(detail.balanceAfter))]
    const ofPart = detail.operationKind === 'PART' ? words.timeline.ledgerOfPart : {}
    const sentences: Record<string, typeof words.timeline.ledger.GRANT> = { ...words.timeline.ledger, ...ofPart }
    const sentence = sentences[kind]
    const text = sentence ? sentence(credits, balance) : `${kind} ${credits}, ${balance}`
    return { text, notes: [], tone: kind === 'GRANT' ? 'good' : 'calm' }
  },

  EVENT: ({ detail, words, formats }) => {
    const deliveries = (detail.deliveries ?? []) as Delivery[]
    const notes = deliveries.map((each) => describeDelivery(each, words, formats))
    const isDead = deliveries.some(({ state }) => state === 'DEAD')
    const waits = deliveries.some(({ state }) => state === 'WAITING')
    return {
      text: words.timeline.event(textOf(detail.type)),
      notes: notes.length > 0 ? notes : [words.timeline.noEndpoint],
      tone: isDead ? 'bad' : waits ? 'waiting' : 'calm',
    }
  },

  WEBHOOK: ({ detail, words, words: { timeline } }) => ({
    text: timeline.webhook(
      labelOf(timeline.values.eventType ?? {}, detail.eventType),
      valueText(words, 'status', textOf(detail.status)),
    ),
    notes: [labelOf(timeline.webhookOutcomes, detail.outcome ?? 'waiting')],
    tone: detail.outcome === 'disagrees' ? 'bad' : detail.outcome === null ? 'waiting' : 'calm',
  }),

  DISCREPANCY_FOUND: ({ detail, words }) => {
    const { name, meaning } = discrepancyText(words, textOf(detail.kind))
    const note = detail.resolvedAt ? `${words.discrepancy.asFound}${meaning}` : meaning
    return { text: words.timeline.found(name), notes: [note], tone: detail.resolvedAt ? 'calm' : 'bad' }
  },

  DISCREPANCY_RESOLVED: ({ detail, words }) => ({
    text: words.timeline.resolved(discrepancyText(words, textOf(detail.kind)).name),
    notes: notesOf(resolutionText(words, textOf(detail.resolution))),
    tone: 'good',
  }),

  OPERATOR: ({ detail, words, words: { timeline } }) => {
    const [actor, reason] = [nameOf(textOf(detail.actor)), textOf(detail.reason)]
    if (detail.command === 'orders note') return { text: timeline.note(actor), notes: [reason], tone: 'calm' }
    return {
      text: timeline.operator(actor, labelOf(timeline.commands, detail.command)),
      notes: notesOf(reason && timeline.reason(reason), outcomeOf(words, detail)),
      tone: detail.outcome === 'ok' ? 'calm' : 'waiting',
    }
  },
}

/** The text for an outcome; the details have the full outcome. */
function outcomeOf(words: Words, { outcome, refusal }: Input['detail']): string {
  const { code, text } = refusalIn(textOf(outcome ?? 'under way'), words)
  const why = textOfRefusal(textOf(refusal), words)
  if (why !== undefined) return why
  return (words.timeline.outcomes as Record<string, string>)[code] ?? text?.title ?? textOf(outcome)
}

type Delivery = {
  endpointId: string
  state: string
  endpointStatus: string
  error: string | null
  nextTryAt: string | null
}

function describeDelivery(delivery: Delivery, words: Words, formats: Formats): string {
  const { timeline } = words
  const { endpointId, state, endpointStatus, error, nextTryAt } = delivery
  const sentence = (timeline.deliveries as Record<string, (endpoint: string) => string>)[state]
  const parts = notesOf(
    sentence ? sentence(endpointId) : `${state} ${endpointId}`,
    endpointStatus === 'DISABLED' && state !== 'DELIVERED' && timeline.deliveryDisabled,
    error && timeline.deliveryError(deliveryError(words, error)),
    nextTryAt && timeline.deliveryNext(formats.time(nextTryAt).korea),
  )
  return parts.join(', ')
}

/** Name, meaning and what to do of a type of discrepancy. */
export function discrepancyText({ books: { discrepancies } }: Words, kind: string) {
  return discrepancies.kinds[kind] ?? discrepancies.otherKind(kind)
}

/** A resolution of the service is translated; a note of an operator is shown as it is. */
export function resolutionText({ timeline }: Words, resolution: string): string {
  return labelOf(timeline.resolvedBy, resolution)
}

export function describeMoment({ at, kind, detail }: Moment, words: Words, formats: Formats): MomentText {
  const describe = describers[kind] as (typeof describers)[MomentKind] | undefined
  return describe ? describe({ at, detail, words, formats }) : { text: kind, notes: [], tone: 'calm' }
}
