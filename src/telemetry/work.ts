// Metrics of orders, credits, notifications, events, jobs and statements, from the tallies.
import type { Registry } from 'prom-client'
import type { Tallies } from '../core/tallies.ts'
import { addCounter, addGauge, addHistogram, type Read } from './families.ts'

/** The exposed numbers of a pool of connections. */
export type PoolCounts = { totalCount: number; idleCount: number; waitingCount: number }

function labelled(label: string, numbers: Record<string, number>): Read<number> {
  return () => Object.entries(numbers).map(([name, count]) => [{ [label]: name }, count])
}

export function addWorkMetrics(registry: Registry, tallies: Tallies): void {
  const { orders, credits, recoveries, webhooks, deliveries, cosignatures, statements, jobs, batchSizes } = tallies
  addCounter(registry, 'credits_orders_total', 'Orders, by transition.', labelled('transition', orders))
  addCounter(registry, 'credits_moved_total', 'Credits, by kind of movement.', labelled('movement', credits))
  addCounter(
    registry,
    'credits_recoveries_total',
    'Open operations claimed by the worker, by outcome.',
    labelled('outcome', recoveries),
  )
  addCounter(
    registry,
    'credits_webhooks_received_total',
    'Notifications received from the gateway.',
    labelled('result', webhooks),
  )
  addCounter(
    registry,
    'credits_event_deliveries_total',
    'Attempts to deliver an event; dead: the last attempt of an event that became a dead letter.',
    labelled('result', deliveries),
  )
  addCounter(
    registry,
    'credits_cosignatures_total',
    'Answers of witnesses to a checkpoint; contradicted: the witness has cosigned a larger or another log.',
    labelled('result', cosignatures),
  )
  addCounter(registry, 'credits_worker_runs_total', 'Runs of jobs of the worker.', () =>
    [...jobs].flatMap(([job, ends]) =>
      Object.entries(ends).map(([result, count]): [Record<string, string>, number] => [
        { task: job.replaceAll(' ', '_'), result },
        count,
      ]),
    ),
  )
  addCounter(
    registry,
    'credits_database_failures_total',
    'Statements that failed because of the database: again (conflict with another), away, busy.',
    labelled('kind', statements.failures),
  )
  addCounter(registry, 'credits_database_retries_total', 'Statements that were retried.', () => [
    [{}, statements.retries],
  ])
  addHistogram(registry, { name: 'credits_batch_size', help: 'Requests per statement.' }, () =>
    [...batchSizes].map(([statement, sizes]) => [{ statement }, sizes]),
  )
}

export function addPoolMetrics(registry: Registry, pools: Record<string, PoolCounts>): void {
  const each =
    (read: (pool: PoolCounts) => number): Read<number> =>
    () =>
      Object.entries(pools).map(([pool, counts]) => [{ pool }, read(counts)])
  addGauge(
    registry,
    'credits_database_connections',
    'Connections of a pool.',
    each(({ totalCount }) => totalCount),
  )
  addGauge(
    registry,
    'credits_database_connections_idle',
    'Idle connections of a pool.',
    each(({ idleCount }) => idleCount),
  )
  addGauge(
    registry,
    'credits_database_connections_waiting',
    'Statements waiting for a connection.',
    each(({ waitingCount }) => waitingCount),
  )
}
