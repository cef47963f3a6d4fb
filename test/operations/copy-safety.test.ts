// What must not happen around a copy of the whole database: a process serves a database that is being filled or failed its
// audit, two databases are served after a move, a failed copy hangs, a file is overwritten or a password is printed.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bareEnvironment,
  databaseUrl,
  defer,
  launch,
  newDataDir,
  newDirectory,
  repository,
} from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { backup } from '../../src/commands/database/backup.ts'
import { move, withoutPassword } from '../../src/commands/database/move.ts'
import { confirmRestore, restore } from '../../src/commands/database/restore.ts'
import { forShell } from '../../src/core/shell-quoting.ts'
import { withClient } from '../../src/db/connect.ts'
import { openBackup } from '../../src/db/copy/backup-file.ts'
import { copiedTables, loadInto } from '../../src/db/copy/load.ts'
import { withSnapshot } from '../../src/db/copy/source.ts'
import { connectTo, openDatabase, reach } from '../../src/db/open.ts'
import { bookkeeper, writeBooks } from '../support/database/books.ts'
import { bareCall, emptyDatabase, rewritten } from '../support/database/copying.ts'
import { createTestDatabase, type OwnTestDatabase, type TestDatabase } from '../support/database/database.ts'

const wholeFile = { after }
const directory = newDirectory(wholeFile)
const dataDir = newDataDir(wholeFile)
const file = join(directory, 'books.backup')
let books: OwnTestDatabase
before(async () => {
  books = await createTestDatabase()
  defer(wholeFile, () => books.drop())
  await writeBooks(bookkeeper(books.pool))
  await backup(bareCall({ to: books.connection, dataDir: directory, values: { to: file } }))
})

const optionsOf = ({ connection }: Pick<TestDatabase, 'connection'>) => ({
  databaseUrl: databaseUrl(connection),
  dataDir: directory,
  databaseConnections: 4,
  log: silentLog,
  use: 'command' as const,
})
const markOf = (target: TestDatabase) => target.query(`select to_regclass('unfinished_copy')::text as mark`)
const [marked, unmarked] = [[{ mark: 'unfinished_copy' }], [{ mark: null }]]

test('neither a service nor a command starts on a database while it is being filled', async (t) => {
  const target = await emptyDatabase(t)
  const { source, close } = await openBackup(file)
  async function* tables() {
    for (const use of ['service', 'command'] as const) {
      await assert.rejects(openDatabase({ ...optionsOf(target), use }), /a move into the database .* is under way/i)
    }
    yield* source.tables()
  }
  const { signal } = new AbortController()
  const loading = { source: { ...source, tables }, place: 'of this test', onProgress: () => undefined, signal }
  await withClient(target.connection, 'of this test', (client) => loadInto(client, loading))
  close()
  assert.deepEqual(await markOf(target), marked)
})

test('a process that is starting does not serve a database whose filling began in the meantime', async (t) => {
  const [before, filled] = [await emptyDatabase(t), await emptyDatabase(t)]
  await filled.query('create table unfinished_copy ()')
  // The database has no mark when it is prepared, and has one when it is about to be served.
  const places = { place: 'of this test', owner: before.connection, serving: filled.connection }
  await assert.rejects(
    connectTo(optionsOf(filled), places, async () => undefined),
    /is under way/,
  )
})

test('a database that a process is connected to is not filled, and can be filled by a later try', async (t) => {
  const target = await createTestDatabase()
  defer(t, () => target.drop())
  const to = target.ownerConnection
  const call = () => bareCall({ to, dataDir: directory, values: { from: file } })
  const opened = await openDatabase(optionsOf({ connection: to }))
  await assert.rejects(restore(call()), /A service or a command is connected to the database .*: stop it first/)
  await opened.close()
  assert.deepEqual(await markOf(target), unmarked)
  assert.deepEqual(await target.query('select from customers'), [])
  assert.equal(((await restore(call())) as { ok: boolean }).ok, true)
})

test('a restore or a move of the embedded database and a command refuse each other', async (t) => {
  const options = { databaseUrl: undefined, dataDir, databaseConnections: 4, log: silentLog }
  const command = await openDatabase({ ...options, use: 'command' })
  const to = databaseUrl((await emptyDatabase(t)).connection)
  await assert.rejects(
    move(bareCall({ to: undefined, dataDir, values: { to } })),
    /Another command is using the database/,
  )
  await command.close()
  const alone = await reach({ ...options, use: 'alone' })
  try {
    await assert.rejects(openDatabase({ ...options, use: 'command' }), /is being restored or moved: wait until/)
  } finally {
    await alone.leave()
  }
})

test('after a move that fails before its last step neither database is served', async (t) => {
  const target = await emptyDatabase(t)
  await target.query(`create function refuse() returns event_trigger language plpgsql as
    $$ begin if exists (select from pg_event_trigger_dropped_objects() where object_identity = 'public.unfinished_copy')
       then raise 'failed here'; end if; end $$`)
  await target.query('create event trigger refuse on sql_drop execute function refuse()')
  const values = { to: databaseUrl(target.connection) }
  await assert.rejects(move(bareCall({ to: undefined, dataDir, values })), /failed here/)
  assert.deepEqual(await markOf(target), marked)
  const from = { databaseUrl: undefined, dataDir, databaseConnections: 4, log: silentLog }
  await assert.rejects(openDatabase({ ...from, use: 'service' }), /has moved to/)
})

test('a restored database that fails its audit is not served, and its restore has failed by its action log', async (t) => {
  const [broken, target] = [await createTestDatabase(), await emptyDatabase(t)]
  defer(t, () => broken.drop())
  await writeBooks(bookkeeper(broken.pool))
  await broken.query('alter table ledger_entries disable trigger user')
  await broken.query(`update ledger_entries set created_at = created_at + interval '1 hour'`)
  const from = join(directory, 'broken.backup')
  await backup(bareCall({ to: broken.connection, dataDir: directory, values: { to: from } }))
  const result = await restore(bareCall({ to: target.connection, dataDir: directory, values: { from } }))
  const { ok, next } = result as { ok: boolean; next?: string }
  assert.equal(ok, false)
  assert.match(next ?? '', /^No service starts on this copy: its audit found violations/)
  assert.deepEqual(await markOf(target), marked)
  const lastEnd = `select outcome from operator_actions where step = 'ENDED' order by happened_at desc limit 1`
  assert.deepEqual(await target.query(lastEnd), [{ outcome: 'failed' }])
  await assert.rejects(openDatabase(optionsOf(target)), /or its audit found a violation/)
})

test('an error in the middle of a large table ends the copy, which does not hang', async (t) => {
  const large = await createTestDatabase()
  defer(t, () => large.drop())
  await large.query(`insert into webhook_notifications (transmission_id, order_id, event_type)
    select n, repeat('x', 190), 'PAYMENT_STATUS_CHANGED' from generate_series(1, 40000) n`)
  const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space left')) })
  const copying = withClient(large.connection, 'of this test', (client) =>
    withSnapshot(client, copiedTables, async (source) => {
      for await (const { table, rows } of source.tables()) {
        if (table === 'webhook_notifications') await pipeline(rows, full)
      }
    }),
  )
  await assert.rejects(copying, /no space left/)
})

/** Replaces a function of Node for all modules that import it. */
function replaceInFs(t: TestContext, name: 'existsSync' | 'linkSync', replacement: () => boolean): void {
  const mocked = t.mock.method(fs, name, replacement as never)
  syncBuiltinESMExports()
  defer(t, () => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
}

test('a file created under the name of the backup at the last moment is not overwritten', async (t) => {
  const to = join(directory, 'taken.backup')
  const call = () => bareCall({ to: books.connection, dataDir: directory, values: { to } })
  replaceInFs(t, 'existsSync', () => false)
  fs.writeFileSync(to, 'another file')
  await assert.rejects(backup(call()), /taken\.backup exists already: choose another file name/)
  assert.equal(fs.readFileSync(to, 'utf8'), 'another file')
  replaceInFs(t, 'linkSync', () => {
    throw Object.assign(new Error('no links'), { code: 'EPERM' })
  })
  await assert.rejects(backup(call()), /EEXIST/)
  assert.equal(fs.readFileSync(to, 'utf8'), 'another file')
  fs.rmSync(to)
  await backup(call())
  assert.deepEqual(
    fs.readdirSync(directory).filter((name) => name.startsWith('taken')),
    ['taken.backup'],
  )
})

test('a backup made without the key secret reports the secret as not known, and so does its restore, also of one by an earlier version', async (t) => {
  const unchecked = join(directory, 'unchecked.backup')
  const made = await backup(
    bareCall({ to: books.connection, dataDir: directory, values: { to: unchecked }, peppers: undefined }),
  )
  const { connection } = await emptyDatabase(t)
  const call = bareCall({ to: connection, dataDir: directory, values: { from: unchecked } })
  const { header, close } = await openBackup(unchecked)
  close()
  assert.equal(header.secretChecks, 'not known')
  const from = rewritten(t, unchecked, (text) => text.replace('"secretChecks":"not known"', '"secretChecks":[]'))
  const earlier = bareCall({ to: connection, dataDir: directory, values: { from } })
  const previews = await Promise.all([call, earlier].map(async (each) => (await confirmRestore(each))?.preview))
  for (const result of [made, ...previews, await restore(call)]) {
    assert.match((result as { secrets: string }).secrets, /^not known: where the backup was taken there was neither/)
  }
})

test('an interrupted restore reports the state of its database', async (t) => {
  const pipe = join(newDirectory(t), 'pipe')
  execFileSync('mkfifo', [pipe])
  const env = bareEnvironment({ DATA_DIR: newDataDir(t) })
  const launched = launch(t, process.execPath, ['src/cli.ts', 'restore', '--from', pipe], { cwd: repository, env })
  // Resolves when the command has begun to read.
  const writer = await open(pipe, 'w')
  launched.child.kill('SIGINT')
  // The end of the file would be an error of its own: close the pipe only after the signal was handled.
  await Promise.race([launched.ended, sleep(2_000)])
  await writer.close()
  const { code, stderr } = await launched.ended
  assert.equal(code, 130)
  assert.match(stderr, /^Interrupted\. The database is still empty, or it is marked and no service starts on it/m)
})

test('the printed start command has no password, and its values are quoted for the shell', () => {
  for (const [url, shown] of [
    ['postgres://me:secret@host:1/db', 'postgres://me:PASSWORD@host:1/db'],
    ['postgres://me:sec@ret@host/db', 'postgres://me:PASSWORD@host/db'],
    ['postgres://me@host/db?password=secret&a=b', 'postgres://me@host/db?password=PASSWORD&a=b'],
    ['postgres://me@host/db', 'postgres://me@host/db'],
    ['postgres://me:secret@one:1,two:2/db?a=b', 'postgres://me:PASSWORD@one:1,two:2/db?a=b'],
    ['postgres://me:se/cret@host/db', 'the same URL'],
  ] as const) {
    assert.equal(withoutPassword(url), shown)
  }
  const value = `it's $HOME`
  assert.equal(execFileSync('sh', ['-c', `printf %s ${forShell(value)}`], { encoding: 'utf8' }), value)
})
