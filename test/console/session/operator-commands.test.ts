// The commands about operators, called as the command line calls them, and the effect of each on signing in.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { silentLog } from '../../../harness/silent-log.ts'
import type { Call, Values } from '../../../src/commands/command.ts'
import { commands } from '../../../src/commands/command-table.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { countOperators, type ListedOperator } from '../../../src/operators/operators.sql.ts'
import { roles } from '../../../src/operators/permissions.ts'
import { nextPassword, openSignInApi, type SignInApi } from '../../support/console/sign-in-api.ts'
import { createTestDatabase, type OwnTestDatabase } from '../../support/database/database.ts'
import { callCommand } from '../../support/service/command-calls.ts'
import { assertRefused, assertSuccess } from '../../support/service/service.ts'

let database: OwnTestDatabase
let api: SignInApi
before(async () => {
  database = await createTestDatabase()
  api = await openSignInApi(database)
})
after(async () => {
  await api.close()
  await database.drop()
})

type Shown = { operatorId: string; name: string; role?: string; status?: string; firstPassword?: string }

function run<Result = Shown>(name: string, values: Values = {}, ...positionals: string[]): Promise<Result> {
  const parts = { database: createDatabase(database.pool, silentLog) } as Call
  return callCommand<Result>(commands, `operators ${name}`, { positionals, values }, parts)
}

test('a new operator signs in with the password that the command printed, and has to change it', async () => {
  const { operatorId, name, role, firstPassword = '' } = await run('add', { role: 'support' }, 'kim')
  assert.match(operatorId, /^opr_[0-9A-Za-z]{20}$/)
  assert.deepEqual([name, role], ['kim', 'support'])
  assert.match(firstPassword, /^[0-9A-Za-z]{5}(-[0-9A-Za-z]{5}){3}$/)
  const cookie = await api.enter('kim', firstPassword)
  assertRefused(await api.request('actionLog', { cookie }), 'AUTH003')
  const body = { current: firstPassword, next: nextPassword }
  assertSuccess(await api.request('changePassword', { cookie, body }), 200)
  assertSuccess(await api.request('actionLog', { cookie }), 200)
  const stored = JSON.stringify(await database.query('select o::text, a::text from operators o, operator_actions a'))
  for (const secret of [firstPassword, nextPassword, cookie.slice(-87, -44)])
    assert.equal(stored.includes(secret), false)
})

test('a name can be used once', async () => {
  await run('add', { role: 'viewer' }, 'lee')
  await assert.rejects(run('add', { role: 'admin' }, 'lee'), new Error('The operator lee exists already.'))
  const list = await run<Shown[]>('list')
  assert.deepEqual(
    list.map(({ name, role, status }) => [name, role, status]),
    [
      ['kim', 'support', 'ACTIVE'],
      ['lee', 'viewer', 'ACTIVE'],
    ],
  )
  for (const each of list) assert.ok(!('passwordHash' in each) && !('firstPassword' in each))
})

test('role, reset, suspend and activate take effect on an operator who is signed in, and a suspended one is not counted', async () => {
  const { operatorId, firstPassword = '' } = await run('add', { role: 'viewer' }, 'park')
  const cookie = await api.enter('park', firstPassword)
  assert.deepEqual(await run('role', { role: 'finance' }, 'park'), { operatorId, name: 'park', role: 'finance' })
  assert.equal((await api.request('session', { cookie })).body.data.role, 'finance')
  const count = () => countOperators(createDatabase(database.pool, silentLog))
  const countBefore = await count()
  assert.deepEqual(await run('suspend', {}, 'park'), { operatorId, name: 'park', status: 'SUSPENDED' })
  assert.equal(await count(), countBefore - 1)
  assertRefused(await api.request('session', { cookie }), 'AUTH001')
  assert.deepEqual(await run('activate', {}, 'park'), { operatorId, name: 'park', status: 'ACTIVE' })
  assertRefused(await api.request('session', { cookie }), 'AUTH001')
  const reset = await run('reset', {}, 'park')
  assert.notEqual(reset.firstPassword, firstPassword)
  assertRefused(await api.signIn('park', firstPassword), 'AUTH001')
  assertSuccess(await api.signIn('park', reset.firstPassword), 200)
})

test('operators are listed by name, each as last seen in any of its sessions, with the time of its password', async () => {
  const { firstPassword = '' } = await run('add', { role: 'viewer' }, 'choi')
  const cookies = [await api.enter('choi', firstPassword), await api.enter('choi', firstPassword)]
  const body = { current: firstPassword, next: nextPassword }
  const setAt = `update operators set password_set_at = now() - interval '1 hour' where name = 'choi'`
  await database.query(setAt)
  assertSuccess(await api.request('changePassword', { cookie: cookies[0] ?? '', body }), 200)
  await api.enter('choi', nextPassword)
  await database.query(`update operator_sessions s set last_seen_at = '2020-01-01' from operators o
    where o.operator_id = s.operator_id and o.name = 'choi' and session_hash = (
      select session_hash from operator_sessions where operator_id = o.operator_id order by 1 limit 1)`)
  const list = await run<ListedOperator[]>('list')
  assert.deepEqual(
    list.map(({ name }) => name),
    list.map(({ name }) => name).toSorted(),
  )
  assert.equal(list[0]?.name, 'choi')
  const ageMs = (time: Date | null | undefined) => Date.now() - (time?.getTime() ?? 0)
  assert.deepEqual(
    [list[0]?.lastSeenAt, list[0]?.passwordSetAt].map((time) => ageMs(time) < 1_800_000),
    [true, true],
  )
})

test('the commands refuse invalid names, unknown roles and unknown operators', async () => {
  for (const name of ['K', 'Kim', 'two words', '-kim', 'k'.repeat(41), 'kim\n']) {
    await assert.rejects(run('add', { role: 'viewer' }, name), /NAME is 2 to 40 lower-case letters/)
  }
  await assert.rejects(run('add', {}, 'choi'), /--role ROLE is needed/)
  await assert.rejects(run('add', { role: 'owner' }, 'choi'), new RegExp(roles.join('.*')))
  await assert.rejects(run('add', { role: 'viewer' }), /exactly one NAME is needed/)
  for (const verb of ['reset', 'suspend', 'activate']) {
    await assert.rejects(run(verb, {}, 'unknown'), new Error('There is no operator unknown.'))
  }
  await assert.rejects(run('role', { role: 'admin' }, 'unknown'), new Error('There is no operator unknown.'))
})
