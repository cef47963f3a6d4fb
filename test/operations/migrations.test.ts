// Migrations that are safe while the previous version runs: every new file obeys the rules of
// test/support/database/migration-rules.ts, and every statement of the previous version can be prepared on the new schema.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, defer, newDirectory } from '../../harness/processes.ts'
import { listMigrations } from '../../src/db/migrate.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { breachesOf, rules } from '../support/database/migration-rules.ts'
import { previousVersion } from '../support/database/previous-version.ts'

/** Older than the rules. They are already applied everywhere. */
const lastBeforeTheRules = 7

/** Exceptions with their reason: `FILE: RULE` → why it is harmless. */
const allowed: Record<string, string> = {
  '0018_daily_audits.sql: rows are not changed in one statement':
    'orders confirmed before their creation because a clock stepped back: none or a few, and the table is read once',
  '0034_one_check_of_a_table.sql: nothing is dropped that the previous version reads':
    'functions of check constraints that are dropped with them: no statement calls them',
  '0048_transparency_log.sql: a new table of customers is named in src/db/cluster/tables.ts':
    'the log is one tree over all customers: its tables are on the coordinator',
  '0051_ends_of_actions.sql: a new constraint is added not valid, and validated by a later file':
    'they replace constraints of the action log, which has two short rows for each action of an operator: one quick read',
  '0056_accepted_parts.sql: nothing is dropped that the previous version reads':
    'a function of the file before, which no released version calls',
  '0036_whole_rule_of_slips.sql: nothing is dropped that the previous version reads':
    'the function of a check constraint that is dropped with it',
}

test('new migrations change nothing that the previous version uses, and hold no lock for long', () => {
  const checked = listMigrations().filter(({ version }) => version > lastBeforeTheRules)
  const breaches = checked.flatMap(({ name, text }) => breachesOf(name, text))
  const named = breaches.map(({ migration, rule }) => `${migration}: ${rule}`)
  assert.deepEqual(
    breaches.filter(({ migration, rule }) => !allowed[`${migration}: ${rule}`]),
    [],
  )
  assert.deepEqual(
    Object.keys(allowed).filter((each) => !named.includes(each)),
    [],
    'an exception that is not needed',
  )
})

/** A text that each rule refuses, and a similar one that is allowed. */
const samples: [rule: string, refused: string, permitted: string][] = [
  ['nothing is dropped', 'alter table orders drop column credits', 'alter table orders drop constraint orders_rules'],
  ['nothing is renamed', 'alter table orders rename column credits to amount', 'alter table orders add column x text'],
  ['no column changes its type', 'alter table orders alter column amount type numeric', 'create table a (type text)'],
  ['a column that may be empty', 'alter table orders alter column x set not null', 'create table a (b int not null)'],
  [
    'a new column may be left out',
    'alter table orders add column x int not null',
    'alter table orders add column x int not null default 0; alter table orders add column y text',
  ],
  [
    'a default is a constant',
    'alter table orders add column x uuid default gen_random_uuid()',
    'alter table orders add column x timestamptz not null default now()',
  ],
  [
    'a new constraint is added not valid',
    'alter table orders add constraint c check (amount > 0)',
    'alter table operators add constraint c check (a in (1, 2)) not valid, add constraint d check (b > 0) not valid',
  ],
  [
    'an index is created if not exists',
    'create index i on orders (amount)',
    'create index if not exists i on orders (amount)',
  ],
  [
    'an index is dropped by a file of its own',
    'create index if not exists i on orders (amount); drop index if exists j',
    'do $$ begin perform 1; end $$; drop index if exists i',
  ],
  ['rows are not changed', `update orders set status = 'x'`, 'create table a (b int); update a set b = 1'],
  ['no table is locked', 'lock table orders', '-- lock table orders\ncreate table a (b int)'],
  ['rights are granted', 'grant select on orders to another_role', 'create table a (granted int)'],
  [
    'a table of groups is altered',
    'alter table orders add column x int, add column y text',
    'alter table orders add column x numeric(3, 1); alter table operators add column x int, add column y text',
  ],
  [
    'a new column of a table of groups has no constraint',
    'alter table orders add column x int check (x > 0)',
    'alter table orders add column checked int; alter table orders add constraint c check (x > 0) not valid',
  ],
  [
    'a unique key of a distributed table',
    'create unique index if not exists i on orders (order_id)',
    'create unique index if not exists i on orders (customer_id, order_id); create unique index if not exists i on operators (name)',
  ],
  [
    'a foreign key to a distributed table',
    'create table a (b int references orders (c))',
    'create table a (b int references operators (c)); alter table a add constraint d foreign key (b) references orders (c)',
  ],
  [
    'a new table of customers',
    'create table things (customer_id uuid not null)',
    'create table holds (customer_id uuid primary key); create table things (thing text primary key)',
  ],
  [
    'the body of a function',
    'create function f() returns int begin atomic select 1; end',
    'create function f() returns int language sql as $$ begin atomic $$',
  ],
]

test('every rule refuses its sample, and accepts the allowed one', () => {
  assert.equal(samples.length, rules.length)
  for (const [rule, refused, permitted] of samples) {
    const found = breachesOf('9999_sample.sql', refused).map((breach) => breach.rule)
    assert.ok(
      found.some((each) => each.startsWith(rule)),
      `${refused}: ${found}`,
    )
    assert.deepEqual(breachesOf('9999_sample.sql', permitted), [], permitted)
  }
})

test('on a cluster a unique key that is not of one customer is refused wherever it is written', () => {
  const refused = [
    'create table holds (hold_id uuid primary key, customer_id uuid)',
    'create table holds (customer_id uuid, hold_id uuid, unique (hold_id))',
    'alter table holds add constraint c unique (hold_id)',
    'alter table holds add constraint c exclude using gist (hold_id with =)',
  ]
  for (const text of refused)
    assert.equal(breachesOf('9999_sample.sql', text).at(-1)?.rule.slice(0, 12), 'a unique key', text)
  const permitted = [
    'create table holds (customer_id uuid not null, hold_id uuid, primary key (customer_id, hold_id))',
    'create table holds (customer_id uuid primary key, hold_id uuid references things (id))',
  ]
  for (const text of permitted) assert.deepEqual(breachesOf('9999_sample.sql', text), [], text)
})

/**
 * Runs in the directory of the previous version: imports all modules with statements and collects these. Other modules are
 * programs that would run.
 */
const collector = `
import { readFileSync, readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
const found = new Map()
globalThis.collectStatement = (name, text) => found.set(name, text)
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith('/src/db/database.ts')) return loaded
    const source = String(loaded.source).replace(/return ({ name, text }|defined)$/m, 'globalThis.collectStatement(name, text); return $1')
    return { ...loaded, source }
  },
})
const folders = readdirSync('src', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  // Has no statements, and programs that run when they are imported.
  .filter((name) => name !== 'listeners')
for (const folder of folders) {
  for (const file of readdirSync(join('src', folder), { recursive: true })) {
    const path = join(process.cwd(), 'src', folder, String(file))
    if (path.endsWith('.ts') && / statement[.(]/.test(readFileSync(path, 'utf8'))) await import(path)
  }
}
process.stdout.write(JSON.stringify([...found]))
`

test('every statement of the previous version can be prepared on the new schema', async (t) => {
  const { directory } = previousVersion(t)
  const script = join(newDirectory(t), 'collect.mjs')
  writeFileSync(script, collector)
  const ran = spawnSync(process.execPath, [script], {
    cwd: directory,
    env: bareEnvironment(),
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  assert.equal(ran.status, 0, ran.stderr)
  const statements = JSON.parse(ran.stdout) as [name: string, text: string][]
  const folders = readdirSync(join(directory, 'src'))
  assert.ok(folders.includes('payments') && statements.length > 80, `${statements.length} statements`)
  const database = await createTestDatabase()
  defer(t, () => database.drop())
  const client = await database.pool.connect()
  try {
    for (const [name, text] of statements) {
      await client.query(`prepare previous as ${text}`).catch((error) => assert.fail(`${name}: ${error.message}`))
      await client.query('deallocate previous')
    }
  } finally {
    client.release()
  }
})
