// What is done to an operator at the moment in which somebody else is at it, in two transactions: sessions that are being
// started while the way in is taken, two sign-ins of one person, statements that are repeated while their first try is being
// committed, and sessions over which the peppers are exchanged.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../../harness/until.ts'
import { findSession, startSession } from '../../../src/console/session/session.sql.ts'
import { createTokens } from '../../../src/console/session/tokens.ts'
import { createDatabase, type Database } from '../../../src/db/database.ts'
import { changePassword, insertOperator, updateStatus } from '../../../src/operators/operators.sql.ts'
import { resetOperator } from '../../../src/operators/operators.ts'
import {
  cheapHash,
  newOperator,
  newSession,
  nextPassword,
  openSignInApi,
  password,
  type SignInApi,
} from '../../support/console/sign-in-api.ts'
import { createTestDatabase, type OwnTestDatabase, silentLog } from '../../support/database/database.ts'
import { assertRefused, testPeppers } from '../../support/service/service.ts'

let database: OwnTestDatabase
/** As two processes of one service. */
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

/** What is done in a transaction that is committed when the other has been waiting for it, or has ended. */
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

const takings: [what: string, take: (name: string, operatorId: string) => Promise<unknown>][] = [
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
for (const [what, take] of takings) {
  test(`${what} ends a session, too, that was started and is not committed yet`, async () => {
    const name = await newOperator(database, {})
    const [{ operatorId } = { operatorId: '' }] = await database.query<{ operatorId: string }>(
      'select operator_id as "operatorId" from operators where name = $1',
      [name],
    )
    const { sessionHash } = createTokens(testPeppers).newToken()
    const session = { sessionHash, operatorId, passwordHash: cheapHash(password) }
    await during(
      (open) => startSession(open, session),
      () => take(name, operatorId),
    )
    await updateStatus(direct(), name, 'ACTIVE')
    assert.equal(await findSession(direct(), sessionHash), undefined)
  })
}

test('an operator that is added and a password that is changed are so, though the answer was lost while it was committed', async () => {
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

test('two who sign in at once with a password that is hashed anew are both let in', async () => {
  const name = await newOperator(database, {})
  const answers = await Promise.all(apis.map((api) => api.signIn(name)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  )
})

test('whoever is suspended while they sign in gets no cookie', async () => {
  const name = await newOperator(database, {})
  const query = async (asked: { name: string; text: string; values: unknown[] }) => {
    if (asked.name === 'console.startSession') {
      await database.query(`update operators set status = 'SUSPENDED' where name = $1`, [name])
    }
    return database.pool.query(asked)
  }
  const slow = await openSignInApi({ pool: { query } })
  const refused = await slow.signIn(name)
  await slow.close()
  assertRefused(refused, 'AUTH001')
  assert.equal(refused.headers.get('set-cookie'), null)
})

test('a session goes on under a new pepper, and ends with the one that it was given under', async () => {
  const cookie = await newSession(database, await newOperator(database, {}))
  const next = { version: 2, secret: 'another pepper for the tests' }
  for (const [peppers, status] of [
    [[next, ...testPeppers], 200],
    [[next], 401],
  ] as const) {
    const renewed = await openSignInApi(database, { peppers })
    const answer = await renewed.ask('session', { cookie })
    await renewed.close()
    assert.equal(answer.status, status)
  }
})
