// Counts a load in a window of time: work done and refusals, each with latencies, and how many of both settle money.

export type Tally = { count: number; p50Ms: number; p99Ms: number }

export type Metered = { seconds: number; done: Tally; refused: Tally; settled: number; settlesRefused: number }

export type Meter = {
  note(kind: 'done' | 'refused', latencyMs: number, settles: boolean): void
  /** The window since the last call; the next one begins. */
  take(): Metered
}

export function createMeter(now: () => number = () => performance.now()): Meter {
  let beganAt = now()
  let latencies = { done: [] as number[], refused: [] as number[] }
  let settles = { done: 0, refused: 0 }
  return {
    note(kind, latencyMs, isSettling) {
      latencies[kind].push(latencyMs)
      if (isSettling) settles[kind] += 1
    },
    take() {
      const endedAt = now()
      const metered = {
        seconds: (endedAt - beganAt) / 1_000,
        done: tallyOf(latencies.done),
        refused: tallyOf(latencies.refused),
        settled: settles.done,
        settlesRefused: settles.refused,
      }
      beganAt = endedAt
      latencies = { done: [], refused: [] }
      settles = { done: 0, refused: 0 }
      return metered
    },
  }
}

function tallyOf(latencies: number[]): Tally {
  const count = latencies.length
  const sorted = Float64Array.from(latencies).sort()
  const percentile = (share: number) => sorted[Math.min(count - 1, Math.floor(count * share))] ?? 0
  return { count, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
}
