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
    'alter table orders add column x int not null default 0, add column y text',
  ],
  [
    'a default is a constant',
    'alter table orders add column x uuid default gen_random_uuid()',
    'alter table orders add column x timestamptz not null default now()',
  ],
  [
    'a new constraint is added not valid',
    'alter table orders add constraint c check (amount > 0)',
    'alter table orders add constraint c check (amount in (1, 2)) not valid, add constraint d check (amount > 0) not valid',
  ],
  [
    'an index is created if not exists',
    'create index i on orders (amount)',
    'create index if not exists i on orders (amount)',
  ],
  ['rows are not changed', `update orders set status = 'x'`, 'create table a (b int); update a set b = 1'],
  ['no table is locked', 'lock table orders', '-- lock table orders\ncreate table a (b int)'],
  ['rights are granted', 'grant select on orders to another_role', 'create table a (granted int)'],
]

test('every rule refuses its sample, and accepts the allowed one', () => {
  assert.equal(samples.length, rules.length)
  for (const [rule, refused, permitted] of samples) {
    const found = breachesOf('0000_sample.sql', refused).map((breach) => breach.rule)
    assert.ok(
      found.some((each) => each.startsWith(rule)),
      `${refused}: ${found}`,
    )
    assert.deepEqual(breachesOf('0000_sample.sql', permitted), [], permitted)
  }
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
    if (path.endsWith('.ts') && readFileSync(path, 'utf8').includes(' statement(')) await import(path)
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
