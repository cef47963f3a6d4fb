// The faults of a simulated run, by who has them: the gateway's own and those of processes as in the campaign; those of the
// network, of the database and of clocks by the scheduler. Each ends by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../../harness/random.ts'
import { effectPrefix, faults, type KindsWith, type Place } from '../../../faults.ts'
import type { GatewayFault } from '../../../world/gateway.ts'
import { limits } from '../../../world/settings.ts'
import { anyOf } from '../../../world/shop.ts'
import type { World } from '../../../world/world.ts'
import {
  changeBehaviour,
  clockShifted,
  disableConsumer,
  type FaultContext,
  freezeGateway,
  killGateway,
  killServices,
  pauseService,
  redirectWebhooks,
  stopService,
} from '../../processes/faults.ts'
import { delayOf, kindsIn } from '../../processes/gateway-faults.ts'
import { databaseName } from '../core/network/connections.ts'
import type { Fault as NetworkFault } from '../core/network/faults.ts'
import type { Actor } from '../plan/steps.ts'
import { gatewayName } from '../world/gateway.ts'
import { clockSpreadMs, consumerName } from '../world/world.ts'
import type { Stage } from './stage.ts'

/** `tookEffect`: called when it has; those of messages and statements are counted where they do. */
type FaultAction = (stage: Stage, random: Random, tookEffect: () => void) => Promise<void>

type Simulated<At extends Place> = Record<KindsWith<At, 'simulated'>, FaultAction>

export const loadName = 'load'
const services = ['a', 'b'] as const

/** Whatever the campaign counts is the fault itself, or the wrong clock of a start after it. */
const asInCampaign =
  (apply: (context: FaultContext<World>) => Promise<void>): FaultAction =>
  (stage, random, tookEffect) => {
    const count = (name: string) => (name === clockShifted ? stage.count(name) : tookEffect())
    return apply({ ...stage, random, wrong: stage.endedWrongly, count })
  }

/** Added to those that wait at the sandbox. */
async function addGatewayFaults({ world, count }: Stage, added: GatewayFault[]): Promise<void> {
  const waiting = await world.gateway.control<GatewayFault[]>('GET', '/sandbox/faults')
  if (!waiting) return
  await world.gateway.control('PUT', '/sandbox/faults', [...waiting, ...added])
  for (const { on, kind } of added) count(`${on} ${kind}`)
}

const kindsOf = (fault: keyof typeof faults.gateway) => {
  const row = faults.gateway[fault]
  return 'effects' in row ? kindsIn(row.effects) : []
}

function faultOn(on: 'confirm' | 'cancel' | 'lookup' | 'transactions' | 'webhook'): FaultAction {
  const kinds = kindsOf(`fault on ${on}`)
  return async (stage, random) => {
    const kind = anyOf(random, kinds) ?? ''
    const delay = kind.startsWith('delay') ? { delayMs: delayOf(random, on) } : {}
    await addGatewayFaults(stage, [{ on, kind, times: random.integer(1, 2), ...delay }])
  }
}

const lostAnswers = kindsOf('answer to a confirm lost')

const ofGateway: Simulated<'gateway'> = {
  'fault on confirm': faultOn('confirm'),
  'fault on cancel': faultOn('cancel'),
  'fault on lookup': faultOn('lookup'),
  'fault on transactions': faultOn('transactions'),
  'fault on webhook': faultOn('webhook'),
  'answer to a confirm lost': (stage, random) =>
    addGatewayFaults(stage, [{ on: 'confirm', kind: anyOf(random, lostAnswers) ?? '', times: 1 }]),
  'notification lost': (stage) => addGatewayFaults(stage, [{ on: 'webhook', kind: 'drop', times: 1 }]),
  'lookup lies': (stage) => addGatewayFaults(stage, [{ on: 'lookup', kind: 'other-order-after', times: 1 }]),
  'slow confirms': (stage, random) =>
    addGatewayFaults(stage, [{ on: 'confirm', kind: 'delay-after', times: 2, delayMs: random.integer(800, 1_400) }]),
  'slow cancels': (stage, random) =>
    addGatewayFaults(stage, [{ on: 'cancel', kind: 'delay-after', times: 2, delayMs: random.integer(800, 1_400) }]),
  /** Until the behaviour is changed again. */
  async 'unconfirmed payments not found'({ world }) {
    await world.gateway.control('PUT', '/sandbox/behaviour', { unconfirmedLookup: 'not-found' })
  },
  'behaviour changed': asInCampaign(changeBehaviour),
  'webhooks redirected': asInCampaign(redirectWebhooks),
  frozen: asInCampaign(freezeGateway),
  killed: asInCampaign(killGateway),
}

/** Where messages may go wrong. */
const pairs: [from: string, to: string][] = [
  [loadName, 'a'],
  [loadName, 'b'],
  ['a', gatewayName],
  ['b', gatewayName],
  [gatewayName, 'a'],
  [gatewayName, 'b'],
  ['a', consumerName],
  ['b', consumerName],
]
/**
 * A customer's request has no name by which a second one is known, unless the customer gives it one: those are sent twice by
 * the load.
 */
const repeatable = pairs.filter(([from]) => from !== loadName)

const toGateway = pairs.filter(([, to]) => to === gatewayName)

const someMs = { least: 500, most: 6_000 }

async function forSomeTime(random: Random, remove: () => void): Promise<void> {
  await sleep(random.integer(someMs.least, someMs.most))
  remove()
}

/** For a while, between two of the pairs. */
function onNetwork(
  among: typeof pairs,
  faultsOf: (random: Random) => Omit<NetworkFault, 'from' | 'to'>[],
): FaultAction {
  return async ({ simulation }, random) => {
    const [from, to] = anyOf(random, among) ?? ['a', gatewayName]
    const active = faultsOf(random).map((fault) => simulation.network.fault({ ...fault, from, to }))
    await forSomeTime(random, () => {
      for (const fault of active) fault.remove()
    })
  }
}

const ofNetwork: Simulated<'network'> = {
  slow: onNetwork(pairs, (random) => [
    { kind: 'delay', ms: random.integer(50, 2_500), chance: 0.5 },
    { kind: 'delay-answer', ms: random.integer(50, 2_500), chance: 0.5 },
  ]),
  cut: onNetwork(pairs, (random) => [
    { kind: random.pick(['reset-before', 'reset-after', 'refuse']), times: random.integer(1, 6) },
  ]),
  doubled: onNetwork(repeatable, (random) => [{ kind: 'double', ms: random.integer(1, 3_000), chance: 0.7 }]),
  reordered: onNetwork(pairs, (random) => [{ kind: 'delay', ms: random.integer(300, 1_500), chance: 0.5 }]),
  /** For longer than a service waits for the gateway: it arrives when the caller has given up. */
  'held back before the gateway': onNetwork(toGateway, () => [{ kind: 'hold' }]),
  'held back': onNetwork(pairs, (random) =>
    random
      .pick<NetworkFault['kind'][]>([['hold'], ['hold'], ['hold-answer'], ['hold', 'hold-answer']])
      .map((kind) => ({ kind })),
  ),
}

function atDatabase(faultOfRandom: (random: Random) => Omit<NetworkFault, 'from' | 'to'>): FaultAction {
  return async ({ simulation }, random) => {
    const from = random.pick([...services, loadName, undefined])
    const fault = { ...faultOfRandom(random), to: databaseName, ...(from && { from }) }
    await forSomeTime(random, simulation.network.fault(fault).remove)
  }
}

const slowPlatformMs = 5_000

const ofDatabase: Simulated<'database'> = {
  'answers lost': atDatabase((random) => ({ kind: 'reset-after', times: random.integer(1, 5) })),
  'statements lost': atDatabase((random) => ({ kind: 'reset-before', times: random.integer(1, 5) })),
  slow: atDatabase((random) => ({ kind: 'delay-answer', ms: random.integer(100, 2_500), chance: 0.5 })),
  /** So that others come between two statements of what the platform does. */
  async 'slow for the platform'({ simulation }, random) {
    const ms = random.integer(300, 600)
    const { remove } = simulation.network.fault({ kind: 'delay-answer', from: loadName, to: databaseName, ms })
    await sleep(slowPlatformMs)
    remove()
  },
  /** While they have nothing to do, or in a statement, which is rolled back. */
  async 'sessions ended'({ simulation: { database } }, random) {
    const from = random.pick(services)
    const times = random.integer(1, 4)
    if (random.chance(0.5)) return forSomeTime(random, database.fault({ kind: 'ended', from, times }))
    for (let left = times; left > 0; left -= 1) {
      database.endSession(from, random.integer(0, 99))
      await sleep(random.integer(0, 500))
    }
  },
  /** For longer than a statement waits for a lock. */
  async 'accounts locked'({ simulation: { database } }, random) {
    const times = random.integer(1, 4)
    const from = random.pick(services)
    await forSomeTime(random, database.fault({ kind: 'locked', from, times, about: /\baccounts\b/ }))
  },
  async away({ simulation }, random) {
    const forMs = random.integer(100, 6_000)
    simulation.database.away(forMs)
    await sleep(forMs)
  },
  /** Stays where it is until the next jump. */
  async 'clock jumps'({ simulation }, random, tookEffect) {
    simulation.database.clock.skewMs = random.integer(-clockSpreadMs / 2, clockSpreadMs / 2)
    tookEffect()
  },
}

/** One that has another fault is left alone: SIGTERM, for one, is for a process that runs. */
async function pauseFor(
  victim: World['services'][number] | World['gateway'],
  forMs: number,
  tookEffect: () => void,
): Promise<void> {
  if (victim.busy) return
  victim.busy = true
  victim.signal('SIGSTOP')
  tookEffect()
  await sleep(forMs)
  victim.signal('SIGCONT')
  victim.busy = false
}

const killed = asInCampaign(killServices)

const ofProcess: Simulated<'process'> = {
  killed,
  async 'both killed'(stage, random, tookEffect) {
    let kills = 0
    const count = () => {
      kills += 1
      if (kills === services.length) tookEffect()
    }
    await Promise.all(services.map(() => killed(stage, random, count)))
  },
  stopped: asInCampaign(stopService),
  'paused past its lease': asInCampaign(pauseService),
  /** The one that was last asked for a confirm or cancel, for so long that another finishes what it has begun. */
  async 'paused in its call'({ world }, random, tookEffect) {
    const line = world.lines.findLast(({ type, op }) => type === 'invoke' && (op === 'confirm' || op === 'cancel'))
    const service = world.services.find(({ name }) => name === line?.service)
    if (service) await pauseFor(service, limits.operationLeaseMs + random.integer(1_500, 4_000), tookEffect)
  },
  async paused({ world }, random, tookEffect) {
    await pauseFor(
      random.pick([...world.services, world.gateway]),
      random.integer(1, random.pick([200, 3_000, 30_000])),
      tookEffect,
    )
  },
  /** A start sets the clock again. */
  async 'clock jumps'({ simulation }, random, tookEffect) {
    const longestMs = random.pick([2_000, 1_800_000, 90_000_000])
    const process = simulation.process(random.pick(services))
    process.skewMs = random.integer(-longestMs, longestMs)
    if (process.isRunning) tookEffect()
  },
  async starved({ simulation }, random, tookEffect) {
    const process = simulation.process(random.pick(services))
    process.starve(random.pick([3, 10, 20]))
    if (process.isRunning && !process.isPaused) tookEffect()
    await sleep(random.integer(2_000, 20_000))
    process.starve(0)
    simulation.fireLateTimers()
  },
}

const failShare = 0.5

const ofConsumer: Simulated<'consumer'> = {
  unavailable: asInCampaign(disableConsumer),
  /** Some of them, among others that it accepts. */
  async 'deliveries fail'({ world: { consumer } }, random, tookEffect) {
    if (consumer.busy) return
    consumer.busy = true
    consumer.failShare = failShare
    tookEffect()
    await sleep(random.integer(1_500, 8_000))
    consumer.failShare = 0
    consumer.busy = false
  },
}

const tables: Partial<Record<Actor, Record<string, FaultAction>>> = {
  gateway: ofGateway,
  network: ofNetwork,
  database: ofDatabase,
  process: ofProcess,
  consumer: ofConsumer,
}

export function faultOf(actor: Actor, what: string): ((stage: Stage, random: Random) => Promise<void>) | undefined {
  const fault = tables[actor]?.[what]
  return fault && ((stage, random) => fault(stage, random, () => stage.count(`${effectPrefix}${actor}: ${what}`)))
}
