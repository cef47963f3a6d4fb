// A cell of the fault table: one request, struck at one crossing (or, with its retry, at two), repeated by new processes
// on the same database and gateway as a caller would, until there is a definite answer. Then the books, the gateway and
// every answer that was given must fit together. Between two attempts the clock moves past every lease.
import assert from 'node:assert/strict'
import { Refusal } from '../../src/core/errors.ts'
import { createLedger } from '../../src/credits/ledger.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { createDatabase } from '../../src/db/database.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { cancel } from '../../src/payments/cancel.ts'
import { confirm } from '../../src/payments/confirm.ts'
import { createPaymentContext, type PaymentContext } from '../../src/payments/context.ts'
import { purchase } from '../../src/payments/purchase.ts'
import {
  type Answer,
  type Attempt,
  type Cell,
  checkAnswers,
  checkSends,
  isStalled,
  type RequestName,
  type Scenario,
  type Subject,
} from './crossing-checks.ts'
import { createCrossings, type Strike } from './crossings.ts'
import { createTestDatabase, silentLog } from './database.ts'
import { sandboxControl, startTestSandbox, testGateway, testPeppers, testSettings } from './service.ts'

export type World = Awaited<ReturnType<typeof openWorld>>

export async function openWorld() {
  const database = await createTestDatabase()
  const sandbox = await startTestSandbox()
  const gateway = testGateway(sandbox.url)
  return {
    database,
    gateway,
    sandbox: { url: sandbox.url, ...sandboxControl(sandbox.url) },
    async close() {
      await gateway.close()
      await sandbox.close()
      await database.drop()
    },
  }
}

const requests = {
  purchase: (context: PaymentContext, { customerId, reference }: Subject) =>
    purchase(context, customerId, { packageType: 'STANDARD', paymentMethod: 'CARD', idempotencyKey: reference }),
  confirm: (context: PaymentContext, { customerId, orderId, paymentKey }: Subject) =>
    confirm(context, customerId, { orderId, paymentKey, amount: 20_000 }),
  cancel: (context: PaymentContext, { customerId, paymentKey }: Subject) =>
    cancel(context, customerId, { paymentKey, reason: 'changed my mind' }),
  spend: async (context: PaymentContext, { customerId, reference }: Subject) => {
    const { spent, available } = await context.ledger.spend({ customerId, credits: 5, reference })
    return { spent, available }
  },
} satisfies Record<RequestName, (context: PaymentContext, subject: Subject) => Promise<unknown>>

/** A clock that is moved past every lease between two attempts; or the clock on the wall, and leases that end soon. */
const clocks = {
  moved: { ...testSettings, operationLeaseMs: 60_000, operationWaitMs: 40 },
  real: { ...testSettings, operationLeaseMs: 150, operationWaitMs: 5_000 },
}
type Clock = keyof typeof clocks

/** A process of its own over the seams, and one request to it. */
async function attempt(
  world: World,
  subject: Subject,
  request: RequestName,
  strike: Strike | null,
  clock: Clock = 'moved',
): Promise<Attempt> {
  const crossings = createCrossings(strike)
  const database = createDatabase(crossings.connections(world.database.pool), silentLog)
  const gateway = crossings.gateway(subject.gateway)
  const parts = { database, gateway, ledger: createLedger(database), settings: clocks[clock], log: silentLog }
  const finished = answerOf(() => requests[request](createPaymentContext(parts), subject))
  const answer = await Promise.race([finished, crossings.cutOff.then(() => null)])
  return { crossings, answer, finished }
}

async function answerOf(request: () => Promise<unknown>): Promise<Answer> {
  try {
    return { code: 'SUCCESS', message: null, data: await request() }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message, data: null }
    return { code: 'INT001', message: String(error), data: null }
  }
}

async function prepare(world: World, { given, gateway: wrap }: Scenario): Promise<Subject> {
  const database = createDatabase(world.database.pool, silentLog)
  const { customerId } = await issueKey(database, testPeppers, crypto.randomUUID())
  const sends: Subject['sends'] = []
  const subject = {
    customerId,
    reference: crypto.randomUUID(),
    orderId: '',
    paymentKey: '',
    gateway: world.gateway,
    sends,
  }
  const withRecord = recordSends((wrap ?? ((gateway) => gateway))(world.gateway), sends)
  if (given === 'a customer') return { ...subject, gateway: withRecord }

  const ordered = await attempt(world, subject, 'purchase', null)
  assert.equal(ordered.answer?.code, 'SUCCESS')
  const { orderId } = ordered.answer.data as { orderId: string }
  const refused =
    given === 'an order the card company will refuse' || given === 'a refused confirm whose answer was lost'
  const paymentKey = await world.sandbox.pay(orderId, 20_000, refused ? 'decline' : 'approve')
  const paid = { ...subject, orderId, paymentKey, gateway: withRecord }
  if (given === 'a paid order' || given === 'an order the card company will refuse') return paid

  const lost = given === 'a confirmed order' ? null : given === 'a confirm that never arrived' ? 'error' : 'lost-answer'
  const confirmed = await attempt(world, paid, 'confirm', lost && { at: 2, mode: lost })
  assert.deepEqual(
    [confirmed.crossings.crossed[1], confirmed.answer?.code],
    ['gateway.confirm', lost ? 'SVC001' : 'SUCCESS'],
  )
  // Long enough ago that the call cannot be on its way any more.
  if (lost === 'error') await endLeases(world, paid)
  return paid
}

function recordSends(gateway: Gateway, sends: Subject['sends']): Gateway {
  return {
    ...gateway,
    confirm(intent) {
      sends.push({ verb: 'confirm', key: intent.idempotencyKey })
      return gateway.confirm(intent)
    },
    cancel(intent) {
      sends.push({ verb: 'cancel', key: intent.idempotencyKey })
      return gateway.cancel(intent)
    },
  }
}

/** Two unknown answers in a row are explained by what was struck; past that something never comes to an end. */
const maxRetries = 4

export async function runCell(
  world: World,
  scenario: Scenario,
  strikes: Strike[],
  clock: Clock = 'moved',
): Promise<Cell> {
  const subject = await prepare(world, scenario)
  const attempts: Attempt[] = []
  async function next(strike: Strike | null): Promise<Answer | null> {
    const made = await attempt(world, subject, scenario.request, strike, clock)
    attempts.push(made)
    if (clock === 'moved') await endLeases(world, subject)
    return made.answer
  }
  let failure: string | null = null
  try {
    for (const strike of strikes) await next(strike)
    while ((await next(null))?.code === 'SVC001') assert.ok(attempts.length < strikes.length + maxRetries, 'no end')
    await checkBooks(world, scenario, subject)
    // Whoever stood still wakes up now and finds everything done.
    for (const { crossings } of attempts) crossings.resume()
    const answers = await Promise.all(attempts.map((each) => (isStalled(each) ? each.finished : each.answer)))
    if (attempts.some(isStalled)) await checkBooks(world, scenario, subject)
    checkAnswers(scenario, subject, attempts, answers)
    checkSends(scenario, subject, attempts)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  const struck = attempts.slice(0, strikes.length).map(({ crossings }) => crossings)
  const places = struck.map((each) => `${each.strike?.mode} ${each.strike?.at} ${each.place()}`)
  return {
    label: [scenario.title, ...places].join(' / '),
    scenario,
    paymentKey: subject.paymentKey,
    fired: struck.every((each) => each.fired()),
    crossed: struck[0]?.crossed ?? [],
    failure,
  }
}

async function endLeases(world: World, { customerId }: Subject): Promise<void> {
  const text = `update payment_operations set lease_until = now(), sent_at = sent_at - interval '1 minute'
    where customer_id = $1 and state = 'OPEN'`
  await world.database.query(text, [customerId])
}

/** The order, the movements of credits, what is set aside, and that nothing is left open. */
async function checkBooks(world: World, { ends }: Scenario, { customerId }: Subject): Promise<void> {
  const [row] = await world.database.query(
    `select (select array_agg(status) from orders o where o.customer_id = a.customer_id) as orders,
       (select coalesce(array_agg(kind || ' ' || delta order by entry_number), '{}')
        from ledger_entries e where e.customer_id = a.customer_id) as movements,
       (select count(*) from payment_operations p where p.customer_id = a.customer_id and p.state = 'OPEN') as open,
       a.held,
       (select count(*) from discrepancies d where d.customer_id = a.customer_id) as discrepancies
     from accounts a where a.customer_id = $1`,
    [customerId],
  )
  const { order, movements, open = 0 } = ends
  assert.deepEqual(row, { orders: [order], movements, open, held: 0, discrepancies: 0 })
}

/** The n-th crossing, for n from one until there is none left. */
export async function strikeEach(run: (at: number) => Promise<Cell>): Promise<Cell[]> {
  const cells: Cell[] = []
  for (let at = 1; cells.at(-1)?.fired !== false; at += 1) {
    assert.ok(at <= 40, 'a request that crosses without end')
    cells.push(await run(at))
  }
  return cells
}

export async function inParallel<Value>(tasks: (() => Promise<Value>)[]): Promise<Value[]> {
  const results: Value[] = []
  const queue = tasks.entries()
  async function work(): Promise<void> {
    for (const [index, task] of queue) results[index] = await task()
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return results
}
