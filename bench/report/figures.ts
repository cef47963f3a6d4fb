// Figures from several measurements of the same: spreads, percentiles, and ratios within a round.

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

/** The spread of a figure; one that is null could not be measured. */
export function spreadOver<Each>(list: readonly Each[], of: (each: Each) => number | null): Spread | null {
  return spreadOf(list.flatMap((each) => of(each) ?? []))
}

/** Within a round both sides had the same machine. A round in which one side is missing is left out. */
export function ratioWithin<One extends { round: number }, Other extends { round: number }>(
  ones: readonly One[],
  others: readonly Other[],
  of: (each: One | Other) => number | null,
): Spread | null {
  return spreadOver(ones, (one) => {
    const other = others.find(({ round }) => round === one.round)
    const [above, below] = [of(one), other ? of(other) : null]
    return above === null || below === null ? null : above / below
  })
}

export type Percentiles = { p50: number; p95: number; p99: number; most: number }

/** Values that were measured: by the nearest rank. */
export function percentilesOf(values: number[]): Percentiles {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) }
}
