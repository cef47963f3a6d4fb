// What an owner of the database does to the signatures of the log and to published checkpoints, and that the audit finds it by the
// keys of KEY_PEPPER and by what earlier audits have counted. A rotation, a new name and a secret that is gone are no findings.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { type AuditOptions, type AuditResult, audit, recordedAudit } from '../../src/payments/audit/audit.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { logKeysOf, signCheckpoint, signersOf } from '../../src/transparency/note.ts'
import { beginPublication, endPublication, listPublished } from '../../src/transparency/publication/checkpoints.sql.ts'
import { signKeyList } from '../../src/transparency/publication/key-list.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

type Pepper = { secret: string }
const pepperOf = (secret: string): Pepper => ({ secret })
const [first, second, third] = [
  pepperOf('the first pepper'),
  pepperOf('the second pepper'),
  pepperOf('the third pepper'),
]
const origin = 'log.example/credits'

let own: OwnTestDatabase
let database: Database
let books: PaymentContext
let customerId: string
let attacker: pg.PoolClient
let asOwner: Database

/** An entry more, in the log and in a published checkpoint, by a process with these secrets. */
async function publish(peppers: Pepper[], name = origin): Promise<number> {
  await spend(books, customerId, 1)
  return publishHead(peppers, name)
}

async function publishHead(peppers: Pepper[], name = origin): Promise<number> {
  const keys = logKeysOf(peppers, name)
  const append = createAppendToLog(database, { keys, origin: name }, { freshMs: 0 })
  while ((await append()).more);
  const { note, size } = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  const signing = signersOf(note, keys).map(({ vkey }) => vkey)
  assert.ok(await beginPublication(database, { note, keys: signKeyList(keys, signing) }, 0))
  await endPublication(database, size)
  return size
}

before(async () => {
  own = await createTestDatabase()
  database = createDatabase(own.pool, silentLog)
  books = bookkeeper(own.pool)
  customerId = await newCustomer(books)
  await confirmed(books, customerId, 'paid', 'PRO')
  await publishHead([first])
  await publish([first])
  await publish([second, first])
  await publish([second])
  await recordedAudit(database, 'COMMAND', { peppers: [second], onUnwritten: assert.fail })
  attacker = await own.ownerPool.connect()
  asOwner = createDatabase(attacker, silentLog)
})
after(async () => {
  attacker.release()
  await own.drop()
})

async function auditAfter(damage: string, options: AuditOptions = { peppers: [second] }): Promise<AuditResult> {
  await attacker.query('begin; set local session_replication_role = replica')
  try {
    await attacker.query(damage)
    await attacker.query('set local session_replication_role = origin')
    return await audit(asOwner, options)
  } finally {
    await attacker.query('rollback')
  }
}

/** Without those of the journal of records, which notices every change of a published checkpoint. */
const rulesOf = ({ violations }: AuditResult) => [
  ...new Set(violations.filter(({ invariant }) => invariant !== 'J-2').map(({ rule }) => rule)),
]
const signedRule = 'every checkpoint of the transparency log is signed by its keys, and so is its list of keys'
const countRule = 'no table has fewer rows than an earlier audit counted'
test('after a rotation all signatures are verified, by lists that lead to the key of a secret that is gone', async () => {
  const result = await audit(database, { peppers: [second] })
  assert.deepEqual([rulesOf(result), result.unknownSigners, result.checked.publishedCheckpoints], [[], 0, 4])
})

const ofPublished = (place: 'oldest' | 'newest') =>
  `size = (select ${place === 'oldest' ? 'min' : 'max'}(size) from log_checkpoints)`
/** Another letter in the middle of the first signature. */
const damaged = (column: string) =>
  `overlay(${column} placing case substr(${column}, strpos(${column}, '— ') + 60, 1) when 'A' then 'B' else 'A' end
   from strpos(${column}, '— ') + 60)`

const damages: [what: string, rule: string, damage: string][] = [
  ['all published checkpoints, which are removed', countRule, 'delete from log_checkpoints'],
  ['the newest one, which is removed', countRule, `delete from log_checkpoints where ${ofPublished('newest')}`],
  ...(['oldest', 'newest'] as const).flatMap((place): [string, string, string][] => [
    [
      `the signature of the ${place} one`,
      signedRule,
      `update log_checkpoints set note = ${damaged('note')} where ${ofPublished(place)}`,
    ],
    [
      `the origin of the ${place} one`,
      signedRule,
      `update log_checkpoints set note = replace(note, '${origin}', 'another.example/log') where ${ofPublished(place)}`,
    ],
    [
      `the list of keys of the ${place} one`,
      signedRule,
      `update log_checkpoints set keys = replace(keys, '${origin}+', '${origin}+0') where ${ofPublished(place)}`,
    ],
    [
      `the signature of the list of the ${place} one`,
      signedRule,
      `update log_checkpoints set keys = ${damaged('keys')} where ${ofPublished(place)}`,
    ],
  ]),
  [
    'the last signature of one that two keys have signed',
    signedRule,
    `update log_checkpoints set note = overlay(note placing
       case substr(note, length(note) - 20, 1) when 'A' then 'B' else 'A' end from length(note) - 20)
     where note like '%— %— %'`,
  ],
  ['the signature of the head', signedRule, `update log_head set note = ${damaged('note')}`],
]

for (const [what, rule, damage] of damages) {
  test(`the audit finds a change of ${what}`, async () => {
    assert.deepEqual(rulesOf(await auditAfter(damage)), [rule])
  })
}

/** Signed by a key of the attacker, with a list that fits. */
async function signedByIntruder(size: number, name = origin): Promise<string> {
  const row =
    (await listPublished(database, null, 100)).find((each) => each.size === size) ?? assert.fail('no such size')
  const keys = logKeysOf([{ secret: 'of an intruder' }], name)
  const note = signCheckpoint(keys, { origin: name, size, root: row.root })
  const list = signKeyList(
    keys,
    keys.map(({ vkey }) => vkey),
  )
  return `update log_checkpoints set note = '${note}', keys = '${list}' where size = ${size}`
}

test('a checkpoint of another key is found among those of known keys; the oldest ones are counted', async () => {
  const sizes = (await listPublished(database, null, 100)).map(({ size }) => size)
  const [oldest = 0, second = 0, ofBothKeys = 0, newest = 0] = sizes
  for (const size of [second, newest]) {
    assert.deepEqual(rulesOf(await auditAfter(await signedByIntruder(size))), [signedRule])
  }
  // Without the list of both keys nothing leads to the older one: as if its secret had been replaced at once.
  for (const [size, count] of [
    [oldest, 1],
    [ofBothKeys, 3],
  ] as const) {
    const result = await auditAfter(await signedByIntruder(size))
    assert.deepEqual([result.unknownSigners, rulesOf(result)], [count, []])
  }
})

test('without the secrets no signature is checked', async () => {
  const { violations, unknownSigners } = await auditAfter(`update log_head set note = ${damaged('note')}`, {})
  assert.deepEqual([violations, unknownSigners], [[], null])
})

test('a secret that was replaced at once, and a new name, leave nothing to find', async () => {
  const replaced = await audit(database, { peppers: [third] })
  assert.deepEqual([rulesOf(replaced), replaced.unknownSigners], [[], 5], 'four published ones, and the head')
  await publish([second], 'log.example/credits-2')
  const renamed = await audit(database, { peppers: [second] })
  assert.deepEqual([rulesOf(renamed), renamed.unknownSigners], [[], 0])
  await publish([third, second], 'log.example/credits-2')
  await publish([third], 'log.example/credits-2')
  const rotated = await audit(database, { peppers: [third] })
  assert.deepEqual([rulesOf(rotated), rotated.unknownSigners], [[], 0], 'the old names too')
})
