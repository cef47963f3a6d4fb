// The action log has every command that changes data, with actor, arguments, time and outcome; no other command, and no
// secret.
import assert from 'node:assert/strict'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Cleaner, databaseUrl, launch, newDataDir, repository, settingsFor } from '../../../harness/processes.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import { until } from '../../../harness/until.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { beginAction, endAction, listActions, type NewAction } from '../../../src/operators/action-log.sql.ts'
import {
  type ActionOutcomes,
  argumentOf,
  createCommandLog,
  endLost,
  recordAction,
} from '../../../src/operators/action-log.ts'
import { refusingEnds } from '../../support/console/refused-ends.ts'
import { createTestDatabase, type OwnTestDatabase } from '../../support/database/database.ts'
import { callCli } from '../../support/service/cli-call.ts'

const wholeFile = { after }
const dataDir = newDataDir(wholeFile)
let database: OwnTestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const books = () => createDatabase(database.pool, silentLog)

const settings = () => ({ DATABASE_URL: databaseUrl(database.connection), EVENT_PRIVATE_ADDRESSES: 'allow' })

function run(t: Cleaner, ...args: string[]) {
  return callCli(t, dataDir, args, settings())
}

async function list(t: Cleaner, ...args: string[]): Promise<{ at: string }[]> {
  const { code, stdout, stderr } = await run(t, 'actions', 'list', '--json', ...args)
  assert.deepEqual([code, stderr], [0, ''])
  return JSON.parse(stdout)
}

/** The newest action, without its id and times. */
async function newest() {
  const [action] = await listActions(createDatabase(database.pool, silentLog), 1)
  assert.ok(action?.endedAt && action.at <= action.endedAt)
  const { actionId: _, at: __, endedAt: ___, ...rest } = action
  return rest
}

const osUser = userInfo().username

test('a command that changes data is logged with the user of this machine and the ids of its result', async (t) => {
  const issued = JSON.parse((await run(t, 'keys', 'issue', '--customer', 'Acme Inc', '--json')).stdout)
  const { keyId, customerId } = issued
  assert.deepEqual(await newest(), {
    actor: osUser,
    command: 'keys issue',
    arguments: ['--customer', 'Acme Inc'],
    outcome: 'ok',
    about: { keyId, customerId },
    subject: customerId,
    reason: null,
  })
  await run(t, 'keys', 'suspend', keyId)
  const { subject, arguments: words, about } = await newest()
  assert.deepEqual([subject, words, about], [customerId, [keyId], { keyId }], 'logged under the customer')
})

test('--by adds the name of the operator to the user of this machine', async (t) => {
  const { code } = await run(t, 'customers', 'low-credits', '--customer', 'Acme Inc', '--credits', '5', '--by', ' Kim ')
  assert.equal(code, 0)
  const [{ customerId } = { customerId: '' }] = await database.query<{ customerId: string }>(
    `select customer_id as "customerId" from customers where name = 'Acme Inc'`,
  )
  assert.deepEqual(await newest(), {
    actor: `Kim as ${osUser}`,
    command: 'customers low-credits',
    outcome: 'ok',
    about: { customerId },
    arguments: ['--customer', 'Acme Inc', '--credits', '5'],
    subject: customerId,
    reason: null,
  })
})

test('a refused command is logged with its subject, its reason and the cause of the refusal', async (t) => {
  assert.equal((await run(t, 'keys', 'suspend', 'key_none')).code, 1)
  assert.deepEqual(await newest(), {
    actor: osUser,
    command: 'keys suspend',
    arguments: ['key_none'],
    subject: 'key_none',
    reason: null,
    outcome: 'There is no key key_none.',
    about: {},
  })
  assert.equal((await run(t, 'orders', 'refund', 'ord_none', '--reason', 'paid twice')).code, 1)
  const { command, arguments: words, subject, reason, outcome } = await newest()
  assert.deepEqual([command, words, subject, reason], ['orders refund', ['ord_none'], 'ord_none', 'paid twice'])
  assert.match(outcome ?? '', /^There is no order|^NOT000/)
})

test('no secret is logged, not even one passed in place of an id', async (t) => {
  const [{ apiKey }, { token }] = await Promise.all([
    run(t, 'keys', 'issue', '--customer', 'Acme Inc', '--json').then(({ stdout }) => JSON.parse(stdout)),
    run(t, 'services', 'issue', '--name', 'analyses', '--json').then(({ stdout }) => JSON.parse(stdout)),
  ])
  const added = await run(t, 'endpoints', 'add', '--url', 'https://hooks.example/in/hunter2?key=hunter3', '--json')
  const { secret } = JSON.parse(added.stdout)
  assert.deepEqual((await newest()).arguments, ['--url', 'https://hooks.example'])
  const refused = await run(t, 'keys', 'suspend', apiKey)
  assert.deepEqual([refused.code, refused.stderr], [1, 'There is no key cpk_....\n'])
  assert.deepEqual(await newest(), {
    actor: osUser,
    command: 'keys suspend',
    arguments: ['cpk_...'],
    subject: 'cpk_...',
    reason: null,
    outcome: 'There is no key cpk_....',
    about: {},
  })
  await run(t, 'services', 'suspend', token)
  const operator = await run(t, 'operators', 'add', 'kim', '--role', 'viewer', '--json')
  const { operatorId, firstPassword } = JSON.parse(operator.stdout)
  const { subject, arguments: words, about } = await newest()
  assert.deepEqual([subject, words, about], ['kim', ['kim', '--role', 'viewer'], { operatorId }])
  const actionLog = JSON.stringify(await database.query('select * from operator_actions'))
  for (const each of [apiKey, token, secret, firstPassword, 'hunter'])
    assert.equal(actionLog.includes(each), false, each)
})

test('actions list shows the newest first, at most --limit, as JSON and as a table', async (t) => {
  const all = await list(t)
  assert.deepEqual(
    all.map(({ at }) => at),
    all.map(({ at }) => at).toSorted((one, other) => other.localeCompare(one)),
  )
  assert.deepEqual(await list(t, '--limit', '2'), all.slice(0, 2))
  const { stdout } = await run(t, 'actions', 'list', '--limit', '1')
  const [head = '', line = ''] = stdout.split('\n')
  assert.deepEqual(head.split(/ {2,}/), ['at', 'actor', 'command', 'arguments', 'reason', 'outcome', 'about'])
  assert.match(
    line,
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d) {2}\S+ +operators add +kim --role viewer +- +ok +opr_\w{20}$/,
  )
})

async function begun(): Promise<NewAction> {
  const what = { command: 'reconcile', arguments: [], subject: null, reason: null }
  const action = { actionId: crypto.randomUUID(), actor: 'Kim', ...what }
  await beginAction(books(), action)
  return action
}

/** As if its process had renewed it for the last time so long ago. */
async function passLease({ actionId }: NewAction): Promise<void> {
  await database.query(`update open_actions set lease_until = now() where action_id = $1`, [actionId])
}

async function outcomeOfNewest(t: Cleaner): Promise<string | undefined> {
  const { stdout } = await run(t, 'actions', 'list', '--limit', '1')
  return /in progress|unknown/.exec(stdout)?.[0]
}

test('an action has no outcome while it is in progress, and is unknown when its process was killed', async (t) => {
  const action = await begun()
  const [{ at: _, ...rest } = { at: '' }] = await list(t, '--limit', '1')
  assert.deepEqual(rest, { ...action, outcome: null, about: null, endedAt: null })
  assert.equal(await outcomeOfNewest(t), 'in progress')
  await endLost(books(), silentLog)
  assert.equal(await outcomeOfNewest(t), 'in progress', 'its lease is not over')
  await passLease(action)
  assert.deepEqual(await endLost(books(), silentLog), { more: false })
  const [{ at: __, ...lost } = { at: '' }] = await list(t, '--limit', '1')
  assert.deepEqual(lost, { ...action, outcome: 'unknown', about: {}, endedAt: null })
  assert.equal(await outcomeOfNewest(t), 'unknown')
})

test('the end of a process that was taken for killed is shown instead of unknown, and both are kept', async () => {
  const action = await begun()
  await passLease(action)
  await endLost(books(), silentLog)
  await endAction(books(), action.actionId, { outcome: 'ok', about: {} })
  await endLost(books(), silentLog)
  assert.equal((await newest()).outcome, 'ok')
  const text = 'select step, outcome from operator_actions where action_id = $1 order by happened_at'
  const rows = await database.query<{ step: string; outcome: string | null }>(text, [action.actionId])
  assert.deepEqual(
    rows.map(({ step, outcome }) => [step, outcome]),
    [
      ['BEGUN', null],
      ['LOST', 'unknown'],
      ['ENDED', 'ok'],
    ],
  )
  assert.deepEqual(await database.query('select from open_actions where action_id = $1', [action.actionId]), [])
})

test('workers that look at the same time end an action once', async () => {
  const action = await begun()
  await passLease(action)
  await Promise.all(Array.from({ length: 4 }, () => endLost(books(), silentLog)))
  const text = `select from operator_actions where action_id = $1 and step = 'LOST'`
  assert.equal((await database.query(text, [action.actionId])).length, 1)
})

test('an action that runs for longer than a lease renews it', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const log = createCommandLog(books(), { print: assert.fail, signal: new AbortController().signal })
  const going = Promise.withResolvers<null>()
  const action = { actor: 'Kim', command: 'reconcile', arguments: [], subject: 'a long one', reason: null }
  const ended = recordAction(log, action, () => going.promise)
  const text = `select o.lease_until > now() as "isHeld" from open_actions o
    join operator_actions b on b.action_id = o.action_id where b.subject = 'a long one'`
  const isHeld = async () => (await database.query<{ isHeld: boolean }>(text))[0]?.isHeld ?? false
  await until('it has begun', isHeld)
  await database.query('update open_actions set lease_until = now()')
  assert.equal(await isHeld(), false)
  t.mock.timers.tick(10_000)
  await until('it is renewed', isHeld)
  going.resolve(null)
  await ended
  assert.deepEqual(await database.query(text), [])
})

test('a command whose end is refused says so and waits for the database', async () => {
  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const log = createCommandLog(books(), { print, signal: new AbortController().signal })
  const action = { actor: 'Kim', command: 'backup', arguments: [], subject: null, reason: null }
  let done: Promise<unknown> | undefined
  await refusingEnds(database, async () => {
    done = recordAction(log, action, async () => null)
    await until('it says what it waits for', () => lines.length > 0)
    assert.match(
      lines[0] ?? '',
      /^The end of action \S+ \(ok\) is missing in the action log: .* Trying again for 30 s\.$/,
    )
  })
  await done
  assert.equal((await newest()).outcome, 'ok')
  assert.deepEqual(lines.slice(1), ['The end is in the action log now.'])
})

test('a command that issues a secret prints it before it waits for its end in the action log', async (t) => {
  await refusingEnds(database, async () => {
    const args = ['src/cli.ts', 'keys', 'issue', '--customer', 'Acme Inc', '--json']
    const { output } = launch(t, process.execPath, args, { cwd: repository, env: settingsFor(dataDir, settings()) })
    await until('it waits for its end', () => /Trying again for/.test(output.stderr))
    assert.match(output.stdout, /"cpk_/)
  })
})

test('a command waits for its end no longer than the limit, or until it is interrupted, and the worker ends it', async () => {
  const interrupted = AbortSignal.timeout(300)
  const limits = [
    { signal: new AbortController().signal, limitMs: 300 },
    { signal: interrupted, limitMs: 60_000 },
  ]
  for (const limit of limits) {
    const lines: string[] = []
    const log = createCommandLog(books(), { print: (line) => void lines.push(line), ...limit })
    const action = { actor: 'Kim', command: 'backup', arguments: [], subject: null, reason: null }
    await refusingEnds(database, async () => {
      await recordAction(log, action, async () => null)
    })
    assert.match(lines.at(-1) ?? '', /is missing in the action log: .* A worker records its outcome as unknown\.$/)
    await database.query('update open_actions set lease_until = now()')
    await endLost(books(), silentLog)
    const [last] = await listActions(books(), 1)
    assert.deepEqual([last?.command, last?.outcome], ['backup', 'unknown'])
  }
})

const readCommands = [
  ['keys', 'list'],
  ['services', 'list'],
  ['endpoints', 'list'],
  ['discrepancies', 'list'],
  ['balances', 'show', '--customer', 'Acme Inc'],
  ['events', 'list', '--customer', 'Acme Inc'],
  ['events', 'dead'],
  ['actions', 'list'],
  ['operators', 'list'],
  ['audit'],
]
test('commands that only read work on a read-only database, and are not in the action log', async (t) => {
  const before = await database.query('select from operator_actions')
  const readOnly = `${databaseUrl(database.connection)}&options=-c%20default_transaction_read_only%3Don`
  const ends = await Promise.all(readCommands.map((args) => callCli(t, dataDir, args, { DATABASE_URL: readOnly })))
  assert.deepEqual(
    ends.map(({ code, stderr }) => [code, stderr]),
    readCommands.map(() => [0, '']),
  )
  assert.equal((await database.query('select from operator_actions')).length, before.length)
  assert.deepEqual(await database.query('select from audits'), [])
})

test('what writes out whole books is in the action log: statements, the liability, the log itself and backups', async (t) => {
  const file = join(dataDir, 'books.backup')
  for (const [args, subjectsAre] of [
    [['statements', 'export', '--customer', 'Acme Inc'], /-/],
    [['lots', 'export'], /^null$/],
    [['actions', 'export'], /^null$/],
    [['backup', '--to', file], /^null$/],
  ] as const) {
    assert.equal((await run(t, ...args, '--by', 'kim')).code, 0)
    const { actor, command, outcome, subject } = await newest()
    const commandOf = args.slice(0, args[0] === 'backup' ? 1 : 2).join(' ')
    assert.deepEqual([actor, command, outcome], [`kim as ${osUser}`, commandOf, 'ok'])
    assert.match(`${subject}`, subjectsAre)
  }
})

test('actions export writes those of a span of days, oldest first, each once, as a spreadsheet reads them', async (t) => {
  const at = (day: string) => `2026-0${day}T12:00:00+09:00`
  await database.query(
    `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
     select gen_random_uuid(), 'BEGUN', case when i <= 2500 then $1 else $2 end::timestamptz, 'kim', 'orders note', '{=1+1}', i::text
     from generate_series(1, 2501) i`,
    [at('1-31'), at('2-01')],
  )
  const { stdout, code } = await run(t, 'actions', 'export', '--from', '2026-01-31', '--to', '2026-01-31')
  const [head, ...lines] = stdout.trimEnd().split('\r\n')
  assert.deepEqual([code, head], [0, 'at,actor,command,arguments,subject,reason,outcome,endedAt,about,actionId'])
  assert.equal(new Set(lines.map((line) => line.split(',').at(-1))).size, 2_500)
  assert.ok(
    lines.every((line) => line.startsWith("2026-01-31T03:00:00.000Z,kim,orders note,'=1+1,")),
    lines[0],
  )
  const next = await run(t, 'actions', 'export', '--from', '2026-02-01', '--to', '2026-02-01')
  assert.equal(next.stdout.trimEnd().split('\r\n').length, 2)
})

test('a command that cannot be logged changes and writes out nothing', async (t) => {
  const readOnly = `${databaseUrl(database.connection)}&options=-c%20default_transaction_read_only%3Don`
  const { code, stdout } = await callCli(t, dataDir, ['keys', 'issue', '--customer', 'unseen'], {
    DATABASE_URL: readOnly,
    DATABASE_WAIT_MS: '0',
  })
  assert.deepEqual([code, stdout], [1, ''])
  assert.deepEqual(await database.query(`select from customers where name = 'unseen'`), [])
  const exported = await callCli(t, dataDir, ['lots', 'export'], { DATABASE_URL: readOnly, DATABASE_WAIT_MS: '0' })
  assert.deepEqual([exported.code, exported.stdout], [1, ''])
})

const refusedCalls: [args: string[], message: RegExp][] = [
  [['keys', 'list', '--by', 'Kim'], /^keys list: --by is not an option of this command/],
  [
    ['keys', 'issue', '--customer', 'Acme Inc', '--by', ' '],
    /^keys issue: --by: expected a name of 1 to 100 characters/,
  ],
  [
    ['keys', 'issue', '--customer', 'Acme Inc', '--limit', '1'],
    /^keys issue: --limit is not an option of this command/,
  ],
  [['actions', 'list', '--limit', '0'], /^actions list: --limit: expected a number from 1 to 1000/],
  [['actions', 'list', '--limit', '1001'], /^actions list: --limit: expected a number from 1 to 1000/],
  [['actions', 'list', 'all'], /^actions list: unexpected argument "all"/],
]
test('--by without a name or for a command that changes nothing, and an invalid limit, are refused: exit code 2', async (t) => {
  const ends = await Promise.all(refusedCalls.map(([args]) => run(t, ...args)))
  for (const [index, { code, stderr }] of ends.entries()) {
    assert.equal(code, 2)
    assert.match(stderr, refusedCalls[index]?.[1] ?? /never/)
  }
})

for (const prefix of ['cpk_', 'cst_', 'whsec_', 'test_sk_', 'live_sk_', 'test_gsk_', 'live_gsk_']) {
  test(`of a secret that begins with ${prefix} the action log has no more than that`, async () => {
    const log = {
      database: createDatabase(database.pool, silentLog),
      onUnwritten: () => assert.fail('an end was not written'),
    }
    const secret = `${prefix}${'A1b2'.repeat(8)}`
    const action = {
      actor: 'kim',
      command: 'test',
      arguments: ['--key', secret],
      subject: secret,
      reason: `is ${secret}`,
    }
    const failing = () => Promise.reject(new Error(`not found: ${secret}`))
    await assert.rejects(recordAction(log, action, failing), /not found/)
    assert.deepEqual(await newest(), {
      actor: 'kim',
      command: 'test',
      arguments: ['--key', `${prefix}...`],
      subject: `${prefix}...`,
      reason: `is ${prefix}...`,
      outcome: `not found: ${prefix}...`,
      about: {},
    })
  })
}

test('of a result only its ids are in the log, of a text 300 characters and no half of one, of a URL its origin', async () => {
  const log = { database: books(), onUnwritten: () => assert.fail('an end was not written') }
  const longText = '\u{1f600}'.repeat(301)
  const action = { actor: 'kim', command: 'keys issue', arguments: [longText], subject: longText, reason: longText }
  const whole = '\u{1f600}'.repeat(300)
  const result = { keyId: 'key_1', apiKey: 'hidden', countId: 7, keyIds: ['key_2'], Id: 'named' }
  const rowsOf = async (work: () => Promise<object>, outcomes?: ActionOutcomes<object>) => {
    await recordAction(log, action, work, outcomes).catch(() => undefined)
    const { outcome, about, arguments: words, subject, reason } = await newest()
    assert.deepEqual([words, subject, reason], [[whole], whole, whole])
    return [outcome, about]
  }
  assert.deepEqual(await rowsOf(async () => result), ['ok', { keyId: 'key_1', Id: 'named' }])
  const yes = () => true
  assert.equal((await rowsOf(async () => result, { requested: yes }))[0], 'requested')
  assert.deepEqual(await rowsOf(async () => result, { failed: yes, requested: yes }), [
    'failed',
    { keyId: 'key_1', Id: 'named' },
  ])
  const throwing = (error: unknown) => rowsOf(() => Promise.reject(error))
  assert.deepEqual(await throwing(Object.assign(new Error('not open'), { code: 'VAL003' })), ['VAL003: not open', {}])
  assert.deepEqual(await throwing(new Error('')), ['failed', {}])
  assert.deepEqual(await throwing(new Error(longText)), [whole, {}])
  assert.deepEqual(
    [
      argumentOf('url', 'https://a.example/in?key=1'),
      argumentOf('url', 'hunter2'),
      argumentOf('name', 'https://a.example/in'),
    ],
    [
      ['--url', 'https://a.example'],
      ['--url', ''],
      ['--name', 'https://a.example/in'],
    ],
  )
})

test('the worker ends an action when its lease is over, not before, and none that has ended', async () => {
  const begun = async () => {
    const actionId = crypto.randomUUID()
    await beginAction(books(), {
      actionId,
      actor: 'kim',
      command: 'keys issue',
      arguments: [],
      subject: null,
      reason: null,
    })
    return actionId
  }
  const [running, ended, lost] = [await begun(), await begun(), await begun()]
  await endAction(books(), ended, { outcome: 'ok', about: {} })
  await database.query('update open_actions set lease_until = now() where action_id = $1', [lost])
  const reported: unknown[] = []
  const log = { ...silentLog, error: (fields: object) => reported.push(fields) as never }
  assert.deepEqual(await endLost(books(), log), { more: false })
  assert.deepEqual(reported, [{ actionId: lost }])
  const steps = await database.query<{ step: string }>(
    `select string_agg(step, ', ' order by step) as step from operator_actions where action_id = any ($1)
     group by action_id order by array_position($1, action_id)`,
    [[running, ended, lost]],
  )
  assert.deepEqual(
    steps.map(({ step }) => step),
    ['BEGUN', 'BEGUN, ENDED', 'BEGUN, LOST'],
  )
  await endAction(books(), running, { outcome: 'ok', about: {} })
})
