// How often somebody may do something: a bucket for each that fills at an even pace, and is emptied by what they do.

export type RateLimitOptions = {
  perSecond: number
  /** As many at once, when there were none for a while. */
  burst: number
  now?: () => number
}

/** False when there is too little in the bucket: a share of the whole may have to stay in it. */
export type RateLimit = { take(who: string, share?: number): boolean }

/** Past it, the buckets of those who called least lately are forgotten: they are full again by then, or nearly. */
const maxBuckets = 100_000

type Bucket = { tokens: number; at: number }

export function createRateLimit({ perSecond, burst, now = () => performance.now() }: RateLimitOptions): RateLimit {
  const buckets = new Map<string, Bucket>()
  return {
    take(who, share = 0) {
      const at = now()
      let bucket = buckets.get(who)
      if (!bucket) {
        if (buckets.size >= maxBuckets) forgetFull(buckets, at, { perSecond, burst })
        bucket = { tokens: burst, at }
        buckets.set(who, bucket)
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1_000) * perSecond)
      bucket.at = at
      if (bucket.tokens - 1 < Math.floor(burst * share)) return false
      bucket.tokens -= 1
      return true
    },
  }
}

/** A bucket that is full again is as good as none. When all are in use, the half goes that called least lately: nobody is locked out by it. */
function forgetFull(buckets: Map<string, Bucket>, at: number, { perSecond, burst }: RateLimitOptions): void {
  for (const [who, bucket] of buckets) {
    if (bucket.tokens + ((at - bucket.at) / 1_000) * perSecond >= burst) buckets.delete(who)
  }
  const surplus = buckets.size - maxBuckets / 2
  if (surplus <= 0) return
  const byLastCall = [...buckets].toSorted(([, left], [, right]) => left.at - right.at)
  for (const [who] of byLastCall.slice(0, surplus)) buckets.delete(who)
}
