// What is left to do, for all processes alike, since it is read from the database: at most once in some seconds however
// many ask, and not waited for past a limit. While the database is away these metrics are not there, credits_database_up
// is 0, and the rest is told as ever. A database that answers and does not count in time is up.
import type { Registry } from 'prom-client'
import { deadlineIn, within } from '../core/clock.ts'
import { type Backlog, deadEventsGaugeLimit } from '../payments/books/backlog.sql.ts'
import type { OperationKind } from '../payments/operations/begin.sql.ts'
import { addGauge } from './families.ts'

const keptMs = 5_000
const waitMs = 1_500

type Reading = {
  isUp: Promise<boolean>
  /** Undefined when the database does not answer, or not in time. */
  backlog: Promise<Backlog | undefined>
}
export type ReadBacklog = () => Reading

export type BacklogSource = { ask(): Promise<void>; read(): Promise<Backlog> }

export function createBacklogReader({ ask, read }: BacklogSource): ReadBacklog {
  let readAtMs = Number.NEGATIVE_INFINITY
  let latest: Reading | undefined
  function begin(): Reading {
    readAtMs = performance.now()
    const deadline = deadlineIn(waitMs)
    const answered = ask().then(
      () => true,
      () => false,
    )
    // One after the other: there is one connection, and what counts long would keep the question waiting.
    const counted = answered.then((isUp) => (isUp ? read() : undefined)).catch(() => undefined)
    return { isUp: within(deadline, answered, false), backlog: within(deadline, counted, undefined) }
  }
  return () => {
    if (!latest || performance.now() - readAtMs >= keptMs) latest = begin()
    return latest
  }
}

/** All of them, whatever is open: the first of a kind is an increase only where there was a zero. */
const operationKinds = {
  CONFIRM: 'confirm',
  CANCEL: 'cancel',
  REFUND: 'refund',
  RETURN: 'return',
} satisfies Record<OperationKind, string>
const operationStates = ['under way', 'waiting']

export function addBacklogMetrics(registry: Registry, read: ReadBacklog): void {
  function gauge(name: string, help: string, value: (backlog: Backlog) => number): void {
    addGauge(registry, name, help, async () => {
      const backlog = await read().backlog
      return backlog ? [[{}, value(backlog)]] : []
    })
  }
  addGauge(registry, 'credits_database_up', '1 when the database answers.', async () => [
    [{}, (await read().isUp) ? 1 : 0],
  ])
  addGauge(
    registry,
    'credits_operations_open',
    'Payments begun and not finished; waiting: nobody is at work on it.',
    async () => {
      const backlog = await read().backlog
      if (!backlog) return []
      const countOf = (kind: string, state: string) =>
        backlog.operations.find((each) => each.kind === kind && each.state === state)?.count ?? 0
      return Object.entries(operationKinds).flatMap(([kind, label]) =>
        operationStates.map((state): [Record<string, string>, number] => [
          { kind: label, state: state.replace(' ', '_') },
          countOf(kind, state),
        ]),
      )
    },
  )
  gauge(
    'credits_operations_oldest_open_seconds',
    'Age of the oldest open operation; 0 when none is open.',
    ({ oldestOperationSeconds }) => oldestOperationSeconds ?? 0,
  )
  gauge(
    'credits_events_undelivered',
    'Events that wait in the queues of active endpoints.',
    ({ undeliveredEvents }) => undeliveredEvents,
  )
  gauge(
    'credits_events_oldest_undelivered_seconds',
    'Age of the oldest event that waits; 0 when none does.',
    ({ oldestEventSeconds }) => oldestEventSeconds ?? 0,
  )
  gauge(
    'credits_events_dead',
    `Events laid aside as undeliverable, counted up to ${deadEventsGaugeLimit}.`,
    ({ deadEvents }) => deadEvents,
  )
  gauge(
    'credits_discrepancies_open',
    'Where the gateway and the books disagree and a person has to look.',
    ({ openDiscrepancies }) => openDiscrepancies,
  )
  addGauge(
    registry,
    'credits_audit_violations',
    'What the last whole audit of the books found against their rules; missing before the first.',
    async () => {
      const violations = (await read().backlog)?.auditViolations ?? null
      return violations === null ? [] : [[{}, violations]]
    },
  )
  gauge(
    'credits_audit_age_seconds',
    'Time since the end of the last whole audit; before the first, since audits are kept.',
    ({ auditAgeSeconds }) => auditAgeSeconds,
  )
  gauge(
    'credits_webhooks_waiting',
    'Notifications of the gateway that are stored and not yet dealt with.',
    ({ waitingNotifications }) => waitingNotifications,
  )
}
