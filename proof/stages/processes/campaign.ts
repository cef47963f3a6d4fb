// A campaign from start to verdict: warm up, inject every fault at once, stop the faults, wait until nothing is left to
// do, read everything over HTTP, and check every recorded answer against the books and the gateway's journal.
import { setTimeout as sleep } from 'node:timers/promises'
import { findCitus } from '../../../harness/citus/citus.ts'
import { drops } from '../../faults.ts'
import { type Driver, startDriver } from '../../model/actions/driver.ts'
import { createExchanger, dropCauses, type Exchanger } from '../../model/actions/exchange.ts'
import { type OutsideActions, startOutsideActions } from '../../model/actions/outside-actions.ts'
import { checkEverything, type Ended } from '../../model/checks/all.ts'
import { gatherEvidence } from '../../model/checks/evidence.ts'
import { startWatch, type Watch } from '../../model/checks/money/watch.ts'
import { countFigures } from '../../model/figures.ts'
import { createHistory, type History, writeLines } from '../../model/history.ts'
import { createConsoleClient, type Operator } from '../../model/operators/console-client.ts'
import { readFinalPages } from '../../model/operators/final-pages.ts'
import { type Operators, startOperators } from '../../model/operators/operators.ts'
import { createOperators, signInAll } from '../../model/operators/sign-in.ts'
import { readEverything, settleDown } from '../../model/settle.ts'
import { findMissing, verdictOf } from '../../report/enough.ts'
import type { CampaignResult } from '../../report/report.ts'
import { openPlatform, type Platform } from '../../world/platform.ts'
import { type Server, startPostgres } from '../../world/postgres.ts'
import { openShop, type Shop } from '../../world/shop.ts'
import { type ProcessWorld, startWorld } from '../../world/world.ts'
import { type SpreadDatabase, startSpreadDatabase } from '../citus.ts'
import { findPrograms } from '../patroni/packages.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../patroni/patroni.ts'
import { faultsOf } from './faults.ts'
import { createGatewayFaults, type GatewayFaults } from './gateway-faults.ts'
import { createInjector, type Injector, planFaults } from './injector.ts'

export type DatabaseChoice = { kind: 'server' } | { kind: 'citus' } | ({ kind: 'patroni' } & ClusterOptions)

export type CampaignWorld = ProcessWorld<Server | Cluster | SpreadDatabase>

export type CampaignOptions = {
  seed: number
  database?: DatabaseChoice
  minutes: number
  /** How many customers act at once. */
  clients: number
  keep: boolean
  logLine(line: string): void
  stopped: AbortSignal
}

const customers = 60
const pauseMs = 90
const maxConnections = 400
/** The share of the load that comes before the first fault. */
const warmShare = 0.08
/** The share of event deliveries that fail while there are faults. */
const failShare = 0.04
const logEveryMs = 5_000

type Stage = {
  options: CampaignOptions
  world: CampaignWorld
  shop: Shop
  platform: Platform
  operators: Operator[]
  history: History
  exchanger: Exchanger
  injector: Injector
  gatewayFaults: GatewayFaults
}

type Load = { driver: Driver; outside: OutsideActions; staff: Operators; faultsFromMs: number }

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { logLine, seed, database = { kind: 'server' } } = options
  if (database.kind === 'patroni') findPrograms(database.patroni)
  if (database.kind === 'citus') findCitus()
  const world: CampaignWorld = await startWorld({
    seed,
    startDatabase: (directory) => startDatabase(directory, database),
  })
  const { postgres, directory } = world
  logLine(`seed ${seed}: ${postgres.description}, the gateway and two services run in ${directory}`)
  if (postgres.kind === 'patroni' && postgres.lacksDisk)
    logLine('no disk is filled: only root can mount one for each node')
  let keep = true
  try {
    const report = await runIn(world, options)
    keep = options.keep || report.verdict !== 'PASSED'
    return { ...report, directory: keep ? world.directory : null }
  } finally {
    await world.stopProcesses()
    // A run stopped by hand leaves nothing to look at.
    if (!keep || options.stopped.aborted) world.removeDirectory()
    else logLine(`history, logs and journal are in ${world.directory}`)
  }
}

function startDatabase(directory: string, choice: DatabaseChoice): Promise<CampaignWorld['postgres']> {
  if (choice.kind === 'patroni') return startCluster(directory, choice)
  return choice.kind === 'citus' ? startSpreadDatabase(directory) : startPostgres(directory)
}

async function runIn(world: CampaignWorld, options: CampaignOptions): Promise<CampaignResult> {
  await using parts = new AsyncDisposableStack()
  const startedAt = new Date()
  const shop = await openShop(world, customers)
  parts.defer(() => shop.close())
  await world.consumer.register(shop.database, world.peppers)
  const platform = await openPlatform(world, shop)
  parts.defer(() => platform.close())
  const operators = await createOperators(world, shop)
  const history = createHistory(writeLines(world.historyFile))
  parts.defer(() => history.close())
  world.consumer.note = (event, fields) => history.note(event, fields)
  const exchanger = createExchanger(maxConnections)
  parts.defer(async () => exchanger.close())
  const gatewayFaults = createGatewayFaults(world.gateway, options.seed * 31 + 7, options.stopped)
  const injector = createInjector(world, gatewayFaults, history)
  const stage = { options, world, shop, platform, operators, history, exchanger, injector, gatewayFaults }
  const watch = startWatch(world.books, shop.database, options.stopped)
  const loaded = await load(stage)
  const quiet = await settleDown({ ...stage, ...options })
  await readEverything({ ...stage, ...options })
  const finalPages = await readFinalPages(world, loaded.staff, startedAt, options.stopped)
  await watch.finish()
  return await conclude(stage, loaded, watch, { ...quiet, finalPages })
}

/** All of the load and all of the faults, for `minutes`. */
async function load(stage: Stage): Promise<Load> {
  const { options, world, history, shop, injector, gatewayFaults } = stage
  const durationMs = options.minutes * 60_000
  const warmMs = Math.round(durationMs * warmShare)
  let faulty = false
  const mayDrop = () => faulty
  const console = createConsoleClient({ ...stage, mayDrop })
  await signInAll(world, console, stage.operators, options.stopped)
  using _progress = startProgress(stage)
  const driver = startDriver({ ...stage, ...options, pauseMs, mayDrop })
  const staff = startOperators({ ...stage, ...options, console, mayDrop })
  await sleep(warmMs, undefined, { signal: options.stopped })
  const faultsFromMs = history.nowMs()
  faulty = true
  const outside = startOutsideActions({ ...stage, ...options, seed: options.seed * 17 + 3, count: injector.count })
  world.consumer.failShare = failShare
  const rotating = rotateSecret(stage, (durationMs - warmMs) / 2)
  const injecting = gatewayFaults.inject()
  const plan = planFaults(options.seed, durationMs - warmMs, faultsOf(world.postgres))
  await injector.run(plan, durationMs - warmMs, options.stopped)
  faulty = false
  world.consumer.failShare = 0
  await gatewayFaults.stop()
  await Promise.all([injecting, rotating])
  options.logLine(`faults off after ${history.calls.length} calls and ${shop.orders.size} orders: waiting for quiet`)
  await Promise.all([driver.finish(), outside.finish(), staff.finish()])
  return { driver, outside, staff, faultsFromMs }
}

const rotationPauseMs = 500

/** Once, half way; the consumer accepts both secrets. Retried while the database is down. */
async function rotateSecret({ world, shop, options, history }: Stage, afterMs: number): Promise<void> {
  await sleep(afterMs, undefined, { signal: options.stopped }).catch(() => undefined)
  while (world.consumer.rotatedAt === null && !options.stopped.aborted) {
    await world.consumer.rotate(shop.database, world.peppers).catch(() => sleep(rotationPauseMs))
  }
  history.note('secret rotated')
}

async function conclude(
  { options, world, shop, history, injector, gatewayFaults }: Stage,
  { driver, outside, staff, faultsFromMs }: Load,
  watch: Watch,
  quiet: Ended,
): Promise<CampaignResult> {
  const { seed, minutes } = options
  const { wrong } = driver.siblings
  const reversals = [...outside.reversals, ...staff.reversals]
  const evidence = await gatherEvidence(world, shop, {
    calls: history.calls,
    reversals,
    adjustmentCalls: outside.adjustmentCalls,
    suspensions: outside.suspensions,
    consoleCalls: staff.console.calls,
  })
  const firedAtGateway = gatewayFaults.fired()
  const checks = await checkEverything({
    world,
    evidence,
    watch,
    quiet,
    lies: gatewayFaults.lies(),
    endedWrongly: injector.wrong,
    answeredWrongly: [...outside.wrong, ...staff.wrong, ...wrong, ...driver.failures],
  })
  const figures = await countFigures(world, evidence, faultsFromMs)
  const fired = { ...Object.fromEntries(injector.counts), ...countDrops(history), ...totals(firedAtGateway) }
  const { kind } = world.postgres
  const stage = kind === 'server' ? 'processes' : kind
  const missing = findMissing(stage, minutes, faultsOf(world.postgres), fired, figures)
  const quietSeconds = Math.round(quiet.tookMs / 100) / 10
  return {
    seed,
    minutes,
    fired,
    gatewayFaults: firedAtGateway,
    checks,
    missing,
    directory: null,
    verdict: verdictOf(checks, missing),
    figures: {
      ...figures,
      'quiet after the faults in seconds': quietSeconds,
      'snapshots of the books': watch.counts.snapshots,
    },
  }
}

function countDrops({ calls }: History): Record<string, number> {
  const dropped = Map.groupBy(calls, ({ outcome }) => (outcome.kind === 'info' ? outcome.cause : ''))
  const named = drops.map((kind) => [`caller: connection dropped ${kind}`, dropped.get(dropCauses[kind])?.length ?? 0])
  return Object.fromEntries(named)
}

function totals(gatewayFaults: { on: string; kind: string; times: number }[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { on, kind, times } of gatewayFaults) {
    const name = `${on === 'webhook' ? 'webhook' : 'gateway'} ${kind}`
    sums[name] = (sums[name] ?? 0) + times
  }
  return sums
}

function startProgress({ options, history, shop, injector }: Stage): Disposable {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const { counts } = injector
    const killed = counts.get('process: killed') ?? 0
    const crashed = counts.get('database: crashed') ?? counts.get('database: primary lost') ?? 0
    options.logLine(
      `${seconds} s: ${history.calls.length} calls, ${shop.orders.size} orders, ${killed} kills, ${crashed} database crashes`,
    )
  }, logEveryMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
