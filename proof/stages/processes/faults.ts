// What the faults of a campaign do. A fault is counted when it has really happened. One whose victim is busy with another fault
// takes another process, or waits.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../harness/random.ts'
import { behaviours } from '../../../sandbox/faults/behaviour.ts'
import { faultRows, faults, type KindsWith, type Place, type Schedule } from '../../faults.ts'
import type { Service } from '../../world/service.ts'
import { limits } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import { spreadFaults } from '../citus.ts'
import { failover, kindsOf } from '../patroni/failovers.ts'
import type { CampaignWorld } from './campaign.ts'
import type { GatewayFaults } from './gateway-faults.ts'

export type FaultContext<Where extends World = CampaignWorld> = {
  world: Where
  gatewayFaults: GatewayFaults
  random: Random
  count(name: string, times?: number): void
  /** What a fault has shown to be wrong. */
  wrong: string[]
}

type Apply = (context: FaultContext) => Promise<void>

export type CampaignFault = Schedule & {
  name: string
  /** Ways that have to occur in a long run. */
  kinds: readonly string[]
  apply: Apply
}

export const clockShifted = 'process: started with a wrong clock'

const applied: { [At in 'process' | 'database' | 'gateway' | 'consumer']: Record<KindsWith<At, 'campaign'>, Apply> } = {
  process: { killed: killServices, 'paused past its lease': pauseService, stopped: stopService },
  database: {
    'sessions ended': endSession,
    'many sessions ended in a row': endManySessions,
    'accounts locked': lockAccounts,
  },
  gateway: {
    'behaviour changed': changeBehaviour,
    'webhooks redirected': redirectWebhooks,
    frozen: freezeGateway,
    killed: killGateway,
  },
  consumer: { unavailable: disableConsumer },
}

/** How the database is lost depends on what it is. */
function lossesOf(postgres: CampaignWorld['postgres']): Record<string, Apply> {
  if (postgres.kind === 'patroni') return failover(postgres)
  return postgres.kind === 'citus' ? spreadFaults(postgres) : { crashed: crashDatabase }
}

/** Those of the table that a campaign on such a database can apply. */
export function faultsOf(postgres: CampaignWorld['postgres']): CampaignFault[] {
  const ofEvery: Partial<Record<Place, Record<string, Apply>>> = applied
  const losses = lossesOf(postgres)
  const stage = postgres.kind === 'server' ? 'processes' : postgres.kind
  const kinds = postgres.kind === 'patroni' ? kindsOf(postgres) : []
  return faultRows.flatMap(({ place, kind, name, campaign, [stage]: loss }) => {
    const apply = campaign ? ofEvery[place]?.[kind] : losses[kind]
    const schedule = campaign ?? loss
    return schedule && apply ? [{ ...schedule, name, apply, kinds: loss ? kinds : [] }] : []
  })
}

const outages = faults.consumer.unavailable.kinds
const busyPollMs = 50
const longestRowMs = 3_000
const leastInARow = 40
const killLimitMs = 10_000
const bothShare = 0.15
const shiftedStarts = 3
const clockShiftMs = 30 * 60_000

type Busy = { busy: boolean }

/** Waits until no other fault has the victim: the second would undo the first. */
async function alone(victim: Busy, body: () => Promise<void>): Promise<void> {
  while (victim.busy) await sleep(busyPollMs)
  victim.busy = true
  try {
    await body()
  } finally {
    victim.busy = false
  }
}

/** While the cluster has no primary a service cannot start again: one is left, whose answers show how long that takes. */
function mustStay({ cluster, services }: World): boolean {
  return cluster?.busy === true && services.some(({ busy }) => busy)
}

/** One without a fault, or else any. */
function anyService({ world, random }: FaultContext<World>): Service {
  const shuffled = random.shuffled(world.services)
  return shuffled.find((service) => !service.busy) ?? world.services[0]
}

/** One start in three has a clock that is half an hour off. */
async function startAgain({ random, count }: FaultContext<World>, service: Service): Promise<void> {
  const sign = random.pick([-1, 1])
  const shifted = service.counts.starts % shiftedStarts === 1
  await service.start(shifted ? sign * clockShiftMs : 0)
  if (shifted) count(clockShifted)
}

export async function killServices(context: FaultContext<World>): Promise<void> {
  const { world, random } = context
  if (mustStay(world)) return
  const isBoth = random.chance(bothShare) && world.cluster?.busy !== true
  const victims = isBoth ? world.services : [anyService(context)]
  // Kills are frequent: one whose victim is busy is skipped, or they would pile up on a slow machine.
  const free = victims.filter(({ busy }) => !busy)
  const kill = (service: Service) =>
    alone(service, async () => {
      await service.end('SIGKILL', killLimitMs)
      context.count('process: killed')
      await startAgain(context, service)
    })
  await Promise.all(free.map(kill))
}

export async function pauseService(context: FaultContext<World>): Promise<void> {
  if (mustStay(context.world)) return
  const service = anyService(context)
  await alone(service, async () => {
    service.signal('SIGSTOP')
    await sleep(limits.operationLeaseMs + context.random.integer(500, 3_000))
    service.signal('SIGCONT')
    context.count('process: paused past its lease')
  })
}

/** It has to finish what is under way and exit with 0, within its limit. */
export async function stopService(context: FaultContext<World>): Promise<void> {
  if (mustStay(context.world)) return
  const service = anyService(context)
  await alone(service, async () => {
    const startedAt = performance.now()
    const wasLost = context.world.cluster?.busy === true
    const ended = await service.end('SIGTERM', limits.shutdownTimeoutMs + 5_000)
    context.count('process: stopped')
    const how = ended === null ? 'did not end' : `ended with ${ended.signal ?? `code ${ended.code}`}`
    const took = `${Math.round(performance.now() - startedAt)} ms after SIGTERM`
    // What it has under way cannot be finished while the database is lost: it gives up at its limit, and reports that.
    const isExcused = ended?.code === 1 && (wasLost || context.world.cluster?.busy === true)
    if (ended?.code !== 0 && !isExcused) context.wrong.push(`service ${service.name} ${how}, ${took}`)
    await startAgain(context, service)
  })
}

async function crashDatabase({ world, count }: FaultContext): Promise<void> {
  const { postgres } = world
  if (postgres.kind !== 'server') return
  await alone(postgres, async () => {
    await postgres.crash()
    count('database: crashed')
  })
}

async function endSession(context: FaultContext): Promise<void> {
  if (await isSessionEnded(context)) context.count('database: sessions ended')
}

/** So close that errors also arrive on connections that pass from one statement to the next. */
async function endManySessions(context: FaultContext): Promise<void> {
  const { random, count } = context
  const wanted = random.integer(60, 160)
  // The database may be down, and a service that starts needs its sessions at last.
  const endMs = performance.now() + longestRowMs
  let ended = 0
  while (ended < wanted && performance.now() < endMs) {
    if (await isSessionEnded(context)) ended += 1
    await sleep(random.integer(1, 6))
  }
  count('sessions ended in a row', ended)
  if (ended >= leastInARow) count('database: many sessions ended in a row')
}

/** Ends a session of a service: the campaign needs its own. */
async function isSessionEnded({ world, random }: FaultContext): Promise<boolean> {
  const text = `select pg_terminate_backend(pid) as ended
    from (select pid from pg_stat_activity where application_name = 'service' order by md5(pid::text || $1) limit 1) victim`
  // None of it happens while the database is down.
  const [row] = await world.books.query<{ ended: boolean }>(text, [`${random.integer(0, 2 ** 31)}`]).catch(() => [])
  return row?.ended === true
}

async function lockAccounts({ world, count }: FaultContext): Promise<void> {
  await alone(world.postgres, async () => {
    const client = await world.books.pool.connect().catch((error) => {
      if (!world.isSpread) throw error
    })
    if (!client) return
    try {
      await client.query('begin')
      await client.query(`set local lock_timeout = '5s'`)
      await client.query('lock table accounts in access exclusive mode')
      await client.query('select pg_sleep(1)')
      await client.query('commit')
      count('database: accounts locked')
    } catch (error) {
      // One of its servers has crashed meanwhile.
      if (!world.isSpread) throw error
    } finally {
      // Not back into the pool: a transaction may be open.
      client.release(true)
    }
  })
}

export async function killGateway({ world, gatewayFaults, random, count }: FaultContext<World>): Promise<void> {
  await alone(world.gateway, async () => {
    await gatewayFaults.remember()
    await world.gateway.kill()
    count('gateway: killed')
    await sleep(random.integer(2_000, 8_000))
    await world.gateway.start()
  })
}

export async function freezeGateway({ world, random, count }: FaultContext<World>): Promise<void> {
  await alone(world.gateway, async () => {
    world.gateway.signal('SIGSTOP')
    await sleep(random.integer(1_000, 4_000))
    world.gateway.signal('SIGCONT')
    count('gateway: frozen')
  })
}

/** Parts that do not add up leave a discrepancy at each order, for a person: they would hide another one. */
const { easyPayParts: _, ...drawn } = behaviours

/** Behaviours that the real gateway does not document, set at random; a restart resets them. */
export async function changeBehaviour({ world, random, count }: FaultContext<World>): Promise<void> {
  const chosen = Object.entries(drawn).map(([name, values]) => [name, values[random.integer(0, values.length - 1)]])
  const changed = await world.gateway.control('PUT', '/sandbox/behaviour', Object.fromEntries(chosen))
  if (changed) count('gateway: behaviour changed')
}

export async function redirectWebhooks({ world, random, count }: FaultContext<World>): Promise<void> {
  const { webhookUrl: url } = world.services[random.integer(0, 1) as 0 | 1]
  if (await world.gateway.control('PUT', '/sandbox/webhook', { url })) count('gateway: webhooks redirected')
}

/** Deliveries are retried, and no event overtakes one that was not accepted. */
export async function disableConsumer({ world: { consumer }, random, count }: FaultContext<World>): Promise<void> {
  await alone(consumer, async () => {
    await consumer.beUnavailable(random.pick(outages), random.integer(1_500, 6_000))
    count('consumer: unavailable')
  })
}
