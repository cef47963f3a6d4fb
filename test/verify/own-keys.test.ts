// `credits verify` and `credits audit` beside a service whose secret was rotated: they know the retired key too, which only a list
// that a later key has signed names.
import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { databaseUrl, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase } from '../../src/db/database.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { beginPublication } from '../../src/transparency/publication/checkpoints.sql.ts'
import { signKeyList } from '../../src/transparency/publication/key-list.ts'
import { receiptOfStatement, receiptText, requireLogged } from '../../src/transparency/receipts/receipts.ts'
import { bookkeeper, confirmed, newCustomer } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { callCli } from '../support/service/cli-call.ts'

const directory = newDirectory({ after })
const origin = 'example.com/log'
const [oldSecret, newSecret, otherSecret] = ['the old pepper of it', 'the new pepper of it', 'a pepper of another']
const keysOf = (...secrets: string[]) =>
  logKeysOf(
    secrets.map((secret) => ({ secret })),
    origin,
  )
const file = join(directory, 'receipt.json')

let own: OwnTestDatabase
before(async () => {
  own = await createTestDatabase()
  const database = createDatabase(own.pool, silentLog)
  const books = bookkeeper(own.pool)
  const customerId = await newCustomer(books)
  await confirmed(books, customerId)
  const sign = async (...secrets: string[]) => {
    const signer = { keys: keysOf(...secrets), origin }
    const append = createAppendToLog(database, signer, { freshMs: 0 })
    while ((await append()).more);
    return signer
  }
  const signer = await sign(oldSecret)
  const receipt = await receiptOfStatement({ database, signer }, { customerId, from: 1, to: 1 })
  writeFileSync(file, receiptText(requireLogged(receipt)))
  const { keys } = await sign(newSecret, oldSecret)
  const { note } = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  const list = signKeyList(
    keys,
    keys.map(({ vkey }) => vkey),
  )
  assert.ok(await beginPublication(database, { note, keys: list }, 0))
})
after(() => own.drop())

const settingsOf = (secret: string) => ({
  KEY_PEPPER: secret,
  LOG_ORIGIN: origin,
  DATABASE_URL: databaseUrl(own.connection),
})

test('a receipt of a retired key is verified by the key that the database of the service names, and not by another service', async () => {
  const ask = async (secret: string) => {
    const { code, stdout } = await callCli({ after }, directory, ['verify', file, '--json'], settingsOf(secret))
    return [code, JSON.parse(stdout).result]
  }
  assert.deepEqual(await ask(newSecret), [0, 'verified'])
  assert.deepEqual(await ask(otherSecret), [1, 'not verified'])
})

test('the audit compares a kept receipt of a retired key, which the database names, and refuses it beside another secret', async () => {
  const audit = (secret: string) =>
    callCli({ after }, directory, ['audit', '--checkpoint', file, '--json'], settingsOf(secret))
  const found = await audit(newSecret)
  assert.deepEqual([found.code, found.stderr], [0, ''])
  const refused = await audit(otherSecret)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /of this log: NOT VERIFIED: no known key/)
})

test('where there is no database of the service yet, verify asks none, and creates none', async (t) => {
  const empty = newDirectory(t)
  const settings = { KEY_PEPPER: newSecret, LOG_ORIGIN: origin }
  const { code, stdout } = await callCli({ after }, empty, ['verify', file, '--json'], settings)
  assert.deepEqual([code, JSON.parse(stdout).result], [1, 'not verified'])
  assert.deepEqual(readdirSync(empty), [])
})
