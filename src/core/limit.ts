// The ways in which one process limits work: a semaphore (a number at once), a queue (a number at once, the others wait in
// order, in one kind of queue for a limited time), token buckets (a number a second for each key) and a pacer (starts at even
// distances). They only count and wait; the caller decides whether a full one means a refusal, a delay or a smaller claim. What
// is kept in memory is bounded.
import { sleep } from './clock.ts'

export type Semaphore = {
  /** How many more may start now, in all and with this key. */
  free(key?: string): number
  /** Starts the work whether or not there is room: check `free` first, without an await in between. */
  run<Value>(work: () => Promise<Value>, key?: string): Promise<Value>
  /** Resolves when the next one ends. */
  released(): Promise<void>
}

/** `mostPerKey`: no single key takes all the places. */
export function createSemaphore(most: number, mostPerKey: number = most): Semaphore {
  const runningPerKey = new Map<string, number>()
  let running = 0
  let waiters: (() => void)[] = []

  function add(key: string, change: 1 | -1): void {
    running += change
    const ofKey = (runningPerKey.get(key) ?? 0) + change
    if (ofKey === 0) runningPerKey.delete(key)
    else runningPerKey.set(key, ofKey)
  }

  return {
    free: (key = '') => Math.max(0, Math.min(most - running, mostPerKey - (runningPerKey.get(key) ?? 0))),
    async run(work, key = '') {
      add(key, 1)
      try {
        return await work()
      } finally {
        add(key, -1)
        const woken = waiters
        waiters = []
        for (const wake of woken) wake()
      }
    },
    released: () => new Promise((resolve) => waiters.push(resolve)),
  }
}

type QueueState = {
  /** All places are taken and the line is as long as it may be. */
  isFull(): boolean
  running(): number
  waiting(): number
}

export type WaitingQueue = QueueState & {
  /** Runs the work when its turn comes, however long the line is: check `isFull` first where it has a limit. */
  run<Value>(work: () => Promise<Value>): Promise<Value>
}

export type TimedQueue = QueueState & {
  /** The same; `refuse` instead of the work if its turn does not come in time. It may throw, too. */
  run<Value>(work: () => Promise<Value>, refuse: () => Value): Promise<Value>
}

export function createQueue(atOnce: number, mostWaiting: number = Number.POSITIVE_INFINITY): WaitingQueue {
  const queue = createTimedQueue(atOnce, mostWaiting, Number.POSITIVE_INFINITY)
  function refuse(): never {
    throw new Error('a queue without a time limit has refused its work')
  }
  return { ...queue, run: (work) => queue.run(work, refuse) }
}

export function createTimedQueue(atOnce: number, mostWaiting: number, longestWaitMs: number): TimedQueue {
  const line: { begin(): void; refuse(): void; until: number }[] = []
  let running = 0
  let isTimed = longestWaitMs === Number.POSITIVE_INFINITY

  function begin<Value>(work: () => Promise<Value>): Promise<Value> {
    let done: Promise<Value>
    try {
      done = work()
    } catch (error) {
      done = Promise.reject(error)
    }
    done.then(leave, leave)
    return done
  }

  /** A place that becomes free goes to the first in the line. */
  function leave(): void {
    const next = line.shift()
    if (next) next.begin()
    else running -= 1
  }

  /** The first has waited longest. */
  function refuseLate(): void {
    const now = performance.now()
    const inTime = line.findIndex(({ until }) => until > now)
    const late = line.splice(0, inTime < 0 ? line.length : inTime)
    isTimed = line[0] !== undefined
    if (line[0]) setTimeout(refuseLate, line[0].until - now)
    for (const { refuse } of late) refuse()
  }

  return {
    isFull: () => running === atOnce && line.length >= mostWaiting,
    running: () => running,
    waiting: () => line.length,
    run(work, refuse) {
      if (running < atOnce) {
        running += 1
        return begin(work)
      }
      return new Promise((resolve) => {
        line.push({
          begin: () => resolve(begin(work)),
          refuse: () => resolve(Promise.try(refuse)),
          until: performance.now() + longestWaitMs,
        })
        if (isTimed) return
        isTimed = true
        setTimeout(refuseLate, longestWaitMs)
      })
    },
  }
}

export type TokenBucketOptions = {
  perSecond: number
  /** The size of a full bucket: how many may start at once after a pause. */
  burst: number
  now?: () => number
}

export type TokenBuckets = {
  /** False when the key's bucket is too empty: `reserved` is the share of a full bucket that has to stay in it. */
  take(key: string, reserved?: number): boolean
}

/** Past it buckets are dropped, those that were used least recently first: they are full again by then, or nearly. */
const maxBuckets = 100_000

type Bucket = { tokens: number; at: number }

/** A bucket for each key, which fills at an even rate. */
export function createTokenBuckets({
  perSecond,
  burst,
  now = () => performance.now(),
}: TokenBucketOptions): TokenBuckets {
  const buckets = new Map<string, Bucket>()
  return {
    take(key, reserved = 0) {
      const at = now()
      let bucket = buckets.get(key)
      if (!bucket) {
        if (buckets.size >= maxBuckets) dropBuckets(buckets, at, { perSecond, burst })
        bucket = { tokens: burst, at }
        buckets.set(key, bucket)
      }
      bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1_000) * perSecond)
      bucket.at = at
      if (bucket.tokens - 1 < Math.floor(burst * reserved)) return false
      bucket.tokens -= 1
      return true
    },
  }
}

/** A full bucket is as good as none. When none is full, the half that was used least recently goes: no key is locked out. */
function dropBuckets(buckets: Map<string, Bucket>, at: number, { perSecond, burst }: TokenBucketOptions): void {
  for (const [key, bucket] of buckets) {
    if (bucket.tokens + ((at - bucket.at) / 1_000) * perSecond >= burst) buckets.delete(key)
  }
  const surplus = buckets.size - maxBuckets / 2
  if (surplus <= 0) return
  const byLastUse = [...buckets].toSorted(([, left], [, right]) => left.at - right.at)
  for (const [key] of byLastUse.slice(0, surplus)) buckets.delete(key)
}

/** Each call resolves in order, at even distances. */
export function createPacer(perSecond: number): () => Promise<void> {
  const gapMs = 1_000 / perSecond
  let nextAt = 0
  let last = Promise.resolve()
  return () => {
    const now = performance.now()
    nextAt = Math.max(nextAt + gapMs, now)
    // After the one before: timers of a busy process that are due together fire in any order.
    const turn = Promise.all([last, sleep(nextAt - now)]).then(() => undefined)
    last = turn
    return turn
  }
}
