// The load, a process of its own: some connections, each with one request under way, first to warm everything up and
// then for the measurement. An unexpected answer ends it: a refusal is fast, and would look like throughput. Only where
// refusals are measured are they counted, and the same request is sent again.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Connection, connect } from './connection.ts'
import { createMeter, type Meter, type Metered } from './meter.ts'
import type { Customer, Request } from './requests.ts'
import { type PlayName, plays, type World } from './workloads.ts'

/** A refusal ends the load, or is retried after Retry-After, or at once. */
export type Refusals = 'fail' | 'wait' | 'insist'

export type LoadInput = Pick<World, 'token' | 'customers' | 'orders'> & {
  workload: PlayName
  publicPort: number
  internalPort: number
  connections: number
  warmSeconds: number
  /** The length of one window. */
  seconds: number
  /** Measured one after the other, without a pause; one by default. */
  windows?: number
  refusals?: Refusals
}

/** Sent when the measurement begins, and when a window has ended. The process ends with the last answer. */
export type LoadMessage = { kind: 'measuring' } | ({ kind: 'measured' } & Metered) | { kind: 'failed'; failure: string }

/** How long it waits for the last answers. */
const drainMs = 10_000

process.once('message', async (input: LoadInput) => {
  const { warmSeconds, seconds, windows = 1 } = input
  const load = startLoad(input)
  try {
    await load.playFor(warmSeconds)
    load.meter.take()
    await report({ kind: 'measuring' })
    for (let window = 1; window <= windows; window += 1) {
      await load.playFor(seconds)
      const measured = load.meter.take()
      if (window === windows) load.end()
      await report({ kind: 'measured', ...measured })
    }
  } catch (error) {
    await report({ kind: 'failed', failure: (error as Error).message })
  }
  await Promise.race([load.drained, sleep(drainMs)])
  process.exit(0)
})

/** Until it is sent: an exit would lose it. */
function report(message: LoadMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
}

type Load = { meter: Meter; drained: Promise<void>; playFor(seconds: number): Promise<void>; end(): void }

function startLoad(input: LoadInput): Load {
  const { token, customers, orders, connections, refusals = 'fail' } = input
  const world: World = { token, customers, orders, run: randomUUID(), index: 0 }
  const meter = createMeter()
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const drained = Promise.withResolvers<void>()
  let underWay = 0
  let hasEnded = false

  function end(): void {
    hasEnded = true
    if (underWay === 0) drained.resolve()
  }

  function fail(error: unknown): void {
    failed.reject(error)
    end()
  }

  function settleOne(): void {
    underWay -= 1
    if (underWay === 0 && hasEnded) drained.resolve()
  }

  function play(number: number): void {
    // Where refusals are measured, each connection is one customer; otherwise customers alternate.
    const alone = { customers: [customers[number % customers.length] as Customer], run: `${world.run}-${number}` }
    const next = plays[input.workload](refusals === 'fail' ? world : { ...world, ...alone })
    function lose(error: Error): void {
      settleOne()
      fail(error)
    }
    const opened: { public?: Connection; internal?: Connection } = {}
    function connectionOf(request: Request): Connection {
      opened[request.to] ??= connect(request.to === 'public' ? input.publicPort : input.internalPort, lose)
      return opened[request.to] as Connection
    }
    let request: Request
    let sentAt: number
    function sendNext(body: string): void {
      try {
        request = next(body)
      } catch (error) {
        fail(error)
        return
      }
      send()
    }
    function send(): void {
      if (hasEnded) return
      underWay += 1
      sentAt = performance.now()
      connectionOf(request).send(request.text, onAnswer)
    }
    function onAnswer(answer: Answer): void {
      // Every answer within the window counts, whenever its request was sent: else slow answers would be left out.
      const latencyMs = performance.now() - sentAt
      const { status, body } = answer
      if (status === request.expected) {
        meter.note('done', latencyMs, request.settles ?? false)
        if (!hasEnded) sendNext(body)
      } else {
        const waitMs = refusals === 'fail' ? undefined : refusalOf(answer)
        if (waitMs === undefined) fail(new Error(`${status} ${body} to ${request.text}`))
        meter.note('refused', latencyMs, request.settles ?? false)
        if (refusals === 'wait') setTimeout(send, waitMs)
        else send()
      }
      settleOne()
    }
    sendNext('')
  }

  for (let number = 0; number < connections; number += 1) play(number)
  return {
    meter,
    drained: drained.promise,
    end,
    playFor: (seconds) => Promise.race([sleep(seconds * 1_000), failed.promise]),
  }
}

/** The Retry-After in milliseconds; undefined where it is not a refusal as documented. */
function refusalOf({ status, head, body }: Answer): number | undefined {
  const [, seconds] = /\r\nretry-after: (\d+)/i.exec(head) ?? []
  return status === 503 && seconds && body.includes('"SVC001"') ? Number(seconds) * 1_000 : undefined
}
