// A crash at every place where a payment touches the database or the gateway, and a retry. Sections 4.1, 4.2 and 4.6 hold
// for a service that dies, loses connections, or falls asleep and wakes up too late.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { inParallel, openWorld, runCell, strikeEach, type World } from '../support/crossing-cells.ts'
import { type Cell, findPaymentFaults, type Scenario } from '../support/crossing-checks.ts'
import { type Mode, modes } from '../support/crossings.ts'
import { assertGatewayAgrees, assertInvariants } from '../support/invariants.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const refusingCancels = (gateway: Gateway): Gateway => ({
  ...gateway,
  cancel: async () => ({ kind: 'rejected', code: 'REFUND_REJECTED' }),
})

/** A 4xx that decides nothing, and that the gateway repeats for its idempotency key. */
const spendingTheFirstKey = (gateway: Gateway): Gateway => ({
  ...gateway,
  confirm: async (intent) =>
    intent.idempotencyKey.endsWith('-1')
      ? { kind: 'unknown', code: 'PROVIDER_ERROR', keySpent: true }
      : gateway.confirm(intent),
})

const confirmed = { answer: 'SUCCESS', order: 'CONFIRMED', movements: ['GRANT 21'], payment: 'DONE' }
const failed = { answer: 'VAL003', order: 'FAILED', movements: [], payment: 'ABORTED' }
const cancelled = {
  answer: 'SUCCESS',
  order: 'CANCELLED',
  movements: ['GRANT 21', 'ROLLBACK -21'],
  payment: 'CANCELED',
}

const confirmation = ['payments.claimConfirms', 'gateway.confirm', 'payments.finishOperations']
const cancellation = ['payments.claimCancels', 'gateway.cancel', 'payments.finishOperations']
const confirmTakenOver = ['payments.claimConfirms', 'payments.findConfirmSubjects', 'payments.claimLease']
const cancelTakenOver = ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimLease']
const sentAgain = ['gateway.findConfirm', 'payments.renewLease', 'gateway.confirm', 'payments.finishOperations']
const foundOut = ['gateway.findConfirm', 'payments.finishOperations']
const readAgain = ['payments.claimConfirms', 'payments.findConfirmSubjects']

const scenarios = {
  confirm: {
    title: '4.2: a confirm adds the credits once',
    given: 'a paid order',
    request: 'confirm',
    crossings: confirmation,
    ends: confirmed,
  },
  cancel: {
    title: '4.6: a cancel takes the credits back once',
    given: 'a confirmed order',
    request: 'cancel',
    crossings: cancellation,
    ends: cancelled,
  },
  confirmRefused: {
    title: '4.2: a confirm the gateway refuses fails the order and adds nothing',
    given: 'an order the card company will refuse',
    request: 'confirm',
    crossings: confirmation,
    ends: failed,
  },
  cancelRefused: {
    title: '4.6: a cancel the gateway refuses gives the credits back',
    given: 'a confirmed order',
    request: 'cancel',
    gateway: refusingCancels,
    crossings: cancellation,
    ends: { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' },
  },
  confirmOfCaptured: {
    title: '4.2: a confirm after a lost answer finds the captured payment',
    given: 'a captured payment whose answer was lost',
    request: 'confirm',
    crossings: [...confirmTakenOver, ...foundOut, ...readAgain],
    ends: confirmed,
  },
  confirmNeverArrived: {
    title: '4.2: a confirm that never arrived is sent again',
    given: 'a confirm that never arrived',
    request: 'confirm',
    crossings: [...confirmTakenOver, ...sentAgain, ...readAgain],
    ends: confirmed,
  },
  confirmOfRefused: {
    title: '4.2: a confirm after a lost refusal finds the refusal',
    given: 'a refused confirm whose answer was lost',
    request: 'confirm',
    crossings: [...confirmTakenOver, ...foundOut, ...readAgain],
    ends: failed,
  },
  confirmKeySpent: {
    title: '4.2: a confirm whose idempotency key is spent is sent with the next one',
    given: 'a paid order',
    request: 'confirm',
    gateway: spendingTheFirstKey,
    crossings: ['payments.claimConfirms', 'gateway.confirm', 'payments.releaseLease'],
    firstAnswer: 'SVC001',
    ends: confirmed,
  },
  cancelOfCaptured: {
    title: '4.6: a cancel of a payment captured without our knowing settles it first',
    given: 'a captured payment whose answer was lost',
    request: 'cancel',
    crossings: [...cancelTakenOver, ...foundOut, ...cancellation],
    ends: cancelled,
  },
  cancelNeverArrived: {
    title: '4.6: a cancel of a payment whose confirm never arrived is refused and captures nothing',
    given: 'a confirm that never arrived',
    request: 'cancel',
    crossings: [...cancelTakenOver, 'gateway.findConfirm', 'payments.releaseLease'],
    ends: { answer: 'PAYMENT_CANCEL_FAILED', order: 'PENDING', movements: [], payment: 'IN_PROGRESS', open: 1 },
  },
  cancelOfRefused: {
    title: '4.6: a cancel of a payment refused without our knowing is refused',
    given: 'a refused confirm whose answer was lost',
    request: 'cancel',
    crossings: [...cancelTakenOver, ...foundOut, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: { ...failed, answer: 'PAYMENT_CANCEL_FAILED' },
  },
  purchase: {
    title: '4.1 rule 1: a purchase with an X-Idempotency-Key creates one order',
    given: 'a customer',
    request: 'purchase',
    crossings: ['payments.insertOrders'],
    ends: { answer: 'SUCCESS', order: 'PENDING', movements: [], payment: null },
  },
  spend: {
    title: 'a spend with a reference takes the credits once',
    given: 'a confirmed order',
    request: 'spend',
    crossings: ['credits.spend'],
    ends: { ...confirmed, movements: ['GRANT 21', 'SPEND -5'] },
  },
} satisfies Record<string, Scenario>

async function report(t: TestContext, cells: Cell[]): Promise<void> {
  const struck = cells.filter((cell) => cell.fired).length
  t.diagnostic(`${struck} cells, and ${cells.length - struck} runs in which nothing was left to strike`)
  const failures = cells.filter((cell) => cell.failure !== null).map((cell) => `${cell.label}: ${cell.failure}`)
  assert.deepEqual(failures, [])
  const payments = await world.sandbox.payments()
  assert.deepEqual(findPaymentFaults(cells, payments), [])
  await assertInvariants(world.database)
  await assertGatewayAgrees(world.database, payments)
}

for (const scenario of Object.values<Scenario>(scenarios)) {
  test(`${scenario.title}, whichever crossing is struck`, async (t) => {
    const places = [...scenario.crossings.keys(), scenario.crossings.length]
    const strikes = modes.flatMap((mode) => places.map((place) => ({ at: place + 1, mode })))
    const cells = await inParallel(strikes.map((strike) => () => runCell(world, scenario, [strike])))
    // Past the last crossing nothing is struck: that run shows what is crossed, so none can be missed.
    const unstruck = cells.filter((cell) => !cell.fired)
    assert.equal(unstruck.length, modes.length)
    for (const cell of unstruck) assert.deepEqual(cell.crossed, scenario.crossings)
    await report(t, cells)
  })
}

// The first attempt leaves something behind for its retry, and the retry is struck in turn.
const firstModes = ['crash-before', 'crash-after', 'stall-before', 'stall-after'] as const satisfies Mode[]
const secondModes = [...firstModes, 'lost-answer'] as const satisfies Mode[]

for (const name of ['confirm', 'cancel', 'cancelRefused', 'confirmKeySpent', 'purchase'] as const) {
  const scenario: Scenario = scenarios[name]
  test(`${scenario.title}, whichever two crossings of it and its retry are struck`, async (t) => {
    const first = firstModes.flatMap((mode) => [...scenario.crossings.keys()].map((place) => ({ at: place + 1, mode })))
    const tasks = first.flatMap((strike) =>
      secondModes.map((mode) => () => strikeEach((at) => runCell(world, scenario, [strike, { at, mode }]))),
    )
    await report(t, (await inParallel(tasks)).flat())
  })
}

test('4.2 and 4.6: the retry takes over from a process that died as soon as its lease has run out', async (t) => {
  const dying = (['crash-before', 'crash-after'] as const).flatMap((mode) => [1, 2, 3].map((at) => ({ at, mode })))
  const both = [scenarios.confirm, scenarios.cancel].flatMap((scenario) =>
    dying.map((strike) => () => runCell(world, scenario, [strike], 'real')),
  )
  await report(t, await inParallel(both))
})
