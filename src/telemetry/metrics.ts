// Everything in /metrics, in the text format of Prometheus. Numbers are of this process, except the backlog, which is read
// from the database and the same in every process. No label has a value that a caller can choose.
import { Registry } from 'prom-client'
import { createTallies, type Tallies } from '../core/tallies.ts'
import { createDatabase, createPool, type Database, type Log, type Plans, type PoolSettings } from '../db/database.ts'
import { createRequestCounts } from '../http/request-counts.ts'
import { readBacklog } from '../payments/books/backlog.sql.ts'
import { readLogBacklog } from '../transparency/backlog.sql.ts'
import { addBacklogMetrics, createBacklogReader } from './backlog.ts'
import { addGauge } from './families.ts'
import { addGatewayMetrics, createGatewayCounts, type GatewayCounts, type GatewayParts } from './gateway.ts'
import { pingDatabase } from './ping.sql.ts'
import { processMetrics } from './process.ts'
import { addRequestMetrics, type ListenerCounts } from './requests.ts'
import { addPoolMetrics, addWorkMetrics, type PoolCounts } from './work.ts'

/** What the parts of a service count while they run. */
export type Measures = { tallies: Tallies; listeners: ListenerCounts; gatewayCounts: GatewayCounts }

export function createMeasures(): Measures {
  const listeners = { public: createRequestCounts(), internal: createRequestCounts(), webhook: createRequestCounts() }
  return { tallies: createTallies(), listeners, gatewayCounts: createGatewayCounts() }
}

export type MetricsParts = Omit<GatewayParts, 'counts'> & {
  measures: Measures
  pools: Record<string, PoolCounts>
  connection: PoolSettings['connection']
  /** On a cluster: one group of each server. */
  workers?: (() => Database[]) | undefined
  plans: Plans
  version: string
  log: Log
}

export type Metrics = { contentType: string; text(): Promise<string>; close(): Promise<void> }

/** Limits what a scrape may cost the database. */
const statementLimitMs = 1_000

export function openMetrics({
  measures,
  pools,
  connection,
  workers,
  plans,
  version,
  log,
  ...gateway
}: MetricsParts): Metrics {
  const { tallies, listeners, gatewayCounts: counts } = measures
  // A connection of its own, so that requests and scrapes do not wait for each other. The first scrape opens it.
  const pool = createPool({ connection, maxConnections: 1, plans, statementLimitMs, log })
  // Failures of a scrape are not counted with those of requests: it has tallies of its own, which are not exposed.
  const database = createDatabase(pool, log)
  const registry = new Registry()
  addRequestMetrics(registry, listeners)
  addWorkMetrics(registry, tallies)
  addGatewayMetrics(registry, { ...gateway, counts })
  addBacklogMetrics(
    registry,
    createBacklogReader({
      ping: () => pingDatabase(database, workers?.()),
      read: async () => ({ ...(await readBacklog(database)), ...(await readLogBacklog(database)) }),
    }),
  )
  addPoolMetrics(registry, pools)
  addGauge(registry, 'credits_build_info', 'Always 1; the version is its label.', () => [[{ version }, 1]])
  const all = Registry.merge([registry, processMetrics()])
  return { contentType: registry.contentType, text: () => all.metrics(), close: () => pool.end() }
}
