// The operator's commands about orders and books: beside a running service whose sandbox has a port chosen at the start,
// and without one; as processes where several run at once.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  assertNothingRuns,
  type Caller,
  type Cleaner,
  callerOf,
  copyDataDir,
  runCommand,
  usedDataDir,
} from '../../../harness/processes.ts'
import { callCli } from '../../support/service/cli-call.ts'
import { type ServiceInProcess, startInProcess } from '../../support/service/in-process.ts'
import { sandboxControl, secretKey } from '../../support/service/service.ts'

const wholeFile = { after }
const dataDir = await usedDataDir(wholeFile)
/** The worker is off, so that all changes come from the commands. */
const settings = { TOSS_SECRET_KEY: secretKey, WORKER: 'off' }
let service: ServiceInProcess
let caller: Caller
before(async () => {
  service = await startInProcess(wholeFile, dataDir, settings)
  const { stdout } = await callCli(wholeFile, dataDir, ['keys', 'issue', '--customer', 'operator', '--json'])
  caller = callerOf(service.publicUrl, JSON.parse(stdout).apiKey)
})

type Result = Record<string, unknown>

async function run<Data = Result>(
  t: Cleaner,
  args: string[],
  expectedCode = 0,
  directory = dataDir,
  how = callCli,
): Promise<Data> {
  const { code, stdout, stderr } = await how(t, directory, [...args, '--json'], settings)
  assert.equal(code, expectedCode, `${args.join(' ')}: ${stdout}${stderr}`)
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout)
}

/** Asserts that the command fails with this one line. */
async function fail(t: Cleaner, args: string[], line: string | RegExp): Promise<void> {
  const { code, stdout, stderr } = await callCli(t, dataDir, args, settings)
  assert.deepEqual([code, stdout], [1, ''], stderr)
  assert.match(stderr, /^[^\n]+\n$/)
  if (typeof line === 'string') assert.equal(stderr, `${line}\n`)
  else assert.match(stderr, line)
}

async function pendingOrder(): Promise<string> {
  return (await caller.purchase('STANDARD')).body.data.orderId
}

async function confirmedOrder(): Promise<{ orderId: string; paymentKey: string }> {
  const orderId = await pendingOrder()
  assert.equal((await caller.confirm(orderId, 20_000)).status, 200)
  return { orderId, paymentKey: `pay_${orderId}` }
}

const sandbox = () => sandboxControl(service.sandboxUrl)

test('orders show prints all data of an order, as JSON and as text', async (t) => {
  const { orderId, paymentKey } = await confirmedOrder()
  const story = await run<Record<string, Result[]> & Result>(t, ['orders', 'show', orderId])
  const names = ['orderId', 'customerId', 'status', 'packageType', 'amount', 'credits', 'createdAt', 'confirmedAt']
  const lists = ['operations', 'attempts', 'entries', 'discrepancies', 'notifications', 'actions']
  const refund = ['refundShortfall', 'refundedAmount']
  const slip = ['receiptUrl', 'cardNumber', 'approvalNumber', 'paidWith']
  assert.deepEqual(Object.keys(story), [...names, ...refund, ...slip, ...lists])
  assert.deepEqual([story.status, story.amount, story.credits, story.refundShortfall], ['CONFIRMED', 20_000, 21, null])
  const [operation, ...others] = story.operations ?? []
  assert.deepEqual([operation?.kind, operation?.state, operation?.paymentKey], ['CONFIRM', 'APPROVED', paymentKey])
  assert.deepEqual(others, [])
  assert.deepEqual(
    (story.entries ?? []).map(({ kind, delta }) => [kind, delta]),
    [['GRANT', 21]],
  )
  assert.deepEqual(story.discrepancies, [])
  const { code, stdout } = await callCli(t, dataDir, ['orders', 'show', orderId], settings)
  assert.equal(code, 0)
  assert.match(stdout, /^status: +CONFIRMED$/m)
  assert.match(stdout, /\noperations\noperationId .*\n.* CONFIRM .* APPROVED /)
  assert.match(stdout, /\ndiscrepancies\nNone\.\n/)
})

test('orders settle returns agrees or repaired, and with exit code 1 disagrees or unknown, with the discrepancies that are open now', async (t) => {
  const { orderId, paymentKey } = await confirmedOrder()
  const agreed = await run(t, ['orders', 'settle', orderId])
  assert.deepEqual(agreed, { orderId, result: 'agrees', status: 'CONFIRMED', discrepancies: [] })
  await sandbox().cancel(paymentKey, 5_000)
  const differs = await run<{ result: string; discrepancies: Result[] }>(t, ['orders', 'settle', orderId], 1)
  assert.deepEqual(
    [differs.result, ...differs.discrepancies.map(({ kind }) => kind)],
    ['disagrees', 'PARTLY_CANCELLED_AT_GATEWAY'],
  )
  await sandbox().setFaults([{ on: 'lookup', kind: 'error-before', times: 1 }])
  assert.equal((await run(t, ['orders', 'settle', orderId], 1)).result, 'unknown')
  await sandbox().cancel(paymentKey)
  const repaired = await run(t, ['orders', 'settle', orderId])
  assert.deepEqual(repaired, { orderId, result: 'repaired', status: 'REFUNDED', discrepancies: [] })
  assert.equal(await caller.status(orderId), 'REFUNDED')
})

test('orders settle completes a confirm whose answer was lost', async (t) => {
  const orderId = await pendingOrder()
  await sandbox().setFaults([{ on: 'confirm', kind: 'reset-after', times: 1 }])
  assert.equal((await caller.confirm(orderId, 20_000)).status, 503)
  assert.equal((await run(t, ['orders', 'settle', orderId])).result, 'repaired')
  assert.equal(await caller.status(orderId), 'CONFIRMED')
})

test('orders refund refunds the order, returns the same answer again, and the customer sees the refund', async (t) => {
  const { orderId } = await confirmedOrder()
  const credits = await caller.credits()
  const answer = { orderId, status: 'REFUNDED', refundedAmount: 20_000, creditsTakenBack: 21, shortfall: 0 }
  for (const reason of ['goodwill', 'once more']) {
    assert.deepEqual(await run(t, ['orders', 'refund', orderId, '--reason', reason]), answer)
  }
  assert.equal(await caller.status(orderId), 'REFUNDED')
  assert.equal(await caller.credits(), credits - 21)
  const [payment] = await sandbox().paymentsOf(orderId)
  assert.deepEqual([payment?.status, payment?.cancels?.length], ['CANCELED', 1])
  await fail(
    t,
    ['orders', 'refund', await pendingOrder(), '--reason', 'goodwill'],
    /^Not refunded: the order is PENDING, not CONFIRMED\.$/m,
  )
})

test('orders refund without an answer of the gateway fails with a message about the next steps; orders settle completes it', async (t) => {
  const { orderId } = await confirmedOrder()
  await sandbox().setFaults([{ on: 'cancel', kind: 'reset-before', times: 1 }])
  await fail(t, ['orders', 'refund', orderId, '--reason', 'goodwill'], /^Not known yet \(.*are held.*background\.$/m)
  assert.equal(await caller.status(orderId), 'CONFIRMED')
  assert.equal((await run(t, ['orders', 'settle', orderId])).result, 'repaired')
  assert.equal(await caller.status(orderId), 'REFUNDED')
})

test('an order that does not exist is reported with one line and exit code 1', async (t) => {
  const line = 'There is no order ord_none.'
  await fail(t, ['orders', 'show', 'ord_none'], line)
  await fail(t, ['orders', 'settle', 'ord_none'], line)
  await fail(t, ['orders', 'refund', 'ord_none', '--reason', 'goodwill'], line)
})

test('discrepancies list shows the open ones, oldest first; discrepancies resolve closes one with its reason', async (t) => {
  const orderIds: string[] = []
  for (const amount of [1, 2]) {
    const { orderId, paymentKey } = await confirmedOrder()
    await sandbox().cancel(paymentKey, amount)
    await run(t, ['orders', 'settle', orderId], 1)
    orderIds.push(orderId)
  }
  const open = await run<Result[]>(t, ['discrepancies', 'list'])
  const mine = open.filter(({ orderId }) => orderIds.includes(String(orderId)))
  assert.deepEqual(
    mine.map(({ orderId, kind }) => [orderId, kind]),
    orderIds.map((id) => [id, 'PARTLY_CANCELLED_AT_GATEWAY']),
  )
  const { stdout } = await callCli(t, dataDir, ['discrepancies', 'list'], settings)
  assert.match(stdout.split('\n')[0] ?? '', /^discrepancyId +kind +subject +customerId +customerName +orderId /)
  const id = String(mine[0]?.discrepancyId)
  const resolved = await run(t, ['discrepancies', 'resolve', id, '--reason', ' agreed with the buyer '])
  const kind = 'PARTLY_CANCELLED_AT_GATEWAY'
  assert.deepEqual(resolved, { discrepancyId: id, kind, resolution: 'agreed with the buyer' })
  const left = (await run<Result[]>(t, ['discrepancies', 'list'])).map(({ discrepancyId }) => discrepancyId)
  assert.deepEqual([left.includes(id), left.includes(mine[1]?.discrepancyId)], [false, true])
  await fail(t, ['discrepancies', 'resolve', id, '--reason', 'twice'], `There is no open discrepancy ${id}.`)
  for (const orderId of orderIds) {
    await sandbox().cancel(`pay_${orderId}`)
    await run(t, ['orders', 'settle', orderId])
  }
  assert.deepEqual(await run(t, ['discrepancies', 'list']), [])
})

test('reconcile of future days is refused with one line and exit code 1', async (t) => {
  const line = 'There is nothing to reconcile in a span that has not begun.'
  await fail(t, ['reconcile', '--from', '2999-01-01', '--to', '2999-01-02'], line)
})

/** A Korean day. */
const today = () => new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 10)

test('reconcile returns the totals, repairs, and fails when a discrepancy is open; discrepancies list shows it', async (t) => {
  const span = ['reconcile', '--from', today(), '--to', today()]
  const { orderId, paymentKey } = await confirmedOrder()
  await sandbox().cancel(paymentKey)
  const first = await run<{ reviewed: Record<string, number> } & Result>(t, span)
  assert.equal(await caller.status(orderId), 'REFUNDED')
  assert.equal(first.reviewed.repaired, 1)
  assert.equal(first.from, new Date(`${today()}T00:00:00+09:00`).toISOString())
  // Up to now: nothing has moved in the future.
  assert.ok(Date.parse(String(first.to)) <= Date.now())
  const second = await confirmedOrder()
  await sandbox().cancel(second.paymentKey, 700)
  const { code, stdout, stderr } = await callCli(t, dataDir, span, settings)
  assert.equal(code, 1, stderr)
  assert.match(stdout, /^reviewed: .*disagrees [1-9]/m)
  const open = await run<Result[]>(t, ['discrepancies', 'list'])
  assert.ok(open.some((each) => each.orderId === second.orderId))
  await sandbox().cancel(second.paymentKey)
  const last = await run<{ reviewed: Record<string, number> } & Result>(t, span)
  assert.deepEqual(await run(t, ['discrepancies', 'list']), [])
  assert.equal(Number(last.captured) - Number(first.captured), 20_000)
})

const needed = /^reconcile: --(from|to) DATE is needed, 2026-01-31 \(a Korean day\) or 2026-01-31T09:00:00\+09:00\n/
const notCommands: { args: string[]; message: RegExp }[] = [
  { args: ['reconcile'], message: needed },
  { args: ['reconcile', '--from', '2026-01-31', '--to', '2026-02-30'], message: needed },
  { args: ['reconcile', '--from', '31.01.2026', '--to', '2026-02-01'], message: needed },
  { args: ['reconcile', '--from', '2026-01-31T09:00:00', '--to', '2026-02-01'], message: needed },
  { args: ['reconcile', '--from', '2026-01-31T25:00:00Z', '--to', '2026-02-01'], message: needed },
  {
    args: ['reconcile', '--from', '2026-02-01', '--to', '2026-01-31'],
    message: /^reconcile: --to must be after --from\n/,
  },
  { args: ['reconcile', '2026-01-31'], message: /^reconcile: unexpected argument "2026-01-31": / },
  { args: ['orders', 'show'], message: /^orders show: exactly one ORDERID is needed \(see: orders list\)\n/ },
  {
    args: ['orders', 'refund', 'a'],
    message: /^orders refund: --reason TEXT is needed, 3 to 200 characters in one line\n/,
  },
  { args: ['orders', 'refund', 'a', '--reason', 'x'.repeat(201)], message: /^orders refund: --reason TEXT is needed/ },
  {
    args: ['orders', 'refund', 'a', '--reason', 'b', 'c'],
    message: /^orders refund: .*put a text with spaces in quotes\n/,
  },
  { args: ['discrepancies', 'list', 'all'], message: /^discrepancies list: unexpected argument "all": / },
  {
    args: ['discrepancies', 'resolve', 'x', '--reason', 'agreed'],
    message: /^discrepancies resolve: ID is the discrepancyId/,
  },
]
for (const { args, message } of notCommands) {
  test(`"${args.join(' ').slice(0, 60)}" is not a command: exit code 2, the fault and the usage`, async (t) => {
    const { code, stdout, stderr } = await callCli(t, dataDir, args, { PORT: 'not even read' })
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, message)
    const command = args[0] === 'reconcile' ? 'reconcile' : args.slice(0, 2).join(' ')
    assert.ok(stderr.includes(`\n\nUsage: credits ${command} `), stderr)
    assert.ok(stderr.endsWith(`\nMore: credits help ${command}\n`), stderr)
  })
}

test('without a service the commands work on its data directory, the sandbox included, and leave nothing running', async (t) => {
  const { orderId } = await confirmedOrder()
  const partly = await confirmedOrder()
  await sandbox().cancel(partly.paymentKey, 900)
  await service.close()
  assert.equal((await run(t, ['orders', 'show', orderId])).status, 'CONFIRMED')
  assertNothingRuns(dataDir)
  assert.equal((await run(t, ['orders', 'settle', orderId])).result, 'agrees')
  assert.equal((await run(t, ['orders', 'settle', partly.orderId], 1)).result, 'disagrees')
  const answer = { orderId, status: 'REFUNDED', refundedAmount: 20_000, creditsTakenBack: 21, shortfall: 0 }
  assert.deepEqual(await run(t, ['orders', 'refund', orderId, '--reason', 'goodwill']), answer)
  assert.equal((await run(t, ['orders', 'settle', orderId])).result, 'agrees')
  assert.equal((await run<Result[]>(t, ['discrepancies', 'list'])).length, 1)
  await run(t, ['reconcile', '--from', today(), '--to', today()], 1)
  assertNothingRuns(dataDir)
  assert.equal(existsSync(join(dataDir, 'sandbox.url')), false)
})

test('three commands at once without a service all query the gateway and get its answer', async (t) => {
  const directory = copyDataDir(t, dataDir)
  const [open] = await run<Result[]>(t, ['discrepancies', 'list'], 0, directory)
  const settle = () => run(t, ['orders', 'settle', String(open?.orderId)], 1, directory, runCommand)
  const results = await Promise.all([settle(), settle(), settle()])
  assert.deepEqual(
    results.map(({ result }) => result),
    ['disagrees', 'disagrees', 'disagrees'],
  )
  assertNothingRuns(directory)
})
