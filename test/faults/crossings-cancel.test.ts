// The fault table of cancel (section 4.6): whatever happens to it, the credits are taken back once, the money goes back
// once, and one caller is told.
import assert from 'node:assert/strict'
import { attempt } from '../support/crossings/calls.ts'
import { checkBooks, readBooks } from '../support/crossings/checks.ts'
import type { Strike } from '../support/crossings/crossings.ts'
import { cancellation, cancelled, confirmed, failed, lookedUp, refusingCancels } from '../support/crossings/ends.ts'
import { takeSubject } from '../support/crossings/givens.ts'
import type { Books, CallName, Scenario } from '../support/crossings/scenario.ts'
import { crossingTable } from '../support/crossings/table.ts'
import { moveClock } from '../support/crossings/world.ts'

const takenOver = ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimLease']
const refused = { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' }
const neverSent = { ...failed, answer: 'PAYMENT_CANCEL_FAILED', payment: 'IN_PROGRESS' }
const neverCaptured = { ...failed, answer: 'PAYMENT_CANCEL_FAILED' }

const scenarios = {
  plain: {
    title: '4.6: a cancel takes the credits back once',
    given: 'a confirmed order',
    call: 'cancel',
    crossings: cancellation,
    ends: cancelled,
    background: { unbegun: confirmed },
  },
  refused: {
    title: '4.6: a cancel the gateway refuses gives the credits back',
    given: 'a confirmed order',
    call: 'cancel',
    gateway: refusingCancels,
    crossings: cancellation,
    ends: refused,
    background: { unbegun: refused },
  },
  captured: {
    title: '4.6: a cancel of a payment captured without our knowing settles it first',
    given: 'a captured payment whose answer was lost',
    call: 'cancel',
    crossings: [...takenOver, ...lookedUp, ...cancellation],
    ends: cancelled,
    background: { unbegun: confirmed },
  },
  neverArrived: {
    title: '4.6: a cancel of a payment whose confirm never arrived is refused, and nothing is captured',
    given: 'a confirm that never arrived',
    call: 'cancel',
    crossings: [...takenOver, ...lookedUp, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: neverSent,
    // Before the cancel has given it up the worker sends the confirm; and what is confirmed then can be cancelled.
    background: {
      byStatus: {
        FAILED: { rests: neverSent, last: neverSent },
        CONFIRMED: { rests: confirmed, last: cancelled },
        CANCELLED: { rests: cancelled, last: cancelled },
      },
    },
  },
  refusedUnheard: {
    title: '4.6: a cancel of a payment refused without our knowing is refused',
    given: 'a refused confirm whose answer was lost',
    call: 'cancel',
    crossings: [...takenOver, ...lookedUp, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: neverCaptured,
    background: { unbegun: failed },
  },
  finishedInBackground: {
    title: '4.6: a cancel that the background has finished is told to one caller',
    given: 'a cancel that the background has finished',
    call: 'cancel',
    crossings: ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimAnswer'],
    ends: cancelled,
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)

for (const scenario of [scenarios.plain, scenarios.refused, scenarios.finishedInBackground]) {
  table.pairs(scenario, 'cancel')
}
for (const scenario of [scenarios.plain, scenarios.refused, scenarios.captured, scenarios.neverArrived]) {
  table.pairs(scenario, 'recover')
}

table.inRealTime('4.6: a cancel made again takes over from a process that died as soon as its lease has run out', [
  scenarios.plain,
])

table.story(
  '4.6: what a confirm captures that slept while a cancel gave it up is seen, and given back',
  async (world) => {
    const subject = await takeSubject(world, 'a paid order')
    const scenario: Scenario = { ...scenarios.neverArrived, given: 'a paid order' }
    const make = (call: CallName, strike: Strike | null = null) => attempt(world, subject, scenario, call, strike)
    const check = async (books: Books, moment: string) =>
      checkBooks(await readBooks(world, scenario, subject), books, moment)

    const asleep = await make('confirm', { at: 1, mode: 'stall-after' })
    await moveClock(world, subject)
    assert.equal((await make('cancel')).answer?.code, 'PAYMENT_CANCEL_FAILED')
    await check(neverSent, 'given up')

    asleep.crossings.resume()
    assert.equal((await asleep.finished).code, 'VAL003')
    await check({ ...neverSent, payment: 'DONE', discrepancies: ['CONTRADICTING_OUTCOMES'] }, 'captured after all')

    await make('notify')
    await make('process')
    const resolved = ['CAPTURED_FOR_FAILED_ORDER', 'CONTRADICTING_OUTCOMES']
    await check({ ...neverSent, payment: 'CANCELED', resolved, notification: 'processed' }, 'given back')
  },
)
table.sum()
