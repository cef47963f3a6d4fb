// Several measurements of the same: the median, the least and the most.

export type Spread = { median: number; least: number; most: number }

/** Null of an empty list. */
export function spreadOf(values: number[]): Spread | null {
  const sorted = values.toSorted((left, right) => left - right)
  const [least, most] = [sorted[0], sorted.at(-1)]
  return least === undefined || most === undefined ? null : { median: medianOf(sorted), least, most }
}

function medianOf(sorted: number[]): number {
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2
}
