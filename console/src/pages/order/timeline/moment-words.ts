// Tells a moment of an order's story in a sentence, made of what its detail carries: a table by kind. What has no words is
// shown as it is.
import type { Data } from '../../../api/client.ts'
import type { Formats } from '../../../format/formats.ts'
import type { Tone } from '../../../format/status-badge.tsx'
import { refusalIn } from '../../../parts/told.ts'
import type { Words } from '../../../words/words.tsx'
import { deliveryError } from './delivery-error.ts'
import { meaningOfCode } from './gateway-code.ts'

export type Moment = Data<'order'>['story'][number]
export type MomentKind = Moment['kind']
export type Told = { text: string; notes: string[]; tone: Tone }

type Speech = { detail: Record<string, unknown>; words: Words; formats: Formats }

const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** The word for a key of a table, or the key. */
function wordOf(table: object, key: unknown): string {
  return (table as Record<string, string>)[textOf(key)] ?? textOf(key)
}

/** Notes that say something. */
function notesOf(...notes: (string | false | null | undefined)[]): string[] {
  return notes.filter((note): note is string => typeof note === 'string' && note !== '')
}

/** The name of who signed in; where from is among the details. */
function nameOf(actor: string): string {
  return actor.replace(/ in the console from .*$/, '')
}

const toneOfEnd: Record<string, Tone> = { APPROVED: 'good', REJECTED: 'bad', EXPIRED: 'over' }

const speakers: Record<MomentKind, (speech: Speech) => Told> = {
  PURCHASE: ({ detail, words, formats }) => ({
    text: words.story.purchase(
      textOf(detail.packageType),
      formats.won(numberOf(detail.amount)),
      formats.number(numberOf(detail.credits)),
    ),
    notes: [],
    tone: 'calm',
  }),

  OPERATION_BEGUN: ({ detail, words: { story } }) => ({
    text: wordOf(story.begun, detail.kind),
    notes: notesOf(detail.reason !== null && story.because(wordOf(story.reasons, detail.reason))),
    tone: 'calm',
  }),

  ATTEMPT: ({ detail, words }) => ({
    text: words.story.attempt(meaningOfCode(words, textOf(detail.gatewayCode))),
    notes: [],
    tone: 'waiting',
  }),

  OPERATION_ENDED: ({ detail, words }) => ({
    text: wordOf(words.story.ended, `${textOf(detail.kind)} ${textOf(detail.state)}`),
    notes: notesOf(textOf(detail.gatewayCode) && meaningOfCode(words, textOf(detail.gatewayCode))),
    tone: toneOfEnd[textOf(detail.state)] ?? 'calm',
  }),

  LEDGER: ({ detail, words, formats }) => {
    const kind = textOf(detail.kind)
    const moved = Math.abs(numberOf(detail.delta) || numberOf(detail.heldDelta))
    const [credits, balance] = [formats.number(moved), formats.number(numberOf(detail.balanceAfter))]
    const sentence = (words.story.ledger as Record<string, typeof words.story.ledger.GRANT>)[kind]
    const text = sentence ? sentence(credits, balance) : `${kind} ${credits}, ${balance}`
    return { text, notes: [], tone: kind === 'GRANT' ? 'good' : 'calm' }
  },

  EVENT: ({ detail, words, formats }) => {
    const deliveries = (detail.deliveries ?? []) as Delivery[]
    const told = deliveries.map((each) => tellDelivery(each, words, formats))
    const isDead = deliveries.some(({ state }) => state === 'DEAD')
    const waits = deliveries.some(({ state }) => state === 'WAITING')
    return {
      text: words.story.event(textOf(detail.type)),
      notes: told.length > 0 ? told : [words.story.toNobody],
      tone: isDead ? 'bad' : waits ? 'waiting' : 'calm',
    }
  },

  WEBHOOK: ({ detail, words: { story } }) => ({
    text: story.webhook(textOf(detail.eventType), textOf(detail.status)).trim(),
    notes: [wordOf(story.webhookOutcomes, detail.outcome ?? 'waiting')],
    tone: detail.outcome === 'disagrees' ? 'bad' : detail.outcome === null ? 'waiting' : 'calm',
  }),

  DISCREPANCY_FOUND: ({ detail, words }) => {
    const { name, meaning } = discrepancyWords(words, textOf(detail.kind))
    return { text: words.story.found(name), notes: [meaning], tone: 'bad' }
  },

  DISCREPANCY_RESOLVED: ({ detail, words }) => ({
    text: words.story.resolved(discrepancyWords(words, textOf(detail.kind)).name),
    notes: notesOf(resolutionWords(words, textOf(detail.resolution))),
    tone: 'good',
  }),

  OPERATOR: ({ detail, words, words: { story } }) => ({
    text: story.operator(nameOf(textOf(detail.actor)), wordOf(story.commands, detail.command)),
    notes: notesOf(textOf(detail.reason) && story.because(textOf(detail.reason)), outcomeOf(words, detail.outcome)),
    tone: detail.outcome === 'ok' ? 'calm' : 'waiting',
  }),
}

/** In the words of the story where it has some; all of it is among the details. */
function outcomeOf(words: Words, outcome: unknown): string {
  const { code, told } = refusalIn(textOf(outcome ?? 'under way'), words)
  return (words.story.outcomes as Record<string, string>)[code] ?? told?.title ?? textOf(outcome)
}

type Delivery = {
  endpointId: string
  state: string
  endpointStatus: string
  error: string | null
  nextTryAt: string | null
}

function tellDelivery(delivery: Delivery, words: Words, formats: Formats): string {
  const { story } = words
  const { endpointId, state, endpointStatus, error, nextTryAt } = delivery
  const sentence = (story.deliveries as Record<string, (endpoint: string) => string>)[state]
  const parts = notesOf(
    sentence ? sentence(endpointId) : `${state} ${endpointId}`,
    endpointStatus === 'DISABLED' && state !== 'DELIVERED' && story.deliveryDisabled,
    error && story.deliveryError(deliveryError(words, error)),
    nextTryAt && story.deliveryNext(formats.time(nextTryAt).korea),
  )
  return parts.join(', ')
}

/** What a discrepancy is called, means and asks for: one table for this page and the books. */
export function discrepancyWords({ books: { discrepancies } }: Words, kind: string) {
  return discrepancies.kinds[kind] ?? discrepancies.otherKind(kind)
}

/** How it was resolved: a sentence of the service has words, one of an operator is shown as they wrote it. */
export function resolutionWords({ story }: Words, resolution: string): string {
  return wordOf(story.resolvedBy, resolution)
}

export function tell({ kind, detail }: Moment, words: Words, formats: Formats): Told {
  const speak = speakers[kind] as (typeof speakers)[MomentKind] | undefined
  return speak ? speak({ detail, words, formats }) : { text: kind, notes: [], tone: 'calm' }
}
