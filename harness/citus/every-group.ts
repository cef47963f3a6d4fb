// Queries of tests and campaigns on a cluster, over tables of all customers.

import { createHash } from 'node:crypto'
import type pg from 'pg'
import { referenceTables } from '../../src/db/cluster/tables.ts'
import { createDatabase, statement } from '../../src/db/database.ts'
import type { Sql } from '../../src/db/sql.ts'

const notSupported = '0A000'
const silent = { warn: () => undefined, error: () => undefined }

/** In a group it would change the copy of one server. */
const writesCopies = new RegExp(`\\b(update|delete from)\\s+(${referenceTables.join('|')})\\b`)

/**
 * What Citus cannot do with the tables of all customers at once, or the guards of a shard cannot, is done in each group of them.
 * The pool is one that `connectWorkers` has extended.
 */
export async function queryOrEveryGroup<Row extends object>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  // Citus refuses to change triggers of shards without this setting.
  const isTrigger = /^(create|drop) trigger\b/.test(text)
  const whole = isTrigger ? `do $$ begin set local citus.enable_unsafe_triggers = on; ${text}; end $$` : text
  try {
    return (await pool.query(whole, values)).rows
  } catch (error) {
    const isWhole = (/^\s*(insert|with)/.test(text) && /\binsert into\b/.test(text)) || writesCopies.test(text)
    if ((error as { code?: string }).code !== notSupported || isWhole) throw error
    return queryEveryGroup<Row>(pool, text, values)
  }
}

/** The rows of all groups. */
export function queryEveryGroup<Row extends object>(
  pool: pg.Pool,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return createDatabase(pool, silent).run<Row>(inGroups(text), values)
}

/** The rows of the group that has the customer. */
export function queryGroupOf<Row extends object>(
  pool: pg.Pool,
  customerId: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const { groups = [], groupOf } = createDatabase(pool, silent)
  const group = groups[groupOf?.(customerId) ?? 0]
  if (!group) throw new Error('The pool leads to no cluster.')
  return group.run<Row>(inGroups(text), values)
}

const inGroups = (text: string) => statement.ofEachGroup(nameOf(text), text as Sql)

/** For a statement that is prepared. */
export function nameOf(text: string): string {
  return `harness.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
