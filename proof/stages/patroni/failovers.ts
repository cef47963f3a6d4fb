// The faults of a database cluster. Each takes its primary, or what the primary needs, and ends when the cluster is complete
// again; one that would begin during another is skipped. The services see a database that is unavailable for as long
// as the lease lasts, and nothing that was acknowledged may be missing afterwards.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../harness/random.ts'
import type { FailoverKind, KindsWith } from '../../faults.ts'
import type { FaultContext } from '../processes/faults.ts'
import type { ClusterNode } from './node.ts'
import { type Cluster, lease, queryNode } from './patroni.ts'

type Loss = { cluster: Cluster; primary: ClusterNode; random: Random }

/** Longer than a lease: another node has become the primary. */
const pastLeaseMs = (random: Random) => (lease.ttl + random.integer(4, 12)) * 1_000

/** More than the server has in reserve. */
const segments = 15

const rejoinLimitMs = 45_000

const losses: Record<FailoverKind, (loss: Loss) => Promise<void>> = {
  'primary switched over': ({ primary }) => primary.switchOver(),
  async 'PostgreSQL of the primary killed'({ primary }) {
    primary.killPostgres()
  },
  async 'Patroni of the primary killed'({ primary, random }) {
    await primary.killPatroni()
    await sleep(pastLeaseMs(random))
    primary.start()
  },
  async 'primary killed with its Patroni'({ primary, random }) {
    await primary.killPatroni()
    primary.killPostgres()
    await sleep(pastLeaseMs(random))
    primary.start()
  },
  async 'Patroni of the primary frozen past its lease'({ primary, random }) {
    primary.freezePatroni()
    await sleep(pastLeaseMs(random))
    primary.thawPatroni()
  },
  async 'primary frozen past its lease'({ primary, random }) {
    primary.freezeAll()
    await sleep(pastLeaseMs(random))
    primary.thawAll()
  },
  async 'primary cut off from etcd and the standbys'({ primary, random }) {
    primary.cutOff()
    await sleep(pastLeaseMs(random))
    primary.mend()
  },
  /** Until the server gives up: space that it has allocated before would last for a while. */
  async 'disk of the primary full'({ cluster, primary, random }) {
    primary.fillDisk()
    for (const _ of Array(segments)) {
      await queryNode(cluster.adminConnection, primary, 'select pg_switch_wal()').catch(() => undefined)
      await sleep(random.integer(100, 600))
    }
    await sleep(pastLeaseMs(random))
    primary.emptyDisk()
    // Its configuration may have been cut off by the full disk. What an operator does then is in docs/high-availability.md.
    await cluster.awaitComplete(rejoinLimitMs).catch(() => primary.reinitialize())
  },
  async 'standby killed'({ cluster, primary, random }) {
    const [standby] = random.shuffled(cluster.nodes.filter((node) => node !== primary))
    standby?.killPostgres()
  },
  /** What is committed there alone is visible, and lost with the machine. Callers have time to repeat their requests. */
  async 'waiting commits cancelled, then the primary killed'({ cluster, primary, random }) {
    primary.cutReplication()
    await sleep(random.integer(500, 1_500))
    await cancelWaits(cluster, primary)
    await sleep(random.integer(0, 3_000))
    await primary.killPatroni()
    primary.killPostgres()
    primary.resetNetwork()
    await sleep(pastLeaseMs(random))
    primary.start()
  },
  async 'waiting commits cancelled'({ cluster, primary, random }) {
    primary.cutReplication()
    await sleep(random.integer(500, 1_500))
    await cancelWaits(cluster, primary)
    await sleep(random.integer(0, 1_000))
    primary.mend()
  },
}

/** A disk can be filled only where each node has one of its own. */
export function kindsOf({ kinds = Object.keys(losses) as FailoverKind[], nodes }: Cluster): FailoverKind[] {
  const haveDisks = nodes.every(({ hasDisk }) => hasDisk)
  return kinds.filter((kind) => haveDisks || kind !== 'disk of the primary full')
}

/** The node may be killed or demoted by another fault meanwhile. */
async function cancelWaits({ adminConnection }: Cluster, node: ClusterNode): Promise<void> {
  const text = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
  await queryNode(adminConnection, node, text).catch(() => undefined)
}

/** The name under which a failover in which another node became the primary is counted. */
export const primaryChanged = 'primary changed'

export function failover(
  cluster: Cluster,
): Record<KindsWith<'database', 'patroni'>, (context: FaultContext) => Promise<void>> {
  // Each kind once before any of them a second time.
  let left: FailoverKind[] = []
  async function losePrimary({ world, random, count }: FaultContext): Promise<void> {
    // With no service, the time until an answer would be that of its start.
    if (cluster.busy || world.services.every(({ busy }) => busy)) return
    cluster.busy = true
    const fromMs = performance.now()
    let kind: FailoverKind | undefined
    try {
      const primary = await cluster.findPrimary()
      if (!primary) return
      if (left.length === 0) left = random.shuffled(kindsOf(cluster))
      kind = left.pop() as FailoverKind
      await losses[kind]({ cluster, primary, random })
      count('database: primary lost')
      count(kind)
      // Patroni looks at its node once in a loop.
      await sleep(lease.loop * 1_000)
      await cluster.awaitComplete()
      if ((await cluster.findPrimary()) !== primary) count(primaryChanged)
    } finally {
      if (kind) cluster.outages.push({ kind, fromMs, toMs: performance.now() })
      cluster.busy = false
    }
  }
  return { 'primary lost': losePrimary }
}
