// What the claims of docs/performance.md rest on: ratios are taken within a round, targets are compared with them, and each
// report compares what it says.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { Attacked } from '../../bench/attacks/experiment.ts'
import { reportOf as attackReport } from '../../bench/attacks/report.ts'
import type { Line } from '../../bench/books/commands.ts'
import { reportOf as clusterReport, differenceOf, type Reach } from '../../bench/cluster/report.ts'
import { commandsOf, statementsOf } from '../../bench/growth/report.ts'
import { readingOf } from '../../bench/growth/statement.ts'
import { createMeter } from '../../bench/load/meter.ts'
import { reportOf as logReport } from '../../bench/log/report.ts'
import { overloaded, targetResults as overloadResults, type Taken } from '../../bench/overload/report.ts'
import { planOf as planOfOverload } from '../../bench/overload/run.ts'
import { reportOf as pagesReport } from '../../bench/pages/report.ts'
import { costsOf, ownerOf, tablesOf as profileTables } from '../../bench/profile/report.ts'
import { percentilesOf, ratioWithin, spreadOf } from '../../bench/report/figures.ts'
import { table, textOf } from '../../bench/report/report.ts'
import { tableOf as soakTable } from '../../bench/soak/report.ts'
import type { Figures } from '../../bench/stage/measure.ts'
import { compareSides } from '../../bench/stage/sides.ts'
import type { ContenderName } from '../../bench/stage/stage.ts'
import { takeTurns } from '../../bench/stage/turns.ts'
import { groupsOf, ratios, targetResults, reportOf as workloadReport } from '../../bench/workloads/report.ts'
import { planOf } from '../../bench/workloads/run.ts'
import { repository } from '../../harness/processes.ts'
import { placesOf } from '../../src/http/limits/admission.ts'

const twoRounds = { rounds: 2, seconds: 3 }

function figures(perSecond: number, cpu: number | null = null): Figures {
  const costs = { serviceCpuMicroseconds: cpu, databaseCpuMicroseconds: cpu, megabytes: null, stolen: 0.034 }
  return { perSecond, p50Ms: 64_000 / perSecond, p99Ms: 123.4, ...costs }
}

for (const { values, spread } of [
  { values: [3, 1, 2], spread: { median: 2, least: 1, most: 3 } },
  { values: [4, 1, 3, 2], spread: { median: 2.5, least: 1, most: 4 } },
  { values: [10, 9], spread: { median: 9.5, least: 9, most: 10 } },
  { values: [], spread: null },
]) {
  test(`the spread of ${values} has the median, the least and the most`, () => {
    assert.deepEqual(spreadOf(values), spread)
  })
}

test('percentiles are values that were measured', () => {
  const values = Array.from({ length: 200 }, (_, place) => 200 - place)
  assert.deepEqual(percentilesOf(values), { p50: 100, p95: 190, p99: 198, most: 200 })
})

const at = (...values: (number | null)[]) => values.map((value, index) => ({ round: index + 1, value }))

for (const { ones, others, spread } of [
  // In the second round the machine was half as fast.
  { ones: at(900, 400), others: at(1_000, 500).toReversed(), spread: { median: 0.85, least: 0.8, most: 0.9 } },
  { ones: at(9, 9_000), others: at(10), spread: { median: 0.9, least: 0.9, most: 0.9 } },
  { ones: at(null, 8), others: at(10, 10), spread: { median: 0.8, least: 0.8, most: 0.8 } },
  { ones: at(1), others: [], spread: null },
]) {
  test(`a ratio is taken within a round that has both sides: ${ones.length} to ${others.length}, ${spread?.median}`, () => {
    const measured = ratioWithin(ones, others, ({ value }) => value)
    assert.deepEqual(measured && { ...measured, median: Number(measured.median.toFixed(4)) }, spread)
  })
}

test('each workload has its sides compared, and none that was measured on one side', () => {
  const measured = (workload: 'confirm' | 'balance', side: 'new' | 'old', perSecond: number) =>
    ({ round: 1, workload, side, ...figures(perSecond) }) as const
  const all = [measured('confirm', 'old', 8), measured('confirm', 'new', 6), measured('balance', 'new', 1)]
  const [compared, ...more] = compareSides<'new' | 'old', (typeof all)[number]>(all, ['new', 'old'])
  assert.deepEqual([compared?.workload, compared?.ratio.median, more], ['confirm', 0.75, []])
})

test('every other round runs in reverse order, within each group', () => {
  const turns = takeTurns(2, [
    [{ step: 'a' }, { step: 'b' }],
    [{ step: 'c' }, { step: 'd' }],
  ])
  assert.equal(turns.map(({ round, step }) => `${round}${step}`).join(' '), '1a 1b 1c 1d 2b 2a 2d 2c')
})

test('all contenders are measured in turn, with the plain insert beside purchases with 64 connections', () => {
  const steps = planOf({ rounds: 2, connections: [1, 64], workloads: ['purchase', 'packages'] })
  const of = (round: number, connections: number) =>
    steps.filter((each) => each.round === round && each.connections === connections).map(({ contender }) => contender)
  const three = ['service', 'bare', 'naive']
  assert.deepEqual(of(1, 64), [...three, 'plain insert', ...three])
  assert.deepEqual(of(2, 64), ['plain insert', ...three.toReversed(), ...three.toReversed()])
  assert.deepEqual(of(1, 1), [...three, ...three])
})

const purchase = (round: number, contender: ContenderName, perSecond: number, connections = 64) =>
  ({ round, connections, workload: 'purchase', contender, ...figures(perSecond) }) as const

// In the second round the machine was half as fast; in the third the naive contender failed.
const purchases = [
  purchase(1, 'service', 7_000),
  purchase(1, 'bare', 10_000),
  purchase(1, 'naive', 2_000),
  purchase(2, 'naive', 1_000),
  purchase(2, 'bare', 5_000),
  purchase(2, 'service', 3_000),
  purchase(3, 'service', 8_000),
  purchase(3, 'bare', 10_000),
]
const plainInserts = [1, 2, 3].map((round) => ({ round, connections: 64, perSecond: round === 2 ? 5_000 : 10_000 }))

test('a workload is compared with each ceiling, and with plain inserts at their number of connections', () => {
  const [group] = groupsOf({ measurements: purchases, plainInserts })
  assert.deepEqual(group && Object.values(ratios).map((ratioOf) => ratioOf(group)), [
    { median: 0.7, least: 0.6, most: 0.8 },
    { median: 0.7, least: 0.6, most: 0.8 },
    { median: 3.25, least: 3, most: 3.5 },
    spreadOf([2_000 / 7_000, 1_000 / 3_000]),
  ])
  const [alone] = groupsOf({ measurements: [purchase(1, 'service', 500, 1)], plainInserts })
  assert.equal(alone && ratios['rate to plain inserts'](alone), null)
})

test('a target is compared with the median, only where its ratio was measured, and a failure is reported', () => {
  const machine = {
    cores: 2,
    architecture: 'arm64',
    node: 'v24.0.0',
    postgres: '18.4',
    date: '2026-01-02T03:04:05.678Z',
  }
  const measured = { plainInsertBy: 'pgbench' as const, measurements: purchases, plainInserts }
  const text = textOf({ machine, ...workloadReport(measured, twoRounds), failures: ['round 3, naive: 503 to POST'] })
  const [first = '', ...lines] = text.split('\n')
  assert.match(
    first,
    /^2026-01-02: 2 cores \(arm64\), Node v24\.0\.0, PostgreSQL 18\.4; 2 rounds of 3 s\. .* at most 3 % of /,
  )
  assert.match(first, /by pgbench, in each round: 10000, 5000, 10000\.$/)
  assert.deepEqual(lines, [
    '',
    '| target | wanted | measured |  |',
    '| --- | ---: | ---: | ---: |',
    '| purchase, 64 connections: rate to the bare route | ≥ 0.65 | 0.70 (0.60–0.80) | met |',
    '| purchase, 64 connections: rate to plain inserts | ≥ 0.75 | 0.70 (0.60–0.80) | missed |',
    '| purchase, 64 connections: rate to the naive twin | ≥ 2.00 | 3.25 (3.00–3.50) | met |',
    '',
    '| workload | connections | service/s | bare/s | naive/s | to bare | to naive | p50, ms | p99, ms | CPU bare, µs | CPU service, µs | CPU database, µs | memory, MB |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    '| purchase | 64 | 7,000 | 10,000 | 1,500 | 0.70 (0.60–0.80) | 3.25 (3.00–3.50) | 9.14 | 123 | – | – | – | – |',
    '',
    '- FAILED: round 3, naive: 503 to POST',
    '',
  ])
  const alone = groupsOf({ measurements: [purchase(1, 'service', 500, 1), purchase(1, 'naive', 600, 1)], plainInserts })
  assert.deepEqual(
    targetResults(alone).map(({ wanted, met }) => [wanted, met]),
    [['≤ 1.10', false]],
  )
})

test('a meter counts work, refusals and settling requests, and starts from zero in each window', () => {
  let now = 0
  const meter = createMeter(() => now)
  for (const latencyMs of [3, 1, 2]) meter.note('done', latencyMs, latencyMs === 3)
  meter.note('refused', 7, false)
  now = 2_000
  const [done, refused] = [
    { count: 3, p50Ms: 2, p99Ms: 3 },
    { count: 1, p50Ms: 7, p99Ms: 7 },
  ]
  assert.deepEqual(meter.take(), { seconds: 2, done, refused, settled: 1, settlesRefused: 0 })
  now = 3_000
  assert.deepEqual([meter.take().seconds, meter.take().done.count], [1, 0])
})

test('work under overload is compared with the peak of its round, payers with their calm phase, and one refused payer misses', () => {
  const tally = (count: number) => ({ count, p50Ms: 1, p99Ms: 2 })
  const round = (number: number, peak: number, polite: number, rude: number, crowded: number): Taken[] => {
    const metered = { seconds: 2, refused: tally(5), settled: 0, settlesRefused: 0 }
    const balance = (phase: Taken['phase'], connections: number, done: number): Taken => ({
      round: number,
      subject: 'balance',
      phase,
      connections,
      measured: { ...metered, done: tally(done) },
    })
    const payers = (phase: Taken['phase'], settled: number, settlesRefused: number): Taken => ({
      round: number,
      subject: 'payers',
      phase,
      connections: 32,
      measured: { ...metered, done: tally(4_000), settled, settlesRefused },
    })
    return [
      balance('peak', 64, peak - 100),
      balance('peak', 128, peak),
      balance('polite', 384, polite),
      balance('rude', 384, rude),
      payers('calm', 1_000, 0),
      payers('crowded', crowded, number === 2 ? 1 : 0),
    ]
  }
  // In the second round the machine was half as fast.
  const taken = [
    ...round(1, 10_000, 9_800, 9_100, 950),
    ...round(2, 5_000, 4_500, 4_000, 900),
    ...round(3, 10_000, 9_500, 8_800, 990),
  ]
  assert.deepEqual(
    overloadResults(taken).map(({ name, measured, met }) => [name, measured, met]),
    [
      ['balance, polite: work to its peak', { median: 0.95, least: 0.9, most: 0.98 }, true],
      ['balance, rude: work to its peak', { median: 0.88, least: 0.8, most: 0.91 }, false],
      ['payers, crowded: work to its calm', { median: 0.95, least: 0.9, most: 0.99 }, true],
      ['payers, crowded: confirms and cancels refused', { median: 0, least: 0, most: 1 }, false],
    ],
  )
})

test('an overload sends three times the load of the peak, more than is admitted', () => {
  const tooMany = 3 * 256
  assert.ok(tooMany > placesOf.read && tooMany > placesOf.write)
  const steps = planOfOverload({ rounds: 1, workloads: [...overloaded] })
  assert.deepEqual(
    steps.slice(0, 5).map(({ subject, phase, play }) => `${subject} ${phase} ${play.connections}`),
    ['balance peak 64', 'balance peak 128', 'balance peak 256', `balance polite ${tooMany}`, `balance rude ${tooMany}`],
  )
  assert.deepEqual(steps.at(-1)?.besides, { workload: 'balance', connections: tooMany, refusals: 'insist' })
})

test('a soak compares its last minute with its second', () => {
  const samples = Array.from({ length: 24 }, (_, index) => {
    const minute = (index + 1) / 6
    return { minute, perSecond: 1_000, p99Ms: 9, megabytes: minute <= 1 ? 500 : 100 + 5 * Math.ceil(minute - 2) }
  })
  assert.match(soakTable(samples, 4), /\| memory, MB \| 100\.0 \| 110\.0 \| 1\.10 \| at most 1\.1: met \|/)
  assert.match(soakTable(samples.slice(0, 12), 2), /^Minute 2 and the last one are compared from 3 min on\.\n$/)
})

test('a command is compared with the same on smaller books by its time per row, unless it failed', () => {
  const line = (step: string, rows: number, seconds: number, outcome = 'exit 0'): Line => ({
    step,
    rows,
    seconds,
    peakMegabytes: null,
    outcome,
  })
  const large = [line('audit', 4_000_000, 24), line('reconcile', 4_000_000, 1), line('audit again', 4, 1)]
  const small = [line('audit', 1_000_000, 5), line('reconcile', 1_000_000, 1, 'FAILED: exit 2')]
  assert.deepEqual(commandsOf(small, large), [
    { name: 'audit, a million rows', small: '5.00 s', big: '6.00 s', growth: '1.20', met: false },
  ])
})

test('pages of a statement are reported for the first tenth and for all, and compared with smaller books', () => {
  assert.deepEqual(readingOf([...Array<number>(10).fill(10), ...Array<number>(90).fill(20)]), {
    firstMs: 10,
    allMs: 19,
  })
  const full = [{ entries: 100_000, firstMs: 10, allMs: 20 }]
  const growths = statementsOf({ small: [{ entries: 25_000, firstMs: 10, allMs: 10 }], full })
  assert.deepEqual(
    growths.map(({ growth }) => growth),
    ['2.00 (2.00–2.00)', '2.00 (2.00–2.00)'],
  )
  assert.equal(statementsOf({ small: [], full }).length, 1)
})

test('a page of the console has a target only for its requests one after the other', () => {
  const counts = { customers: 1, orders: 2, entries: 3, operations: 0, holds: 0, events: 0, movements: 0 }
  const pages = [
    { page: 'home', alone: [201], crowded: [1] },
    { page: 'order', alone: [1], crowded: [201] },
  ]
  const { how, tables } = pagesReport({ counts, requests: 1, addedUp: null, pages })
  assert.match(how, /\. p95 alone within 200 ms: missed by home\.$/)
  assert.match(tables[0] ?? '', /\| home \| 201 \| .*\n\| order \| 1\.00 \| .* \| 201 \|\n$/)
})

test('a service with the log is compared with one without it, by requests and by processor time', () => {
  const side = (round: number, name: 'with the log' | 'without it', perSecond: number, cpu: number) =>
    ({
      round,
      side: name,
      workload: 'confirm',
      ...figures(perSecond, cpu),
      behind: name === 'with the log' ? round : null,
    }) as const
  const measurements = [
    side(1, 'with the log', 980, 110),
    side(1, 'without it', 1_000, 100),
    side(2, 'without it', 500, 100),
    side(2, 'with the log', 500, 100),
  ]
  const size = { runs: 1, tileMegabytes: 1, runMegabytes: 1 }
  const sizes = { sealing: { ...size, entries: 10, seconds: 1 }, bigLog: { ...size, leaves: 10, proofsMs: [5] } }
  const [targets, workloads] = logReport({ measurements, delays: [1], ...sizes }, twoRounds).tables
  assert.match(targets ?? '', /≥ 0\.98 \| 0\.99 \(0\.98–1\.00\) \| met \|\n.*\| under 5 ms \| 5\.00 ms \| missed \|\n/)
  assert.match(workloads ?? '', /\| confirm \| 740 \| 750 \| 1\.05 \(1\.00–1\.10\) \| 2 \|\n/)
})

test('the worker of the side without the log has no job of it', () => {
  const program = `import { logJobs } from './src/worker/jobs.ts'; process.stdout.write(String(logJobs().length))`
  const args = ['--import', './bench/log/without-log.ts', '--input-type=module', '--eval', program]
  assert.equal(execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8' }), '0')
})

test('attacks are counted by what was done, with those that were not found', () => {
  const attack = (found: string | null): Attacked => ({
    verb: 'change',
    object: 'time',
    log: 'runs only',
    kept: 'receipt',
    drawnInVain: 0,
    noticed: [],
    entry: { customerId: '', entryNumber: 1, kind: 'SPEND' },
    found,
    attackMs: 1_000,
    checkMs: 2_000,
  })
  const measured = {
    logged: { entries: 9, checkpoints: 1, seconds: 1 },
    withoutAttack: { audits: 2, falseAlarms: ['a rule'] },
    attacked: [attack('a rule'), attack('a rule'), attack(null)],
  }
  const { how, tables } = attackReport(measured, { seed: 1 })
  assert.match(how, /2 audits of the log without an attack, with all that was kept: 1 false alarm\./)
  assert.match(tables[0] ?? '', /\| change \| 3 \| 2 \| time 3 \|\n\| \*\*all\*\* \| 3 \| 2 \| {2}\|\n$/)
  assert.match(tables[1] ?? '', /\| runs only \| 3 \| 2 \| a rule 2; not found 1 \|\n/)
})

const counts = (cpuMicroseconds: number, transactions: number) => ({ cpuMicroseconds, transactions })

test('a cluster is compared with one PostgreSQL within a round, by the processor time of all its servers', () => {
  const [before, after] = [
    [counts(1_000, 10), counts(0, 0)],
    [counts(3_000, 30), counts(500, 5)],
  ]
  assert.deepEqual(differenceOf(before, after, 10), [counts(200, 2), counts(50, 0.5)])
  const balance = (round: number, workers: number, reach: Reach, perSecond: number, cpu: number[]) =>
    ({
      round,
      workers,
      reach,
      workload: 'balance',
      connections: 64,
      perSecond,
      serviceCpuMicroseconds: 80,
      servers: cpu.map((each) => counts(each, each / 1_000)),
    }) as const
  // In the second round the machine was half as fast.
  const measurements = [
    balance(1, 0, 'one group', 8_000, [20]),
    balance(1, 2, 'one group', 6_000, [0.2, 24.8, 0]),
    balance(1, 2, 'all groups', 4_000, [0, 22, 22]),
    balance(2, 2, 'all groups', 2_000, [0, 24, 24]),
    balance(2, 2, 'one group', 3_000, [0.4, 29.6, 0]),
    balance(2, 0, 'one group', 4_000, [20]),
  ]
  const idle = [{ round: 1, workers: 2, servers: [counts(900, 0.5), counts(700, 0.4), counts(700, 0.4)] }]
  const [one, all, without] = clusterReport({ measurements: [...measurements], idle }, twoRounds).tables
  // One PostgreSQL is in both tables, in the column of the worker where the customers are.
  const plain =
    '| balance | 64 | plain | 6,000 | 1.00 (1.00–1.00) | 80.0 µs | – | 20.0 µs | – | – | 20.0 µs | 1.00 (1.00–1.00) | 0.020 |\n'
  assert.ok(
    one?.endsWith(
      `${plain}| balance | 64 | 2 workers | 4,500 | 0.75 (0.75–0.75) | 80.0 µs | 0.30 µs | 27.2 µs | 0.00 µs | – | 27.5 µs | 1.38 (1.25–1.50) | 0.000, 0.027, 0.000 |\n`,
    ),
  )
  assert.ok(
    all?.endsWith(
      `${plain}| balance | 64 | 2 workers | 3,000 | 0.50 (0.50–0.50) | 80.0 µs | 0.00 µs | 23.0 µs | 23.0 µs | – | 46.0 µs | 2.30 (2.20–2.40) | 0.000, 0.023, 0.023 |\n`,
    ),
  )
  assert.match(
    without ?? '',
    /\| 2 workers \| 900 µs \| 700 µs \| 700 µs \| – \| 0\.500 \| 0\.400 \| 0\.400 \| – \|\n$/,
  )
})

test('a profile has the self time of each owner and function, without idle time and without the start', () => {
  const frame = (id: number, functionName: string, url: string, scriptId: string, lineNumber = 9) => ({
    id,
    callFrame: { functionName, scriptId, url, lineNumber },
  })
  const ours = 'file:///app/src/payments/confirm.ts'
  const profile = {
    nodes: [
      frame(1, '(root)', '', '0', -1),
      frame(2, '(idle)', '', '0', -1),
      // V8 has separate nodes for recompiled code.
      frame(3, 'confirm', ours, '7'),
      frame(4, 'confirm', ours, '7'),
      frame(5, 'parse', 'file:///app/node_modules/pg-protocol/dist/parser.js', '8'),
      frame(6, '(garbage collector)', '', '0', -1),
    ],
    // The first sample belongs to the start, and is left out.
    samples: [5, 3, 4, 5, 2, 6, 6],
    timeDeltas: [0, 1_000, 100, 200, 300, 5_000, 400, 0],
  }
  const [owners, functions] = profileTables('confirm', costsOf(profile, 1_000))
  assert.equal(
    owners,
    table(
      ['confirm: self time by owner', 'share'],
      [
        ['native and gc', '40.0 %'],
        ['ours', '30.0 %'],
        ['driver', '30.0 %'],
      ],
    ),
  )
  assert.match(functions ?? '', /\| confirm \| src\/payments\/confirm\.ts:10 \| ours \| 30\.0 % \|\n/)
  for (const [url, scriptId, owner] of [
    ['file:///app/node_modules/find-my-way/index.js', '1', 'framework'],
    ['', '1', 'framework'],
    ['file:///app/node_modules/undici/index.js', '1', 'undici'],
    ['node:internal/timers', '1', 'Node'],
  ] as const) {
    assert.equal(ownerOf({ url, scriptId }), owner)
  }
})
