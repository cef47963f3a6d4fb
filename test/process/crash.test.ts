// The service and its database are killed while customers write: afterwards every answer still holds, every request
// without an answer can be repeated, and the next start needs no operator.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isCreditsError } from '../../client/src/index.ts'
import {
  assertNothingRuns,
  clusterOf,
  demoKeyIn,
  openBooks,
  type RunningService,
  startService,
  usedDataDir,
} from '../../harness/processes.ts'
import { findPostmaster } from '../../src/db/embedded/postmaster.ts'
import { assertGatewayAgrees, assertInvariants } from '../support/audit/invariants.ts'
import { type Client, clientOf } from '../support/service/clients.ts'
import { sandboxControl } from '../support/service/service.ts'

const wholeFile = { after }
const dataDir = await usedDataDir(wholeFile)
const writers = 6
const resumeLimitMs = 20_000
/** A short lease: after it the caller can resume a confirm that was killed. */
const settings = {
  GATEWAY_TIMEOUT_MS: '800',
  GATEWAY_LOOKUP_TIMEOUT_MS: '400',
  OPERATION_LEASE_MS: '1200',
  PENDING_ORDERS_PER_CUSTOMER: '0',
}

/** What the customer's program knows: the state of every order from answers, and the requests without an answer. */
const known = new Map<string, 'PENDING' | 'CONFIRMED'>()
let unanswered: { purchases: Set<string>; confirms: Set<string> }
let key: string

/** Undefined when the service answers that it is unavailable; throws when there is no answer at all. */
async function answered<Data>(call: Promise<Data>): Promise<Data | undefined> {
  try {
    return await call
  } catch (error) {
    if (isCreditsError(error) && error.code === 'SVC001') return undefined
    throw error
  }
}

/** Buys and confirms; every third order is left PENDING. A request counts as unanswered until its answer. */
async function buy(client: Client, idempotencyKey: string, leavePending: boolean): Promise<void> {
  unanswered.purchases.add(idempotencyKey)
  const purchase = await answered(client.purchaseCredits({ packageType: 'BASIC' }, { idempotencyKey }))
  if (!purchase) return
  unanswered.purchases.delete(idempotencyKey)
  const { orderId } = purchase
  known.set(orderId, 'PENDING')
  if (leavePending) return
  unanswered.confirms.add(orderId)
  if (!(await answered(client.confirm(orderId, 1_000)))) return
  unanswered.confirms.delete(orderId)
  known.set(orderId, 'CONFIRMED')
}

/** Writes until the service does not answer any more. */
async function write(client: Client, name: string): Promise<void> {
  for (let count = 0; ; count += 1) {
    try {
      await buy(client, `${name}-${count}`, count % 3 === 2)
    } catch (error) {
      if (isCreditsError(error) && error.kind === 'no-answer') return
      throw error
    }
  }
}

async function retry(client: Client): Promise<void> {
  for (const idempotencyKey of unanswered.purchases) {
    const purchase = () => client.purchaseCredits({ packageType: 'BASIC' }, { idempotencyKey })
    const answers = await Promise.all([1, 2, 3].map(purchase))
    const [orderId = '', ...others] = new Set(answers.map((answer) => answer.orderId))
    assert.deepEqual(others, [], 'one order for one X-Idempotency-Key')
    assert.equal(known.has(orderId), false)
    known.set(orderId, 'PENDING')
  }
  for (const orderId of unanswered.confirms) {
    const deadline = performance.now() + resumeLimitMs
    while (!(await answered(client.confirm(orderId, 1_000)))) {
      assert.ok(performance.now() < deadline, `the confirm of ${orderId} is not completed`)
      await sleep(100)
    }
    known.set(orderId, 'CONFIRMED')
  }
}

async function assertKnownStatesHold(service: RunningService): Promise<void> {
  const client = clientOf(service.publicUrl, key)
  const expected = [...known]
  const statuses = await Promise.all(expected.map(async ([orderId]) => [orderId, await client.status(orderId)]))
  assert.deepEqual(statuses, expected)
  assert.equal(await client.credits(), expected.filter(([, status]) => status === 'CONFIRMED').length)
}

async function assertBooksAgree(service: RunningService): Promise<void> {
  const books = await openBooks(wholeFile, dataDir)
  const [row] = await books.query<{ count: number }>('select count(*) as count from orders')
  assert.equal(row?.count, known.size, 'no order that the customer does not know')
  await assertInvariants(books)
  await assertGatewayAgrees(books, await sandboxControl(service.sandboxUrl).payments())
  await books.drop()
}

async function killAmidWrites(service: RunningService, name: string, victims: number[]): Promise<void> {
  const client = clientOf(service.publicUrl, key)
  unanswered = { purchases: new Set(), confirms: new Set() }
  const before = known.size
  const writing = Promise.all(Array.from({ length: writers }, (_, index) => write(client, `${name}-${index}`)))
  let over = false
  writing
    .catch(() => undefined)
    .then(() => {
      over = true
    })
  while (!over && known.size < before + 10 * writers) await sleep(5)
  await sleep(Math.random() * 200)
  for (const pid of victims) process.kill(pid, 'SIGKILL')
  await Promise.all([writing, service.kill()])
  assert.ok(unanswered.purchases.size + unanswered.confirms.size >= writers, 'the kill interrupted writes')
}

let service: RunningService | undefined

async function start(): Promise<RunningService> {
  service ??= await startService(wholeFile, dataDir, settings)
  key ??= demoKeyIn(service.output.stdout) ?? ''
  return service
}

const rounds = [
  { killed: 'the service', round: 1 },
  { killed: 'the service', round: 2 },
  { killed: 'the service and its PostgreSQL', round: 1 },
  { killed: 'the service and its PostgreSQL', round: 2 },
]
for (const { killed, round } of rounds) {
  test(`SIGKILL of ${killed} amid writes, round ${round}: every answer holds after the next start`, async () => {
    const running = await start()
    const postmaster = findPostmaster(clusterOf(dataDir))
    assert.ok(postmaster)
    const victims = killed === 'the service' ? [running.pid] : [postmaster.pid, running.pid]
    await killAmidWrites(running, `${killed} ${round}`.replaceAll(' ', '-'), victims)

    service = undefined
    const next = await start()
    assert.equal(demoKeyIn(next.output.stdout), undefined)
    await retry(clientOf(next.publicUrl, key))
    await assertKnownStatesHold(next)
    await assertBooksAgree(next)
  })
}

test('after all kills SIGTERM ends the service cleanly', async () => {
  await (await start()).stop()
  assertNothingRuns(dataDir)
})
