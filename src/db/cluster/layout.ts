// Which group of shards has a customer, and on which server it is. The first never changes; the second is read again when a
// server reports that the group has left it.
import type pg from 'pg'
import { assert } from '../../core/assert.ts'
import { leastUuid } from '../../core/ids.ts'
import { hashOfUuid } from './hash.ts'

export type Group = {
  number: number
  /** The shard of the accounts: the other tables' shards of the group move with it. */
  shard: number
  /** The least hash of a customer's id, inclusive. */
  lowest: number
  host: string
  port: number
}

export type Layout = {
  group(number: number): Group
  groupOf(customerId: string): number
  /** The first group of each server that has groups. */
  firstOfServers(): number[]
  /** For each group the least id whose rows would be in it. */
  anchors(): string[]
}

const listGroupsText = `
  select s.shardid as "shard", s.shardminvalue::int as "lowest", n.nodename as "host", n.nodeport as "port"
  from pg_dist_shard s
  join pg_dist_placement p on p.shardid = s.shardid and p.shardstate = 1
  join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'
  where s.logicalrelid = 'accounts'::regclass
  order by s.shardminvalue::int`

type Queryable = Pick<pg.Pool, 'query'>

export type Address = Pick<Group, 'host' | 'port'>

const listWorkersText = `
  select nodename as "host", nodeport as "port" from pg_dist_node
  where isactive and noderole = 'primary' and groupid <> 0 order by nodeid`

export async function listWorkers(coordinator: Queryable): Promise<Address[]> {
  return (await coordinator.query<Address>(listWorkersText)).rows
}

export async function readLayout(coordinator: Queryable): Promise<Layout> {
  const { rows } = await coordinator.query<Omit<Group, 'number'>>(listGroupsText)
  const groups = rows.map((row, number) => ({ ...row, shard: Number(row.shard), number }))
  if (groups.length === 0) {
    throw new Error(
      'The tables are not distributed over the workers yet: run "npm run -s credits -- migrate" as their owner.',
    )
  }
  const groupOf = (customerId: string) => {
    const hash = hashOfUuid(customerId)
    return groups.findLastIndex(({ lowest }) => lowest <= hash)
  }
  return {
    groupOf,
    group(number) {
      const group = groups[number]
      assert(group, `there is no group ${number}`)
      return group
    },
    firstOfServers() {
      const servers = Map.groupBy(groups, ({ host, port }) => `${host}:${port}`)
      return [...servers.values()].flatMap(([first]) => (first ? [first.number] : []))
    },
    anchors() {
      const anchors: string[] = []
      for (let number = 0; Object.keys(anchors).length < groups.length; number += 1) {
        const id = `${leastUuid.slice(0, -12)}${number.toString(16).padStart(12, '0')}`
        anchors[groupOf(id)] ??= id
      }
      return anchors
    },
  }
}

const findShardsText = `
  select get_shard_id_for_distribution_column('accounts', id) as "shard"
  from unnest($1::uuid[]) with ordinality as i (id, ordinal) order by ordinal`

/** With another hash rows would be written where nothing finds them. */
export async function requireSameHash(coordinator: Queryable, layout: Layout): Promise<void> {
  const anchors = layout.anchors()
  const { rows } = await coordinator.query<{ shard: string | number }>(findShardsText, [anchors])
  for (const [number, { shard }] of rows.entries()) {
    assert(Number(shard) === layout.group(number).shard, 'the hash of a customer is not the one of the server')
  }
}
