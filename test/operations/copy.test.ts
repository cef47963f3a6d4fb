// Backup and restore between databases of one server: the copy equals the original, in any state; an incomplete file, a
// target that is not empty and an interrupted restore are refused, and nothing is changed.
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { databaseUrl, defer, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { commands } from '../../src/commands/command-table.ts'
import { backup } from '../../src/commands/database/backup.ts'
import { confirmRestore, restore } from '../../src/commands/database/restore.ts'
import { parse } from '../../src/commands/line/parse.ts'
import { openBackup, writeBackup } from '../../src/db/copy/backup-file.ts'
import { copiedTables, loadInto } from '../../src/db/copy/load.ts'
import { withSnapshot } from '../../src/db/copy/source.ts'
import { createDatabase } from '../../src/db/database.ts'
import { listMigrations, migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { type AuditResult, audit, recordedAudit } from '../../src/payments/audit/audit.ts'
import { actionRules } from '../../src/payments/audit/check-actions.ts'
import { figureRules } from '../../src/payments/audit/check-figures.ts'
import { rules } from '../../src/payments/audit/rules.ts'
import { logRules } from '../../src/transparency/check.ts'
import { recordPlayedActions } from '../support/audit/played-actions.ts'
import { bookkeeper, writeBooks } from '../support/database/books.ts'
import { bareCall, emptyDatabase, pastItsTime, rewritten } from '../support/database/copying.ts'
import { createTestDatabase, type OwnTestDatabase, type TestDatabase } from '../support/database/database.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { testLogOrigin, testPeppers } from '../support/service/service.ts'

const wholeFile = { after }
/** Tables that are valid only for a running database and are not copied. */
const leftEmpty = ['operator_sessions', 'sign_in_failures', 'sweeping_processes']
const directory = newDirectory(wholeFile)
const file = join(directory, 'books.backup')
let books: OwnTestDatabase
before(async () => {
  books = await createTestDatabase()
  defer(wholeFile, () => books.drop())
  await writeBooks(bookkeeper(books.pool))
  await recordedAudit(createDatabase(books.pool, silentLog), 'DAILY', { onUnwritten: assert.fail })
  await books.query(`update api_keys set status = 'SUSPENDED' where key_id in (select key_id from api_keys limit 1)`)
  await books.query(`insert into customers (customer_id, name) values (gen_random_uuid(), $1)`, ['\\. \t\n\\N 한글'])
  await backup(bareCall({ to: books.connection, dataDir: directory, values: { to: file } }))
})

/** Every row of every table as text, and the disabled triggers. */
async function contentOf(database: TestDatabase) {
  const content: Record<string, unknown> = {}
  const addedTo = ['operator_actions', 'audits', 'log_restores', 'record_journal', 'record_journal_head']
  for (const table of copiedTables.filter((name) => !addedTo.includes(name))) {
    const rows = await database.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)
    content[table] = rows.map(({ row }) => row)
  }
  content.disabled = await database.query(`select tgname from pg_trigger where tgenabled <> 'O'`)
  return content
}

const restoreInto = (target: TestDatabase, from = file) =>
  restore(bareCall({ to: target.connection, dataDir: directory, values: { from } }))

async function tablesOf(target: TestDatabase): Promise<number> {
  const [row] = await target.query<{ tables: number }>(
    `select count(*) as tables from pg_class where relnamespace = 'public'::regnamespace`,
  )
  return row?.tables ?? -1
}

/** Asserts that the restore is refused with that text, and the target is still empty. */
async function assertRefusedUntouched(target: TestDatabase, from: string, message: RegExp): Promise<void> {
  await assert.rejects(restoreInto(target, from), message)
  assert.equal(await tablesOf(target), 0)
}

test('a restored database has every row as it was, and the audit finds nothing', async (t) => {
  const target = await emptyDatabase(t)
  const result = (await restoreInto(target)) as { ok: boolean; tables: { table: string; rows: number }[] }
  assert.equal(result.ok, true)
  const entries = result.tables.find(({ table }) => table === 'ledger_entries')?.rows ?? 0
  assert.ok(entries > 10, `${entries}`)
  assert.deepEqual(await contentOf(target), await contentOf(books))
  assert.deepEqual((await audit(createDatabase(target.pool, silentLog))).violations, [])
  const actionsOfRestore = `select command, outcome from operator_actions
    where action_id in (select action_id from operator_actions where command = 'restore') order by step`
  assert.deepEqual(await target.query(actionsOfRestore), [
    { command: 'restore', outcome: null },
    { command: null, outcome: 'ok' },
  ])
  // The audits of the original, and the one of the restore.
  const audits = `select t::text as row from audits t where cause = 'DAILY'`
  assert.deepEqual(await target.query(audits), await books.query(audits))
  assert.deepEqual(await target.query('select cause, violation_count as count from audits order by ended_at'), [
    { cause: 'DAILY', count: 0 },
    { cause: 'COMMAND', count: 0 },
  ])
  // The journal continues that of the original, before the two entries about the action of the backup.
  const journal = 'select j::text as row from record_journal j order by record_number'
  const [original, restored] = [(await books.query(journal)).slice(0, -2), await target.query(journal)]
  assert.ok(original.length > 10)
  assert.deepEqual(restored.slice(0, original.length), original)
  const added = 'select table_name as "table" from record_journal where record_number > $1 order by record_number'
  assert.deepEqual(
    (await target.query<{ table: string }>(added, [original.length])).map(({ table }) => table),
    ['audits', 'operator_actions', 'operator_actions'],
  )
})

test('a backup of an older schema is restored into tables of that schema and then migrated to the current one', async (t) => {
  const [old, target] = [await emptyDatabase(t), await emptyDatabase(t)]
  const oldFile = join(directory, 'old.backup')
  const client = new pg.Client(old.connection)
  await client.connect()
  defer(t, () => client.end())
  await migrate(client, listMigrations().slice(0, 5))
  await client.query(`insert into customers (customer_id, name) values (gen_random_uuid(), 'of old')`)
  const { rows: known } = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regclass(name) is not null',
    [copiedTables],
  )
  const tables = known.map(({ name }) => name)
  const writing = { file: oldFile, secretChecks: [], onProgress: () => undefined, signal: new AbortController().signal }
  await withSnapshot(client, tables, (source) => writeBackup({ ...writing, source }))
  assert.equal(((await restoreInto(target, oldFile)) as { ok: boolean }).ok, true)
  const [row] = await target.query<{ version: number }>('select max(version) as version from schema_migrations')
  assert.equal(row?.version, listMigrations().at(-1)?.version)
  assert.deepEqual(await target.query('select name from customers'), [{ name: 'of old' }])
})

test('an incomplete file, a file that is no backup and one of a newer version are refused before anything is changed', async (t) => {
  const target = await emptyDatabase(t)
  const newer = { version: 9999, name: '9999_of_tomorrow.sql', checksum: 'unknown' }
  const fromNewerVersion = rewritten(t, file, (text) =>
    text.replace('],"totalRows"', `,${JSON.stringify(newer)}],"totalRows"`),
  )
  const edited = rewritten(t, file, (text) => text.replace(/"checksum":"\w+"/, '"checksum":"another"'))
  const bytes = fs.readFileSync(file)
  const writeFile = (name: string, content: Buffer | string) => {
    fs.writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const flipped = Buffer.from(bytes)
  flipped.writeUInt8(flipped.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1)
  const changed = rewritten(t, file, (text) => text.replace('\tACTIVE\t', '\tACTIVF\t'))
  const shortened = rewritten(t, file, (text) => text.slice(0, text.lastIndexOf('{"sums"')))
  const unsummed = rewritten(t, file, (text) => text.replace(/,\{"table":[^{]*\]\}\n$/, ']}\n'))
  const followed = rewritten(t, file, (text) => `${text}{"sums":[]}\n`)
  for (const [from, message] of [
    [
      writeFile('half', bytes.subarray(0, bytes.length >> 1)),
      /half is not a complete backup \(unexpected end of file\): nothing was changed/,
    ],
    [writeFile('flipped', flipped), /flipped is not a complete backup \(.*\): nothing was changed/],
    [changed, /is not a complete backup \(the rows of \w+ do not match their sum\)/],
    [shortened, /is not a complete backup \(it ends too early\)/],
    [unsummed, /is not a complete backup \(tables are missing\)/],
    [followed, /is not a complete backup \(something follows its end\)/],
    [writeFile('text', 'no backup'), /text is not a complete backup \(incorrect header check\)/],
    [fromNewerVersion, /made by a newer version, with 9999_of_tomorrow\.sql: use that version/],
    [edited, /0001_credits\.sql was edited/],
    [join(directory, 'nowhere'), /nowhere cannot be read: ENOENT/],
  ] as const) {
    await assertRefusedUntouched(target, from, message)
  }
})

test('a database that a newer version has migrated is backed up by that version alone', async (t) => {
  const newer = await createTestDatabase()
  defer(t, () => newer.drop())
  await newer.query(`insert into schema_migrations values (9999, '9999_of_tomorrow.sql', 'unknown')`)
  const to = join(directory, 'newer.backup')
  const call = bareCall({ to: newer.connection, dataDir: directory, values: { to } })
  await assert.rejects(backup(call), /is of a newer version: take the backup with that version/)
  assert.ok(!fs.existsSync(to))
})

test('columns in another order are refused, and rows that are not read back as they were sent', async (t) => {
  const target = await emptyDatabase(t)
  const swapped = rewritten(t, file, (text) =>
    text.replace('"columns":["customer_id","name"', '"columns":["name","customer_id"'),
  )
  await assert.rejects(restoreInto(target, swapped), /The table customers has other columns/)
  const { source, close } = await openBackup(file)
  async function* tables() {
    for await (const each of source.tables()) {
      async function* padded() {
        for await (const chunk of each.rows)
          yield Buffer.from(chunk.toString('latin1').replaceAll('\tCARD\t', '\tCARD\t0'), 'latin1')
      }
      yield { ...each, rows: padded() }
    }
  }
  const client = new pg.Client(target.connection)
  await client.connect()
  const loading = { place: 'x', onProgress: () => undefined, signal: new AbortController().signal }
  await assert.rejects(
    loadInto(client, { ...loading, source: { ...source, tables } }),
    /The table orders is not what was sent/,
  )
  await client.end()
  close()
  assert.deepEqual(await target.query('select from customers'), [])
})

test('a target with rows is refused and keeps them; one with empty tables is filled', async (t) => {
  const target = await createTestDatabase()
  defer(t, () => target.drop())
  const movement = `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
    values ('mine', 'pay', 'order', 'CAPTURE', 1, now())`
  await target.query(movement)
  const own = () => bareCall({ to: target.ownerConnection, dataDir: directory, values: { from: file } })
  await assert.rejects(restore(own()), /is not empty \(gateway_movements has rows\): use an empty one/)
  assert.deepEqual(await target.query('select transaction_key as id from gateway_movements'), [{ id: 'mine' }])
  await target.query('delete from gateway_movements')
  assert.equal(((await restore(own())) as { ok: boolean }).ok, true)
})

test('a database with a table of another program, or with newer migrations than the backup, does not count as empty', async (t) => {
  const target = await emptyDatabase(t)
  await target.query('create table of_another_program (id int)')
  await assert.rejects(restoreInto(target), /is not empty \(it has of_another_program\)/)
  const ahead = await createTestDatabase()
  defer(t, () => ahead.drop())
  await ahead.query(`insert into schema_migrations values (9999, '9999_of_tomorrow.sql', 'unknown')`)
  const call = bareCall({ to: ahead.ownerConnection, dataDir: directory, values: { from: file } })
  await assert.rejects(restore(call), /is not empty \(it has 9999_of_tomorrow\.sql already/)
})

test('relations of an extension do not count: the database is empty', async (t) => {
  const target = await emptyDatabase(t)
  await target.query('create extension pg_buffercache')
  assert.deepEqual(await target.query(`select relkind::text as kind from pg_class where relname = 'pg_buffercache'`), [
    { kind: 'v' },
  ])
  assert.equal(((await restoreInto(target)) as { ok: boolean }).ok, true)
})

test('an interrupted restore is recognised: its database is not served, and no other restore continues it', async (t) => {
  const target = await emptyDatabase(t)
  const { source, close } = await openBackup(file)
  const client = new pg.Client(target.connection)
  await client.connect()
  // Everything is loaded, nothing is verified: a process that dies here.
  const loading = { source, place: 'of this test', onProgress: () => undefined, signal: new AbortController().signal }
  await loadInto(client, loading)
  await client.end()
  close()
  const options = { databaseUrl: databaseUrl(target.connection), dataDir: directory, databaseConnections: 4 }
  await assert.rejects(
    openDatabase({ ...options, use: 'service', log: silentLog }),
    /into the database .* is under way, was interrupted, .* or drop it and create it again and run the same command/,
  )
  await assert.rejects(restoreInto(target), /is not empty \(a restore or a move into it was interrupted\)/)
})

test('a restore or a backup that is stopped leaves nothing unfinished', async (t) => {
  const target = await emptyDatabase(t)
  for (const phase of ['loading', 'verifying']) {
    const abort = new AbortController()
    const onProgress = (name: string) => name === phase && abort.abort()
    const values = { from: file }
    await assert.rejects(
      restore(bareCall({ to: target.connection, dataDir: directory, values, signal: abort.signal, onProgress })),
      /abort/i,
    )
    assert.deepEqual(await target.query('select name from customers'), [])
    assert.deepEqual(await target.query(`select to_regclass('unfinished_copy')::text as mark`), [{ mark: null }])
  }
  const abort = new AbortController()
  const to = join(directory, 'stopped.backup')
  const call = { to: books.connection, dataDir: directory, values: { to }, signal: abort.signal }
  await assert.rejects(backup(bareCall({ ...call, onProgress: () => abort.abort() })), /abort/i)
  assert.deepEqual(
    fs.readdirSync(directory).filter((name) => name.startsWith('stopped')),
    [],
  )
})

test('a backup removes what a killed one of its name has left, and not what another process is writing', async () => {
  const to = join(directory, 'left.backup')
  for (const pid of [2 ** 22 + 1, process.ppid]) fs.writeFileSync(`${to}.partial-${pid}-0`, '')
  await backup(bareCall({ to: books.connection, dataDir: directory, values: { to } }))
  const left = fs.readdirSync(directory).filter((name) => name.startsWith('left'))
  assert.deepEqual(left, ['left.backup', `left.backup.partial-${process.ppid}-0`])
})

test('a backup does not overwrite a file, and is readable by its owner alone', async () => {
  const content = fs.readFileSync(file)
  const call = bareCall({ to: books.connection, dataDir: directory, values: { to: file } })
  await assert.rejects(backup(call), /books\.backup exists already: choose another file name/)
  assert.deepEqual(fs.readFileSync(file), content)
  assert.equal((fs.statSync(file).mode & 0o777).toString(8), '600')
})

test('a restore without the secret that keys were hashed under asks for confirmation, and reports it at the end', async (t) => {
  const to = (await emptyDatabase(t)).connection
  const call = (peppers: typeof testPeppers | [{ version: number; secret: string }] | undefined) =>
    bareCall({ to, dataDir: directory, values: { from: file }, peppers })
  assert.equal(await confirmRestore(call(testPeppers)), undefined)
  for (const wrong of [undefined, [{ version: 1, secret: 'another secret, long enough' }]] as const) {
    const confirmation = await confirmRestore(call(wrong as never))
    assert.match(
      JSON.stringify(confirmation?.preview),
      /The secret that keys were hashed under there \(version 1\) is missing here/,
    )
  }
  const result = (await restore(call(undefined))) as { ok: boolean; lacks?: string }
  assert.equal(result.ok, true)
  assert.match(
    result.lacks ?? '',
    /no API key, no service token and no signing secret of the backup is valid without it/,
  )
})

test('I-13: a backup is restored a day later although its holds and payments are overdue by then', async (t) => {
  const [late, target] = [await createTestDatabase(), await emptyDatabase(t)]
  defer(t, () => late.drop())
  await writeBooks(bookkeeper(late.pool))
  await late.query(pastItsTime('1 day'))
  await recordPlayedActions(late)
  const audited = await audit(createDatabase(late.pool, silentLog))
  assert.deepEqual(new Set(audited.violations.map(({ invariant }) => invariant)), new Set(['I-13']))
  assert.equal(audited.stranded, audited.violationCount)
  const from = join(directory, 'late.backup')
  await backup(bareCall({ to: late.connection, dataDir: directory, values: { to: from } }))
  const { ok, violations } = (await restoreInto(target, from)) as { ok: boolean; violations: unknown[] }
  assert.deepEqual([ok, violations], [true, []])
  assert.deepEqual(await target.query(`select to_regclass('unfinished_copy')::text as mark`), [{ mark: null }])
  assert.deepEqual(await target.query('select violation_count as count, rules from audits'), [
    { count: 0, rules: [rules, actionRules, figureRules, logRules].flatMap(Object.values).length + 3 - 2 - 3 },
  ])
  const options = { databaseUrl: databaseUrl(target.connection), dataDir: directory, databaseConnections: 4 }
  const opened = await openDatabase({ ...options, use: 'service', log: silentLog })
  const { ok: isOk, stranded } = await callCommand<AuditResult>(
    commands,
    'audit',
    {},
    {
      database: opened.database,
      logName: () => ({ origin: testLogOrigin }),
      knownPeppers: () => testPeppers,
    },
  )
  assert.deepEqual([isOk, stranded], [true, audited.stranded])
  await opened.close()
})

/** An operator who is signed in, and failed sign-ins. */
const signedIn = `
  insert into operators (operator_id, name, role, password_hash) values ('op_1', 'kim', 'admin', '$scrypt$1');
  insert into operator_sessions (session_hash, operator_id, access_version) values (sha256('session'), 'op_1', 1);
  insert into sign_in_failures (subject, failures) values (sha256('name'), 3)`

test('sessions and failed sign-ins are in no backup, and are not restored from an older file that has them', async (t) => {
  const [source, target] = [await createTestDatabase(), await emptyDatabase(t)]
  defer(t, () => source.drop())
  await source.query(signedIn)
  const to = join(directory, 'signed-in.backup')
  const { tables } = (await backup(bareCall({ to: source.connection, dataDir: directory, values: { to } }))) as {
    tables: { table: string }[]
  }
  assert.ok(tables.every(({ table }) => !leftEmpty.includes(table)))
  const older = join(directory, 'signed-in-older.backup')
  const writing = { file: older, secretChecks: [], onProgress: () => undefined, signal: new AbortController().signal }
  const client = new pg.Client(source.connection)
  await client.connect()
  await withSnapshot(client, [...copiedTables, ...leftEmpty], (all) => writeBackup({ ...writing, source: all }))
  await client.end()
  assert.equal(((await restoreInto(target, older)) as { ok: boolean }).ok, true)
  assert.deepEqual(await target.query('select name from operators'), [{ name: 'kim' }])
  for (const table of leftEmpty) assert.deepEqual(await target.query(`select from ${table}`), [])
  // The tables that are not copied still have to be empty in the target.
  const used = await createTestDatabase()
  defer(t, () => used.drop())
  await used.query(`insert into sign_in_failures (subject, failures) values (sha256('name'), 3)`)
  const call = bareCall({ to: used.ownerConnection, dataDir: directory, values: { from: file } })
  await assert.rejects(restore(call), /is not empty \(sign_in_failures has rows\)/)
})

/** Several of every credential that can be withdrawn: some of them are, two of them before the backup. */
const credentials = `
  insert into customers (customer_id) values ('11111111-1111-4111-8111-111111111111');
  insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
    select 'key_' || n, '11111111-1111-4111-8111-111111111111', 1, sha256(n::text::bytea), 'abcd' from generate_series(1, 3) n;
  insert into service_tokens (service_id, name, pepper_version, token_hash, last_four)
    select 'svc_' || n, 'analyses', 1, sha256(n::text::bytea), 'abcd' from generate_series(1, 2) n;
  insert into event_endpoints (endpoint_id, url, types, secrets)
    select 'end_' || n, 'https://example.com/', '{}', '["sealed"]' from generate_series(1, 4) n;
  insert into operators (operator_id, name, role, password_hash)
    select 'op_' || n, 'kim' || n, 'admin', '$scrypt$1' from generate_series(1, 5) n;
  update api_keys set status = 'SUSPENDED' where key_id = 'key_3';
  update operators set status = 'SUSPENDED' where operator_id = 'op_5'`
const withdrawals = `
  update api_keys set status = 'SUSPENDED' where key_id = 'key_1';
  update service_tokens set status = 'SUSPENDED' where service_id = 'svc_1';
  update event_endpoints set status = 'DISABLED' where endpoint_id = 'end_1';
  update event_endpoints set status = 'REMOVED', secrets = '[]' where endpoint_id = 'end_2';
  update operators set status = 'SUSPENDED' where operator_id = 'op_1';
  update event_endpoints set secrets = '["another"]' where endpoint_id = 'end_3';
  update operators set role = 'viewer', password_hash = '$scrypt$2', password_set_at = now() where operator_id = 'op_2';
  update operators set password_hash = '$scrypt$2', password_set_at = now() where operator_id = 'op_3';
  update operators set role = 'viewer' where operator_id = 'op_5'`

type Restored = { ok: boolean; revived: string | Record<string, string>[] }

test('a restore lists the credentials suspended or removed since the backup, none that was before, each with the command that repeats it; the action log has no password of the old database', async (t) => {
  const [old, target] = [await createTestDatabase(), await emptyDatabase(t)]
  defer(t, () => old.drop())
  await old.query(credentials)
  const from = join(directory, 'credentials.backup')
  await backup(bareCall({ to: old.connection, dataDir: directory, values: { to: from } }))
  await old.query(withdrawals)
  const values = { from, old: databaseUrl(old.connection) }
  const result = (await restore(bareCall({ to: target.connection, dataDir: directory, values }))) as Restored
  assert.deepEqual(result.revived, [
    { what: 'API key', id: 'key_1', since: 'suspended', command: 'credits keys suspend key_1' },
    { what: 'service token', id: 'svc_1', since: 'suspended', command: 'credits services suspend svc_1' },
    { what: 'operator', id: 'op_1', since: 'suspended', command: 'credits operators suspend kim1' },
    { what: 'operator', id: 'op_2', since: 'role viewer', command: 'credits operators role kim2 --role viewer' },
    { what: 'operator', id: 'op_2', since: 'another password', command: 'credits operators reset kim2' },
    { what: 'operator', id: 'op_3', since: 'another password', command: 'credits operators reset kim3' },
    { what: 'endpoint', id: 'end_1', since: 'disabled', command: 'credits endpoints disable end_1' },
    { what: 'endpoint', id: 'end_2', since: 'removed', command: 'credits endpoints remove end_2' },
    { what: 'endpoint', id: 'end_3', since: 'another secret', command: 'credits endpoints rotate end_3' },
  ])
  for (const { command } of result.revived as { command: string }[]) {
    assert.equal(parse(commands, command.split(' ').slice(1)).kind, 'call', command)
  }
  const [action] = await target.query<{ arguments: string[] }>(
    `select arguments from operator_actions where command = 'restore'`,
  )
  assert.ok(action?.arguments.includes('--old') && !action.arguments.join().includes(old.connection.password))
})

test('a restore without --old reports which changes are not known; one whose --old cannot be read is refused', async (t) => {
  const target = await emptyDatabase(t)
  const withOld = (old: string) => bareCall({ to: target.connection, dataDir: directory, values: { from: file, old } })
  await assert.rejects(
    restore(withOld('postgres://unknown@127.0.0.1:1/none')),
    /none at 127\.0\.0\.1:1 cannot be reached/,
  )
  await assert.rejects(restore(withOld(directory)), /has no embedded database: name the DATA_DIR of the old one/)
  assert.equal(await tablesOf(target), 0)
  const { revived } = (await restoreInto(target)) as Restored
  assert.match(
    `${revived}`,
    /^not known: keys, customers, tokens, operators and endpoints that were suspended or removed after 20/,
  )
})

test('a backup has every table except sessions and failed sign-ins, and no table references itself through others', async () => {
  const rows = await books.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S', 'm')`,
  )
  assert.deepEqual(rows.map(({ name }) => name).sort(), ['schema_migrations', ...leftEmpty, ...copiedTables].sort())
})
