// A database that is spread over servers: a Citus coordinator and three workers, each of which can be crashed, and whose groups
// of customers can be moved: the database of this stage, and its faults.
import { type CitusNode, startCitus } from '../../harness/citus/citus.ts'
import { databaseUrl } from '../../harness/processes.ts'
import type { Random } from '../../harness/random.ts'
import { Client } from '../../src/db/connect.ts'
import { prepare } from '../../src/db/prepare.ts'
import type { KindsWith } from '../faults.ts'
import type { Postgres } from '../world/postgres.ts'
import { newSecret } from '../world/settings.ts'
import type { FaultContext } from './processes/faults.ts'

export type SpreadDatabase = Postgres & {
  kind: 'citus'
  coordinator: CitusNode
  workers: CitusNode[]
  /** A group of customers goes to another worker. */
  moveGroup(random: Random): Promise<void>
}

type Placement = { shard: number; host: string; port: number }

const listPlacementsText = `
  select s.shardid as shard, n.nodename as host, n.nodeport as port
  from pg_dist_shard s join pg_dist_placement p using (shardid) join pg_dist_node n using (groupid)
  where s.logicalrelid = 'accounts'::regclass order by s.shardid`

const moveText = `select citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')`

export async function startSpreadDatabase(directory: string): Promise<SpreadDatabase> {
  const citus = await startCitus(directory)
  const passwords = { owner: newSecret(), serving: newSecret() }
  await citus.onEveryNode(
    `create role credits_owner login password '${passwords.owner}'`,
    `create role credits_service login password '${passwords.serving}'`,
    'grant pg_signal_backend, pg_read_all_stats to credits_owner',
  )
  await citus.createDatabase('credits', 'credits_owner')
  const login = (user: string, password: string) => ({ ...citus.coordinator, user, password, database: 'credits' })
  const owner = login('credits_owner', passwords.owner)
  const serving = login('credits_service', passwords.serving)
  const [coordinator, ...workers] = citus.nodes as [CitusNode, ...CitusNode[]]

  async function moveGroup(random: Random): Promise<void> {
    const client = new Client({ ...citus.coordinator, database: 'credits' })
    try {
      await client.connect()
      const [from] = random.shuffled((await client.query<Placement>(listPlacementsText)).rows)
      const [to] = random.shuffled(workers.filter(({ connection }) => connection.port !== from?.port))
      if (!from || !to) return
      await client.query(moveText, [from.shard, from.host, from.port, to.connection.host, to.connection.port])
    } finally {
      client.end().catch(() => undefined)
    }
  }

  return {
    kind: 'citus',
    busy: false,
    description: 'a Citus coordinator with three workers',
    isSpread: true,
    coordinator,
    workers,
    moveGroup,
    urlFor: (applicationName) => `${databaseUrl(owner)}&application_name=${applicationName}`,
    servingUrlFor: (applicationName) => `${databaseUrl(serving)}&application_name=${applicationName}`,
    ownerPassword: passwords.owner,
    servingPassword: passwords.serving,
    standbys: 'optional',
    prepare: () => prepare({ place: 'of the campaign', owner, serving }),
    stop: citus.stop,
    endNow: citus.endNow,
    remove: () => undefined,
  }
}

export function spreadFaults({
  coordinator,
  workers,
  moveGroup,
}: SpreadDatabase): Record<KindsWith<'database', 'citus'>, (context: FaultContext) => Promise<void>> {
  return {
    async 'group moved'({ random, count }) {
      // A worker that is down cannot give or take; the move is rolled back.
      const isMoved = await moveGroup(random).then(
        () => true,
        () => false,
      )
      if (isMoved) count('database: group moved')
    },
    async 'worker crashed'({ random, count }) {
      await random.shuffled(workers)[0]?.crash()
      count('database: worker crashed')
    },
    async 'coordinator crashed'({ count }) {
      await coordinator.crash()
      count('database: coordinator crashed')
    },
  }
}
