// The log of a restored backup: it lacks entries that were signed after the backup, so under the name that signed them nothing is
// signed any more, until the log is renamed or a person insists for this one restore.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { verifyFiles } from '../../client/src/verify/files.ts'
import { databaseUrl, defer, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { backup } from '../../src/commands/database/backup.ts'
import { restore } from '../../src/commands/database/restore.ts'
import { bookCommands } from '../../src/commands/nouns/book-commands.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { logKeysOf, readCheckpointNote } from '../../src/transparency/note.ts'
import { beginPublication } from '../../src/transparency/publication/checkpoints.sql.ts'
import { createPublish } from '../../src/transparency/publication/publish.ts'
import { newestNote } from '../../src/transparency/publication/published.ts'
import { receiptOfStatement, receiptText, requireLogged } from '../../src/transparency/receipts/receipts.ts'
import { findHoldingRestore } from '../../src/transparency/restored/restores.sql.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { bareCall, emptyDatabase } from '../support/database/copying.ts'
import { createTestDatabase, type OwnTestDatabase, type TestDatabase } from '../support/database/database.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { testPeppers } from '../support/service/service.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const wholeFile = { after }
const directory = newDirectory(wholeFile)
const origin = 'example.com/log'
const signerOf = (name: string, continuedRestore?: string) => ({
  keys: logKeysOf(testPeppers, name),
  origin: name,
  continuedRestore,
})
const signer = signerOf(origin)

let books: OwnTestDatabase
let customerId: string
/** Signed after the backup. */
let kept: string
let backupFile: string

async function append(database: Database, by = signer) {
  const job = createAppendToLog(database, by, { freshMs: 0 })
  while ((await job()).more);
  return (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
}

async function receiptOf(database: Database, to: number, by = signer): Promise<string> {
  return receiptText(requireLogged(await receiptOfStatement({ database, signer: by }, { customerId, from: 1, to })))
}

async function backUp(from: TestDatabase, name: string): Promise<string> {
  const file = join(directory, name)
  await backup(bareCall({ to: from.connection, dataDir: directory, values: { to: file } }))
  return file
}

before(async () => {
  books = await createTestDatabase()
  defer(wholeFile, () => books.drop())
  const context = bookkeeper(books.pool)
  customerId = await newCustomer(context)
  await confirmed(context, customerId)
  const database = createDatabase(books.pool, silentLog)
  await append(database)
  backupFile = await backUp(books, 'first.backup')
  await spend(context, customerId, 1)
  await append(database)
  kept = await receiptOf(database, 2)
})

async function restoreInto(target: TestDatabase, from = backupFile) {
  const values = { from }
  const result = await restore(bareCall({ to: target.connection, dataDir: directory, values, logOrigin: origin }))
  return { database: createDatabase(target.pool, silentLog), result: result as { ok: boolean; log: string } }
}

test('a restored log signs no second history: neither a checkpoint nor a receipt under the name of before', async (t) => {
  const target = await emptyDatabase(t)
  const { database, result } = await restoreInto(target)
  assert.equal(result.ok, true)
  const restored = await readCheckpoint(database)
  await spend(bookkeeper(target.pool), customerId, 2)
  assert.deepEqual(await append(database), restored)
  await assert.rejects(receiptOf(database, 1), { code: 'SVC001', message: /restored from a backup/ })
  assert.match(result.log, /^nothing is signed as example\.com\/log: .* from a backup with 1 entries/)
})

test('the log of a backup from elsewhere is not checked by the secrets here, which have not signed it', async (t) => {
  const { connection } = await emptyDatabase(t)
  const peppers = [{ version: 1, secret: 'another secret, long enough' }] as const
  const call = { to: connection, dataDir: directory, values: { from: backupFile }, peppers, logOrigin: origin }
  const { ok, violations } = (await restore(bareCall(call as never))) as { ok: boolean; violations: object[] }
  assert.deepEqual([ok, violations], [true, []])
})

test('under another name the log goes on with the leaves of the backup, and what was kept is valid under the old key', async (t) => {
  const target = await emptyDatabase(t)
  const { database } = await restoreInto(target)
  await spend(bookkeeper(target.pool), customerId, 2)
  const renamed = signerOf('example.com/log-2')
  const { size, note } = await append(database, renamed)
  assert.deepEqual([size, readCheckpointNote(note)?.origin], [2, renamed.origin])
  const files = (text: string) => [{ name: 'receipt', content: Buffer.from(text) }]
  const vkeys = (by: typeof signer) => by.keys.map(({ vkey }) => vkey)
  const fresh = await receiptOf(database, 2, renamed)
  assert.equal((await verifyFiles(files(fresh), { keys: vkeys(renamed) })).ok, true)
  assert.equal((await verifyFiles(files(kept), { keys: vkeys(signer) })).ok, true)
  const leavesOf = (text: string) => JSON.parse(text).entries.map(({ leaf, index }: never) => [leaf, index])
  assert.deepEqual(leavesOf(fresh)[0], leavesOf(kept)[0])
  assert.notDeepEqual(leavesOf(fresh)[1], leavesOf(kept)[1])
})

test('a person lets the log go on under its name by the id of the restore, which no later restore has', async (t) => {
  const target = await emptyDatabase(t)
  const { database, result } = await restoreInto(target)
  const [, restoreId = ''] = /LOG_CONTINUE_AFTER_RESTORE=([0-9a-f-]{36})/.exec(result.log) ?? []
  const insisting = signerOf(origin, restoreId)
  await spend(bookkeeper(target.pool), customerId, 2)
  assert.equal((await append(database, signerOf(origin, crypto.randomUUID()))).size, 1)
  assert.equal((await append(database, insisting)).size, 2)
  await receiptOf(database, 2, insisting)
  const again = await restoreInto(await emptyDatabase(t), await backUp(target, 'second.backup'))
  const restored = await readCheckpoint(again.database)
  assert.deepEqual(await append(again.database, insisting), restored)
  await assert.rejects(receiptOf(again.database, 2, insisting), { code: 'SVC001' })
})

test('the names of the replaced database count too, and that of the settings, also where the backup has no log', async (t) => {
  const replaced = await emptyDatabase(t)
  const inOld = (await restoreInto(replaced)).database
  await append(inOld, signerOf('example.com/log-2'))
  const values = { from: backupFile, old: databaseUrl(replaced.connection) }
  const target = await emptyDatabase(t)
  const call = { to: target.connection, dataDir: directory, values, logOrigin: 'example.com/log-3' }
  const { log } = (await restore(bareCall(call))) as { log: string }
  assert.match(log, /^nothing is signed as example\.com\/log-3: /)
  const database = createDatabase(target.pool, silentLog)
  for (const name of ['example.com/log', 'example.com/log-2', 'example.com/log-3']) {
    assert.ok(await findHoldingRestore(database, signerOf(name)), name)
  }
  assert.equal(await findHoldingRestore(database, signerOf('example.com/log-4')), null)

  const young = await createTestDatabase()
  defer(t, () => young.drop())
  const withoutLog = await restoreInto(await emptyDatabase(t), await backUp(young, 'young.backup'))
  const job = createAppendToLog(withoutLog.database, signer, { freshMs: 0 })
  assert.deepEqual(await job(), { more: false })
  assert.equal(await readCheckpoint(withoutLog.database), null)
})

test('a name that the log had before it was renamed counts too: its published checkpoints have it', async (t) => {
  const renamed = await createTestDatabase()
  defer(t, () => renamed.drop())
  const context = bookkeeper(renamed.pool)
  const inRenamed = createDatabase(renamed.pool, silentLog)
  await confirmed(context, await newCustomer(context))
  const { note } = await append(inRenamed, signerOf('example.com/before'))
  assert.equal(await beginPublication(inRenamed, { note, keys: '' }, 0), true)
  await append(inRenamed, signerOf('example.com/since'))
  const { database } = await restoreInto(await emptyDatabase(t), await backUp(renamed, 'renamed.backup'))
  for (const name of ['example.com/before', 'example.com/since']) {
    assert.ok(await findHoldingRestore(database, signerOf(name)), name)
  }
})

test('the same backup restored twice signs no second history under the name that the first copy has got', async (t) => {
  const renamed = signerOf('example.com/renamed')
  const restoreAs = async (target: TestDatabase, logOrigin: string) => {
    await restore(bareCall({ to: target.connection, dataDir: directory, values: { from: backupFile }, logOrigin }))
    return createDatabase(target.pool, silentLog)
  }
  const first = await emptyDatabase(t)
  const signing = await restoreAs(first, origin)
  await spend(bookkeeper(first.pool), customerId, 2)
  assert.equal((await append(signing, renamed)).size, 2)
  const second = await emptyDatabase(t)
  const held = await restoreAs(second, renamed.origin)
  await spend(bookkeeper(second.pool), customerId, 3)
  assert.equal((await append(held, renamed)).size, 1)
  await assert.rejects(receiptOf(held, 1, renamed), { code: 'SVC001', message: /restored from a backup/ })
})

test('while the log is held back nothing is published, /log has no checkpoint, and the audit and /readyz say so', async (t) => {
  const target = await emptyDatabase(t)
  const { database } = await restoreInto(target)
  await assert.rejects(newestNote(database, signer), { code: 'SVC001', message: /restored from a backup/ })
  const unused = () => assert.fail('a witness or the account was asked for')
  const settings = { witnesses: [], everySeconds: 0, file: undefined }
  const tallies = createTallies()
  const publish = createPublish({
    database,
    signer,
    settings,
    post: unused,
    openAccount: unused,
    tallies,
    log: silentLog,
  })
  await publish(new AbortController().signal)
  assert.deepEqual(await target.query('select from log_checkpoints'), [])
  const { ok, log } = await callCommand<{ ok: boolean; log?: string }>(
    bookCommands,
    'audit',
    { positionals: [], values: {} },
    { database, logName: () => signer, knownPeppers: () => testPeppers },
  )
  assert.deepEqual([ok, /^nothing is signed as example\.com\/log/.test(log ?? '')], [true, true])
  const service = await startWholeService(t, { LOG_ORIGIN: origin }, { database: target, dataDir: newDirectory(t) })
  const ready = (await (await fetch(`${service.internalUrl}/readyz`)).json()) as { status: string; log: string }
  assert.deepEqual([ready.status, /^nothing is signed as/.test(ready.log)], ['ready', true])
})

test('the serving role can neither write, change nor remove the mark, and the owner only adds one', async () => {
  const mark = `insert into log_restores (restore_number, restore_id, origins, size)
    values (1, gen_random_uuid(), '{another.example/log}', 0)`
  await books.ownerPool.query(mark)
  for (const change of [
    `update log_restores set origins = '{a}'`,
    'delete from log_restores',
    'truncate log_restores',
  ]) {
    await assert.rejects(books.pool.query(change), { code: '42501' }, change)
    await assert.rejects(books.ownerPool.query(change), { code: '23001' }, change)
  }
  await assert.rejects(books.pool.query(mark), { code: '42501' })
})
