// What runs where on a cluster: the hash that finds the group of a customer, the routing of statements, and what each statement
// says it is about. `npm run test:cluster` runs the suites on a real cluster.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createBatch } from '../../src/core/batch.ts'
import { refuse } from '../../src/core/errors.ts'
import { hashOfUuid } from '../../src/db/cluster/hash.ts'
import { routeByGroup } from '../../src/db/cluster/route.ts'
import { distributedTables, tablesInGroups } from '../../src/db/cluster/tables.ts'
import { connectionAt, NoStandby } from '../../src/db/connect.ts'
import { mergeByCustomer } from '../../src/db/copy/merge.ts'
import type { About, Database, Statement } from '../../src/db/database.ts'
import { takeFromGroups } from '../../src/db/groups.ts'
import { byOrdinal } from '../../src/db/inputs.ts'
import { rights } from '../../src/db/rights.ts'
import { createWriteHealth } from '../../src/db/write-health.ts'
import { pingDatabase } from '../../src/telemetry/ping.sql.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { filesOnClusters, skippedOnClusters } from '../support/on-clusters.ts'
import { listStatements } from '../support/written/statements.ts'

let database: OwnTestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('the hash of a customer is the one of PostgreSQL', async () => {
  const ids = ['00000000-0000-0000-0000-000000000000', ...Array.from({ length: 500 }, () => randomUUID())]
  const rows = await database.query<{ hash: number }>('select uuid_hash(id) as hash from unnest($1::uuid[]) as id', [
    ids,
  ])
  assert.deepEqual(
    ids.map(hashOfUuid),
    rows.map(({ hash }) => hash),
  )
})

test('a customer has an account at once; one that the version before opens in the same statement is left as it is', async () => {
  const [created, opened] = [randomUUID(), randomUUID()]
  await database.query('insert into customers (customer_id) values ($1)', [created])
  await database.query(
    `with customer as (insert into customers (customer_id) values ($1) returning customer_id)
     insert into accounts (customer_id, low_credits) select customer_id, 5 from customer`,
    [opened],
  )
  const accounts =
    'select customer_id as id, low_credits as low from accounts where customer_id = any ($1) order by low'
  assert.deepEqual(await database.query(accounts, [[created, opened]]), [
    { id: opened, low: 5 },
    { id: created, low: null },
  ])
})

test('the rows of groups are joined in the order of their customers, wherever their texts are cut', async () => {
  const customers = Array.from({ length: 40 }, () => randomUUID()).sort()
  const rows = customers.flatMap((id) => [`1\t${id}\ta`, `2\t${id}\tb`].map((row) => ({ id, row: `${row}\n` })))
  const groups = [0, 1, 2, 3].map((number) => rows.filter(({ id }) => Math.abs(hashOfUuid(id)) % 3 === number))
  async function* cut(text: Buffer) {
    for (let at = 0, length = 1; at < text.length; at += length, length = (length * 7) % 101) {
      yield text.subarray(at, at + length)
    }
  }
  const sources = groups.map((own) => cut(Buffer.from(own.map(({ row }) => row).join(''))))
  const merged = await Array.fromAsync(mergeByCustomer(sources, 1))
  assert.equal(Buffer.concat(merged).toString(), rows.map(({ row }) => row).join(''))
})

test('the connection to a worker is that to the coordinator at another address', () => {
  const worker = { host: 'worker.internal', port: 5433 }
  const urls = [
    'postgres://me:secret@coordinator:5432/credits?sslmode=require',
    'postgres:///credits?host=coordinator&user=me',
  ]
  for (const connectionString of urls) {
    const client = new pg.Client(connectionAt({ connectionString }, worker))
    assert.deepEqual(
      [client.host, client.port, client.user, client.database],
      ['worker.internal', 5433, 'me', 'credits'],
    )
  }
})

/** Customers are in the group of their first digit. */
function routed() {
  const ran: string[] = []
  const noted = (place: string): Database => ({
    async run<Row extends object>({ name }: Statement, values: unknown[] = []) {
      ran.push(`${place}: ${name} ${JSON.stringify(values)}`)
      return [{ place }] as Row[]
    },
  })
  const groups = [noted('group 0'), noted('group 1'), noted('group 2')]
  return { ran, routed: routeByGroup(noted('coordinator'), groups, (customerId) => Number(customerId[0])) }
}

const about = (kind: About): Statement => ({ name: kind, text: '', about: kind })

test('a statement runs where its rows are', async () => {
  const { ran, routed: one } = routed()
  await one.run(about('global'), ['x'])
  await one.run(about('customer'), ['1a', 5])
  await one.run(about('customers'), [['2a', '2b'], [1, 2], 'limit'])
  await one.run(about('each group'), [3])
  assert.deepEqual(ran, [
    'coordinator: global ["x"]',
    'group 1: customer ["1a",5]',
    'group 2: customers [["2a","2b"],[1,2],"limit"]',
    'group 0: each group [3]',
    'group 1: each group [3]',
    'group 2: each group [3]',
  ])
})

test('a statement about customers of several groups is split, and the rows of all are returned', async () => {
  const { ran, routed: one } = routed()
  const rows = await one.run(about('customers'), [['2a', '0a', '2b'], [1, 2, 3], 'same for all'])
  assert.deepEqual(ran, [
    'group 2: customers [["2a","2b"],[1,3],"same for all"]',
    'group 0: customers [["0a"],[2],"same for all"]',
  ])
  assert.deepEqual(rows, [{ place: 'group 2' }, { place: 'group 0' }])
  assert.deepEqual(await one.run(about('customers'), [[]]), [])
})

test('a row of a split statement has the place of its input among all inputs', async () => {
  const group = (number: number): Database => ({
    async run<Row extends object>(_statement: Statement, [ids]: unknown[] = []) {
      return (ids as string[]).map((id, index) => ({ ordinal: index + 1, id, number })).reverse() as unknown as Row[]
    },
  })
  const one = routeByGroup(group(-1), [group(0), group(1)], (customerId) => Number(customerId[0]))
  const finding: Statement = { ...about('customers'), text: 'select i.ordinal' }
  const ids = ['1a', '0a', '1b', '0b']
  assert.deepEqual(
    byOrdinal(ids, await one.run<{ ordinal: number }>(finding, [ids])).map((row) => row && Object.values(row)),
    [
      [1, '1a', 1],
      [2, '0a', 0],
      [3, '1b', 1],
      [4, '0b', 0],
    ],
  )
  assert.deepEqual(await one.run(finding, [[]]), [])
})

/** Groups with this many rows each; one that is unavailable does not answer. */
function groupsWith(...rows: (number | 'away' | 'wrong')[]): Database {
  const failures = {
    away: Object.assign(refuse('SVC001'), { cause: new Error('connect ECONNREFUSED') }),
    wrong: new Error('wrong'),
  }
  const groups = rows.map((count, number) => ({ run: async () => assert.fail('not by this test'), count, number }))
  return { run: async () => [], groups: groups as never, failures } as unknown as Database
}

type Counted = { count: number | 'away' | 'wrong'; number: number }

async function takeOf(database: Database, limit: number): Promise<string[]> {
  const { failures } = database as unknown as { failures: Record<string, Error> }
  const taken = await takeFromGroups(database, limit, async (group, left) => {
    const { count, number } = group as unknown as Counted
    if (typeof count === 'string') throw failures[count]
    return Array.from({ length: Math.min(count, left) }, (_, index) => `${number}.${index}`)
  })
  return taken.sort()
}

test('a sweep takes up to its limit, from all groups in turn, and goes on when the server of one is away', async () => {
  assert.deepEqual(await takeOf(groupsWith(1, 0, 2), 10), ['0.0', '2.0', '2.1'])
  assert.equal((await takeOf(groupsWith(4, 4, 4), 5)).length, 5)
  const alike = groupsWith(1, 1, 1)
  assert.notDeepEqual(await takeOf(alike, 1), await takeOf(alike, 1))
  assert.deepEqual(await takeOf(groupsWith('away', 1, 'away'), 10), ['1.0'])
  await assert.rejects(takeOf(groupsWith('away', 0), 10), { code: 'SVC001' })
  await assert.rejects(takeOf(groupsWith('wrong', 1), 10), { message: 'wrong' })
})

test('inputs about customers of different groups share no statement, and do not wait for one another', async () => {
  const batches: string[][] = []
  const first = Promise.withResolvers<void>()
  const batch = createBatch<string, string>({
    retryScopeOf: () => undefined,
    laneOf: (input) => Number(input[0]),
    async run(inputs) {
      batches.push(inputs)
      if (inputs.includes('1 waits')) await first.promise
      return inputs
    },
  })
  const waiting = batch('1 waits')
  assert.deepEqual(await Promise.all([batch('2 a'), batch('2 b')]), ['2 a', '2 b'])
  first.resolve()
  await waiting
  assert.ok(batches.every((inputs) => new Set(inputs.map((input) => input[0])).size === 1))
})

type Mode = { standby: boolean; readOnly: boolean; alone: boolean; isSpread: boolean }

type Answer = Partial<Mode> | Error | 'never'

/** Answers every statement with its mode, or fails. */
const serverWith = (answer: Answer, anchor?: string): Database => ({
  ...(anchor && { anchor }),
  run: async <Row extends object>() => {
    if (answer instanceof Error) throw answer
    if (answer === 'never') return new Promise<Row[]>(() => undefined)
    return [{ standby: false, readOnly: false, alone: false, isSpread: true, ...answer }] as Row[]
  },
})

test('a worker that is away leaves a service ready, one without a standby or without functions does not', async () => {
  const refused = (cause: Error) => Object.assign(refuse('SVC001'), { cause })
  const away = refused(new Error('connect ECONNREFUSED'))
  const cases: [fault: string | undefined, ...workers: Answer[]][] = [
    [undefined, {}, {}],
    [undefined, {}, away],
    ['no worker answers', away, away],
    ['no worker answers', 'never', away],
    ['a worker has no synchronous standby', 'never', { alone: true }],
    ['a worker has no synchronous standby', {}, { alone: true }],
    ['a worker has no synchronous standby', refused(new NoStandby('has none')), {}],
    ['a worker fails every statement (SQLSTATE 42883)', {}, Object.assign(new Error('no function'), { code: '42883' })],
  ]
  for (const [fault, ...workers] of cases) {
    const servers = workers.map((worker) => serverWith(worker, randomUUID()))
    const database = { ...serverWith({}), workers: () => servers }
    assert.equal(await createWriteHealth(database, 'required')(), fault)
  }
  assert.equal(await createWriteHealth(serverWith({}), 'required')(), 'the tables were distributed after the start')
  assert.equal(await createWriteHealth(serverWith({ isSpread: false }), 'required')(), undefined)
})

test('the number of standbys is that of the server with the fewest; a worker that is away does not count', async () => {
  const withStandbys = (standbys: number) => ({ run: async () => [{ standbys }] as never[] })
  const away = serverWith(new Error('connect ECONNREFUSED'))
  assert.deepEqual(await pingDatabase(withStandbys(2), [withStandbys(1), away]), { standbys: 1 })
  await assert.rejects(pingDatabase(away, [withStandbys(1)]))
})

const tables = Object.keys(rights)
const tablesIn = (text: string) =>
  tables.filter((table) => new RegExp(`\\b(from|join|into|update|using)\\s+${table}\\b`).test(text))

test('a statement in a group names tables of customers, and what is copied to every server, and no other', async () => {
  const statements = await listStatements()
  const ofGroups = statements.filter(({ about: kind, apart }) => kind !== 'global' && !apart)
  assert.ok(ofGroups.length > 60)
  assert.deepEqual(
    ofGroups.flatMap(({ name, text }) =>
      tablesIn(text)
        .filter((table) => !tablesInGroups.includes(table))
        .map((table) => `${name}: ${table}`),
    ),
    [],
  )
})

test('a statement on the coordinator reads tables of customers alone, and does not write them', async () => {
  const statements = (await listStatements()).filter(({ about: kind }) => kind === 'global')
  const breaches = statements.flatMap(({ name, text }) => {
    const named = tablesIn(text)
    const ofCustomers = named.filter((table) => distributedTables.includes(table))
    const others = named.filter((table) => !tablesInGroups.includes(table))
    const written = ofCustomers.filter((table) => new RegExp(`\\b(into|update|delete from)\\s+${table}\\b`).test(text))
    return [
      ...(ofCustomers.length > 0 && others.length > 0
        ? [`${name} mixes ${ofCustomers.join()} with ${others.join()}`]
        : []),
      ...written.map((table) => `${name} writes ${table}`),
    ]
  })
  assert.deepEqual(breaches, [])
})

test('the first value of a statement about customers is their ids', async () => {
  const statements = await listStatements()
  const firstOf = { customer: /\$1(?!\d)/, customers: /\$1::uuid\[\]/ }
  for (const [kind, pattern] of Object.entries(firstOf)) {
    const ofKind = statements.filter((each) => each.about === kind)
    assert.deepEqual(
      ofKind.filter(({ text }) => !pattern.test(text)).map(({ name }) => name),
      [],
    )
  }
})

test('what is left out on a cluster is a test that exists', () => {
  const texts = filesOnClusters().map((file) => readFileSync(file, 'utf8'))
  const titles = Object.values(skippedOnClusters).flat()
  assert.deepEqual(
    titles.filter((title) => !texts.some((text) => text.includes(title))),
    [],
  )
})
