// Whether two samples of times differ: Welch's t, of the faster nine tenths of each, since a busy machine adds to any of
// them and never takes away.

export function welch(one: number[], other: number[]): number {
  const [left, right] = [momentsOf(one), momentsOf(other)]
  return (left.mean - right.mean) / Math.sqrt(left.variance / left.count + right.variance / right.count)
}

function momentsOf(values: number[]) {
  const kept = values.toSorted((left, right) => left - right).slice(0, Math.ceil(values.length * 0.9))
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length
  const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1)
  return { mean, variance, count: kept.length }
}
