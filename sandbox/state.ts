// The state of a sandbox and the only way it changes: an entry is written to the journal first and applied to memory
// second, by the same function that replays the journal at start. Notifications are part of the entry that causes them.
// Sessions expire here as well, on a timer and before every read.

import { createClock } from './clock.ts'
import { createBehaviour } from './faults/behaviour.ts'
import { createFaults } from './faults/faults.ts'
import { type JournalEntry, openJournal } from './journal.ts'
import { lockDirectory } from './lock.ts'
import { createMovements } from './payments/movements.ts'
import { createPayments, expired } from './payments/payments.ts'
import { createIdempotency } from './protocol/idempotency.ts'
import { createRequestLog } from './protocol/request-log.ts'
import { announceChanges, createDeliveries } from './webhooks/deliveries.ts'
import { webhookUrlProblem } from './webhooks/request.ts'
import { createWebhooks } from './webhooks/webhooks.ts'

export type StateOptions = {
  /** For the browser's side of the protocol; the endpoints of the server need the secret key only. */
  clientKey: string
  secretKey: string
  /** Whom the payment window names as the seller; without one it names the host of the shop. */
  shopName?: string | undefined
  dataDir: string
  /** Only payment keys the sandbox issued are accepted at confirm. */
  strict: boolean
  /** Where webhooks go until the control endpoint changes it; without one nothing is notified. */
  webhookUrl?: string | undefined
  /** How long a webhook may take to be answered; Toss waits 10 seconds. */
  webhookTimeoutMs?: number | undefined
}

const sweepIntervalMs = 1000

export type Sandbox = ReturnType<typeof openState>

export function openState(options: StateOptions) {
  const { clientKey, secretKey, strict, webhookUrl = null, webhookTimeoutMs = 10_000 } = options
  const urlProblem = webhookUrl === null ? null : webhookUrlProblem(webhookUrl)
  if (urlProblem !== null) throw new Error(urlProblem)

  const clock = createClock()
  const behaviour = createBehaviour()
  const payments = createPayments()
  const movements = createMovements()
  const idempotency = createIdempotency()
  const faults = createFaults()
  const deliveries = createDeliveries()
  const requests = createRequestLog()
  const stopping = new AbortController()

  function apply(entry: JournalEntry): void {
    for (const payment of entry.changed) {
      payments.put(payment)
      movements.put(payment)
    }
    if (entry.answered !== undefined) idempotency.put(entry.answered)
    for (const announcement of entry.webhooks ?? []) {
      const payment = payments.find(announcement.paymentKey)
      if (payment !== undefined) deliveries.add(announcement, payment)
    }
    if (entry.delivery !== undefined) deliveries.advance(entry.delivery)
    if (entry.clockOffsetMs !== undefined) clock.setOffset(entry.clockOffsetMs)
  }

  const lock = lockDirectory(options.dataDir)
  const journal = openOrRelease(() => openJournal(options.dataDir, apply))

  function openOrRelease<Opened>(open: () => Opened): Opened {
    try {
      return open()
    } catch (error) {
      lock.release()
      throw error
    }
  }

  const webhooks = createWebhooks({
    clock,
    behaviour: behaviour.values,
    url: webhookUrl,
    timeoutMs: webhookTimeoutMs,
    note: (delivery) => record({ changed: [], delivery }),
  })
  for (const delivery of deliveries.all()) webhooks.schedule(delivery)

  /** Journal first, memory second. */
  function record(entry: JournalEntry): void {
    const announced =
      webhooks.url() === null
        ? []
        : announceChanges(entry.changed, payments.find, clock.nowMs(), faults, behaviour.values)
    const whole = announced.length === 0 ? entry : { ...entry, webhooks: [...(entry.webhooks ?? []), ...announced] }
    journal.append(whole)
    apply(whole)
    for (const { id } of whole.webhooks ?? []) {
      const delivery = deliveries.find(id)
      if (delivery !== undefined) webhooks.schedule(delivery)
    }
  }

  /** Called before every read of a payment. */
  function expireSessions(): void {
    const ended = payments.listEndedSessions(clock.nowMs())
    if (ended.length > 0) record({ changed: ended.map(expired) })
  }

  const sweep = setInterval(() => {
    try {
      expireSessions()
    } catch (error) {
      process.stderr.write(`sandbox: sessions could not be ended: ${(error as Error).message}\n`)
    }
  }, sweepIntervalMs).unref()

  return {
    clientKey,
    shopName: options.shopName,
    secretKey,
    strict,
    clock,
    behaviour,
    payments,
    movements,
    idempotency,
    faults,
    deliveries,
    requests,
    webhooks,
    record,
    expireSessions,
    /** Expires sessions and wakes webhooks that are due then. */
    advanceClock(advanceMs: number): void {
      record({ changed: [], clockOffsetMs: clock.offsetMs() + advanceMs })
      expireSessions()
      webhooks.wake()
    },
    /** Aborted when the server stops: delays end then. */
    stopping: stopping.signal,
    /** Synchronous: a delay that ended in between would find no journal. */
    close(): void {
      stopping.abort()
      clearInterval(sweep)
      webhooks.close()
      journal.close()
      lock.release()
    },
  }
}
