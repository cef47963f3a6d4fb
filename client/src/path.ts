// Values of the caller as parts of an address.

/**
 * One segment of a path. What would lead to another endpoint than the one that is called (nothing, a dot, the name of a
 * neighbour) is refused before it is sent: its answer would be taken for something that it is not.
 */
export function segment(name: string, value: string, neighbours: readonly string[] = []): string {
  const leadsElsewhere = typeof value !== 'string' || ['', '.', '..', ...neighbours].includes(value)
  if (leadsElsewhere) throw new TypeError(`${name}: ${JSON.stringify(value)} cannot be one.`)
  return encodeURIComponent(value)
}

/** With the question mark; empty when there is nothing to ask. */
export function queryOf(values: Record<string, string | undefined>): string {
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
