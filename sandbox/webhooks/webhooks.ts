// Delivers webhooks: when each attempt is due, and how many are under way. No request waits for a delivery. One that
// was under way when the sandbox stopped is repeated after the next start: at least once, never lost. While no URL is
// registered, nothing is announced, and earlier announcements wait.

import type { Clock } from '../clock.ts'
import type { Behaviour } from '../faults/behaviour.ts'
import {
  type Delivery,
  newTransmissionId,
  type Progress,
  progressAfterAttempts,
  progressAfterResend,
} from './deliveries.ts'
import { createAgents, postWebhook } from './request.ts'

export type WebhookNeeds = {
  clock: Clock
  behaviour: Behaviour
  url: string | null
  timeoutMs: number
  /** Records how an attempt ended. */
  note(progress: Progress): void
}

/** Few: they share the event loop with the answers. */
const maxUnderWay = 8
/** The limit of Node's timers; a later delivery is rescheduled then. */
const longestTimerMs = 2 ** 31 - 1

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks({ clock, behaviour, url, timeoutMs, note }: WebhookNeeds) {
  const agents = createAgents(maxUnderWay)
  const timers = new Map<Delivery, NodeJS.Timeout>()
  const ready = new Set<Delivery>()
  /** Deliveries that wait to be overtaken; they have a timer too. */
  const heldBack = new Set<Delivery>()
  let underWay = 0
  let closed = false

  function schedule(delivery: Delivery): void {
    clearTimeout(timers.get(delivery))
    timers.delete(delivery)
    heldBack.delete(delivery)
    if (closed || delivery.state !== 'pending') return
    const waitMs = delivery.dueAtMs - clock.nowMs()
    if (waitMs > 0) {
      timers.set(delivery, setTimeout(schedule, Math.min(waitMs, longestTimerMs), delivery).unref())
      if (delivery.fault === 'reorder' && delivery.attempts.length === 0) heldBack.add(delivery)
      return
    }
    ready.add(delivery)
    setImmediate(sendReady)
  }

  function sendReady(): void {
    for (const delivery of ready) {
      if (closed || url === null || underWay >= maxUnderWay) return
      ready.delete(delivery)
      // It may have been resent and delivered in the meantime.
      if (delivery.state === 'pending') send(delivery, url)
    }
  }

  async function send(delivery: Delivery, to: string): Promise<void> {
    const { retriedCount, attempts, fault } = delivery
    const again = retriedCount > 0 && behaviour.transmissionIdOnRetry === 'new'
    const transmissionId = again ? newTransmissionId() : delivery.id
    const copies = fault === 'duplicate' && attempts.length === 0 ? 2 : 1
    underWay += 1
    const made = await Promise.all(
      Array.from({ length: copies }, () => attempt(delivery, to, transmissionId, retriedCount)),
    )
    underWay -= 1
    if (closed) return
    if (noteSafely(progressAfterAttempts(delivery, made, behaviour, clock.nowMs()))) schedule(delivery)
    if (retriedCount === 0) releaseHeldBefore(delivery)
    sendReady()
  }

  function attempt(delivery: Delivery, to: string, transmissionId: string, retriedCount: number) {
    return postWebhook(agents, delivery, { url: to, transmissionId, retriedCount, at: clock.now(), timeoutMs })
  }

  /** A full disk must not end the process that the sandbox is a part of: the delivery waits for the next start. */
  function noteSafely(progress: Progress): boolean {
    try {
      note(progress)
      return true
    } catch (error) {
      process.stderr.write(`sandbox: webhook ${progress.id}: ${(error as Error).message}\n`)
      return false
    }
  }

  /** Reordered deliveries that have been overtaken now. */
  function releaseHeldBefore({ sequence }: Delivery): void {
    for (const held of heldBack) {
      if (held.sequence >= sequence) continue
      held.dueAtMs = clock.nowMs()
      schedule(held)
    }
  }

  return {
    url: (): string | null => url,
    setUrl(next: string | null): void {
      url = next
      sendReady()
    },
    schedule,
    /** The clock was advanced: waiting deliveries may be due. */
    wake(): void {
      for (const delivery of [...timers.keys()]) schedule(delivery)
    },
    /** At once, whatever its state; the schedule stays. */
    async resend(delivery: Delivery, to: string): Promise<void> {
      const { id, attempts } = delivery
      const transmissionId = behaviour.transmissionIdOnRetry === 'new' ? newTransmissionId() : id
      const made = await attempt(delivery, to, transmissionId, attempts.length)
      if (closed) return
      noteSafely(progressAfterResend(delivery, made, behaviour))
      // Removes its timer; a pending one has its own, or is under way.
      if (delivery.state === 'delivered') schedule(delivery)
    },
    close(): void {
      closed = true
      for (const timer of timers.values()) clearTimeout(timer)
      agents.destroy()
    },
  }
}
