// Signing in: its answer, the answer to a refused sign-in, and the pauses after wrong passwords.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { countSignIn } from '../../../src/console/session/session.sql.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { createPasswords } from '../../../src/operators/passwords.ts'
import { permissions } from '../../../src/operators/permissions.ts'
import { createSignInLine } from '../../../src/operators/sign-in-slots.ts'
import {
  cheapHash,
  cookieOf,
  newOperator,
  openSignInApi,
  password,
  type SignInApi,
} from '../../support/console/sign-in-api.ts'
import { createTestDatabase, type OwnTestDatabase } from '../../support/database/database.ts'
import { type Answer, assertRefused, assertSuccess } from '../../support/service/service.ts'

let database: OwnTestDatabase
let api: SignInApi
/** Like another process of the same service. */
let other: SignInApi
/** With the hashing costs of production. */
let slow: SignInApi
before(async () => {
  database = await createTestDatabase()
  api = await openSignInApi(database)
  other = await openSignInApi(database, { secureCookies: true })
  slow = await openSignInApi(database, { passwords: createPasswords() })
})
after(async () => {
  await api.close()
  await other.close()
  await slow.close()
  await database.drop()
})

const isPaused = ({ body }: Answer) => body.code === 'SVC001' && body.metadata?.reason === 'wrong passwords'

/** Moves all wrong passwords into the future, so that their pause does not end during the test, or into the past. */
const move = (seconds: number) =>
  database.query(`update sign_in_failures set last_failed_at = now() + $1 * interval '1 s'`, [seconds])
const forget = () => database.query('delete from sign_in_failures')

async function wrongPasswords(name: string, times: number, from?: string): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    assertRefused(await api.signIn(name, `wrong ${time}`, from), 'AUTH001')
  }
}

test('the right password starts a session: a cookie that no script can read and no other site can send, stored as its hash', async () => {
  const name = await newOperator(database, { role: 'finance' })
  const answer = await api.signIn(name)
  assertSuccess(answer, 200)
  const { endsAt, idleEndsAt, permissions: allowed, ...data } = answer.body.data
  assert.deepEqual(data, { name, role: 'finance', mustChangePassword: false })
  assert.ok((allowed as string[]).includes('refund') && !(allowed as string[]).includes('see operators'))
  const limits = [endsAt, idleEndsAt].map((time) => Math.round((Date.parse(`${time}`) - Date.now()) / 60_000))
  assert.deepEqual(limits, [12 * 60, 30])
  const [cookie = '', ...others] = answer.headers.getSetCookie()
  assert.match(cookie, /^credits_console=[0-9A-Za-z]{43}\.[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/)
  assert.deepEqual(others, ['credits_console=; Max-Age=0; Path=/console/api; HttpOnly; SameSite=Strict'])
  const token = cookieOf(answer).replace('credits_console=', '')
  const [row] = await database.query('select from operator_sessions where session_hash = $1', [
    createHash('sha256').update(token).digest(),
  ])
  assert.ok(row)
  const secure = (await other.signIn(name)).headers.getSetCookie()
  assert.deepEqual(
    secure.map((each) => each.replace(/=[\w.-]{87};/, '=...;')),
    ['__Host-credits_console=...; Path=/; HttpOnly; SameSite=Strict; Secure'],
  )
  assertSuccess(
    await other.request('session', { cookie: cookieOf({ headers: new Headers({ 'set-cookie': `${secure}` }) }) }),
    200,
  )
})

test('an operator signs in with the name in capitals and with blanks around it, and never with the password in another case', async () => {
  const name = await newOperator(database, {})
  assertSuccess(await api.signIn(` ${name.toUpperCase()} `), 200)
  assertRefused(await api.signIn(name, password.toUpperCase()), 'AUTH001')
  await forget()
})

const agePassword = (name: string, hours: number) =>
  database.query(`update operators set password_set_at = now() - $2 * interval '1 hour' where name = $1`, [name, hours])

test('a first password that was not changed within 72 hours is refused, and a wrong password does not reveal it', async () => {
  const name = await newOperator(database, { mustChange: true })
  await agePassword(name, 71.9)
  await api.enter(name)
  await agePassword(name, 72.1)
  const lapsed = await api.signIn(name)
  assertRefused(lapsed, 'AUTH003')
  assert.equal(lapsed.body.metadata?.reason, 'lapsed password')
  assert.match(lapsed.body.message ?? '', /Ask an admin for a new one/)
  assert.deepEqual(lapsed.headers.getSetCookie(), [])
  const [action] = await database.query<{ actor: string; outcome: string }>(
    `select b.actor, e.outcome from operator_actions b join operator_actions e using (action_id)
     where b.step = 'BEGUN' and e.step = 'ENDED' order by b.happened_at desc limit 1`,
  )
  assert.match(`${action?.actor}: ${action?.outcome}`, new RegExp(`^${name} in the console .*lapsed`))
  // A wrong password has the same answer for a lapsed operator, for another one and for an unknown name.
  const fresh = await newOperator(database, { mustChange: true })
  const wrong = new Set<string>()
  for (const each of [name, fresh, 'unknown-name']) wrong.add((await api.signIn(each, 'no')).text)
  assert.equal(wrong.size, 1)
  await forget()
})

test('a first password that has lapsed cannot be changed any more, not even with a session from before', async () => {
  const name = await newOperator(database, { mustChange: true })
  const cookie = await api.enter(name)
  await agePassword(name, 72.1)
  const body = { current: password, next: 'another of many letters' }
  const refused = await api.request('changePassword', { cookie, body })
  assertRefused(refused, 'AUTH003')
  assert.equal(refused.body.metadata?.reason, 'lapsed password')
})

test('a password that the operator has chosen never lapses: it signs in and can be changed after years', async () => {
  const name = await newOperator(database, {})
  await agePassword(name, 100_000)
  const cookie = await api.enter(name)
  const body = { current: password, next: 'another of many letters' }
  assertSuccess(await api.request('changePassword', { cookie, body }), 200)
})

test('a password hashed at other costs, whichever of them differs, is rehashed, and stays valid', async () => {
  const name = await newOperator(database, {})
  const stored = () =>
    database.query<{ hash: string }>('select password_hash as hash from operators where name = $1', [name])
  for (const costs of [{}, { N: 128 }, { r: 4 }, { p: 2 }]) {
    const passwords = createPasswords({ N: 64, r: 8, p: 1, ...costs })
    assert.equal(passwords.isOutdated(cheapHash(password)), Object.keys(costs).length > 0)
  }
  await slow.enter(name)
  const [rehashed] = await stored()
  assert.match(rehashed?.hash ?? '', /^\$scrypt\$n=65536,r=8,p=2\$/)
  await slow.enter(name)
  assert.deepEqual(await stored(), [rehashed])
})

test('a password is the same in whichever code points a keyboard sends its letters', async () => {
  const { hash, matches } = createPasswords({ N: 16, r: 1, p: 1 })
  const typed = 'Caf\u00e9 \ube44\ubc00\ubc88\ud638 123'
  const stored = await hash(typed)
  for (const same of [typed.normalize('NFD'), typed.replace('123', '\uff11\uff12\uff13')]) {
    assert.notEqual(same, typed)
    assert.equal(await matches(same, stored), true)
  }
  assert.equal(await matches(typed.toLowerCase(), stored), false)
})

test('a wrong password, an unknown name and a suspended operator get the same answer', async () => {
  const [known, suspended] = [await newOperator(database, {}), await newOperator(database, {})]
  await database.query(`update operators set status = 'SUSPENDED' where name = $1`, [suspended])
  const answers = [await api.signIn(known, 'wrong'), await api.signIn('unknown.name'), await api.signIn(suspended)]
  for (const answer of answers) {
    assertRefused(answer, 'AUTH001')
    assert.equal(answer.text, answers[0]?.text)
    assert.equal(answer.headers.get('set-cookie'), null)
  }
  await forget()
})

test('from the fifth wrong password on there is a pause in which no password is checked; after it the right one resets the count', async () => {
  const name = await newOperator(database, {})
  await wrongPasswords(name, 5)
  await move(100)
  const paused = await other.signIn(name)
  assert.ok(isPaused(paused), paused.text)
  const { retryAfterSeconds } = paused.body.metadata as { retryAfterSeconds: number }
  assert.ok(retryAfterSeconds > 90 && retryAfterSeconds <= 101)
  assert.equal(paused.headers.get('retry-after'), `${retryAfterSeconds}`)
  await move(-1)
  assertSuccess(await api.signIn(name), 200)
  assert.deepEqual(
    await database.query('select failures from sign_in_failures'),
    [{ failures: 4 }],
    'only the count of the network is left',
  )
  await forget()
})

const pauses: [failures: number, agoSeconds: number, waitSeconds: number][] = [
  [4, 0, 0],
  [5, 0, 1],
  [5, 1, 0],
  [6, 0, 2],
  [6, 1, 1],
  [7, 0, 4],
  [10, 0, 32],
  [14, 0, 512],
  [15, 0, 900],
  [2_000_000_000, 0, 900],
  [2_000_000_000, 899, 1],
  [2_000_000_000, 3_600, 0],
]
for (const [failures, agoSeconds, waitSeconds] of pauses) {
  const next =
    agoSeconds < 3_600 ? `make the next try wait for ${waitSeconds} s` : 'no longer count: the next one is the first'
  test(`${failures} wrong passwords, the last ${agoSeconds} s ago, ${next}`, async () => {
    const client = await database.pool.connect()
    const subject = Buffer.alloc(32, 1)
    try {
      // Within a transaction now() is constant.
      await client.query('begin')
      await client.query(`insert into sign_in_failures values ($1, $2, now() - $3 * interval '1 s')`, [
        subject,
        failures,
        agoSeconds,
      ])
      assert.equal(await countSignIn(createDatabase(client, silentLog), [{ subject, free: 5 }]), waitSeconds)
      const { rows } = await client.query('select failures from sign_in_failures where subject = $1', [subject])
      const counted = agoSeconds < 3_600 ? failures + 1 : 1
      assert.deepEqual(rows, [{ failures: waitSeconds > 0 ? failures : counted }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
}

test('wrong passwords of more than an hour ago are deleted with the next sign-in, and no others', async () => {
  const kinds = ['3601 s', '3590 s']
  for (const [index, ago] of kinds.entries()) {
    await database.query(`insert into sign_in_failures values ($1, 3, now() - $2::interval)`, [
      Buffer.alloc(32, 10 + index),
      ago,
    ])
  }
  await countSignIn(createDatabase(database.pool, silentLog), [{ subject: Buffer.alloc(32, 20), free: 5 }])
  const left = await database.query('select failures from sign_in_failures order by failures')
  assert.deepEqual(left, [{ failures: 1 }, { failures: 3 }])
  await forget()
})

test('wrong passwords from one network do not block a sign-in from another', async () => {
  const name = await newOperator(database, {})
  await wrongPasswords(name, 5, '127.0.0.2')
  await move(100)
  assert.ok(isPaused(await api.signIn(name, password, '127.0.0.2')))
  assertSuccess(await api.signIn(name), 200)
  assert.ok(isPaused(await api.signIn(name, password, '127.0.0.2')))
  await forget()
})

test('a network that tries one name after the other has to wait from the twentieth wrong password on', async () => {
  const hash = cheapHash(password)
  const names = await Promise.all(Array.from({ length: 5 }, () => newOperator(database, { hash })))
  for (const name of names) await wrongPasswords(name, 4, '127.0.0.3')
  await move(100)
  const untried = await newOperator(database, { hash })
  assert.ok(isPaused(await api.signIn(untried, password, '127.0.0.3')))
  await move(-1)
  assertSuccess(await api.signIn(untried, password, '127.0.0.3'), 200)
  await forget()
})

test('of many tries at once, at two processes, only the one that is allowed is checked', async () => {
  const name = await newOperator(database, {})
  await wrongPasswords(name, 1)
  await database.query('update sign_in_failures set failures = 15')
  await move(-901)
  const tries = Array.from({ length: 16 }, (_, index) => (index % 2 ? api : other).signIn(name, `wrong ${index}`))
  const answers = await Promise.all(tries)
  assert.equal(answers.filter(({ body }) => body.code === 'AUTH001').length, 1)
  assert.equal(answers.filter(isPaused).length, 15)
  await forget()
})

test('a try that waits for the count of another one uses the count after it', async () => {
  const subject = Buffer.alloc(32, 2)
  await database.query(`insert into sign_in_failures values ($1, 14, now() - interval '901 s')`, [subject])
  const first = await database.ownerPool.connect()
  await first.query('begin')
  await first.query('update sign_in_failures set failures = 15, last_failed_at = now() where subject = $1', [subject])
  const second = countSignIn(createDatabase(database.pool, silentLog), [{ subject, free: 5 }])
  await until('the second waits for the first', async () => {
    const waiting = await database.query(`select from pg_stat_activity where wait_event_type = 'Lock'
                                            and datname = current_database()`)
    return waiting.length > 0
  })
  await first.query('commit')
  first.release()
  assert.ok((await second) > 800)
  await forget()
})

test('the sign-in queue runs one try at a time, is limited, and no single network can fill it', async () => {
  const line = createSignInLine(3, 2)
  const { promise, resolve } = Promise.withResolvers<void>()
  const order: string[] = []
  const enter = (network: string) =>
    line.run(network, async () => {
      order.push(network)
      await promise
    })
  const entered = [enter('a'), enter('a')]
  assert.deepEqual([line.isFull('a'), line.isFull('b')], [true, false])
  entered.push(enter('b'))
  assert.deepEqual([line.isFull('b'), line.isFull('c')], [true, true])
  await new Promise(setImmediate)
  assert.deepEqual(order, ['a'])
  resolve()
  await Promise.all(entered)
  assert.deepEqual([order, line.isFull('a')], [['a', 'a', 'b'], false])
  await assert.rejects(
    line.run('a', () => Promise.reject(new Error('failed by itself'))),
    /failed by itself/,
  )
  assert.equal(await line.run('a', async () => 5), 5)
})

test('a network that has to pause does not block others, however many tries it sends at once', async () => {
  const name = await newOperator(database, {})
  await wrongPasswords(name, 1, '127.0.0.4')
  await database.query('update sign_in_failures set failures = 30')
  await move(100)
  const flood = Array.from({ length: 80 }, () => api.signIn('kim', 'wrong', '127.0.0.4'))
  assertSuccess(await api.signIn(name), 200)
  for (const { body } of await Promise.all(flood)) assert.equal(body.code, 'SVC001')
  await forget()
})

test('a try that finds the queue full is answered with retry-after, and does not count', async () => {
  // A wrong password of an unknown name is hashed at the costs of production, so the queue does not advance meanwhile.
  const tries = Array.from({ length: 8 }, (_, index) => slow.signIn(`unknown.${index}`, 'wrong', '127.0.0.5'))
  const answers = await Promise.all(tries)
  const refused = answers.filter(({ body }) => body.code === 'SVC001')
  const reasons = new Set(refused.map(({ body }) => body.metadata?.reason))
  assert.deepEqual(reasons, new Set(['signing in']), answers.map(({ text }) => text).join())
  assert.equal(refused[0]?.headers.get('retry-after'), '1')
  const tried = answers.length - refused.length
  // One failure per name, and all of them for the network.
  assert.deepEqual(
    await database.query('select failures, count(*)::int as count from sign_in_failures group by 1 order by 1'),
    [
      { failures: 1, count: tried },
      { failures: tried, count: 1 },
    ],
  )
  await forget()
})

test('the action log has the operator and the address of a sign-in, and only the address of a refused one: no name, no password', async () => {
  const name = await newOperator(database, { hash: cheapHash(password) })
  await forget()
  await api.enter(name)
  assertRefused(await api.signIn('hunter2-typed-as-a-name', 'hunter3'), 'AUTH001')
  const rows = await database.query<{ actor: string; command: string; outcome: string }>(
    `select b.actor, b.command, e.outcome from operator_actions b
     join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
     where b.step = 'BEGUN' order by b.happened_at desc limit 2`,
  )
  assert.deepEqual(rows, [
    { actor: 'somebody from 127.0.0.1', command: 'console sign-in', outcome: 'refused' },
    { actor: `${name} in the console from 127.0.0.1`, command: 'console sign-in', outcome: 'ok' },
  ])
  const stored = JSON.stringify(await database.query('select * from operator_actions')) + api.lines.join('')
  for (const secret of ['hunter', password, 'wrong 0']) assert.equal(stored.includes(secret), false, secret)
})

test('an invalid name or password is refused by its rule, and does not count as a failure', async () => {
  const long = { name: 'kim', password: 'x'.repeat(201) }
  for (const body of [
    { name: 'kim' },
    { name: '', password },
    { name: 'a\0b', password },
    { name: '\ud800', password },
    long,
  ]) {
    assert.match((await api.request('signIn', { body })).body.code, /^VAL00[23]$/)
  }
  assert.deepEqual(await database.query(`select from sign_in_failures where failures > 1`), [])
})

test('an admin has every permission', () => {
  for (const [permission, roles] of Object.entries(permissions)) {
    assert.ok((roles as readonly string[]).includes('admin'), permission)
  }
})
