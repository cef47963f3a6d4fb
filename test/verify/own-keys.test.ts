// `credits verify` beside a service whose secret was rotated: it verifies receipts of the retired key too, which only a list that a
// later key has signed names.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { databaseUrl, newDirectory } from '../../harness/processes.ts'
import { createDatabase } from '../../src/db/database.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { beginPublication } from '../../src/transparency/publication/checkpoints.sql.ts'
import { signKeyList } from '../../src/transparency/publication/key-list.ts'
import { receiptOfStatement, receiptText, requireLogged } from '../../src/transparency/receipts/receipts.ts'
import { bookkeeper, confirmed, newCustomer } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase, silentLog } from '../support/database/database.ts'
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

test('a receipt of a retired key is verified by the key that the database of the service names, and not by another service', async () => {
  const ask = async (secret: string) => {
    const settings = { KEY_PEPPER: secret, LOG_ORIGIN: origin, DATABASE_URL: databaseUrl(own.connection) }
    const { code, stdout } = await callCli({ after }, directory, ['verify', file, '--json'], settings)
    return [code, JSON.parse(stdout).result]
  }
  assert.deepEqual(await ask(newSecret), [0, 'verified'])
  assert.deepEqual(await ask(otherSecret), [1, 'not verified'])
})
