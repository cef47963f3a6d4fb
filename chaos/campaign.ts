// A campaign from start to verdict: warm up, let everything go wrong at once, let it clear up, wait until nothing is left
// to do, read everything once more, and hold all that was ever said against the books and the gateway.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../harness/random.ts'
import { checkAnswers } from './checks/answers.ts'
import { checkDesk } from './checks/desk.ts'
import { checkEvents } from './checks/events.ts'
import { type Check, gatherEvidence } from './checks/evidence.ts'
import { checkHome } from './checks/home.ts'
import { checkKeys } from './checks/keys.ts'
import { checkBalances } from './checks/money/balances.ts'
import { checkBooks } from './checks/money/books.ts'
import { checkGateway } from './checks/money/gateway.ts'
import { checkHolds } from './checks/money/holds.ts'
import { checkOrders } from './checks/money/orders.ts'
import { checkPurchases } from './checks/money/purchases.ts'
import { checkSpends } from './checks/money/spends.ts'
import { checkNotifications, findUnheeded } from './checks/notifications.ts'
import { checkReasons } from './checks/reasons.ts'
import { checkSecrets } from './checks/secrets.ts'
import { checkTrail } from './checks/trail.ts'
import { createDeskConsole, type DeskOperator } from './desk/console.ts'
import { type Desk, startDesk } from './desk/desk.ts'
import { type LastLook, takeLastLook } from './desk/last-look.ts'
import { hireOperators, signInAll } from './desk/roster.ts'
import { createNemesis, type Nemesis, planStrikes } from './faults/nemesis.ts'
import { awaitQuiet, type Quiet } from './faults/quiet.ts'
import { startWatch, type Watch } from './faults/watch.ts'
import { createWeather, type Weather } from './faults/weather.ts'
import { countFigures } from './figures.ts'
import { createHistory, type History } from './history.ts'
import { createClient } from './load/client.ts'
import { runReconciliation } from './load/commands.ts'
import { type Driver, startDriver } from './load/driver.ts'
import { createExchanger, dropCauses, drops, type Exchanger } from './load/exchange.ts'
import { type Operator, startOperator } from './load/operator.ts'
import { findMissing, judge, type Report } from './report.ts'
import { openPlatform, type Platform } from './world/platform.ts'
import { openShop, type Shop } from './world/shop.ts'
import { startWorld, type World } from './world/world.ts'

export type CampaignOptions = {
  seed: number
  minutes: number
  keep: boolean
  say(line: string): void
  stopped: AbortSignal
}

const customers = 60
const clients = 28
const pauseMs = 90
const maxConnections = 400
/** The share of the load that comes before the first fault. */
const warmShare = 0.08
const sayEveryMs = 5_000

type Stage = {
  options: CampaignOptions
  world: World
  shop: Shop
  platform: Platform
  operators: DeskOperator[]
  history: History
  exchanger: Exchanger
  nemesis: Nemesis
  weather: Weather
}

type Load = { driver: Driver; operator: Operator; desk: Desk; faultsFromMs: number }
type Settled = Quiet & { unheeded: string[] }
type Ended = Settled & { lastLook: LastLook }

export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const { say } = options
  const world = await startWorld(options.seed)
  say(`seed ${options.seed}: a database, the gateway and two services run in ${world.directory}`)
  let keep = true
  try {
    const report = await runIn(world, options)
    keep = options.keep || report.verdict !== 'PASSED'
    return { ...report, directory: keep ? world.directory : null }
  } finally {
    await world.stopProcesses()
    // What was stopped by hand leaves nothing to look at.
    if (!keep || options.stopped.aborted) world.removeDirectory()
    else say(`history, logs and journal are in ${world.directory}`)
  }
}

async function runIn(world: World, options: CampaignOptions): Promise<Report> {
  await using parts = new AsyncDisposableStack()
  const startedAt = new Date()
  const shop = await openShop(world, customers)
  parts.defer(() => shop.close())
  await world.consumer.register(shop.database, world.peppers)
  const platform = await openPlatform(world, shop)
  parts.defer(() => platform.close())
  const operators = await hireOperators(world, shop)
  const history = createHistory(world.historyFile)
  parts.defer(() => history.close())
  world.consumer.note = (event, fields) => history.note(event, fields)
  const exchanger = createExchanger(maxConnections)
  parts.defer(async () => exchanger.close())
  const weather = createWeather(world.gateway, options.seed * 31 + 7, options.stopped)
  const nemesis = createNemesis(world, weather, history)
  const stage = { options, world, shop, platform, operators, history, exchanger, nemesis, weather }
  const watch = startWatch(world.books, shop.database, options.stopped)
  const loaded = await load(stage)
  const quiet = await settleDown(stage)
  await readEverything(stage)
  const lastLook = await takeLastLook(world, loaded.desk, startedAt, options.stopped)
  await watch.finish()
  return conclude(stage, loaded, watch, { ...quiet, lastLook })
}

/** Everything at once, for as long as was asked for. */
async function load(stage: Stage): Promise<Load> {
  const { options, world, history, shop, nemesis, weather } = stage
  const durationMs = options.minutes * 60_000
  const warmMs = Math.round(durationMs * warmShare)
  let faulty = false
  const mayDrop = () => faulty
  const console = createDeskConsole({ ...stage, mayDrop })
  await signInAll(world, console, stage.operators, options.stopped)
  using _progress = startProgress(stage)
  const driver = startDriver({ ...stage, ...options, clients, pauseMs, mayDrop })
  const desk = startDesk({ ...stage, ...options, console, mayDrop })
  await sleep(warmMs, undefined, { signal: options.stopped })
  const faultsFromMs = history.nowMs()
  faulty = true
  const operator = startOperator({ ...stage, ...options, seed: options.seed * 17 + 3, count: nemesis.count })
  world.consumer.mayStumble = () => faulty
  const rotating = rotateSecret(stage, (durationMs - warmMs) / 2)
  const blowing = weather.blow()
  const plan = planStrikes(options.seed, durationMs - warmMs)
  await nemesis.rage(plan, durationMs - warmMs, options.stopped)
  faulty = false
  await weather.clearUp()
  await Promise.all([blowing, rotating])
  options.say(`faults off after ${history.calls.length} calls and ${shop.orders.size} orders: waiting for quiet`)
  await Promise.all([driver.finish(), operator.finish(), desk.finish()])
  return { driver, operator, desk, faultsFromMs }
}

const rotationPauseMs = 500

/** Once, in the middle of it all; the consumer goes on with both. An operator tries again when the database is away. */
async function rotateSecret({ world, shop, options, history }: Stage, afterMs: number): Promise<void> {
  await sleep(afterMs, undefined, { signal: options.stopped }).catch(() => undefined)
  while (world.consumer.rotatedAt === null && !options.stopped.aborted) {
    await world.consumer.rotate(shop.database, world.peppers).catch(() => sleep(rotationPauseMs))
  }
  history.note('secret rotated')
}

/** The gateway is asked for its own list at the end: what no notification told of is found by that. */
async function settleDown({ world, options, history }: Stage): Promise<Settled> {
  const first = await awaitQuiet(world, options.stopped)
  history.note('quiet', first)
  if (first.stranded.length > 0) return { ...first, unheeded: [] }
  const unheeded = await findUnheeded(world)
  const { code, stdout, stderr } = await runReconciliation(world)
  // 1 with a result: some of what it has reviewed is for a person to look at.
  if (code === null || code > 1 || stdout === '')
    return { ...first, unheeded, stranded: [`reconcile ended with ${code}: ${stderr}`] }
  history.note('reconciled', { result: stdout })
  const second = await awaitQuiet(world, options.stopped)
  options.say(`quiet after ${Math.round(first.tookMs / 1_000)} s, reconciled: reading everything once more`)
  return { ...second, tookMs: first.tookMs, unheeded }
}

/** Every order and every balance, over HTTP. */
async function readEverything(stage: Stage): Promise<void> {
  const { shop, world, options } = stage
  const rows = await world.books.query<{ orderId: string; customerId: string }>(
    `select order_id as "orderId", customer_id as "customerId" from orders`,
  )
  const places = new Map(shop.customers.map(({ customerId, index }) => [customerId, index]))
  const client = createClient({ ...stage, ...options, random: createRandom(options.seed), mayDrop: () => false })
  const queue = rows.values()
  async function work(): Promise<void> {
    for (const { orderId, customerId } of queue) {
      await client.askUntilAnswered({ op: 'status', customer: places.get(customerId) ?? 0, orderId, foreign: false })
    }
  }
  await Promise.all(Array.from({ length: clients }, work))
  for (const { index } of shop.customers) await client.askUntilAnswered({ op: 'balance', customer: index })
}

async function conclude(
  { options, world, shop, history, nemesis, weather }: Stage,
  { driver, operator, desk, faultsFromMs }: Load,
  watch: Watch,
  quiet: Ended,
): Promise<Report> {
  const { seed, minutes } = options
  const { wrong } = driver.siblings
  const deeds = [...operator.deeds, ...desk.deeds]
  const evidence = await gatherEvidence(world, shop, { calls: history.calls, deeds, desk: desk.console.calls })
  const gatewayFaults = weather.fired()
  const lies = gatewayFaults.find(({ on, kind }) => on === 'lookup' && kind === 'other-order-after')?.times ?? 0
  const checks: Check[] = [
    { id: 'I-13', title: 'everything is settled within a minute after the faults', violations: quiet.stranded },
    ...(await checkBooks(world, watch)),
    ...checkGateway(evidence),
    ...checkPurchases(evidence),
    ...checkOrders(evidence),
    ...checkSpends(evidence),
    ...checkHolds(evidence),
    ...checkBalances(evidence),
    ...(await checkEvents(world, evidence, quiet.settledAt)),
    ...checkAnswers(evidence),
    ...(await checkNotifications(world, quiet.unheeded)),
    ...(await checkReasons(world, evidence, lies)),
    ...(await checkTrail(world, evidence)),
    ...(await checkDesk(world, evidence)),
    ...(await checkKeys(world, evidence)),
    ...(await checkHome(world, evidence, quiet.lastLook)),
    await checkSecrets(world),
    {
      id: 'C-30',
      title: 'no process ended by itself, and SIGTERM ends with 0 in time',
      violations: [...world.services.flatMap(({ endedByItself }) => endedByItself), ...nemesis.wrong],
    },
    {
      id: 'W-4',
      title: 'refunds, forged notifications and sibling services are answered as they must be',
      violations: [...operator.wrong, ...desk.wrong, ...wrong, ...driver.failures],
    },
  ]
  const figures = await countFigures(world, evidence, faultsFromMs)
  const fired = { ...Object.fromEntries(nemesis.counts), ...countDrops(history), ...totals(gatewayFaults) }
  const missing = findMissing(minutes, fired, figures)
  const quietSeconds = Math.round(quiet.tookMs / 100) / 10
  return {
    seed,
    minutes,
    fired,
    gatewayFaults,
    checks,
    missing,
    directory: null,
    verdict: judge(checks, missing),
    figures: {
      ...figures,
      'quiet after the faults in seconds': quietSeconds,
      'looks at the books': watch.counts.looks,
    },
  }
}

function countDrops({ calls }: History): Record<string, number> {
  const dropped = Map.groupBy(calls, ({ outcome }) => (outcome.kind === 'info' ? outcome.cause : ''))
  const named = drops.map((kind) => [`connection dropped ${kind}`, dropped.get(dropCauses[kind])?.length ?? 0])
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

function startProgress({ options, history, shop, nemesis }: Stage): Disposable {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const { counts } = nemesis
    const killed = counts.get('service killed') ?? 0
    const crashed = counts.get('database crashed') ?? 0
    options.say(
      `${seconds} s: ${history.calls.length} calls, ${shop.orders.size} orders, ${killed} kills, ${crashed} database crashes`,
    )
  }, sayEveryMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
