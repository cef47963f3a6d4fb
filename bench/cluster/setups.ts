// The servers of the measurement: one PostgreSQL alone, and Citus coordinators with one, two and three workers, of the same
// binaries and settings. Each has books of the same size and a service of its own, without its worker, whose sweeps belong to
// no request.
import { rmSync } from 'node:fs'
import type pg from 'pg'
import { type Citus, type CitusNode, startCitus } from '../../harness/citus/citus.ts'
import { cpuSecondsOfFamily } from '../../harness/process-usage.ts'
import { readLayout } from '../../src/db/cluster/layout.ts'
import { findPostmaster } from '../../src/db/embedded/postmaster.ts'
import { prepare } from '../../src/db/prepare.ts'
import { newDirectory } from '../books/server.ts'
import type { Customer } from '../load/requests.ts'
import { type Books, connectTo, fillBooks } from '../stage/books.ts'
import { customersOfStage, openStage, type Stage } from '../stage/stage.ts'
import type { Counts, Reach } from './report.ts'

export type Setup = {
  /** None: PostgreSQL without the extension. */
  workers: number
  /** With the customers of one group, or of all. */
  stages: Record<Reach, Stage>
  /** The counts of each server since its start: the coordinator, the worker with the customers of one group, the others. */
  count(): Promise<Counts[]>
  /** As before every measurement: a page is logged whole when it is touched the first time after it. */
  checkpoint(): Promise<void>
}

const database = 'credits'
/** So that one of eight groups has as many customers as a stage. */
const customersOfAll = 9 * customersOfStage

export async function openSetup(parts: AsyncDisposableStack, workers: number): Promise<Setup> {
  const directory = newDirectory()
  const removeFiles = () => rmSync(directory, { recursive: true, force: true })
  const citus = await startCitus(directory, { workers }).catch((error) => {
    removeFiles()
    throw error
  })
  async function remove(): Promise<void> {
    await citus.stop()
    removeFiles()
  }
  // Interrupted while it started: it would not be stopped otherwise.
  if (parts.disposed) await remove()
  parts.defer(remove)
  await (workers === 0 ? makePlain(citus) : citus.createDatabase(database))
  const [coordinator, ...others] = citus.nodes as [CitusNode, ...CitusNode[]]
  const connection = { ...coordinator.connection, database }
  const server = { connection, dataDirectory: coordinator.dataDirectory }
  const books = await fillBooks(parts, directory, server, customersOfAll)
  // Spreads the tables, with their rows.
  await prepare({ place: 'of the measurement', owner: connection, serving: connection })
  const { customers, port } = await firstGroupOf(books, workers)
  const stage = await openStage(parts, ['service'], books, { WORKER: 'off' })
  const of = (some: Customer[]) => ({ ...stage, books: { ...books, customers: some.slice(0, customersOfStage) } })
  const inOrder = others.toSorted((one, other) => placeOf(one, port) - placeOf(other, port))
  const watched = await Promise.all([coordinator, ...inOrder].map((node) => watch(parts, node)))
  return {
    workers,
    stages: { 'one group': of(customers), 'all groups': of(books.customers) },
    count: () => Promise.all(watched.map((each) => each.count())),
    async checkpoint() {
      await Promise.all(watched.map(({ client }) => client.query('checkpoint')))
    },
  }
}

/** The extension is not even loaded. A list that is set in this way cannot be empty; the guards need plpgsql anyway. */
async function makePlain(citus: Citus): Promise<void> {
  await citus.onEveryNode(
    `create database ${database} encoding 'UTF8' template template0`,
    `alter system set shared_preload_libraries = 'plpgsql'`,
  )
  for (const node of citus.nodes) await node.crash()
}

/** Its customers, and the port of its worker. */
async function firstGroupOf(books: Books, workers: number): Promise<{ customers: Customer[]; port?: number }> {
  if (workers === 0) return { customers: books.customers }
  const { groupOf, group } = await readLayout(books.client)
  return { customers: books.customers.filter(({ customerId }) => groupOf(customerId) === 0), port: group(0).port }
}

/** The worker of the first group comes first. */
const placeOf = ({ connection }: CitusNode, port?: number) => (connection.port === port ? 0 : 1)

type Watched = { client: pg.Client; count(): Promise<Counts> }

const transactionsText = `
  select (xact_commit + xact_rollback)::float8 as transactions from pg_stat_database where datname = $1`

/** From another database, so that it does not count itself. */
async function watch(parts: AsyncDisposableStack, node: CitusNode): Promise<Watched> {
  const client = await connectTo(node, parts)
  const { pid } = findPostmaster(node.dataDirectory) ?? { pid: 0 }
  return {
    client,
    async count() {
      const { rows } = await client.query<{ transactions: number }>(transactionsText, [database])
      return { transactions: rows[0]?.transactions ?? 0, cpuMicroseconds: (cpuSecondsOfFamily(pid) ?? 0) * 1_000_000 }
    },
  }
}
