// What the parts of the service count while they work: plain numbers in objects that are made beforehand, so that to count
// is an addition. Nobody here knows who reads them; /metrics does (src/metrics). They are of this process and since its
// start: what the books say is in the database.

/** How values spread: `counts[n]` of them were at most `bounds[n]` and more than the bound before. */
export type Distribution = { bounds: readonly number[]; counts: number[]; sum: number }

/** The bounds in ascending order; what is past the last of them has a place of its own. */
export function createDistribution(bounds: readonly number[]): Distribution {
  const all = [...bounds, Number.POSITIVE_INFINITY]
  return { bounds: all, counts: all.map(() => 0), sum: 0 }
}

export function observe(distribution: Distribution, value: number): void {
  const { bounds, counts } = distribution
  let place = 0
  while (value > (bounds[place] as number)) place += 1
  ;(counts[place] as number) += 1
  distribution.sum += value
}

/** One number for each name, from zero. */
export function zeroOf<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}

const orderSteps = ['created', 'confirmed', 'failed', 'expired', 'cancelled', 'refunded'] as const
const creditSteps = ['granted', 'spent', 'held', 'captured', 'released', 'rolled_back', 'refunded'] as const

/** Beside those of the requests (src/http/request-counts.ts). */
export type Tallies = {
  orders: Record<(typeof orderSteps)[number], number>
  /** How many credits; `held` and what becomes of it are of the services, not of a cancel that is under way. */
  credits: Record<(typeof creditSteps)[number], number>
  /** Operations that the worker took up, by what came of it. */
  recoveries: Record<'approved' | 'rejected' | 'unknown' | 'failed', number>
  webhooks: Record<'stored' | 'ignored' | 'unreadable', number>
  deliveries: Record<'taken' | 'failed' | 'dead', number>
  statements: { failures: Record<'again' | 'away' | 'busy', number>; retries: number }
  jobs: Map<string, Record<'done' | 'failed', number>>
  /** By the name of the statement. */
  batchSizes: Map<string, Distribution>
}

export function createTallies(): Tallies {
  return {
    orders: zeroOf(orderSteps),
    credits: zeroOf(creditSteps),
    recoveries: zeroOf(['approved', 'rejected', 'unknown', 'failed']),
    webhooks: zeroOf(['stored', 'ignored', 'unreadable']),
    deliveries: zeroOf(['taken', 'failed', 'dead']),
    statements: { failures: zeroOf(['again', 'away', 'busy']), retries: 0 },
    jobs: new Map(),
    batchSizes: new Map(),
  }
}

const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128]

/** One for all who run the statement. */
export function batchSizesOf({ batchSizes }: Tallies, statementName: string): Distribution {
  const known = batchSizes.get(statementName)
  if (known) return known
  const made = createDistribution(batchBounds)
  batchSizes.set(statementName, made)
  return made
}
