// The next version migrates a cluster while services of this one sell and spend on it: no request fails, and both versions serve
// what is there afterwards. Only on a cluster: `npm run test:cluster`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { queryEveryGroup } from '../../harness/citus/every-group.ts'
import { defer, launch, newDirectory, settingsFor, waitUntilReady } from '../../harness/processes.ts'
import { setForCluster } from '../../src/db/cluster/distribute.ts'
import { listWorkers } from '../../src/db/cluster/layout.ts'
import { guards } from '../../src/db/guards.ts'
import { rightsVersion } from '../../src/db/rights.ts'
import { clusterVariable, createTestDatabase } from '../support/database/database.ts'
import { breachesOf } from '../support/database/migration-rules.ts'
import { nextVersion } from '../support/database/next-version.ts'
import { startSales } from '../support/service/sales.ts'

const skip = process.env[clusterVariable] ? false : 'it needs a cluster: npm run test:cluster'

/** Reads other tables of the group, for every movement of credits. */
const guard = guards.find(({ name }) => name === 'require_cause')?.definition ?? ''

const migrations = {
  '0991_delivered.sql': `
    -- A column; its index and its constraint; the text of a guard.
    alter table orders add column delivered int not null default 0;
    create index if not exists orders_delivered on orders (customer_id, delivered) where delivered > 0;
    alter table orders add constraint orders_delivered_rules check (delivered >= 0) not valid;
    ${guard.replace(/\nbegin\n/i, '\n-- By the next version.\nbegin\n')};`,
  '0992_order_notes.sql': `
    create table order_notes (
      customer_id uuid not null references customers (customer_id),
      order_id text not null,
      note text not null,
      primary key (customer_id, order_id)
    );
    alter table order_notes add constraint order_notes_of_orders foreign key (customer_id, order_id)
      references orders (customer_id, order_id);
    create function refuse_empty_note() returns trigger language plpgsql set search_path = pg_catalog, public, pg_temp as $$
    begin
      if not exists (select from orders where order_id = new.order_id) then raise exception 'no order; no note'; end if;
      return new;
    end $$;
    create trigger order_notes_have_an_order before insert on order_notes for each row execute function refuse_empty_note();
    create trigger orders_are_not_returned before update on orders for each row when (new.delivered < old.delivered)
      execute function refuse_write('an order stays delivered');`,
  '0993_delivered_is_valid.sql': 'alter table orders validate constraint orders_delivered_rules',
}

const changes = [
  { file: 'src/db/cluster/tables.ts', from: `'hourly_figures',`, to: `'hourly_figures', 'order_notes',` },
  { file: 'src/db/rights.ts', from: `'refunded_amount',`, to: `'refunded_amount', 'delivered',` },
  { file: 'src/db/rights.ts', from: 'cancel_keys:', to: 'order_notes: { insert: true },\n  cancel_keys:' },
  { file: 'src/db/rights.ts', from: `rightsVersion = ${rightsVersion}`, to: `rightsVersion = ${rightsVersion + 1}` },
]

test('the next version migrates a cluster under load, both versions serve, and nothing is lost', {
  skip,
}, async (t) => {
  const breaches = Object.entries(migrations).flatMap(([name, text]) => breachesOf(name, text))
  assert.deepEqual(
    breaches.map(({ rule }) => rule),
    ['a new table of customers is named in src/db/cluster/tables.ts'],
    'of the next version it is',
  )
  assert.notEqual(guard, '')
  const directory = nextVersion(t, migrations, changes)
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const sales = await startSales(t, { owner: database.ownerConnection, serving: database.connection })
  await sales.wait(2)

  const run = (...args: string[]) =>
    launch(t, process.execPath, args, { cwd: directory, env: settingsFor(newDirectory(t), sales.settings) })
  const startedMs = performance.now()
  const migrated = await run('src/cli.ts', 'migrate').ended
  assert.equal(migrated.code, 0, migrated.stderr)
  const migratedMs = Math.round(performance.now() - startedMs)
  await sales.wait(2)

  // It compares the guards of every group with its own.
  sales.add(await waitUntilReady(() => run('src/main.ts')))
  await sales.wait(2)
  // A process of this version that starts with the owner's URL leaves what the next one has prepared.
  sales.add(await sales.startService())
  await sales.wait(2)

  await queryEveryGroup(database.pool, `update orders set delivered = 2 where status = 'CONFIRMED'`)
  await queryEveryGroup(
    database.pool,
    `insert into order_notes (customer_id, order_id, note) select customer_id, order_id, 'left at the door'
     from orders where delivered = 2 limit 1`,
  )
  await assert.rejects(
    queryEveryGroup(database.pool, `update orders set delivered = 1 where delivered = 2`),
    /an order stays delivered/,
  )
  t.diagnostic(JSON.stringify({ ...(await sales.stop()), migratedMs }))
})

test('a change of a table that is in use on a worker waits for a second at most', { skip }, async (t) => {
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const [worker] = await listWorkers(database.ownerPool)
  const reader = new pg.Client({ ...database.ownerConnection, ...worker })
  const owner = new pg.Client(database.ownerConnection)
  for (const client of [reader, owner]) {
    await client.connect()
    defer(t, () => client.end())
  }
  await reader.query('set citus.override_table_visibility = off; begin')
  const { rows } = await reader.query(`select relname as shard from pg_class where relname ~ '^orders_[0-9]+$' limit 1`)
  await reader.query(`select from ${rows[0].shard}`)
  await owner.query('begin')
  await setForCluster(owner)
  await assert.rejects(owner.query('alter table orders add column more int'), { code: '55P03' })
})
