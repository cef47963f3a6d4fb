// The groups of customers, for what goes through all of them. On one server there is one group: the database itself.
import { leastUuid } from '../core/ids.ts'
import type { Database } from './database.ts'

/** Each group of customers by itself, for a statement about every group. */
export function groupsOf(database: Database): Database[] {
  return database.groups ?? [database]
}

/** Those that this process sweeps: on a cluster, its share of them. */
export function sweptGroupsOf(database: Database): Database[] {
  return database.sweptGroups ?? groupsOf(database)
}

/** For what is about a server: the database itself first, on a cluster the coordinator. */
export function serversOf(database: Database): Database[] {
  return [database, ...(database.workers?.() ?? [])]
}

/** Where the next one begins: a process may have several databases. */
const turns = new WeakMap<Database, number>()

/**
 * Up to a limit of rows, from one swept group after the other, each time beginning with another one. A group whose server is
 * unavailable does not keep the others from being served: its failure is thrown only if there is nothing else.
 */
export async function takeFromGroups<Row>(
  database: Database,
  limit: number,
  take: (group: Database, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const groups = sweptGroupsOf(database)
  const turn = (turns.get(database) ?? 0) + 1
  turns.set(database, turn)
  const first = turn % groups.length
  const rows: Row[] = []
  const failures: unknown[] = []
  for (const group of [...groups.slice(first), ...groups.slice(0, first)]) {
    if (rows.length >= limit) break
    const taken = await take(group, limit - rows.length).catch((error) => {
      // One that the server has caused is refused with SVC001, and was logged.
      if (!(error as Error).cause) throw error
      failures.push(error)
    })
    if (taken) rows.push(...taken)
  }
  if (rows.length === 0 && failures.length > 0) throw failures[0]
  return rows
}

/** The key of rows that belong to a group of customers, and to none of them. */
export function anchorOf(group: Database): string {
  return group.anchor ?? leastUuid
}
