// Sessions of operators: how long they last, what ends them, what a first password allows, and which pages may send requests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import type { EndpointName } from '../../../src/console/endpoints.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { listOperators, resetPassword, updateRole, updateStatus } from '../../../src/operators/operators.sql.ts'
import { resetOperator } from '../../../src/operators/operators.ts'
import {
  newOperator,
  newSession,
  nextPassword,
  openSignInApi,
  password,
  type SignInApi,
  type SignInRequest,
} from '../../support/console/sign-in-api.ts'
import { createTestDatabase, type OwnTestDatabase } from '../../support/database/database.ts'
import { assertRefused, assertSuccess } from '../../support/service/service.ts'

let database: OwnTestDatabase
let api: SignInApi
/** Like another process of the same service. */
let other: SignInApi
before(async () => {
  database = await createTestDatabase()
  api = await openSignInApi(database)
  other = await openSignInApi(database)
})
after(async () => {
  await api.close()
  await other.close()
  await database.drop()
})

const direct = () => createDatabase(database.pool, silentLog)
/** Moves a time of all sessions of an operator into the past. */
const age = (name: string, column: 'started_at' | 'last_seen_at', span: string) =>
  database.query(
    `update operator_sessions set ${column} = now() - $2::interval
     where operator_id = (select operator_id from operators where name = $1)`,
    [name, span],
  )

async function assertSignedOut(cookie: string): Promise<void> {
  const withoutCookie = await api.request('session')
  assertRefused(withoutCookie, 'AUTH001')
  for (const { request } of [api, other]) {
    assert.equal((await request('session', { cookie })).text, withoutCookie.text, 'same answer as without a cookie')
  }
}

test('a session is known at every process, and ends everywhere when its owner signs out', async () => {
  const cookie = await newSession(database, await newOperator(database, {}))
  assertSuccess(await other.request('session', { cookie }), 200)
  const left = await api.request('signOut', { cookie })
  assertSuccess(left, 200)
  assert.match(left.headers.get('set-cookie') ?? '', /^credits_console=; Max-Age=0; Path=\/console; HttpOnly; /)
  await assertSignedOut(cookie)
})

test('a session ends after half an hour without a request, and not before', async () => {
  const name = await newOperator(database, {})
  const cookie = await newSession(database, name)
  await age(name, 'last_seen_at', '29 min 58 s')
  assertSuccess(await api.request('session', { cookie }), 200)
  await age(name, 'last_seen_at', '30 min')
  await assertSignedOut(cookie)
})

test('a session ends after twelve hours, whatever was requested', async () => {
  const name = await newOperator(database, {})
  const cookie = await newSession(database, name)
  await age(name, 'started_at', '11 h 59 min 58 s')
  const { endsAt, idleEndsAt } = (await api.request('session', { cookie })).body.data
  assert.equal(idleEndsAt, endsAt)
  await age(name, 'started_at', '12 h')
  await assertSignedOut(cookie)
})

test('the last activity is stored at most once a minute, and not for a request of the session itself', async () => {
  const name = await newOperator(database, {})
  const cookie = await newSession(database, name)
  const seen = () =>
    database.query(`select last_seen_at from operator_sessions join operators using (operator_id)
                                     where name = '${name}'`)
  for (const [span, endpoint, isWritten] of [
    ['58 s', 'actionLog', false],
    ['61 s', 'session', false],
    ['61 s', 'actionLog', true],
  ] as const) {
    await age(name, 'last_seen_at', span)
    const before = await seen()
    assertSuccess(await api.request(endpoint, { cookie }), 200)
    assert.equal(JSON.stringify(await seen()) !== JSON.stringify(before), isWritten, `${endpoint} after ${span}`)
  }
})

test('ended sessions are deleted when an operator signs in, but for the newest of each operator, and no others', async () => {
  const [gone, idle] = [await newOperator(database, {}), await newOperator(database, {})]
  for (const _ of 'ab') await newSession(database, gone)
  await age(gone, 'last_seen_at', '30 min 1 s')
  const kept = await newSession(database, idle)
  await age(idle, 'last_seen_at', '29 min')
  await api.enter(await newOperator(database, {}))
  const left = await database.query(
    `select from operator_sessions join operators using (operator_id) where name = $1`,
    [gone],
  )
  assert.equal(left.length, 1)
  assertSuccess(await api.request('session', { cookie: kept }), 200)
})

test('an operator is shown as last seen also after signing out, a suspension and a reset', async () => {
  const name = await newOperator(database, {})
  const lastSeen = async () =>
    (await listOperators(direct(), 1_000)).find((each) => each.name === name)?.lastSeenAt?.getTime()
  assert.equal(await lastSeen(), undefined)
  const cookie = await newSession(database, name)
  await age(name, 'last_seen_at', '20 min')
  const seen = await lastSeen()
  assert.ok(seen)
  await updateStatus(direct(), name, 'SUSPENDED')
  await resetPassword(direct(), name, '$scrypt$1')
  await updateStatus(direct(), name, 'ACTIVE')
  assert.equal(await lastSeen(), seen)
  const another = await newSession(database, name)
  assertSuccess(await api.request('signOut', { cookie: another }), 200)
  await assertSignedOut(another)
  await assertSignedOut(cookie)
  assert.ok(((await lastSeen()) ?? 0) > seen)
})

test('a sign-in with the cookie of another session ends that session', async () => {
  const before = await newSession(database, await newOperator(database, {}))
  const name = await newOperator(database, {})
  assertSuccess(await api.request('signIn', { body: { name, password }, cookie: before }), 200)
  await assertSignedOut(before)
})

test('a suspension ends all sessions at once, and they stay ended when the operator is activated again', async () => {
  const name = await newOperator(database, {})
  const cookies = [await newSession(database, name), await newSession(database, name)]
  await updateStatus(direct(), name, 'SUSPENDED')
  for (const cookie of cookies) await assertSignedOut(cookie)
  await updateStatus(direct(), name, 'ACTIVE')
  for (const cookie of cookies) await assertSignedOut(cookie)
  const byHand = await newSession(database, name)
  await database.query(`update operators set status = 'SUSPENDED' where name = $1`, [name])
  await assertSignedOut(byHand)
})

test('a new role is effective from the next request on', async () => {
  const name = await newOperator(database, { role: 'viewer' })
  const cookie = await newSession(database, name)
  const refused = await other.request('operators', { cookie })
  assertRefused(refused, 'AUTH003')
  assert.deepEqual(refused.body.metadata, { reason: 'role', roles: ['admin'] })
  await updateRole(direct(), name, 'admin')
  assertSuccess(await other.request('operators', { cookie }), 200)
  await updateRole(direct(), name, 'finance')
  assertRefused(await other.request('operators', { cookie }), 'AUTH003')
})

test('a reset ends all sessions and invalidates the password; the new one is a first password, which lapses by the time of the reset', async () => {
  const name = await newOperator(database, {})
  const cookie = await newSession(database, name)
  await database.query(`update operators set password_set_at = now() - interval '1 year' where name = $1`, [name])
  const { firstPassword } = (await resetOperator(direct(), name)) ?? assert.fail()
  await assertSignedOut(cookie)
  assertRefused(await api.signIn(name), 'AUTH001')
  assert.equal((await api.signIn(name, firstPassword)).body.data.mustChangePassword, true)
})

test('with a first password only the session, signing out and changing the password are allowed', async () => {
  const name = await newOperator(database, { role: 'admin', mustChange: true })
  const cookie = await newSession(database, name)
  for (const endpoint of ['actionLog', 'operators'] as const) {
    const refused = await api.request(endpoint, { cookie })
    assertRefused(refused, 'AUTH003')
    assert.deepEqual(refused.body.metadata, { reason: 'password' })
  }
  assert.equal((await api.request('session', { cookie })).body.data.mustChangePassword, true)
  assertSuccess(await api.request('signOut', { cookie }), 200)
})

test('a new password keeps its session, ends all other sessions of the operator, and replaces the old password', async () => {
  const name = await newOperator(database, { role: 'admin', mustChange: true })
  const [own, elsewhere] = [await newSession(database, name), await newSession(database, name)]
  const body = { current: password, next: nextPassword }
  const changed = await api.request('changePassword', { cookie: own, body })
  assertSuccess(changed, 200)
  assert.equal(changed.body.data.mustChangePassword, false)
  assertSuccess(await other.request('operators', { cookie: own }), 200)
  await assertSignedOut(elsewhere)
  assertRefused(await api.signIn(name), 'AUTH001')
  assertSuccess(await api.signIn(name, nextPassword), 200)
})

const notChanged: [what: string, body: object, field: string][] = [
  ['the current password is wrong', { current: 'another one', next: nextPassword }, 'current'],
  ['the new one is too short', { current: password, next: 'elevenchars' }, 'next'],
  ['the new one equals the old one', { current: password, next: password }, 'next'],
]
for (const [what, body, field] of notChanged) {
  test(`a password is not changed when ${what}`, async () => {
    const name = await newOperator(database, {})
    const cookie = await newSession(database, name)
    const stored = () => database.query('select password_hash from operators where name = $1', [name])
    const before = await stored()
    const refused = await api.request('changePassword', { cookie, body })
    assertRefused(refused, 'VAL003')
    const { fields } = refused.body.metadata as { fields: { field: string }[] }
    assert.deepEqual(
      fields.map((fault) => fault.field),
      [field],
    )
    assert.deepEqual(await stored(), before)
  })
}

test('wrong current passwords count like those of a sign-in: an open session cannot be used to guess the password', async () => {
  const name = await newOperator(database, {})
  const cookie = await newSession(database, name)
  const guess = (round: number) =>
    api.request('changePassword', { cookie, body: { current: `guess ${round}`, next: nextPassword } })
  await database.query('delete from sign_in_failures')
  for (let round = 0; round < 5; round += 1) assertRefused(await guess(round), 'VAL003')
  await database.query(`update sign_in_failures set last_failed_at = now() + interval '100 s'`)
  assertRefused(await guess(5), 'SVC001')
  assertRefused(await api.signIn(name), 'SVC001')
  await database.query('delete from sign_in_failures')
})

const host = 'console.example:8081'
const pages: [what: string, headers: Record<string, string>, isOwn: boolean][] = [
  ['the page itself', { host, 'sec-fetch-site': 'same-origin' }, true],
  ['another site', { host, 'sec-fetch-site': 'cross-site' }, false],
  ['another name of the same site', { host, 'sec-fetch-site': 'same-site', origin: `http://${host}` }, false],
  ['a bookmark', { host, 'sec-fetch-site': 'none' }, false],
  ['the page itself in an old browser', { host, origin: `http://${host}` }, true],
  ['the page itself in an old browser, behind TLS', { host, origin: `https://${host}` }, true],
  ['another site in an old browser', { host, origin: 'http://elsewhere.example' }, false],
  ['another port in an old browser', { host, origin: 'http://console.example:9999' }, false],
  ['a page without an origin', { host, origin: 'null' }, false],
  ['a page without an origin, with an invalid host', { host: 'a b', origin: 'null' }, false],
  ['another kind of address', { host, origin: `ftp://${host}` }, false],
  ['an origin with a user name', { host, origin: `http://evil@${host}` }, false],
  ['more than an origin', { host, origin: `http://${host}/x` }, false],
  ['no browser', { host }, false],
]
for (const [what, headers, isOwn] of pages) {
  test(`a request that changes something is ${isOwn ? 'accepted' : 'refused'} from ${what}`, async () => {
    const name = await newOperator(database, {})
    const cookie = await newSession(database, name)
    const requests: [EndpointName, SignInRequest][] = [
      ['changePassword', { body: { current: password, next: password }, headers, cookie }],
      ['signIn', { body: { name: '', password: '' }, headers }],
      ['signOut', { headers, cookie }],
    ]
    for (const [endpoint, input] of requests) {
      const { body } = await api.request(endpoint, input)
      assert.equal(body.metadata?.reason === 'origin', !isOwn, `${endpoint}: ${JSON.stringify(body)}`)
      assert.equal(body.code === 'AUTH003', !isOwn)
    }
    // A request that only reads is accepted from any page: a page of another origin cannot read the answer.
    const session = await api.request('session', { headers, cookie })
    assert.equal(session.status, isOwn ? 401 : 200)
    for (const header of session.headers.keys()) assert.doesNotMatch(header, /^access-control-/)
  })
}

test('a body of another type than JSON is refused, so a form of another site cannot be sent', async () => {
  for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x']) {
    const response = await fetch(`${api.url}/console/api/session`, {
      method: 'POST',
      headers: { 'content-type': type, origin: api.url },
      body: `{"name":"kim","password":"${password}"}`,
    })
    const { code } = (await response.json()) as { code: string }
    assert.deepEqual([response.status, code], [400, 'VAL001'])
  }
})

test('an invalid cookie is treated like no cookie', async () => {
  for (const cookie of ['credits_console=', 'credits_console=x', `credits_consoleX=${'a'.repeat(43)}`, 'a=b; c']) {
    await assertSignedOut(cookie)
  }
  const cookie = await newSession(database, await newOperator(database, {}))
  assertSuccess(await api.request('session', { cookie: `a=b; ${cookie}; c=d` }), 200)
})

test('of two cookies with the same name neither is accepted: a page at another port may have set one', async () => {
  const [own, foreign] = [
    await newSession(database, await newOperator(database, {})),
    await newSession(database, await newOperator(database, {})),
  ]
  for (const cookie of [`${foreign}; ${own}`, `${own}; ${foreign}`, `${own};${own}`, `credits_console=x; ${own}`]) {
    await assertSignedOut(cookie)
  }
  assertSuccess(await api.request('session', { cookie: own }), 200)
})

test('a request without a valid session runs no statement', async () => {
  const owner = await database.ownerPool.connect()
  try {
    // A query of sessions would wait until the end of the test.
    await owner.query('begin')
    await owner.query('lock table operator_sessions in access exclusive mode')
    const forged = `credits_console=${'a'.repeat(43)}.${'b'.repeat(43)}`
    for (const cookie of [undefined, 'credits_console=x', forged]) {
      assertRefused(await api.request('session', cookie ? { cookie } : {}), 'AUTH001')
    }
  } finally {
    await owner.query('rollback')
    owner.release()
  }
})
