// Scenes: a few steps close together, where a fault is aimed at the moment of an action. Rare cases need two or three things
// within a second, which steps at independent times almost never are.
import type { Random } from '../../../../harness/random.ts'
import { faultRows, type Place } from '../../../faults.ts'
import { anyOf } from '../../../world/shop.ts'
import type { Actor } from './steps.ts'

/** `atMs` is from the beginning of the scene. */
export type Planned = { atMs: number; actor: Actor; what: string }
type Scene = (random: Random) => Planned[]

const leaseMs = 3_000

function weightedOf<Name extends string>(weights: Record<Name, number>): Name[] {
  return (Object.entries(weights) as [Name, number][]).flatMap(([name, weight]) => Array<Name>(weight).fill(name))
}

const customerActions = weightedOf({
  purchase: 8,
  confirm: 9,
  cancel: 5,
  'read status': 3,
  'read balance': 3,
  'read with a former key': 1,
  'read packages': 1,
  'send an invalid request': 1,
})
const serviceActions = weightedOf({ spend: 5, hold: 6, reverse: 3, receipt: 4 })
const operatorActions = weightedOf({
  settle: 4,
  refund: 5,
  'resend events': 2,
  reconcile: 1,
  'resolve one': 2,
  rotate: 3,
  'issue and suspend': 2,
  'suspend for a while': 3,
  'read story': 2,
  'read page': 2,
  'read home': 1,
  'read customer': 1,
  search: 2,
  'sign out and in': 1,
  'send forbidden': 1,
})
const platformActions = weightedOf({
  'platform refund': 4,
  'refund of the unused part': 6,
  'refund by command': 2,
  'reconciliation by command': 1,
  'dashboard cancel': 4,
  'partial cancel': 3,
  'accepted partial cancel': 2,
  'forged notification': 4,
  adjustment: 7,
  'adjustments beyond the daily limit': 2,
  'budget raised': 2,
  'customer suspended': 2,
})
/** As often as the table of faults says. */
const faultsAt = (at: Place) =>
  faultRows.flatMap(({ place, kind, simulated = 0 }) => (place === at ? Array<string>(simulated).fill(kind) : []))
const processFaults = faultsAt('process')

function some(random: Random, count: number, withinMs: number, actor: Actor, names: string[]): Planned[] {
  return Array.from({ length: count }, () => ({
    atMs: random.integer(0, withinMs),
    actor,
    what: anyOf(random, names) ?? '',
  }))
}

/** How close together: at the same moment, within a call, within a lease. */
const window = (random: Random) => random.pick([30, 300, 1_500, 4_000])

const trade: Scene = (random) => {
  const withinMs = window(random)
  return [
    ...some(random, random.integer(1, 4), withinMs, 'customer', customerActions),
    ...some(random, random.integer(1, 4), withinMs, 'service', serviceActions),
  ]
}

const accountActions = ['adjustment', 'adjustments beyond the daily limit', 'customer suspended', 'budget raised']

/** Many services use the credits of few customers. */
const spending: Scene = (random) => [
  ...some(random, random.integer(4, 9), window(random), 'service', serviceActions),
  ...some(random, random.integer(0, 2), 1_000, 'platform', accountActions),
]

/** A fault of any kind during some actions. */
const disturbed: Scene = (random) => {
  const actor = random.pick(['gateway', 'network', 'network', 'database', 'database', 'process'])
  return [...some(random, random.integer(1, 2), 200, actor, faultsAt(actor)), ...trade(random)]
}

/** The answer of the gateway is lost, and the lookup afterwards is disturbed too. */
const lostAnswer: Scene = (random) => [
  { atMs: 0, actor: 'gateway', what: 'answer to a confirm lost' },
  {
    atMs: 5,
    actor: 'gateway',
    what: random.pick(['lookup lies', 'lookup lies', 'fault on lookup', 'fault on webhook', 'notification lost']),
  },
  { atMs: random.integer(50, 300), actor: 'customer', what: random.pick(['confirm', 'confirm and leave']) },
  ...(random.chance(0.4)
    ? some(random, 1, 3_000, 'platform', ['dashboard cancel', 'partial cancel', 'forged notification'])
    : []),
  ...(random.chance(0.3) ? some(random, 1, 3_000, 'customer', ['cancel', 'confirm']) : []),
]

/** A request reaches the gateway after its caller has given up, while others look for its result. */
const lateRequest: Scene = (random) => [
  ...(random.chance(0.5) ? [{ atMs: 0, actor: 'gateway', what: 'unconfirmed payments not found' } as const] : []),
  { atMs: 0, actor: 'network', what: 'held back before the gateway' },
  { atMs: 0, actor: 'network', what: 'held back before the gateway' },
  ...some(random, random.integer(1, 3), 400, 'customer', ['confirm', 'confirm', 'confirm and leave', 'cancel']),
  ...some(random, random.integer(0, 2), 4_000, 'customer', ['confirm', 'cancel', 'read status']),
  ...some(random, random.integer(0, 1), 4_000, 'process', processFaults),
]

/** A process is paused in the middle of a call, for longer than its lease: another one finishes what it had begun. */
const twoFinishers: Scene = (random) => {
  const atMs = random.integer(20, 100)
  const what = random.pick(['confirm', 'confirm and leave', 'cancel', 'cancel and leave'])
  return [
    { atMs: 0, actor: 'gateway', what: what.startsWith('cancel') ? 'slow cancels' : 'slow confirms' },
    { atMs, actor: 'customer', what },
    { atMs: atMs + random.integer(40, 700), actor: 'process', what: 'paused in its call' },
    ...(random.chance(0.5) ? some(random, 1, leaseMs, 'customer', ['cancel', 'confirm', 'read status']) : []),
  ]
}

/** Cancelled in the dashboard before our books have its capture. */
const dashboard: Scene = (random) => {
  const atMs = random.integer(20, 200)
  return [
    { atMs: 0, actor: 'gateway', what: 'answer to a confirm lost' },
    { atMs: 5, actor: 'gateway', what: 'fault on lookup' },
    { atMs, actor: 'customer', what: 'confirm' },
    { atMs: atMs + random.integer(50, 900), actor: 'platform', what: 'last payment cancelled in the dashboard' },
  ]
}

/** Confirms of one order at once, with different payments. */
const rivals: Scene = (random) => [
  { atMs: 0, actor: 'gateway', what: 'slow confirms' },
  { atMs: random.integer(20, 60), actor: 'customer', what: 'rival confirms' },
  ...some(random, random.integer(0, 1), 500, 'process', processFaults),
]

/** Credits move while a refund is computed. */
const movingCredits: Scene = (random) => [
  ...some(random, random.integer(2, 4), 60, 'platform', ['refund of the unused part', 'platform refund', 'adjustment']),
  ...some(random, random.integer(3, 6), 60, 'service', serviceActions),
  ...some(random, random.integer(0, 1), 60, 'customer', ['cancel']),
  ...some(random, random.integer(0, 1), 60, 'operator', ['refund']),
]

/** The same, with so much time between two statements of a refund that spends come in between. */
const slowRefunds: Scene = (random) => [
  { atMs: 0, actor: 'database', what: 'slow for the platform' },
  ...[0, 1_500, 3_000].flatMap((atMs): Planned[] => [
    { atMs, actor: 'platform', what: 'refund of the oldest order' },
    { atMs: atMs + random.integer(400, 1_300), actor: 'service', what: 'spend by the customer of the last refund' },
    { atMs: atMs + random.integer(400, 1_300), actor: 'service', what: 'spend by the customer of the last refund' },
  ]),
]

/** A confirm is on its way to the gateway for longer than its caller waits, and the customer cancels. */
const cancelledOnItsWay: Scene = (random) => [
  { atMs: 0, actor: 'customer', what: 'purchase' },
  { atMs: 900, actor: 'network', what: 'held back before the gateway' },
  { atMs: 950, actor: 'customer', what: 'confirm and leave' },
  { atMs: 950 + random.integer(1_500, 2_500), actor: 'customer', what: 'cancel of the last confirm' },
]

const staff: Scene = (random) => {
  const withinMs = window(random)
  return [
    ...some(random, random.integer(1, 3), withinMs, 'operator', operatorActions),
    ...some(random, random.integer(1, 3), withinMs, 'platform', platformActions),
    ...some(random, random.integer(0, 2), withinMs, 'customer', customerActions),
  ]
}

const consumerFaults = [...faultsAt('consumer'), 'secret rotated']

const consumerAway: Scene = (random) => [...some(random, 1, 0, 'consumer', consumerFaults), ...trade(random)]

const scenes: { weight: number; scene: Scene }[] = [
  { weight: 4, scene: trade },
  { weight: 5, scene: spending },
  { weight: 12, scene: disturbed },
  { weight: 4, scene: lostAnswer },
  { weight: 3, scene: lateRequest },
  { weight: 4, scene: twoFinishers },
  { weight: 2, scene: dashboard },
  { weight: 1, scene: rivals },
  { weight: 3, scene: movingCredits },
  { weight: 3, scene: slowRefunds },
  { weight: 2, scene: cancelledOnItsWay },
  { weight: 5, scene: staff },
  { weight: 3, scene: consumerAway },
]
const drawn = scenes.flatMap(({ weight, scene }) => Array<Scene>(weight).fill(scene))

export function anyScene(random: Random): Planned[] {
  return (anyOf(random, drawn) ?? trade)(random)
}

/** Customers buy, so that there is something to spend. */
export function opening(random: Random): Planned[] {
  const purchases = some(random, random.integer(3, 6), 800, 'customer', ['purchase'])
  const confirms = some(random, purchases.length, 1_500, 'customer', ['confirm'])
  const uses = some(random, 3, 1_500, 'service', serviceActions)
  return [...purchases, ...[...confirms, ...uses].map((step) => ({ ...step, atMs: step.atMs + 900 }))]
}
