// Where a test's own statements run. On one server: there. On a cluster: in the group of a customer, in every group, or on every
// server. The views of a group have the names of the tables, so the text is the same.
import type pg from 'pg'
import { nameOf, queryGroupOf } from '../../../harness/citus/every-group.ts'
import { type Layout, readLayout } from '../../../src/db/cluster/layout.ts'
import { distributedTables } from '../../../src/db/cluster/tables.ts'
import { Client } from '../../../src/db/connect.ts'
import type { Database } from '../../../src/db/database.ts'

export type ServerConnection = { host: string; port: number; user: string; password: string; database: string }

/** On a connection of its own, which ends with it. */
export type Transaction = {
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  commit(): Promise<void>
  rollback(): Promise<void>
}

export type Places = {
  /** Begins a transaction as the service role, where the rows of the customer are. */
  begin(customerId: string): Promise<Transaction>
  /** Runs one statement as the owner, where the rows of the customer are. */
  queryOf<Row extends object>(customerId: string, text: string, values?: unknown[]): Promise<Row[]>
  /** Runs one statement as the owner, without triggers and foreign keys, for rows that no statement of the service writes. */
  queryUnguarded(text: string, values?: unknown[]): Promise<void>
  /** The rows of every server, of what each has for itself: its sessions, its statistics. */
  queryServers<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
}

type Place = { connection: ServerConnection; shard?: number }

export type Roles = { owner: ServerConnection; serving: ServerConnection }

/** The pool is the owner's. */
export function placesOf(pool: pg.Pool, { owner, serving }: Roles, isCluster: boolean): Places {
  const groupIn = (layout: Layout, number: number, role = owner): Place => {
    const { host, port, shard } = layout.group(number)
    return { connection: { ...role, host, port }, shard }
  }

  async function beginAt({ connection, shard }: Place): Promise<Transaction> {
    const client = new Client({ ...connection, types: pool.options.types, application_name: 'by hand' })
    await client.connect()
    const endWith = async (text: string) => {
      await client.query(text).finally(() => client.end())
    }
    await client.query('begin')
    if (shard !== undefined) await client.query('select enter_group($1)', [shard])
    return {
      query: async <Row extends object>(text: string, values: unknown[] = []) =>
        (await client.query(text, values)).rows as Row[],
      commit: () => endWith('commit'),
      rollback: () => endWith('rollback'),
    }
  }

  async function begin(customerId: string): Promise<Transaction> {
    if (!isCluster) return beginAt({ connection: serving })
    const layout = await readLayout(pool)
    return beginAt(groupIn(layout, layout.groupOf(customerId), serving))
  }

  /** All groups are changed, or one of them fails and a test with it. */
  async function everyGroup(): Promise<Place[]> {
    const layout = await readLayout(pool)
    return layout.anchors().map((_, number) => groupIn(layout, number))
  }

  async function inTransaction<Row extends object>(opening: Promise<Transaction>, texts: string[], values: unknown[]) {
    const transaction = await opening
    try {
      let rows: Row[] = []
      for (const text of texts) rows = await transaction.query<Row>(text, text === texts.at(-1) ? values : [])
      await transaction.commit()
      return rows
    } catch (error) {
      await transaction.rollback().catch(() => undefined)
      throw error
    }
  }

  return {
    begin,
    queryOf: async <Row extends object>(customerId: string, text: string, values: unknown[] = []) =>
      isCluster
        ? queryGroupOf<Row>(pool, customerId, text, values)
        : ((await pool.query({ name: nameOf(text), text, values })).rows as Row[]),
    async queryUnguarded(text, values = []) {
      const isInGroups = isCluster && namesDistributed.test(text) && !/\binsert into\b/.test(text)
      // On the coordinator the second setting sends the first one to the workers; elsewhere it has no meaning.
      const settings = [
        `set local citus.propagate_set_commands = 'local'`,
        'set local session_replication_role = replica',
      ]
      const places = isInGroups ? await everyGroup() : [{ connection: owner }]
      await Promise.all(places.map((place) => inTransaction(beginAt(place), [...settings, text], values)))
    },
    async queryServers<Row extends object>(text: string, values: unknown[] = []) {
      const workers = isCluster ? await everyGroup() : []
      const servers = new Map(
        [{ connection: owner }, ...workers].map(({ connection }) => [connection.port, connection]),
      )
      const rows = [...servers.values()].map((connection) =>
        inTransaction<Row>(beginAt({ connection }), [text], values),
      )
      return (await Promise.all(rows)).flat()
    },
  }
}

const namesDistributed = new RegExp(`\\b(${distributedTables.join('|')})\\b`)

/** Repeats it, on a cluster, until the customer is in the group of the other one: a statement is about those of one group. */
export async function makeBeside<Made extends { customerId: string }>(
  { groupOf }: Database,
  customerId: string,
  make: () => Promise<Made> | Made,
): Promise<Made> {
  for (;;) {
    const made = await make()
    if (groupOf?.(made.customerId) === groupOf?.(customerId)) return made
  }
}
