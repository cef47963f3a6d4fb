// Connections and databases with something in between: a fault, a record. Also those of the groups of a cluster.
import type { Connections, Database, NamedQuery, Statement } from '../../../src/db/database.ts'

type Rows = { rows: unknown[] }

/** `between` gets every query, and sends it by calling `send`. */
export function wrapConnections(
  connections: Connections,
  between: (query: NamedQuery, send: () => Promise<Rows>) => Promise<Rows>,
): Connections {
  const wrapped = (one: Connections) => ({ query: (query: NamedQuery) => between(query, () => one.query(query)) })
  const { cluster } = connections
  if (!cluster) return wrapped(connections)
  return {
    ...wrapped(connections),
    cluster: { ...cluster, connectionsOf: (group) => wrapped(cluster.connectionsOf(group)) },
  }
}

/** `between` gets every statement, and runs it by calling `send`. */
export function wrapDatabase(
  database: Database,
  between: <Row>(statement: Statement, send: () => Promise<Row[]>) => Promise<Row[]>,
): Database {
  const { groups } = database
  return {
    ...database,
    run: <Row extends object>(statement: Statement, values?: unknown[]) =>
      between<Row>(statement, () => database.run<Row>(statement, values)),
    ...(groups && { groups: groups.map((group) => wrapDatabase(group, between)) }),
  }
}
