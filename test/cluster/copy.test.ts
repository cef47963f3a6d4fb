// Backup, restore and move with a cluster: from one server to a cluster and back every row is as it was; a backup that is taken
// while customers buy and spend and groups are moved has all rows of each customer of one moment. Only on a cluster:
// `npm run test:cluster`.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseUrl, newDataDir, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { backup } from '../../src/commands/database/backup.ts'
import { move } from '../../src/commands/database/move.ts'
import { restore } from '../../src/commands/database/restore.ts'
import { leastUuid } from '../../src/core/ids.ts'
import { adjust } from '../../src/credits/adjustments/adjust.ts'
import { setBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { updateSuspension } from '../../src/customers/customers.sql.ts'
import { openBackup, writeBackup } from '../../src/db/copy/backup-file.ts'
import { withClusterSnapshot } from '../../src/db/copy/cluster-source.ts'
import { copiedTables } from '../../src/db/copy/load.ts'
import { summing } from '../../src/db/copy/source.ts'
import { openDatabase } from '../../src/db/open.ts'
import { readFigures } from '../../src/payments/books/figures.sql.ts'
import { createAggregateFigures } from '../../src/payments/books/figures.ts'
import { saveDiscrepancy } from '../../src/payments/recovery/discrepancies.sql.ts'
import { bookkeeper, newCustomer, writeAdjustments, writeBooks } from '../support/database/books.ts'
import { bareCall, emptyCluster, emptyDatabase } from '../support/database/copying.ts'
import { clusterVariable, type TestDatabase } from '../support/database/database.ts'
import { moveGroups, placements } from '../support/database/moves.ts'
import type { ServerConnection } from '../support/database/places.ts'
import { type Cluster, startCluster } from '../support/service/cluster.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

let cluster: Cluster
before(async () => {
  if (!skip) cluster = await startCluster(2)
})
after(() => cluster?.close())

/** What a restore and a move add to. */
const different = ['operator_actions', 'audits', 'record_journal', 'record_journal_head']

async function sumsOf(file: string): Promise<Map<string, string>> {
  const { source, close } = await openBackup(file)
  const sums = new Map<string, string>()
  for await (const each of source.tables()) {
    const { sum, chunks } = summing(each)
    for await (const _ of chunks);
    if (!different.includes(sum.table)) sums.set(sum.table, `${sum.rows} ${sum.sha256}`)
  }
  close()
  return sums
}

type Place = { to: ServerConnection | undefined; dataDir: string }

async function backupOf(place: Place, name: string): Promise<string> {
  const to = join(place.dataDir, name)
  await backup(bareCall({ ...place, values: { to } }))
  return to
}

/** Opens it as a command does, after all figures are added up. */
async function figuresOf({ to, dataDir }: Place) {
  const options = { databaseUrl: to && databaseUrl(to), dataDir, databaseConnections: 4, log: silentLog }
  const { database, close } = await openDatabase({ ...options, use: 'command' })
  const addUp = createAggregateFigures(database, { lag: 0 })
  while ((await addUp()).more);
  const { rows } = await readFigures(database, new Date(0), 3_600_000)
  await close()
  return rows.map(({ day, figure, count, total }) => [day, figure, count, total].join()).sort()
}

type Restored = { ok: boolean; violations: unknown[] }

async function restoreInto(target: TestDatabase, dataDir: string, from: string): Promise<void> {
  const call = bareCall({ to: target.connection, dataDir, values: { from } })
  const { ok, violations } = (await restore(call)) as Restored
  assert.deepEqual({ ok, violations }, { ok: true, violations: [] })
}

test('an embedded database is moved to a cluster, and from there restored on one server: every row is as it was', {
  skip,
}, async (t) => {
  const [dataDir, directory] = [newDataDir(t), newDirectory(t)]
  const options = { databaseUrl: undefined, dataDir, databaseConnections: 4, log: silentLog }
  const embedded = await openDatabase({ ...options, use: 'command' })
  const books = bookkeeper(embedded.pools.background)
  await writeBooks(books)
  await writeAdjustments(books)
  const { customer_id: customerId, order_id: orderId } = (
    await embedded.pools.background.query('select customer_id, order_id from orders limit 1')
  ).rows[0]
  await saveDiscrepancy(embedded.database, {
    kind: 'TRIED',
    subject: orderId,
    order: { customerId, orderId },
    detail: {},
  })
  await embedded.close()
  const figures = await figuresOf({ to: undefined, dataDir })
  const original = await sumsOf(await backupOf({ to: undefined, dataDir }, 'original.backup'))

  const [spread, single] = [await emptyCluster(t), await emptyDatabase(t)]
  const moved = (await move(
    bareCall({ to: undefined, dataDir, values: { to: databaseUrl(spread.connection) } }),
  )) as Restored
  assert.deepEqual([moved.ok, moved.violations], [true, []])
  assert.equal((await placements(spread)).length, 8)
  // Nothing is left behind on the coordinator.
  const [left] = await spread.query<{ bytes: number }>(`select pg_relation_size('public.orders')::int as bytes`)
  assert.equal(left?.bytes, 0)
  const ofSpread = { to: spread.connection, dataDir: directory }
  const file = await backupOf(ofSpread, 'cluster.backup')
  const [ofCluster, derived] = [await sumsOf(file), ['figures_reached', 'hourly_figures', 'customer_figures']]
  assert.deepEqual([...ofCluster].sort(), [...original].filter(([table]) => !derived.includes(table)).sort())
  assert.deepEqual(await figuresOf(ofSpread), figures)

  await restoreInto(single, directory, await backupOf(ofSpread, 'with-figures.backup'))
  const ofSingle = { to: single.connection, dataDir: directory }
  const last = await sumsOf(await backupOf(ofSingle, 'single.backup'))
  assert.deepEqual([...last].filter(([table]) => !derived.includes(table)).sort(), [...ofCluster].sort())
  assert.deepEqual(await figuresOf(ofSingle), figures)
})

test('a backup with a budget over all customers is not restored into a cluster, which then takes another one', {
  skip,
}, async (t) => {
  const [directory, single, spread] = [newDirectory(t), await emptyDatabase(t), await emptyCluster(t)]
  const ofSingle = { to: single.connection, dataDir: directory }
  const options = { databaseUrl: databaseUrl(single.connection), dataDir: directory, databaseConnections: 4 }
  const opened = await openDatabase({ ...options, use: 'command', log: silentLog })
  await newCustomer(bookkeeper(opened.pools.background), 'of the books')
  const budget = { customerId: leastUuid, scope: 'SERVICE', value: 'analyses', period: 'DAY', credits: 5 } as const
  await setBudget(opened.database, { ...budget, warnAt: null })
  const refused = await backupOf(ofSingle, 'refused.backup')
  await opened.pools.background.query('update budgets set removed_at = now()')
  await opened.close()
  await assert.rejects(
    restoreInto(spread, directory, refused),
    /1 budgets over all customers, which a cluster cannot have\. Remove them/,
  )
  await restoreInto(spread, directory, await backupOf(ofSingle, 'taken.backup'))
  assert.deepEqual(await spread.query('select name from customers'), [{ name: 'of the books' }])
  await assert.rejects(
    restoreInto(spread, directory, refused),
    /is not empty \(its tables are distributed over workers already\): use an empty one/,
  )
})

/** Every customer buys and spends, is suspended and gets a budget; orders get discrepancies, operators adjust. */
function startLoad(customers: Awaited<ReturnType<Cluster['newCustomer']>>[]) {
  let isWanted = true
  const [{ database }] = cluster.contexts as [Cluster['contexts'][number]]
  const refusals = { approvalAbove: 100, perDay: 1_000_000 }
  async function live(index: number): Promise<void> {
    const customer = customers[index] ?? assert.fail('no customer')
    const { customerId } = customer
    for (let round = 0; isWanted; round += 1) {
      const { status, body } = await customer.at(round % 2).purchase('BASIC', crypto.randomUUID())
      const order = { customerId, orderId: body.data?.orderId }
      if (status === 201) await saveDiscrepancy(database, { kind: 'TRIED', subject: order.orderId, order, detail: {} })
      const adjustment = { customerId, adjustmentId: crypto.randomUUID(), kind: 'GOODWILL', credits: 1 } as const
      await adjust(database, { ...adjustment, reason: 'load', actor: `operator${index}` }, refusals).catch(unlessAway)
      await customer
        .at(round % 2)
        .spend(1)
        .catch(unlessAway)
      if (index === 0) await cluster.newCustomer().catch(unlessAway)
      if (index === 1) await updateSuspension(database, customerId, round % 2 === 0).catch(unlessAway)
      await sleep(5)
    }
  }
  const living = Promise.all(customers.map((_, index) => live(index)))
  return async () => {
    isWanted = false
    await living
  }
}

/** The group is on its way, or the customer is suspended. */
function unlessAway(error: { code?: string }): void {
  assert.ok(error.code, String(error))
}

/** An adjustment that no day was charged with: operators could make more than they may. */
const unchargedText = `
  select from adjustments a
  where not exists (select from adjustment_days d cross join unnest(d.charges) as c (text)
                    where c.text like concat_ws('/', a.customer_id, a.adjustment_id, '%'))`

async function assertRestorable(t: TestContext, directory: string, file: string): Promise<void> {
  const target = await emptyDatabase(t)
  await restoreInto(target, directory, file)
  assert.deepEqual(await target.query(unchargedText), [])
}

test('backups that are taken while customers buy and spend and groups are moved are restored, and their audit is right', {
  skip,
}, async (t) => {
  const directory = newDirectory(t)
  const customers = await Promise.all(Array.from({ length: 6 }, () => cluster.newCustomer()))
  for (const customer of customers) await customer.confirmedOrder('PRO')
  const { connection } = cluster.database
  const stop = startLoad(customers)
  const files: string[] = []
  try {
    let isMoving = true
    const taken = (async () => {
      while (isMoving) files.push(await backupOf({ to: connection, dataDir: directory }, `${files.length}.backup`))
    })()
    await moveGroups(cluster.database, 3).finally(() => {
      isMoving = false
    })
    await taken
    // A group is moved away after the snapshot and before anything is read. What it leaves behind is locked: each try to drop a
    // table waits for a second, and the time of a statement is over first.
    const file = join(directory, 'moved.backup')
    const writing = { file, secretChecks: [], onProgress: () => undefined, signal: new AbortController().signal }
    await withClusterSnapshot(connection, 'of this test', copiedTables, async (source) => {
      await moveGroups(cluster.database, 1)
      await assert.rejects(cluster.database.query('call citus_cleanup_orphaned_resources()'), /statement timeout/)
      await writeBackup({ ...writing, source })
    })
    files.push(file)
  } finally {
    await stop()
  }
  t.diagnostic(`${files.length} backups`)
  for (const file of files) await assertRestorable(t, directory, file)
})
