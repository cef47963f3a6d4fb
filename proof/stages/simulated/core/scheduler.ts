// The scheduler of a simulated run: a queue of events in virtual time, run one at a time. An event is followed by everything
// it causes without waiting (promises, ticks) before the next one starts, so a run is a function of its seed and of what the
// events do. Every event is a line of the history; the SHA-256 over all lines identifies the run.
import { createHash } from 'node:crypto'
import { real } from './real.ts'

/** To whom an event belongs; nothing of a process that was killed runs, and what belongs to a paused one waits. */
export type Owner = { name: string; isAlive: boolean; heldBack: Event[] | undefined }

export type Event = {
  /** In microseconds since the start of the run. */
  at: number
  number: number
  owner: Owner
  what: string
  /** Bytes that belong to the history, too long for a line. */
  content: Uint8Array | string | undefined
  /** Undefined: cancelled. A promise is awaited before the next event. */
  run: (() => unknown) | undefined
  /** When it would have been on time; undefined where it is not late. */
  dueAt?: number
}

export type Scheduler = ReturnType<typeof createScheduler>

/** Everything that the event before has caused is done then. */
const nextIteration = () => new Promise<void>((resolve) => void real.setImmediate(resolve))

export function createScheduler({ onLine }: { onLine?: ((line: string) => void) | undefined } = {}) {
  const queue: Event[] = []
  const hash = createHash('sha256')
  const outside: Promise<unknown>[] = []
  const afterEvents: (() => void)[] = []
  let now = 0
  let numbers = 0
  let count = 0
  let failure: unknown
  let hasFailed = false

  function note(owner: string, what: string, content?: Uint8Array | string): void {
    const line = `${now} ${owner} ${what}`
    hash.update(line)
    if (content !== undefined) hash.update(content)
    hash.update('\n')
    if (!onLine) return
    onLine(content === undefined ? line : `${line} ${createHash('sha256').update(content).digest('hex').slice(0, 16)}`)
  }

  function schedule(owner: Owner, at: number, what: string, run: () => unknown, content?: Uint8Array | string): Event {
    numbers += 1
    const event = { at: Math.max(now, Math.round(at)), number: numbers, owner, what, content, run }
    push(queue, event)
    return event
  }

  /**
   * For work that Node does on other threads: the next event waits for it, so that its duration has no effect. What it
   * returns arrives as an event, whose place among those of the same time is that of the call.
   */
  function fromOutside<Value>(owner: Owner, what: string, afterUs: number, work: () => Promise<Value>): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const event = schedule(owner, now + afterUs, what, () => undefined)
    const done = work().then(
      (value) => {
        event.run = () => resolve(value)
      },
      (error) => {
        event.run = () => reject(error)
      },
    )
    outside.push(done)
    return promise
  }

  function fail(error: unknown): void {
    if (!hasFailed) failure = error
    hasFailed = true
  }

  async function runOne(event: Event): Promise<void> {
    const { owner, run } = event
    if (!run || !owner.isAlive) return
    if (owner.heldBack) {
      owner.heldBack.push(event)
      return
    }
    now = Math.max(now, event.at)
    count += 1
    note(owner.name, event.what, event.content)
    try {
      const waiting = run()
      if (waiting instanceof Promise) await waiting
    } catch (error) {
      fail(error)
    }
    await settle()
  }

  async function settle(): Promise<void> {
    await nextIteration()
    while (outside.length > 0) {
      await outside.shift()
      await nextIteration()
    }
    for (const work of afterEvents.splice(0)) work()
  }

  /** Runs events until `isOver` or until the queue has none before `until`. */
  async function run(until: number, isOver: () => boolean = () => false): Promise<void> {
    process.on('uncaughtException', fail)
    process.on('unhandledRejection', fail)
    try {
      await settle()
      while (!isOver()) {
        const [next] = queue
        if (next === undefined || next.at > until) {
          now = Math.max(now, until)
          return
        }
        pop(queue)
        await runOne(next)
        if (hasFailed) throw failure
      }
    } finally {
      process.off('uncaughtException', fail)
      process.off('unhandledRejection', fail)
    }
  }

  return {
    now: () => now,
    /** How many events have run. */
    count: () => count,
    note,
    schedule,
    fromOutside,
    /** Runs when the event under way and all that it causes is done. */
    afterEvent: (work: () => void) => void afterEvents.push(work),
    run,
    fail,
    /** The digest of the history so far. */
    digest: () => hash.copy().digest('hex'),
    /** Events that waited for a paused process run now, in their order. */
    release(events: Event[]): void {
      for (const event of events) {
        event.at = Math.max(now, event.at)
        numbers += 1
        event.number = numbers
        push(queue, event)
      }
    },
    /** What is late comes now, or when it is due: the end of a time in which nothing waited for it. */
    fireLateTimers(): void {
      const events = queue.splice(0)
      for (const event of events)
        if (event.dueAt !== undefined) event.at = Math.max(now, Math.min(event.at, event.dueAt))
      for (const event of events.sort((one, other) => one.number - other.number)) push(queue, event)
    },
    clear: () => queue.splice(0),
  }
}

const isBefore = (one: Event, other: Event) => one.at < other.at || (one.at === other.at && one.number < other.number)

/** A binary heap: a day has millions of events. */
function push(heap: Event[], event: Event): void {
  let index = heap.length
  heap.push(event)
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent] as Event
    if (!isBefore(event, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = event
}

function pop(heap: Event[]): void {
  const last = heap.pop() as Event
  if (heap.length === 0) return
  let index = 0
  for (;;) {
    let child = 2 * index + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child += 1
    if (!isBefore(heap[child] as Event, last)) break
    heap[index] = heap[child] as Event
    index = child
  }
  heap[index] = last
}
