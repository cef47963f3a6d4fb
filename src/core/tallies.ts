// What the parts of the service count: plain numbers in objects that exist beforehand, so that counting is an addition.
// /metrics reads them (src/telemetry). They are of this process since its start; the books are in the database.

/** A histogram: `counts[n]` values were at most `bounds[n]` and more than the bound before. */
export type Distribution = { bounds: readonly number[]; counts: number[]; sum: number }

/** The bounds in ascending order; values past the last one have a bucket of their own. */
export function createDistribution(bounds: readonly number[]): Distribution {
  const all = [...bounds, Number.POSITIVE_INFINITY]
  return { bounds: all, counts: all.map(() => 0), sum: 0 }
}

export function observe(distribution: Distribution, value: number): void {
  const { bounds, counts } = distribution
  let bucket = 0
  while (value > (bounds[bucket] as number)) bucket += 1
  ;(counts[bucket] as number) += 1
  distribution.sum += value
}

/** A 0 for each name. */
export function zeros<Name extends string>(names: readonly Name[]): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
}

const orderSteps = ['created', 'confirmed', 'failed', 'expired', 'cancelled', 'refunded'] as const
const creditSteps = ['granted', 'spent', 'held', 'captured', 'released', 'rolled_back', 'refunded', 'reversed'] as const

/** Requests have their own (src/http/request-counts.ts). */
export type Tallies = {
  orders: Record<(typeof orderSteps)[number], number>
  /** Numbers of credits; `held`, `captured` and `released` are of services' holds, not of cancels under way. */
  credits: Record<(typeof creditSteps)[number], number>
  /** Operations that the worker claimed, by outcome. */
  recoveries: Record<'approved' | 'rejected' | 'unknown' | 'failed', number>
  webhooks: Record<'stored' | 'ignored' | 'unreadable', number>
  deliveries: Record<'taken' | 'failed' | 'dead', number>
  /** Answers of witnesses; contradicted: one has seen another log than the database has. */
  cosignatures: Record<'received' | 'missing' | 'contradicted', number>
  statements: { failures: Record<'again' | 'away' | 'busy', number>; retries: number }
  jobs: Map<string, Record<'done' | 'failed', number>>
  /** By the name of the statement. */
  batchSizes: Map<string, Distribution>
}

export function createTallies(): Tallies {
  return {
    orders: zeros(orderSteps),
    credits: zeros(creditSteps),
    recoveries: zeros(['approved', 'rejected', 'unknown', 'failed']),
    webhooks: zeros(['stored', 'ignored', 'unreadable']),
    deliveries: zeros(['taken', 'failed', 'dead']),
    cosignatures: zeros(['received', 'missing', 'contradicted']),
    statements: { failures: zeros(['again', 'away', 'busy']), retries: 0 },
    jobs: new Map(),
    batchSizes: new Map(),
  }
}

const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128]

/** Shared by all callers of the statement. */
export function batchSizesOf({ batchSizes }: Tallies, statementName: string): Distribution {
  const known = batchSizes.get(statementName)
  if (known) return known
  const created = createDistribution(batchBounds)
  batchSizes.set(statementName, created)
  return created
}
