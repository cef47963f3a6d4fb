// How many entries of the ledger are not in the log yet, for people. It reads what the worker reads, from the same marks on.
import { groupsOf } from '../db/cluster/groups.ts'
import type { Database } from '../db/database.ts'
import { findHead, findMoved, findUnlogged, markOf, type Unlogged } from './append.sql.ts'

/** Entries that are read of each group of customers; usually those of the last half minute. */
const readAtMost = 10_000

/** `isMore`: there are more than were read, as after the upgrade from a version without the log. */
export type WaitingEntries = { count: number; isMore: boolean }

export async function countWaiting(database: Database): Promise<WaitingEntries> {
  const head = await findHead(database, 0)
  const counted = await Promise.all(
    groupsOf(database).map(async (group): Promise<WaitingEntries> => {
      const after = markOf(head?.marks ?? {}, database, group)
      const found = await findMoved(group, { after, limit: readAtMost, bound: after })
      const { customers, lastEntries, isFull: isMore } = found
      if (customers === null || lastEntries === null) return { count: 0, isMore }
      if (!head) return { count: sumOf(lastEntries), isMore }
      const { unlogged } = await findUnlogged(database, customers, lastEntries)
      return { count: unlogged ? entriesOf(unlogged) : 0, isMore }
    }),
  )
  return {
    count: counted.reduce((sum, { count }) => sum + count, 0),
    isMore: counted.some(({ isMore }) => isMore),
  }
}

/** Of customers one by one, from the first entry that is missing to the last. */
function entriesOf({ firstEntries, lastEntries }: Unlogged): number {
  const customers = firstEntries.split(',').length
  return sumOf(lastEntries) - sumOf(firstEntries) + customers
}

/** Of an array as the text that PostgreSQL gives it. */
function sumOf(array: string): number {
  return array
    .slice(1, -1)
    .split(',')
    .reduce((sum, number) => sum + Number(number), 0)
}
