// A database that survives the loss of its primary: three nodes under Patroni with a synchronous standby, etcd, and
// haproxy in front of them, which leads to the node that holds the lock.
import { join } from 'node:path'
import type pg from 'pg'
import { type Launched, stopProcess } from '../../../harness/launch.ts'
import { takeFreePorts } from '../../../harness/ports.ts'
import { databaseUrl } from '../../../harness/processes.ts'
import { findRunner, launchPart, makeDirectory, type Runner } from '../../../harness/runner.ts'
import { until } from '../../../harness/until.ts'
import { Client } from '../../../src/db/connect.ts'
import { prepare } from '../../../src/db/prepare.ts'
import type { FailoverKind } from '../../faults.ts'
import type { Replicated } from '../../world/postgres.ts'
import { newSecret } from '../../world/settings.ts'
import { type ClusterNode, copyTemplate, createNode } from './node.ts'
import { findPrograms, isSafe, type PatroniChoice } from './packages.ts'

/** In seconds: Patroni allows no shorter `ttl`. */
export const lease = { ttl: 20, loop: 2, retry: 3 }

export type ClusterOptions = {
  patroni?: PatroniChoice
  /** `asynchronous` loses acknowledged commits: to show that the checks find it. */
  replication?: 'synchronous' | 'asynchronous'
  /** Left out: every kind. */
  kinds?: FailoverKind[]
}

export type Cluster = Replicated & {
  kind: 'patroni'
  nodes: ClusterNode[]
  kinds: FailoverKind[] | undefined
  /** The connection of the superuser; the port is that of haproxy. */
  adminConnection: { host: string; port: number; user: string; password: string; database: string }
  /** A disk should be filled, and none could be mounted. */
  lacksDisk: boolean
  findPrimary(): Promise<ClusterNode | undefined>
  /** All nodes run, and one of them is a standby that has everything. */
  awaitComplete(limitMs?: number): Promise<void>
}

const nodeNames = ['n1', 'n2', 'n3']
/** In seconds, of each node: a standby that takes over may have another time. */
const clocksAhead = [0, 1, -1]
const portsPerNode = 5
const startLimitMs = 120_000
const completeLimitMs = 180_000

export async function startCluster(directory: string, options: ClusterOptions = {}): Promise<Cluster> {
  const { patroni, replication = 'synchronous', kinds } = options
  const programs = findPrograms(patroni)
  const runner = findRunner()
  const isSynchronous = replication === 'synchronous'
  // After a freeze an older Patroni can fail for good to write the name of the standby to etcd. Commits go on.
  const namesStandby = isSynchronous && isSafe(programs.patroni.version)
  const home = join(directory, 'cluster')
  makeDirectory(runner, home)
  const [etcdPort = 0, etcdPeers = 0, port = 0, ...nodePorts] = await takeFreePorts(3 + nodeNames.length * portsPerNode)
  const passwords = { admin: newSecret(), owner: newSecret(), serving: newSecret() }
  const nodePasswords = {
    POSTGRES_PASSWORD: passwords.admin,
    REPLICATION_PASSWORD: newSecret(),
    REWIND_PASSWORD: newSecret(),
    REST_PASSWORD: newSecret(),
  }
  const shared = {
    TTL: `${lease.ttl}`,
    LOOP_WAIT: `${lease.loop}`,
    RETRY_TIMEOUT: `${lease.retry}`,
    SYNCHRONOUS: `${isSynchronous}`,
  }
  const login = (user: string, password: string, database = 'credits') => ({
    host: '127.0.0.1',
    port,
    user,
    password,
    database,
  })
  const adminConnection = login('postgres', passwords.admin, 'postgres')
  const owner = login('credits_owner', passwords.owner)
  const serving = login('credits_service', passwords.serving)
  const wantsDisk = kinds?.includes('disk of the primary full') ?? true
  const nodes: ClusterNode[] = []
  const parts = new AsyncDisposableStack()
  let isWanted = true

  function endNow(): void {
    for (const node of nodes) node.endNow()
  }

  async function findPrimary(): Promise<ClusterNode | undefined> {
    const answers = await Promise.all(nodes.map((node) => node.isPrimary()))
    return nodes.find((_, index) => answers[index])
  }

  async function isComplete(): Promise<boolean> {
    if (!isWanted) throw new Error('the cluster is being stopped')
    const primary = await findPrimary()
    if (!primary) return false
    const hasSynchronous = (await primary.members()).some(({ role }) => role === 'sync_standby')
    if (namesStandby && !hasSynchronous) return false
    // Patroni's own list of the members is some seconds old.
    const text = `select from pg_stat_replication where state = 'streaming'`
    const streaming = await queryNode(adminConnection, primary, text).catch(() => [])
    return streaming.length === nodes.length - 1
  }

  async function stop(): Promise<void> {
    isWanted = false
    await parts.disposeAsync()
  }

  try {
    // From the first start on: what it starts outlives a process that exits.
    process.on('exit', endNow)
    parts.defer(() => void process.off('exit', endNow))
    const etcd = launchEtcd(runner, programs.etcd, home, etcdPort, etcdPeers)
    parts.defer(() => stopProcess(etcd, 'SIGKILL'))
    for (const [index, name] of nodeNames.entries()) {
      const own = nodePorts.slice(index * portsPerNode)
      const [postgres = 0, rest = 0, peerPostgres = 0, peerRest = 0, etcd = 0] = own
      const ports = { postgres, rest, peerPostgres, peerRest, etcd }
      const place = join(home, name)
      const clockAhead = clocksAhead[index] ?? 0
      const fixed = { name, directory: place, programs, runner, ports, etcdPort, passwords: nodePasswords, shared }
      const node = await createNode({ ...fixed, wantsDisk, clockAhead, parts })
      nodes.push(node)
      parts.defer(() => node.stop())
    }
    nodes[0]?.start()
    await until('the first node is the primary', async () => (await findPrimary()) !== undefined, startLimitMs)
    for (const node of nodes) node.start()
    const haproxy = launchProxy(runner, programs.haproxy, home, port, nodes)
    parts.defer(() => stopProcess(haproxy, 'SIGKILL'))
    await until('the cluster is complete', isComplete, startLimitMs)
    await createRoles(adminConnection, passwords)
  } catch (error) {
    await stop()
    throw error
  }

  return {
    kind: 'patroni',
    busy: false,
    description: `three databases under Patroni ${programs.patroni.version}`,
    isSpread: false,
    leaseSeconds: lease.ttl,
    nodes,
    kinds,
    adminConnection,
    outages: [],
    clockSpreadMs: (Math.max(...clocksAhead) - Math.min(...clocksAhead)) * 1_000,
    lacksDisk: wantsDisk && nodes.some(({ hasDisk }) => !hasDisk),
    findPrimary,
    awaitComplete: (limitMs = completeLimitMs) => until('the cluster is complete', isComplete, limitMs),
    urlFor: (applicationName) => `${databaseUrl(owner)}&application_name=${applicationName}`,
    servingUrlFor: (applicationName) => `${databaseUrl(serving)}&application_name=${applicationName}`,
    ownerPassword: passwords.owner,
    servingPassword: passwords.serving,
    standbys: isSynchronous ? 'required' : 'optional',
    prepare: () => prepare({ place: 'of the campaign', owner, serving }),
    stop,
    endNow,
    remove: () => undefined,
  }
}

/** Straight at the node, past haproxy. */
export async function queryNode(admin: Cluster['adminConnection'], node: ClusterNode, text: string): Promise<object[]> {
  const client = new Client({
    ...admin,
    port: node.ports.postgres,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  })
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    client.end().catch(() => undefined)
  }
}

function launchEtcd(runner: Runner, program: string, home: string, port: number, peers: number): Launched {
  const [client, peer] = [port, peers].map((each) => `http://127.0.0.1:${each}`)
  const options = {
    'data-dir': join(home, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
    'log-level': 'warn',
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`])
  return launchPart(runner, join(home, 'etcd.log'), [program, ...args], { ETCD_UNSUPPORTED_ARCH: process.arch })
}

function launchProxy(runner: Runner, program: string, home: string, port: number, nodes: ClusterNode[]): Launched {
  const file = join(home, 'haproxy.cfg')
  // A copy: the runner may be unable to enter the clone.
  copyTemplate(runner, 'haproxy.cfg', file)
  const addresses = nodes.flatMap(({ name, ports }) => [
    [`${name.toUpperCase()}_ADDRESS`, `127.0.0.1:${ports.postgres}`],
    [`${name.toUpperCase()}_REST_PORT`, `${ports.rest}`],
  ])
  const values = { LISTEN: `127.0.0.1:${port}`, ...Object.fromEntries(addresses) }
  return launchPart(runner, join(home, 'haproxy.log'), [program, '-f', file], values)
}

/** The two roles of docs/operations.md. The owner may also end sessions, which is one of the campaign's faults. */
async function createRoles(admin: pg.ClientConfig, passwords: { owner: string; serving: string }): Promise<void> {
  async function run(database: string, ...texts: string[]): Promise<void> {
    const client = new Client({ ...admin, database })
    try {
      await client.connect()
      for (const text of texts) await client.query(text)
    } finally {
      await client.end()
    }
  }
  const isReached = () =>
    run('postgres', 'select 1').then(
      () => true,
      () => false,
    )
  await until('haproxy leads to the primary', isReached)
  await run(
    'postgres',
    `create role credits_owner login password '${passwords.owner}'`,
    `create role credits_service login password '${passwords.serving}'`,
    'grant pg_signal_backend, pg_read_all_stats to credits_owner',
    `create database credits owner credits_owner encoding 'UTF8' template template0`,
  )
  await run(
    'credits',
    'revoke all on database credits from public',
    'revoke create on schema public from public',
    'grant connect on database credits to credits_service',
    'grant create on schema public to credits_owner',
  )
}
