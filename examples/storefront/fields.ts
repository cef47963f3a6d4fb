// The fields of a form or an address.

/** Text fields only; of a repeated name the first counts. */
export function fieldsOf(source: unknown): Record<string, string> {
  const entries = Object.entries((source ?? {}) as Record<string, unknown>)
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name, Array.isArray(value) ? value[0] : value])
      .filter(([, value]) => typeof value === 'string'),
  )
}
