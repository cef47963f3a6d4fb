// Refusals in the document: a schema for each error code, and for each status of an operation its codes, with an example for
// each refusal.

import { catalogue, type ErrorCode, refusalReasons } from '../core/errors.ts'
import { budgetPeriods, budgetScopes } from '../credits/budgets/kinds.ts'
import type { Refused } from '../http/documented.ts'
import { failure, refusalReasonHeader } from '../http/envelope.ts'
import type { Components, JsonSchema } from './schemas.ts'

const fields = {
  fields: {
    type: 'array',
    minItems: 1,
    description: 'The fields that are at fault, each with the rule that it breaks.',
    items: object({ field: { type: 'string' }, rule: { type: 'string' } }),
  },
}
const credits = { type: 'integer', minimum: 0 }

const budgetLimit = {
  ...object({
    budgetId: { type: 'string', format: 'uuid' },
    scope: { type: 'string', enum: budgetScopes },
    value: { type: ['string', 'null'] },
    period: { type: 'string', enum: budgetPeriods },
    credits,
    left: credits,
    renewsAt: { type: 'string', format: 'date-time' },
  }),
  description: 'The budget that has too little left. Omitted when it is the balance.',
}

/** The metadata of a code; of the other codes it is null. */
const metadata: Partial<Record<ErrorCode, JsonSchema>> = {
  VAL002: object(fields),
  VAL003: object(fields, { reason: { $ref: '#/components/schemas/RefusalReason' } }),
  BUS002: object({ requested: credits, available: credits }, { limit: budgetLimit }),
  PAYMENT_CANCEL_FAILED: object({ paymentKey: { type: 'string' }, reason: { type: 'string' } }),
  INT001: object({ requestId: { type: 'string', description: 'Finds the request in the log.' } }),
}

function object(required: Record<string, unknown>, optional: Record<string, unknown> = {}): JsonSchema {
  const properties = { ...required, ...optional }
  return { type: 'object', properties, required: Object.keys(required), additionalProperties: false }
}

const codes = Object.keys(catalogue) as ErrorCode[]

/** A component for each code that is used, with the name of the code, and one for the reasons. */
export function addRefusals(components: Components, used: ReadonlySet<ErrorCode>): void {
  const own = codes.filter((code) => used.has(code))
  const reasons = Object.entries(refusalReasons)
  components.add('RefusalReason', {
    type: 'string',
    enum: reasons.map(([reason]) => reason),
    description: `Why it was refused, for programs. ${reasons.map(([reason, text]) => `${reason}: ${text}.`).join(' ')}`,
  })
  const references = own.map((code) => {
    const { status, message } = catalogue[code]
    return components.add(code, {
      description: `HTTP ${status}: ${message}`,
      ...object({
        success: { type: 'boolean', const: false },
        data: { type: 'null' },
        message: { type: 'string', description: 'For people; it may be more precise than the code.' },
        code: { type: 'string', const: code },
        metadata: metadata[code] ?? { type: 'null' },
      }),
    })
  })
  components.add('ErrorEnvelope', {
    description: 'Every refusal of every endpoint, distinguished by its code.',
    oneOf: references,
    discriminator: {
      propertyName: 'code',
      mapping: Object.fromEntries(own.map((code, place) => [code, references[place]?.$ref])),
    },
  })
}

/** In the order of the catalogue, by status. */
export function refusalResponses(refusals: readonly Refused[]): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(refusals, ({ refusal }) => refusal.status)
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => {
      const own = codes.filter((code) => all.some(({ refusal }) => refusal.code === code))
      const references = own.map((code) => ({ $ref: `#/components/schemas/${code}` }))
      const response = {
        description: own.map((code) => `${code}: ${textOf(code, all)}`).join(' '),
        headers: {
          'Cache-Control': { $ref: '#/components/headers/Cache-Control' },
          ...(own.includes('SVC001') && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
          ...(all.some(({ refusal }) => refusal.reason) && {
            [refusalReasonHeader]: { $ref: `#/components/headers/${refusalReasonHeader}` },
          }),
        },
        content: {
          'application/json': {
            schema: references.length === 1 ? references[0] : { oneOf: references },
            examples: examplesOf(own.flatMap((code) => all.filter(({ refusal }) => refusal.code === code))),
          },
        },
      }
      return [status, response]
    }),
  )
}

/** The messages that are sent. A code with metadata has messages about one request, so it gets the catalogue's. */
function textOf(code: ErrorCode, refusals: readonly Refused[]): string {
  if (metadata[code]) return catalogue[code].message
  const own = refusals.filter(({ refusal }) => refusal.code === code)
  return [...new Set(own.map(({ refusal }) => refusal.message))].join(' ')
}

/** Named by their code: VAL003, VAL003-2 and so on. */
function examplesOf(refusals: readonly Refused[]): Record<string, { summary: string; value: unknown }> {
  const counts = new Map<ErrorCode, number>()
  return Object.fromEntries(
    refusals.map(({ when, refusal }) => {
      const count = (counts.get(refusal.code) ?? 0) + 1
      counts.set(refusal.code, count)
      const name = count === 1 ? refusal.code : `${refusal.code}-${count}`
      return [name, { summary: `${refusal.code}: ${when}`, value: failure(refusal) }]
    }),
  )
}
