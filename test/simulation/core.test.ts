// The scheduler of simulated runs: a run is a function of its seed, and its faults are what they say. The services, the gateway
// and PostgreSQL are the real ones.
import '../../proof/stages/simulated/core/patches.ts'
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { setInterval as setIntervals, setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { callerOf } from '../../harness/processes.ts'
import { createRandom, type Random } from '../../harness/random.ts'
import { createClient } from '../../proof/model/actions/client.ts'
import type { Fault } from '../../proof/stages/simulated/core/network/faults.ts'
import { createScheduler } from '../../proof/stages/simulated/core/scheduler.ts'
import { createSimulation, type Simulation } from '../../proof/stages/simulated/core/simulation.ts'
import {
  beforeTheRun,
  openTemplate,
  runName,
  startsAt,
  type Template,
} from '../../proof/stages/simulated/core/template.ts'
import { makeDirectory } from '../../proof/stages/simulated/core/temporary.ts'
import { faultOf } from '../../proof/stages/simulated/scenario/faults.ts'
import { openStage } from '../../proof/stages/simulated/scenario/stage.ts'
import type { Customer } from '../../proof/world/shop.ts'

let template: Template
before(async () => {
  template = await openTemplate()
})
after(() => template.close())

/** A run without any program, which is closed at the end, whatever happens. */
async function inEmptyWorld<Value>(work: (simulation: Simulation) => Promise<Value>, seed = 1): Promise<Value> {
  const simulation = await createSimulation({ seed, template })
  try {
    return await work(simulation)
  } finally {
    await simulation.close()
  }
}

/** One purchase with faults on its way, then a time in which nothing happens. */
async function story(simulation: Simulation) {
  const { network, database } = simulation
  await using parts = new AsyncDisposableStack()
  const { directory, remove } = makeDirectory(template)
  parts.defer(remove)
  const load = simulation.process('load')
  load.isPunctual = true
  const inLoad = <Value>(work: () => Promise<Value>) => simulation.until(load.run(work))
  const stage = await inLoad(() => openStage(simulation, directory))
  const [one] = stage.world.services
  const { customerId, key } = stage.shop.customers[0] as Customer
  const caller = callerOf(one.publicUrl, key.apiKey)
  network.fault({ kind: 'double', to: 'a', ms: 50, times: 1 })
  const { body: bought } = await inLoad(() => caller.purchase('BASIC', 'one'))
  const { orderId, amount } = bought.data
  const paymentKey = (await inLoad(() => stage.world.gateway.pay(orderId, amount, 'approve'))) ?? ''
  // The gateway stands still while the service that has sent it the request is killed.
  simulation.process('gateway').pause(4_000)
  const confirming = load.run(() => caller.call('confirm', { orderId, amount, paymentKey }))
  simulation.at(simulation.now() + 500, () => void one.end('SIGKILL', 0))
  await assert.rejects(simulation.until(confirming), /fetch failed/)
  simulation.process('b').starve(3)
  network.fault({ kind: 'reset-after', to: 'gateway', times: 1 })
  await inLoad(() => one.start())
  database.away(200)
  await simulation.run(simulation.now() + 600_000)
  network.fault({ kind: 'reset-after', to: 'database', chance: 0.5, times: 2 })
  const client = createClient({ ...stage, random: createRandom(1) })
  const spend = { op: 'spend', customer: 0, sibling: 0, credits: 1, reference: 'first' } as const
  const spent = await inLoad(() => client.sendPatiently(spend))
  const [account] = await database.query<{ balance: string; orders: string; confirmed: string }>(
    `select a.balance, (select count(*) from orders) as orders,
       (select count(*) from orders where status = 'CONFIRMED') as confirmed from accounts a where customer_id = $1`,
    [customerId],
  )
  const { earliest, latest } = await timesIn(database)
  assert.ok(earliest >= Date.parse(beforeTheRun), 'PostgreSQL used a clock of its own')
  assert.ok(latest <= simulation.wallClock() + longestLifeMs, 'PostgreSQL used a clock of its own')
  return { order: bought.code, spent: spent.outcome.kind, ...account, digest: simulation.digest() }
}

/** Nothing that this world writes is further in the future. */
const longestLifeMs = 2 * 24 * 3_600_000

/** The range of all times in all tables: what defaults, triggers and functions have written. */
async function timesIn({ query }: Simulation['database']): Promise<{ earliest: number; latest: number }> {
  const columns = await query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and data_type = 'timestamp with time zone'`,
  )
  assert.ok(columns.length > 40)
  const each = columns.map(({ table_name, column_name }) => `select "${column_name}" as time from "${table_name}"`)
  const [range] = await query<{ earliest: Date; latest: Date }>(
    `select min(time) as earliest, max(time) as latest from (${each.join(' union all ')}) as every
     where isfinite(time)`,
  )
  return { earliest: range?.earliest.getTime() ?? 0, latest: range?.latest.getTime() ?? 0 }
}

test('a run is a function of its seed: the same seed has the same history, another seed another one', async () => {
  const runs = [await inEmptyWorld(story, 1), await inEmptyWorld(story, 2), await inEmptyWorld(story, 1)]
  const [first, other, again] = runs
  assert.deepEqual(again, first)
  assert.notEqual(other?.digest, first?.digest)
  const expected = { order: 'SUCCESS', spent: 'ok', balance: 0, orders: 1, confirmed: 1 }
  for (const { digest, ...run } of runs) assert.deepEqual(run, expected, digest)
})

test('a process has its own time: it can be paused, starved, killed, and its clock can jump', () =>
  inEmptyWorld(async (simulation) => {
    const ticks: [at: number, clock: number][] = []
    const process = simulation.process('ticking')
    process.isPunctual = true
    const start = () => process.run(() => void setInterval(() => ticks.push([simulation.now(), Date.now()]), 1_000))
    start()
    await simulation.run(5_500)
    const clocks = ticks.map(([, clock]) => clock - simulation.wallClock() + simulation.now())
    assert.deepEqual(
      clocks.map((ms) => Math.round(ms / 1_000)),
      [1, 2, 3, 4, 5],
    )
    process.pause(10_000)
    await simulation.run(15_400)
    assert.equal(ticks.length, 5)
    process.skewMs = -3_600_000
    await simulation.run(15_900)
    assert.equal(ticks.length, 6)
    assert.ok(Number(ticks[5]?.[1]) < Number(ticks[4]?.[1]))
    process.starve(10)
    await simulation.run(60_000)
    assert.ok(ticks.length < 30, `${ticks.length} ticks`)
    process.kill()
    const count = ticks.length
    await simulation.run(120_000)
    assert.equal(ticks.length, count)
    start()
    process.starve(0)
    await simulation.run(122_500)
    assert.equal(ticks.length, count + 2)
  }))

test('the clock of the database is ahead or behind by the jump, also before the start of the run', () =>
  inEmptyWorld(async (simulation) => {
    const { database } = simulation
    for (const [atMs, skewMs, aheadUs] of [
      [0, -200, -200_000],
      [0.25, 0, 250],
      [0.25, -1_000, -999_750],
      [1_000.5, 700, 1_700_500],
    ] as const) {
      await simulation.run(atMs)
      database.clock.skewMs = skewMs
      const [row] = await database.query<{ us: number }>(
        `select round(extract(epoch from clock_timestamp() - '${startsAt}') * 1e6)::float8 as us`,
      )
      assert.equal(row?.us, aheadUs)
    }
  }))

test('what other threads do arrives in the order in which it was begun, however long it takes', async () => {
  const scheduler = createScheduler()
  const owner = { name: 'reader', isAlive: true, heldBack: undefined }
  const arrived: number[] = []
  for (const [place, ms] of [50, 1, 20].entries()) {
    scheduler.fromOutside(owner, 'file', 200, () => sleep(ms)).then(() => arrived.push(place))
  }
  await scheduler.run(1_000)
  assert.deepEqual(arrived, [0, 1, 2])
})

test('timers of a world in which nothing happens are late, until that is not allowed any more', () =>
  inEmptyWorld(async (simulation) => {
    const ticks: number[] = []
    const start = () => void setInterval(() => ticks.push(simulation.now()), 1_000)
    simulation.process('ticking').run(start)
    simulation.setIdle(false)
    await simulation.run(100_000)
    assert.ok(ticks.length >= 99, `${ticks.length} ticks`)
    simulation.setIdle(true)
    await simulation.run(1_000_000)
    assert.ok(ticks.length < 150, `${ticks.length} ticks`)
    simulation.setIdle(false)
    const count = ticks.length
    await simulation.run(1_010_000)
    assert.ok(ticks.length >= count + 9, `${ticks.length - count} ticks`)
  }))

test('what is random or timed and not simulated fails in a simulated process, and nowhere else', () =>
  inEmptyWorld(async (simulation) => {
    const refused = [
      () => setIntervals(1),
      () => crypto.generateKeyPairSync('ed25519'),
      () => crypto.randomFill(Buffer.alloc(4), () => undefined),
      () => crypto.webcrypto.subtle.digest('SHA-256', Buffer.alloc(4)),
    ]
    for (const work of refused) {
      await assert.rejects(simulation.until(simulation.process('caller').run(async () => work())), /not simulated/)
      assert.doesNotThrow(work)
    }
  }))

test('a pause ends with the process that was paused, and one that has another fault is spared and not counted', () =>
  inEmptyWorld(async (simulation) => {
    const process = simulation.process('a')
    process.run(() => undefined)
    process.pause(30_000)
    process.kill()
    process.run(() => undefined)
    process.pause(1_000)
    await simulation.run(simulation.now() + 2_000)
    assert.equal(process.isPaused, false)
    const signals: string[] = []
    const victim = { busy: true, signal: (signal: string) => signals.push(signal) }
    const counted: string[] = []
    const count = (name: string) => void counted.push(name)
    const stage = { simulation, count, world: { services: [victim, victim], gateway: victim } }
    const paused = faultOf('process', 'paused') as (stage: object, random: Random) => Promise<void>
    const load = simulation.process('load')
    const pause = () => simulation.until(load.run(() => paused(stage, createRandom(1))))
    await pause()
    assert.deepEqual([signals, counted, process.isPaused], [[], [], false])
    victim.busy = false
    await pause()
    assert.deepEqual([signals, victim.busy], [['SIGSTOP', 'SIGCONT'], false])
    assert.deepEqual(counted, ['effect: process: paused'])
  }))

/** What a client sees and what its server has received, with one fault between them. */
const faults: [Fault['kind'], answer: string, received: number][] = [
  ['refuse', 'ECONNREFUSED', 0],
  ['reset-before', 'ECONNRESET', 0],
  ['reset-after', 'ECONNRESET', 1],
  ['delay', '200', 1],
  ['delay-answer', '200', 1],
  ['double', '200', 2],
  ['hold', 'TimeoutError', 0],
]

for (const [kind, answer, received] of faults) {
  test(`a fault of the network: ${kind}`, () =>
    inEmptyWorld(async (simulation) => {
      const { client, received: requests, call } = await connectedPair(simulation)
      client.kill()
      const fault = simulation.network.fault({ kind, to: 'server', ms: 2_000, times: 1 })
      assert.equal((await simulation.until(call('/faulty'))).replace(' text', ''), answer)
      await simulation.run(simulation.now() + 3_000)
      assert.equal(requests.length - 1, received)
      assert.equal(fault.fired, 1)
      fault.remove()
      assert.equal(await simulation.until(call('/last')), '200 text')
    }))
}

/** A server that answers every request, and a client that gives up after five seconds. */
async function connectedPair(simulation: Simulation) {
  const received: string[] = []
  const server = simulation.process('server')
  const client = simulation.process('client')
  await simulation.until(
    server.run(async () => {
      const listener = createServer((request, response) => {
        received.push(String(request.url))
        response.end('text')
      })
      listener.listen(9_000)
    }),
  )
  const call = (path: string) =>
    client.run(() =>
      fetch(`http://127.0.0.1:9000${path}`, { signal: AbortSignal.timeout(5_000) }).then(
        async (answer) => `${answer.status} ${await answer.text()}`,
        (error) => error.cause?.code ?? error.name,
      ),
    )
  // The connection stays open for the next request.
  assert.equal(await simulation.until(call('/first')), '200 text')
  return { client, received, call }
}

test('a request that is held back arrives once, after its client has given up or was killed', () =>
  inEmptyWorld(async (simulation) => {
    const { client, received, call } = await connectedPair(simulation)
    const hold = simulation.network.fault({ kind: 'hold', to: 'server' })
    assert.equal(await simulation.until(call('/held')), 'TimeoutError')
    assert.deepEqual(received, ['/first'])
    hold.remove()
    await simulation.run(simulation.now() + 100)
    assert.deepEqual(received, ['/first', '/held'])
    for (const number of [1, 2, 3, 4]) {
      assert.equal(await simulation.until(call(`/open-${number}`)), '200 text')
      const again = simulation.network.fault({ kind: 'hold', to: 'server' })
      call(`/killed-${number}`)
      await simulation.run(simulation.now() + 100)
      client.kill()
      await simulation.run(simulation.now() + 100)
      again.remove()
      await simulation.run(simulation.now() + 100)
      assert.equal(received.at(-1), `/killed-${number}`)
    }
    assert.equal(received.length, 10)
  }))

test('what is held back comes in its order when the hold ends: a connection, a request, an answer', () =>
  inEmptyWorld(async (simulation) => {
    const { client, received, call } = await connectedPair(simulation)
    const answers = simulation.network.fault({ kind: 'hold-answer', to: 'server' })
    const slow = call('/slow')
    await simulation.run(simulation.now() + 1_000)
    assert.deepEqual(received, ['/first', '/slow'])
    answers.remove()
    assert.equal(await simulation.until(slow), '200 text')
    client.kill()
    const hold = simulation.network.fault({ kind: 'hold', to: 'server' })
    const waiting = call('/waiting')
    await simulation.run(simulation.now() + 1_000)
    assert.deepEqual(received, ['/first', '/slow'])
    assert.equal(hold.fired, 1)
    hold.remove()
    assert.equal(await simulation.until(waiting), '200 text')
  }))

test('a fault at the database: a statement is lost before it arrives, or its answer after the commit', () =>
  inEmptyWorld(async (simulation) => {
    const connectionString = simulation.database.ownerUrl
    const caller = simulation.process('caller')
    const outcome = (kind: Fault['kind'], number: number) =>
      simulation.until(
        caller.run(async () => {
          const client = new pg.Client({ connectionString })
          client.on('error', () => undefined)
          await client.connect()
          simulation.network.fault({ kind, to: 'database', times: 1 })
          const text = `insert into customers (customer_id, name) values (gen_random_uuid(), $1) returning created_at`
          return client.query(text, [`${number}`]).then(
            () => 'answered',
            (error) => error.message,
          )
        }),
      )
    assert.match(await outcome('reset-before', 1), /ECONNRESET|terminated/)
    assert.match(await outcome('reset-after', 2), /ECONNRESET|terminated/)
    assert.equal(await outcome('delay-answer', 3), 'answered')
    const rows = await simulation.database.query<{ name: string; created_at: Date }>(
      'select * from customers order by name',
    )
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['2', '3'],
    )
    for (const { created_at } of rows) assert.ok(Math.abs(created_at.getTime() - simulation.wallClock()) < 1_000)
  }))

test('a fault at the database: a session is ended, or a table locked for longer than a statement waits', () =>
  inEmptyWorld(async (simulation) => {
    const { database } = simulation
    const caller = simulation.process('caller')
    const inTransaction = (name: string) =>
      simulation.until(
        caller.run(async () => {
          const lost: string[] = []
          const client = new pg.Client({ connectionString: database.ownerUrl })
          client.on('error', ({ message }) => lost.push(message))
          await client.connect()
          const insert = 'insert into customers (customer_id, name) values (gen_random_uuid(), $1)'
          const run = async () => {
            await client.query('begin')
            await client.query({ name: 'insert', text: insert }, [`${name} first`])
            if (name !== 'none') database.fault({ kind: name as 'ended', from: 'caller', times: 1, about: /customers/ })
            await client.query({ name: 'insert', text: insert }, [`${name} second`])
          }
          const failed = await run().then(
            () => '',
            ({ code }) => code,
          )
          const ended = await client.query('commit').then(
            ({ command }) => command,
            () => 'not asked',
          )
          if (name === 'none') database.endSession('caller', 0)
          await sleep(100)
          await client.end()
          return [failed, ended, lost.length > 0]
        }),
      )
    assert.deepEqual(await inTransaction('ended'), ['57P01', 'not asked', true])
    const startedAt = simulation.now()
    assert.deepEqual(await inTransaction('locked'), ['55P03', 'ROLLBACK', false])
    assert.ok(simulation.now() - startedAt >= 2_000)
    assert.deepEqual(await inTransaction('none'), ['', 'COMMIT', true])
    const rows = await database.query<{ name: string }>('select name from customers order by name')
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['none first', 'none second'],
    )
    const { events, statements, ...effects } = simulation.figures()
    assert.deepEqual(effects, { 'effect: caller>database ended': 2, 'effect: caller>database locked': 1 })
    assert.ok(Number(events) > Number(statements))
  }))

test('the end of a run leaves nothing: no session, no database, no timer; outside of it time is real', async () => {
  await inEmptyWorld(async (simulation) => {
    const connectionString = simulation.database.ownerUrl
    const client = simulation.process('caller').run(async () => {
      setInterval(() => undefined, 1_000)
      const opened = new pg.Client({ connectionString })
      await opened.connect()
      return opened
    })
    await simulation.until(client)
  })
  assert.ok(Math.abs(Date.now() - performance.timeOrigin - performance.now()) < 60_000)
  await sleep(1)
  const admin = new pg.Client(template.owner)
  await admin.connect()
  const { rows } = await admin.query<{ datname: string }>(
    'select datname from pg_stat_activity where datname is not null',
  )
  const databases = await admin.query('select from pg_database where datname = $1', [runName])
  await admin.end()
  assert.deepEqual(
    rows.map(({ datname }) => datname),
    ['credits', 'credits'],
  )
  assert.equal(databases.rowCount, 0)
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'))
})
