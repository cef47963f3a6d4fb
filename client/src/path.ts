// Values of the caller as parts of a URL.

/**
 * One segment of a path. A value that would lead to another endpoint (empty, a dot, the name of a neighbour) is refused
 * before it is sent: the answer would be taken for another one.
 */
export function segment(name: string, value: string, neighbours: readonly string[] = []): string {
  const leadsElsewhere = typeof value !== 'string' || ['', '.', '..', ...neighbours].includes(value)
  if (leadsElsewhere) throw new TypeError(`${name}: ${JSON.stringify(value)} cannot be one.`)
  return encodeURIComponent(value)
}

/** With the question mark; empty without values. */
export function queryOf(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
