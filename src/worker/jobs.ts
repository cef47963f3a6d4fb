// The jobs of the worker with their intervals. Their names are labels of its metrics (`task`), so they stay as they are.
import type { Tallies } from '../core/tallies.ts'
import { expireHolds } from '../credits/holds/expire-holds.ts'
import { createShare } from '../db/cluster/share.ts'
import type { Database, Log } from '../db/database.ts'
import { purgeAttempts } from '../events/attempts/purge-attempts.ts'
import type { Deliverer } from '../events/deliverer.ts'
import { createPurgeEvents } from '../events/purge-events.ts'
import { endLost } from '../operators/action-log.ts'
import { createDailyAudit } from '../payments/audit/daily-audit.ts'
import { createAggregateFigures } from '../payments/books/figures.ts'
import { purgeMovements } from '../payments/books/purge-movements.ts'
import { closeDay } from '../payments/books/reconcile.ts'
import type { PaymentContext } from '../payments/context.ts'
import { expireOrders } from '../payments/recovery/expire.ts'
import { processNotifications, purgeNotifications } from '../payments/recovery/notifications.ts'
import { recover } from '../payments/recovery/recover.ts'
import { createAppendToLog } from '../transparency/append.ts'
import type { LogSigner, Secret } from '../transparency/note.ts'
import { createPublish, type PublicationContext } from '../transparency/publication/publish.ts'
import type { Job } from './worker.ts'

export const notificationsJob = 'notifications'

/** On one server there is nothing to share out. */
export function clusterJobs(database: Database): Job[] {
  if (!database.groups) return []
  const share = createShare(database, database.groups)
  return [{ name: 'share sweeps', everyMs: 3_000, run: share.claim, end: share.giveUp }]
}

export function actionJobs(database: Database, log: Log): Job[] {
  return [{ name: 'end lost actions', everyMs: 5_000, run: () => endLost(database, log) }]
}

export function creditJobs(database: Database, tallies: Tallies): Job[] {
  return [{ name: 'expire holds', everyMs: 1_000, run: () => expireHolds(database, tallies) }]
}

export function logJobs(database: Database, signer: LogSigner): Job[] {
  return [{ name: 'append to log', everyMs: 1_000, run: createAppendToLog(database, signer) }]
}

export function eventJobs(
  deliverer: Deliverer,
  database: Database,
  { eventsKeptDays, eventAttemptsKeptDays }: { eventsKeptDays: number; eventAttemptsKeptDays: number },
): Job[] {
  return [
    { name: 'deliver events', everyMs: 1_000, run: deliverer.run, end: deliverer.finish },
    { name: 'forget events', everyMs: 24 * 3_600_000, run: createPurgeEvents(database, eventsKeptDays) },
    { name: 'forget attempts', everyMs: 3_600_000, run: () => purgeAttempts(database, eventAttemptsKeptDays) },
  ]
}

/** `peppers`: the secrets of KEY_PEPPER, for the audit. */
export function paymentJobs(context: PaymentContext, peppers: readonly Secret[]): Job[] {
  const { database, tallies } = context
  const { pendingOrderLifetimeMs: lifetimeMs } = context.settings
  return [
    { name: 'recover', everyMs: 1_000, run: () => recover(context) },
    { name: notificationsJob, everyMs: 1_000, run: () => processNotifications(context) },
    {
      name: 'expire',
      everyMs: Math.min(60_000, lifetimeMs / 4),
      run: () => expireOrders(database, lifetimeMs, tallies),
    },
    { name: 'add up', everyMs: 10_000, run: createAggregateFigures(database) },
    { name: 'close the day', everyMs: 60_000, run: (stopping) => closeDay(context, stopping) },
    { name: 'daily audit', everyMs: 60_000, run: createDailyAudit(context, { peppers }) },
    { name: 'forget notifications', everyMs: 3_600_000, run: () => purgeNotifications(context) },
    { name: 'forget movements', everyMs: 3_600_000, run: () => purgeMovements(context) },
  ]
}

/** A process looks four times in the interval, so that a publication is late by a quarter at most. */
export function publicationJobs(context: PublicationContext): Job[] {
  const everyMs = Math.min(60_000, context.settings.everySeconds * 250)
  return [{ name: 'publish checkpoint', everyMs, run: createPublish(context) }]
}
