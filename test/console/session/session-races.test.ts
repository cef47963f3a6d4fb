// Concurrent changes of one operator in two transactions: sessions that start while access is withdrawn, two sign-ins of one
// operator, statements that are repeated while their first try is being committed, and sessions during a change of peppers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { findSession, startSession } from '../../../src/console/session/session.sql.ts'
import { createTokens } from '../../../src/console/session/tokens.ts'
import { createDatabase, type Database } from '../../../src/db/database.ts'
import {
  changePassword,
  insertOperator,
  renewPasswordHash,
  updateStatus,
} from '../../../src/operators/operators.sql.ts'
import { resetOperator } from '../../../src/operators/operators.ts'
import { createPasswords } from '../../../src/operators/passwords.ts'
import { closeAll } from '../../support/closing.ts'
import {
  cheapHash,
  newOperator,
  newSession,
  nextPassword,
  openSignInApi,
  password,
  type SignInApi,
} from '../../support/console/sign-in-api.ts'
import { createTestDatabase, type OwnTestDatabase } from '../../support/database/database.ts'
import { assertRefused, testPeppers } from '../../support/service/service.ts'

let database: OwnTestDatabase
/** Like two processes of one service. */
let apis: SignInApi[]
before(async () => {
  database = await createTestDatabase()
  apis = [await openSignInApi(database), await openSignInApi(database)]
})
after(async () => {
  for (const api of apis) await api.close()
  await database.drop()
})

const direct = () => createDatabase(database.pool, silentLog)

/** Runs `first` in a transaction that is committed when `other` waits for it or has ended. */
async function during<Value>(first: (database: Database) => Promise<unknown>, other: () => Promise<Value>) {
  const client = await database.pool.connect()
  try {
    await client.query('begin')
    await first(createDatabase(client, silentLog))
    let hasEnded = false
    const second = other().finally(() => {
      hasEnded = true
    })
    await until('the other has ended or waits', async () => {
      const waiting = await database.query(`select from pg_stat_activity where wait_event_type = 'Lock'
                                              and datname = current_database()`)
      return hasEnded || waiting.length > 0
    })
    await client.query('commit')
    return await second
  } finally {
    client.release()
  }
}

const withdrawals: [what: string, withdraw: (name: string, operatorId: string) => Promise<unknown>][] = [
  ['a suspension', (name) => updateStatus(direct(), name, 'SUSPENDED')],
  ['a reset', (name) => resetOperator(direct(), name)],
  [
    'a new password',
    (_, operatorId) => {
      const [from, to] = [cheapHash(password), cheapHash(nextPassword)]
      return changePassword(direct(), { operatorId, from, to, keptSessionHash: Buffer.alloc(32) })
    },
  ],
]
for (const [what, withdraw] of withdrawals) {
  test(`${what} also ends a session whose start is not committed yet`, async () => {
    const name = await newOperator(database, {})
    const [{ operatorId } = { operatorId: '' }] = await database.query<{ operatorId: string }>(
      'select operator_id as "operatorId" from operators where name = $1',
      [name],
    )
    const { sessionHash } = createTokens(testPeppers).newToken()
    const session = { sessionHash, operatorId, passwordHash: cheapHash(password) }
    await during(
      (open) => startSession(open, session),
      () => withdraw(name, operatorId),
    )
    await updateStatus(direct(), name, 'ACTIVE')
    assert.equal(await findSession(direct(), sessionHash), undefined)
  })
}

test('a repeated insert of an operator and a repeated change of a password succeed when the answer was lost during the commit', async () => {
  const added = { operatorId: 'opr_lost', name: 'lost', role: 'viewer', passwordHash: cheapHash(password) } as const
  const add = (each: Database) => insertOperator(each, added)
  assert.equal(await during(add, () => add(direct())), true)
  assert.equal(await insertOperator(direct(), { ...added, operatorId: 'opr_another' }), false)
  const { operatorId, passwordHash: from } = added
  const keptSessionHash = Buffer.alloc(32)
  const change = (each: Database, to = cheapHash(nextPassword)) =>
    changePassword(each, { operatorId, from, to, keptSessionHash })
  assert.equal(await during(change, () => change(direct())), true)
  assert.equal(await change(direct(), cheapHash('a third one')), false)
})

test('a password that was changed meanwhile is neither changed nor hashed again: the one that was changed first stays', async () => {
  const [operatorId, from, keptSessionHash] = ['opr_twice', cheapHash(password), Buffer.alloc(32)]
  await insertOperator(direct(), { operatorId, name: 'twice', role: 'viewer', passwordHash: from })
  const change = (to: string) => changePassword(direct(), { operatorId, from, to, keptSessionHash })
  const [first, second] = [cheapHash(nextPassword), cheapHash('a third one')]
  assert.deepEqual([await change(first), await change(second)], [true, false])
  await renewPasswordHash(direct(), operatorId, from, cheapHash(password))
  const [stored] = await database.query('select password_hash as hash from operators where operator_id = $1', [
    operatorId,
  ])
  assert.deepEqual(stored, { hash: first })
})

test('no session starts for a password that was changed between its check and the start', async () => {
  const [operatorId, passwordHash] = ['opr_changed', cheapHash(password)]
  await insertOperator(direct(), { operatorId, name: 'changed', role: 'viewer', passwordHash })
  const keptSessionHash = Buffer.alloc(32)
  await changePassword(direct(), { operatorId, from: passwordHash, to: cheapHash(nextPassword), keptSessionHash })
  const { sessionHash } = createTokens(testPeppers).newToken()
  await startSession(direct(), { sessionHash, operatorId, passwordHash })
  assert.equal(await findSession(direct(), sessionHash), undefined)
})

test('two sign-ins at once with a password that is rehashed both succeed', async () => {
  const name = await newOperator(database, {})
  const passwords = createPasswords({ N: 128, r: 8, p: 1 })
  const raised = await Promise.all([1, 2].map(() => openSignInApi(database, { passwords })))
  const answers = await Promise.all(raised.map((api) => api.signIn(name)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
  const [stored] = await database.query<{ hash: string }>(
    'select password_hash as hash from operators where name = $1',
    [name],
  )
  assert.match(stored?.hash ?? '', /^\$scrypt\$n=128,/)
  await closeAll(...raised)
})

test('an operator who is suspended during the sign-in gets no cookie', async () => {
  const name = await newOperator(database, {})
  const query = async (statement: { name: string; text: string; values: unknown[] }) => {
    if (statement.name === 'console.startSession') {
      await database.query(`update operators set status = 'SUSPENDED' where name = $1`, [name])
    }
    return database.pool.query(statement)
  }
  const slow = await openSignInApi({ pool: { query } })
  const refused = await slow.signIn(name)
  await slow.close()
  assertRefused(refused, 'AUTH001')
  assert.equal(refused.headers.get('set-cookie'), null)
})

test('a session stays valid after a new pepper is added, and ends when its own pepper is removed', async () => {
  const cookie = await newSession(database, await newOperator(database, {}))
  const next = { version: 2, secret: 'another pepper for the tests' }
  for (const [peppers, status] of [
    [[next, ...testPeppers], 200],
    [[next], 401],
  ] as const) {
    const renewed = await openSignInApi(database, { peppers })
    const answer = await renewed.request('session', { cookie })
    await renewed.close()
    assert.equal(answer.status, status)
  }
})
