// A primary and a synchronous standby: two embedded servers, the second made of a copy of the first's files. Promoting the
// standby is a failover, as Patroni or a provider makes one.
import { spawnSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { type Cleaner, clusterOf, newDataDir } from '../../../harness/processes.ts'
import { until } from '../../../harness/until.ts'
import { Client } from '../../../src/db/connect.ts'
import { findPostmaster, isAlive } from '../../../src/db/embedded/postmaster.ts'
import { type EmbeddedServer, startEmbedded } from '../../../src/db/embedded/server.ts'

export type Node = Awaited<ReturnType<typeof startNode>>

/** A server that can be queried, reconfigured and killed. */
export async function startNode(dataDir: string) {
  const server = await startEmbedded({ dataDir })
  async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new Client(server.connection)
    await client.connect()
    try {
      // Not a commit that waits for a standby.
      await client.query('set synchronous_commit = local')
      return (await client.query<Row>(text, values)).rows
    } finally {
      await client.end()
    }
  }
  return {
    ...server,
    dataDir,
    query,
    /** Returns when it is in force in new sessions. */
    async configure(name: string, value: string): Promise<void> {
      await query(`alter system set ${name} = '${value}'`)
      await query('select pg_reload_conf()')
      const shown = async () => (await query<Record<string, string>>(`show ${name}`))[0]?.[name]
      await until(`${name} is ${value}`, async () => (await shown()) === value)
    },
    /** As when its machine is lost. */
    async kill(): Promise<void> {
      const pid = findPostmaster(server.dataDirectory)?.pid
      if (pid === undefined) return
      process.kill(pid, 'SIGQUIT')
      await until('the server is gone', () => !isAlive(pid))
    },
  }
}

/** Streams from the primary; from then on commits of the primary wait for it. */
export async function startStandby(t: Cleaner, primary: Node): Promise<Node> {
  const dataDir = newDataDir(t)
  await copyCluster(primary, dataDir)
  const standby = await startNode(dataDir)
  await until('the standby streams', async () => {
    const [row] = await primary.query<{ count: number }>('select count(*)::int as count from pg_stat_replication')
    return row?.count === 1
  })
  await primary.configure('synchronous_standby_names', 'standby')
  return standby
}

async function copyCluster(primary: EmbeddedServer & { dataDir: string }, dataDir: string): Promise<void> {
  const client = new pg.Client(primary.connection)
  await client.connect()
  await client.query(`select pg_backup_start('standby', true)`)
  mkdirSync(dirname(dataDir), { recursive: true })
  const copied = spawnSync('cp', ['-a', primary.dataDir, dataDir])
  if (copied.status !== 0) throw new Error(`${copied.stderr}`)
  const { rows } = await client.query<{ label: string }>('select labelfile as label from pg_backup_stop(false)')
  await client.end()
  const cluster = clusterOf(dataDir)
  const { host, port, user, password } = primary.connection
  const { uid, gid } = statSync(cluster)
  for (const [name, text] of [['backup_label', rows[0]?.label ?? ''] as const, ['standby.signal', ''] as const]) {
    writeFileSync(join(cluster, name), text, { mode: 0o600 })
    chownSync(join(cluster, name), uid, gid)
  }
  rmSync(join(cluster, 'postmaster.pid'))
  const source = `host=${host} port=${port} user=${user} password=${password} application_name=standby`
  appendFileSync(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
}
