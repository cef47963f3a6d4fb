// One table of faults: where each takes effect, which stages can do it, how often, and of how many a run has to have seen to
// prove anything. What each does is in the stages: a campaign (`stages/processes`, `patroni`, `citus`) applies it to processes, the
// simulation to its own, and `calls` to one call of the database or the gateway.
import { faultKinds, type Operation, webhookFaultKinds } from '../sandbox/faults/faults.ts'

/** Seconds between two, least and most; with fewer in a minute a campaign proves nothing. */
export type Schedule = { every: [least: number, most: number]; leastPerMinute: number }

type Fault = {
  /** In every campaign; or only where the database is one server, a cluster under Patroni, or spread by Citus. */
  campaign?: Schedule
  processes?: Schedule
  patroni?: Schedule
  citus?: Schedule
  /** Applied by a campaign all the time: how likely a refill adds one, and how many may wait at the gateway. */
  refill?: { share: number; atMost: number }
  /** How often a simulation draws it among those of its place; 0: only where a scene needs it. */
  simulated?: number
  calls?: true
  /** What it does, where it is counted by that. */
  effects?: readonly string[]
  /** How it is done: a campaign, some only if it is long, has to have each. */
  kinds?: readonly string[]
}

const unique = (names: string[]) => [...new Set(names)]
const answersTo = (on: Operation) =>
  Object.entries(faultKinds).flatMap(([kind, effect]) => (effect.on.includes(on) ? [`gateway ${kind}`] : []))
const webhooks = webhookFaultKinds.map((kind) => `webhook ${kind}`)
const lostAnswers = ['reset-after', 'hang-after', 'error-after', 'html-after', 'truncated-after', 'empty-after']
const schedule = (least: number, most: number, leastPerMinute: number): Schedule => ({
  every: [least, most],
  leastPerMinute,
})

export const faults = {
  process: {
    killed: { campaign: schedule(3.5, 6.5, 3), simulated: 5 },
    'both killed': { simulated: 1 },
    paused: { simulated: 4 },
    'paused past its lease': { campaign: schedule(16, 24, 1), simulated: 4 },
    /** The one that was last asked for a confirm or cancel. */
    'paused in its call': { simulated: 0 },
    stopped: { campaign: schedule(20, 32, 1), simulated: 2 },
    'clock jumps': { simulated: 2 },
    /** Its timers fire late. */
    starved: { simulated: 2 },
  },
  database: {
    crashed: { processes: schedule(7, 12, 2) },
    'answers lost': { simulated: 4, effects: ['database reset-after'] },
    'statements lost': { simulated: 3, effects: ['database reset-before'] },
    'sessions ended': { campaign: schedule(1.5, 3, 4), simulated: 3, effects: ['database ended'] },
    'many sessions ended in a row': { campaign: schedule(14, 24, 0.5) },
    'accounts locked': { campaign: schedule(14, 22, 1), simulated: 3, effects: ['database locked'] },
    away: { simulated: 3, effects: ['database away'] },
    slow: { simulated: 2, effects: ['database delay-answer'] },
    'slow for the platform': { simulated: 0, effects: ['database delay-answer'] },
    'clock jumps': { simulated: 2 },
    'primary lost': {
      patroni: schedule(3, 8, 0.5),
      kinds: [
        'primary switched over',
        'PostgreSQL of the primary killed',
        'Patroni of the primary killed',
        'primary killed with its Patroni',
        'Patroni of the primary frozen past its lease',
        'primary frozen past its lease',
        'primary cut off from etcd and the standbys',
        'disk of the primary full',
        'standby killed',
        'waiting commits cancelled, then the primary killed',
        'waiting commits cancelled',
      ],
    },
    'group moved': { citus: schedule(4, 9, 1) },
    'worker crashed': { citus: schedule(12, 20, 1) },
    'coordinator crashed': { citus: schedule(25, 40, 0.5) },
  },
  gateway: {
    'fault on confirm': { refill: { share: 1, atMost: 3 }, simulated: 6, effects: answersTo('confirm') },
    'fault on cancel': { refill: { share: 0.5, atMost: 1 }, simulated: 3, effects: answersTo('cancel') },
    'fault on lookup': { refill: { share: 0.6, atMost: 2 }, simulated: 5, effects: answersTo('lookup') },
    'fault on transactions': { refill: { share: 0.2, atMost: 1 }, simulated: 1, effects: answersTo('transactions') },
    'fault on webhook': { refill: { share: 1, atMost: 3 }, simulated: 4, effects: webhooks },
    'behaviour changed': { campaign: schedule(5, 12, 2), simulated: 2 },
    'webhooks redirected': { campaign: schedule(2, 5, 3), simulated: 2 },
    frozen: { campaign: schedule(20, 34, 1), simulated: 2 },
    killed: { campaign: schedule(24, 36, 1), simulated: 1 },
    'answer to a confirm lost': { simulated: 0, effects: lostAnswers.map((kind) => `gateway ${kind}`) },
    'notification lost': { simulated: 0, effects: ['webhook drop'] },
    'lookup lies': { simulated: 0, effects: ['gateway other-order-after'] },
    'slow confirms': { simulated: 0, effects: ['gateway delay-after'] },
    'slow cancels': { simulated: 0, effects: ['gateway delay-after'] },
    'unconfirmed payments not found': { simulated: 0, effects: [] },
  },
  network: {
    slow: { simulated: 3, effects: ['network delay', 'network delay-answer'] },
    cut: { simulated: 3, effects: ['network refuse', 'network reset-before', 'network reset-after'] },
    doubled: { simulated: 3, effects: ['network double'] },
    reordered: { simulated: 3, effects: ['network delay'] },
    'held back': { simulated: 2, effects: ['network hold', 'network hold-answer'] },
    'held back before the gateway': { simulated: 0, effects: ['network hold'] },
  },
  consumer: {
    unavailable: {
      campaign: schedule(7, 13, 2),
      simulated: 5,
      kinds: [
        'fails',
        'answers with Retry-After',
        'redirects',
        'hangs',
        'answers too late',
        'closes the connection',
        'closes the connection in its answer',
        'does not listen',
      ],
    },
    'deliveries fail': { simulated: 4 },
  },
  /** A customer's program. */
  caller: {
    'drops its connection': { kinds: ['mid-request', 'before-answer', 'mid-answer'] },
  },
  /** At one call of a process to the database or the gateway; `before` its effect, or `after` it and before its answer. */
  call: {
    'killed-before': { calls: true },
    'killed-after': { calls: true },
    /** Without an effect: a lost connection, or no answer from the gateway. */
    'reset-before': { calls: true },
    /** The commit in doubt, the captured payment. */
    'reset-after': { calls: true },
    /** The same, and every later call fails, too. */
    away: { calls: true },
    /** Until the others are done; then it goes on. */
    'paused-before': { calls: true },
    'paused-after': { calls: true },
  },
} as const satisfies Record<string, Record<string, Fault>>

export type Place = keyof typeof faults

/** The kinds of a place that have one of these fields. */
export type KindsWith<At extends Place, Field extends keyof Fault> = {
  [Kind in keyof (typeof faults)[At]]: Field extends keyof (typeof faults)[At][Kind] ? Kind : never
}[keyof (typeof faults)[At]]

export type FailoverKind = (typeof faults.database)['primary lost']['kinds'][number]
export type Outage = (typeof faults.consumer)['unavailable']['kinds'][number]
export const drops = faults.caller['drops its connection'].kinds
export type Drop = (typeof drops)[number]
export type CallFault = keyof typeof faults.call

/** `name`: of place and kind, by which it is counted. */
export type FaultRow = Fault & { place: Place; kind: string; name: string }

export const faultRows: FaultRow[] = Object.entries(faults).flatMap(([place, ofPlace]) =>
  Object.entries<Fault>(ofPlace).map(([kind, fault]) => ({
    ...fault,
    place: place as Place,
    kind,
    name: `${place}: ${kind}`,
  })),
)

/** What the gateway does to its answers and webhooks: "gateway delay", "webhook drop". */
export const effectsAtGateway = unique(
  faultRows.flatMap(({ place, effects = [] }) => (place === 'gateway' ? effects : [])),
)

/** A figure of a simulated run whose name begins with it counts a fault that took effect. */
export const effectPrefix = 'effect: '

/** By what the faults of the simulation are counted. */
export const simulatedEffects = unique(
  faultRows.flatMap(({ simulated, effects, name }) => (simulated === undefined ? [] : (effects ?? [name]))),
)
