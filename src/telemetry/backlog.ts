// The backlog, which is the same for all processes because it is read from the database: at most once every five seconds
// however many scrapes come, and with a time limit. While the database does not answer these metrics are absent and
// credits_database_up is 0; the other metrics are unaffected. A database that answers but does not count in time is up.
import type { Registry } from 'prom-client'
import { deadlineIn, within } from '../core/clock.ts'
import { type Backlog as BacklogOfBooks, deadEventsGaugeLimit } from '../payments/books/backlog.sql.ts'
import { operationKinds } from '../payments/kinds.ts'
import type { LogBacklog } from '../transparency/backlog.sql.ts'
import { addGauge } from './families.ts'
import type { Ping } from './ping.sql.ts'

type Backlog = BacklogOfBooks & LogBacklog

const keptMs = 5_000
const waitMs = 1_500

type Reading = {
  /** Undefined when the database does not answer. */
  ping: Promise<Ping | undefined>
  /** Undefined when the database does not answer, or not in time. */
  backlog: Promise<Backlog | undefined>
}
export type ReadBacklog = () => Reading

export type BacklogSource = { ping(): Promise<Ping>; read(): Promise<Backlog> }

export function createBacklogReader({ ping, read }: BacklogSource): ReadBacklog {
  let readAtMs = Number.NEGATIVE_INFINITY
  let latest: Reading | undefined
  function begin(): Reading {
    readAtMs = performance.now()
    const deadline = deadlineIn(waitMs)
    const answered = ping().catch(() => undefined)
    // One after the other: there is one connection, and a long count would delay the ping.
    const counted = answered.then((answer) => (answer ? read() : undefined)).catch(() => undefined)
    return { ping: within(deadline, answered, undefined), backlog: within(deadline, counted, undefined) }
  }
  return () => {
    if (!latest || performance.now() - readAtMs >= keptMs) latest = begin()
    return latest
  }
}

/** Every kind has a series from the start: the first operation is an increase only where there was a zero. */
const kinds = Object.keys(operationKinds)
const operationStates = ['under way', 'waiting']

export function addBacklogMetrics(registry: Registry, read: ReadBacklog): void {
  function gauge(name: string, help: string, value: (backlog: Backlog) => number): void {
    addGauge(registry, name, help, async () => {
      const backlog = await read().backlog
      return backlog ? [[{}, value(backlog)]] : []
    })
  }
  addGauge(registry, 'credits_database_up', '1 when the database answers.', async () => [
    [{}, (await read().ping) ? 1 : 0],
  ])
  addGauge(
    registry,
    'credits_database_standbys',
    'Standbys that are connected where commits wait for one; 0: a commit is on one server only.',
    async () => {
      const ping = await read().ping
      return ping ? [[{}, ping.standbys]] : []
    },
  )
  addGauge(
    registry,
    'credits_operations_open',
    'Payment operations begun and not finished; waiting: no process holds its lease.',
    async () => {
      const backlog = await read().backlog
      if (!backlog) return []
      const countOf = (kind: string, state: string) =>
        backlog.operations.find((each) => each.kind === kind && each.state === state)?.count ?? 0
      return kinds.flatMap((kind) =>
        operationStates.map((state): [Record<string, string>, number] => [
          { kind: kind.toLowerCase(), state: state.replace(' ', '_') },
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
    'Events in the queues of active endpoints.',
    ({ undeliveredEvents }) => undeliveredEvents,
  )
  gauge(
    'credits_events_oldest_undelivered_seconds',
    'Age of the oldest undelivered event; 0 when there is none.',
    ({ oldestEventSeconds }) => oldestEventSeconds ?? 0,
  )
  gauge(
    'credits_events_dead',
    `Dead letters: events that were given up, counted up to ${deadEventsGaugeLimit}.`,
    ({ deadEvents }) => deadEvents,
  )
  gauge(
    'credits_discrepancies_open',
    'Differences between the gateway and the books that an operator has to resolve.',
    ({ openDiscrepancies }) => openDiscrepancies,
  )
  addGauge(
    registry,
    'credits_audit_violations',
    'Violations that the last complete audit found; absent before the first audit.',
    async () => {
      const violations = (await read().backlog)?.auditViolations ?? null
      return violations === null ? [] : [[{}, violations]]
    },
  )
  gauge(
    'credits_audit_age_seconds',
    'Time since the end of the last complete audit; before the first, since audits are recorded.',
    ({ auditAgeSeconds }) => auditAgeSeconds,
  )
  gauge('credits_transparency_log_size', 'Entries in the transparency log.', ({ logSize }) => logSize)
  gauge(
    'credits_transparency_log_oldest_missing_seconds',
    'Age of the oldest entry that is not in the transparency log; 0 when there is none.',
    ({ oldestUnloggedSeconds }) => oldestUnloggedSeconds ?? 0,
  )
  gauge(
    'credits_webhooks_waiting',
    'Notifications of the gateway that are stored and not yet processed.',
    ({ waitingNotifications }) => waitingNotifications,
  )
}
