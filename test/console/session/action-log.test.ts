// The page of the action log: filtered by operator, action, Korean day and subject, with the names of customers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { maxActionsScanned } from '../../../src/console/action-log/action-log.sql.ts'
import { addDays, koreanDayOf } from '../../../src/core/korean-days.ts'
import { beginAction, endAction, renewAction } from '../../../src/operators/action-log.sql.ts'
import { createActionLog, endLost, recordAction } from '../../../src/operators/action-log.ts'
import { closeAll } from '../../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../../support/console/console-api.ts'
import { refusingEnds } from '../../support/console/refused-ends.ts'
import { assertRefused, startTestService, type TestService } from '../../support/service/service.ts'

let service: TestService
let api: ConsoleApi
let viewer: Operator
before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  viewer = await api.newOperator('viewer')
})
after(() => closeAll(api, service))

type Logged = { actor: string; command: string; subject?: string; at: string; outcome?: string }

async function write(...actions: Logged[]): Promise<void> {
  for (const { actor, command, subject = null, at, outcome = 'ok' } of actions) {
    const actionId = crypto.randomUUID()
    await service.database.query(
      `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
       values ($1, 'BEGUN', $2, $3, $4, '{}', $5)`,
      [actionId, at, actor, command, subject],
    )
    await service.database.query(
      `insert into operator_actions (action_id, step, happened_at, outcome, about) values ($1, 'ENDED', $2, $3, '{}')`,
      [actionId, at, outcome],
    )
  }
}

type Filter = { actor?: string; command?: string; from?: string; to?: string; subject?: string; limit?: string }

/** The actions of all pages, as `actor command`. */
async function list(query: Filter): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const page: { actions: { actor: string; command: string }[]; nextCursor: string | null } = await viewer.get(
      'actionLog',
      { query: { ...query, ...(cursor && { cursor }) } },
    )
    found.push(...page.actions.map(({ actor, command }) => `${actor} ${command}`))
    cursor = page.nextCursor
    if (cursor === null) return found
  }
}

test('actions are found by operator, action and Korean day, wherever the operator worked', async () => {
  const kim = 'kim in the console from 127.0.0.1'
  await write(
    { actor: kim, command: 'orders refund', at: '2026-03-01T14:59:59.999Z' },
    { actor: kim, command: 'orders settle', at: '2026-03-01T15:00:00Z' },
    { actor: 'kim as root', command: 'orders refund', at: '2026-03-02T14:59:59.999Z' },
    { actor: 'kimberly in the console from 127.0.0.1', command: 'orders refund', at: '2026-03-02T10:00:00Z' },
    { actor: 'somebody from 10.0.0.1', command: 'console sign-in', at: '2026-03-02T15:00:00Z', outcome: 'refused' },
  )
  assert.deepEqual(await list({ from: '2026-03-02', to: '2026-03-02' }), [
    'kim as root orders refund',
    'kimberly in the console from 127.0.0.1 orders refund',
    `${kim} orders settle`,
  ])
  assert.deepEqual(await list({ actor: 'KIM', command: 'orders refund', limit: '1' }), [
    'kim as root orders refund',
    `${kim} orders refund`,
  ])
  assert.deepEqual(await list({ command: 'orders refund', from: '2026-03-01', to: '2026-03-03', limit: '1' }), [
    'kim as root orders refund',
    'kimberly in the console from 127.0.0.1 orders refund',
    `${kim} orders refund`,
  ])
  assert.deepEqual(await list({ actor: 'somebody', from: '2026-03-03' }), ['somebody from 10.0.0.1 console sign-in'])
  assert.deepEqual(await list({ to: '2026-02-28' }), [])
  assertRefused(await viewer.request('actionLog', { query: { from: '2026-02-30' } }), 'VAL003')
})

test('actions come newest first, each once, also those of one moment where a page ends among them; another cursor is refused', async () => {
  const at = '2026-02-01T00:00:00Z'
  const commands = ['one', 'two', 'three', 'four', 'five']
  await write(...commands.map((command) => ({ actor: 'choi', command, at })))
  await write({ actor: 'choi', command: 'before', at: '2026-01-31T23:59:59Z' })
  const listed = await list({ from: '2026-01-31', to: '2026-02-01', limit: '2' })
  assert.deepEqual([listed.length, new Set(listed).size, listed.at(-1)], [6, 6, 'choi before'])
  for (const cursor of ['7', `7~${crypto.randomUUID().toUpperCase()}`]) {
    assertRefused(await viewer.request('actionLog', { query: { cursor } }), 'VAL003')
  }
})

test('a subject is shown with the name of its customer, also that of an order or a discrepancy, and the filters apply to it too', async () => {
  const name = 'A customer of the log'
  const customer = await service.newCustomer(name)
  const { orderId } = await customer.confirmedOrder('BASIC')
  const today = koreanDayOf(new Date())
  const at = new Date().toISOString()
  const [discrepancyId, ofOrder] = [crypto.randomUUID(), crypto.randomUUID()]
  await service.database.query(
    `insert into discrepancies (discrepancy_id, subject, kind, detail, customer_id, order_id)
     values ($1, $3, 'CAPTURED', '{}', $2, $3)`,
    [ofOrder, customer.customerId, orderId],
  )
  await write(
    { actor: 'lee', command: 'orders settle', subject: orderId, at },
    { actor: 'lee', command: 'customers suspend', subject: customer.customerId, at },
    { actor: 'lee', command: 'discrepancies resolve', subject: discrepancyId, at },
    { actor: 'lee', command: 'discrepancies resolve', subject: ofOrder, at },
  )
  const { actions } = await viewer.get('actionLog', { query: { actor: 'lee', from: today } })
  assert.deepEqual(
    new Map(actions.map(({ subject, subjectName }) => [subject, subjectName])),
    new Map([
      [orderId, name],
      [customer.customerId, name],
      [discrepancyId, null],
      [ofOrder, name],
    ]),
  )
  assert.deepEqual(await list({ subject: ofOrder.toUpperCase() }), ['lee discrepancies resolve'])
  assert.deepEqual(await list({ subject: orderId, actor: 'lee' }), ['lee orders settle'])
  assert.deepEqual(await list({ subject: orderId, actor: 'kim' }), [])
  assert.deepEqual(await list({ subject: orderId, to: addDays(today, -1) }), [])
})

async function newestOf(customerId: string) {
  const { actions } = await viewer.get('actionLog', { query: { subject: customerId } })
  return actions[0] ?? assert.fail('there is no action')
}

test('an end that cannot be written at once is written by the same process as soon as the database accepts it', async () => {
  const admin = await api.newOperator('admin')
  const { customerId } = await service.newCustomer()
  await refusingEnds(service.database, async () => {
    await admin.get('suspendCustomer', { params: { customerId }, body: { reason: 'unpaid' } })
    assert.deepEqual([(await newestOf(customerId)).outcome, (await newestOf(customerId)).endedAt], [null, null])
  })
  await until('the end is written', async () => (await newestOf(customerId)).outcome === 'ok')
  assert.ok((await newestOf(customerId)).endedAt)
})

test('a listener that closes waits until the ends of its actions are written', async () => {
  const closing = await openConsoleApi(service)
  const admin = await closing.newOperator('admin')
  const { customerId } = await service.newCustomer()
  let closed: Promise<void> | undefined
  await refusingEnds(service.database, async () => {
    await admin.get('suspendCustomer', { params: { customerId }, body: { reason: 'unpaid' } })
    closed = closing.close()
    assert.equal(await Promise.race([closed, sleep(500, 'waits')]), 'waits')
  })
  await closed
  assert.equal((await newestOf(customerId)).outcome, 'ok')
})

test('a service that stops waits for a missing end no longer than its limit, names it again, and leaves it to the worker', async () => {
  const { database } = service.payments
  const lines: string[] = []
  const log = { ...silentLog, error: (_: object, line: string) => lines.push(line) as never }
  const actionLog = createActionLog(database, log, { limitMs: 0 })
  const action = { actor: 'lee', command: 'backup', arguments: [], subject: null, reason: null }
  await refusingEnds(service.database, async () => {
    await recordAction(actionLog, action, async () => null)
    await actionLog.finish()
  })
  const missing = /^The end of action \S+ \(ok\) is missing in the action log: /
  assert.equal(lines.length, 2)
  assert.match(lines[0] ?? '', missing)
  assert.equal(lines[1], `${lines[0]} A worker records its outcome as unknown.`)
})

test('a beginning and an end that are written again, because an answer was lost, are there once', async () => {
  const { database } = service.payments
  const actionId = crypto.randomUUID()
  const action = { actionId, actor: 'lee', command: 'backup', arguments: [], subject: null, reason: null }
  for (let each = 0; each < 2; each += 1) await beginAction(database, action)
  for (const outcome of ['ok', 'written later']) await endAction(database, actionId, { outcome, about: {} })
  assert.deepEqual(
    await service.database.query('select step, outcome from operator_actions where action_id = $1 order by step', [
      actionId,
    ]),
    [
      { step: 'BEGUN', outcome: null },
      { step: 'ENDED', outcome: 'ok' },
    ],
  )
})

test('an action that renews its lease renews that of no other', async () => {
  const { database } = service.payments
  const [renewed, other] = [crypto.randomUUID(), crypto.randomUUID()]
  for (const actionId of [renewed, other])
    await beginAction(database, { actionId, actor: 'lee', command: 'a', arguments: [], subject: null, reason: null })
  await service.database.query('update open_actions set lease_until = now()')
  await renewAction(database, renewed)
  await endLost(database, silentLog)
  const open = await service.database.query('select action_id as id from open_actions')
  assert.deepEqual(open, [{ id: renewed }])
  await endAction(database, renewed, { outcome: 'ok', about: {} })
})

test('the worker goes on while there are more lost actions than it ends at a time, and begins with the oldest', async () => {
  await service.database.query(
    `insert into operator_actions (action_id, step, actor, command, arguments)
     select gen_random_uuid(), 'BEGUN', 'lost-' || n, 'backup', '{}' from generate_series(1, 101) n`,
  )
  await service.database.query(
    `update open_actions o set lease_until = now() - substr(b.actor, 6)::int * interval '1 s'
     from operator_actions b where b.action_id = o.action_id and b.actor like 'lost-%'`,
  )
  const open = async () =>
    service.database.query<{ actor: string }>(
      `select b.actor from open_actions o join operator_actions b using (action_id) where b.actor like 'lost-%'`,
    )
  assert.deepEqual(await endLost(service.payments.database, silentLog), { more: true })
  assert.deepEqual(await open(), [{ actor: 'lost-1' }])
  assert.deepEqual(await endLost(service.payments.database, silentLog), { more: false })
  assert.deepEqual(await open(), [])
})

test('a rare action behind more actions than one page reads is found by the next page', async () => {
  await service.database.queryUnguarded(
    `insert into operator_actions (action_id, step, happened_at, actor, command, arguments)
     select gen_random_uuid(), 'BEGUN', '2026-04-01'::timestamptz + n * interval '1 ms', 'park', 'export days', '{}'
     from generate_series(1, $1::int) n`,
    [maxActionsScanned],
  )
  await write({ actor: 'park', command: 'backup', at: '2026-03-31T00:00:00Z' })
  const query = { actor: 'park', command: 'backup', to: '2026-04-30' }
  const first = await viewer.get('actionLog', { query })
  assert.deepEqual([first.actions, typeof first.nextCursor], [[], 'string'])
  assert.deepEqual(await list(query), ['park backup'])
  await service.database.queryUnguarded(`delete from operator_actions where actor = 'park' and command = 'export days'`)
})
