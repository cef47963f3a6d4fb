// The ticks of an axis: round numbers, so that their short labels are exact.

const roundSteps = [1, 2, 2.5, 5, 10]
const mostSteps = 4

/** From at most the lowest value to at least the highest one, with 0 between them. All values are whole. */
export function niceTicks(values: number[]): number[] {
  const [lowest, highest] = [Math.min(0, ...values), Math.max(1, ...values)]
  const rough = (highest - lowest) / mostSteps
  const size = 10 ** Math.floor(Math.log10(rough))
  const round = roundSteps.map((each) => each * size).find((each) => each >= rough && Number.isInteger(each))
  const step = round ?? 1
  const [first, last] = [Math.floor(lowest / step), Math.ceil(highest / step)]
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}
