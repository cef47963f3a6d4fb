// Checks of request bodies: a table of rules per body, and the first breach as a message that names the field and what
// is expected there. Fastify's schemas would answer before the handler runs; Toss binds a 400 to the idempotency key
// like any other answer, so the checks have to run inside the exchange.

export type FieldRule = { accepts(value: unknown): boolean; expected: string; optional?: boolean }

export function findBreach(body: unknown, rules: Record<string, FieldRule>): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body: expected a JSON object.'
  const values = body as Record<string, unknown>
  for (const [field, rule] of Object.entries(rules)) {
    // null counts as absent, as it does at Toss.
    const value = values[field] ?? undefined
    if (value === undefined && rule.optional) continue
    if (!rule.accepts(value)) return `${field}: expected ${rule.expected}.`
  }
  return null
}

/** Lengths are counted in code points, so that an emoji is one character. */
export function text(maxLength: number): FieldRule {
  return {
    accepts: (value) => typeof value === 'string' && value.length >= 1 && [...value].length <= maxLength,
    expected: `a string of 1 to ${maxLength} characters`,
  }
}

export function integer(minimum: number): FieldRule {
  return {
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= minimum,
    expected: `an integer of at least ${minimum}`,
  }
}

export function boundedInteger(minimum: number, maximum: number): FieldRule {
  return {
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum,
    expected: `an integer from ${minimum} to ${maximum}`,
  }
}

export function oneOf(values: readonly unknown[]): FieldRule {
  return { accepts: (value) => values.includes(value), expected: `one of ${values.join(', ')}` }
}

export const trueOrFalse: FieldRule = {
  accepts: (value) => typeof value === 'boolean',
  expected: 'true or false',
}

export function optional(rule: FieldRule): FieldRule {
  return { ...rule, optional: true }
}
