// Repeatable randomness: a small generator (mulberry32) with a seed, and the seed in the message of every failure. The
// plan of a test follows from its seed; how the requests interleave does not.

export type Random = {
  /** A whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number
  chance(probability: number): boolean
  pick<const Value>(values: readonly [Value, ...Value[]]): Value
  shuffled<Value>(values: readonly Value[]): Value[]
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    integer,
    chance: (probability) => next() < probability,
    pick: (values) => values[integer(0, values.length - 1)] ?? values[0],
    shuffled(values) {
      const left = [...values]
      return values.flatMap(() => left.splice(integer(0, left.length - 1), 1))
    },
  }
}

/** Runs the body once for each seed from 1 on. */
export async function forSeeds(count: number, body: (random: Random, seed: number) => Promise<void>): Promise<void> {
  for (let seed = 1; seed <= count; seed += 1) {
    try {
      await body(createRandom(seed), seed)
    } catch (cause) {
      throw new Error(`seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }
}
