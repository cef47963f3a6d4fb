// Connections with something in between: a fault, a record. Also those to the groups of a cluster.
import type { Connections, NamedQuery } from '../../../src/db/database.ts'

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
