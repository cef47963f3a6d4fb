// The fault table of cancel (section 4.6): with any fault the credits are deducted once, the money is refunded once, and one
// caller gets the answer.
import assert from 'node:assert/strict'
import { attempt } from '../../proof/stages/calls/calls.ts'
import { checkBooks, readBooks } from '../../proof/stages/calls/checks.ts'
import type { Strike } from '../../proof/stages/calls/crossings.ts'
import { cancellation, cancelled, confirmed, failed, lookedUp, refusingCancels } from '../../proof/stages/calls/ends.ts'
import { takeSubject } from '../../proof/stages/calls/givens.ts'
import type { Books, CallName, Scenario } from '../../proof/stages/calls/scenario.ts'
import { crossingTable } from '../../proof/stages/calls/table.ts'
import { moveClock } from '../../proof/stages/calls/world.ts'

const takenOver = ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimLease']
const refused = { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' }
const neverSent = { ...failed, answer: 'PAYMENT_CANCEL_FAILED', payment: 'IN_PROGRESS' }
const neverCaptured = { ...failed, answer: 'PAYMENT_CANCEL_FAILED' }

const scenarios = {
  plain: {
    title: '4.6: a cancel deducts the credits once',
    given: 'a confirmed order',
    call: 'cancel',
    crossings: cancellation,
    ends: cancelled,
    background: { unbegun: confirmed },
  },
  refused: {
    title: '4.6: a cancel that the gateway refuses releases the credits',
    given: 'a confirmed order',
    call: 'cancel',
    gateway: refusingCancels,
    crossings: cancellation,
    ends: refused,
    background: { unbegun: refused },
  },
  captured: {
    title: '4.6: a cancel of a captured payment whose answer was lost completes its confirm first',
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
    // The worker may send the confirm before the cancel has failed the order; a confirmed order can then be cancelled.
    background: {
      byStatus: {
        FAILED: { rests: neverSent, last: neverSent },
        CONFIRMED: { rests: confirmed, last: cancelled },
        CANCELLED: { rests: cancelled, last: cancelled },
      },
    },
  },
  refusalLost: {
    title: '4.6: a cancel of a refused payment whose answer was lost is refused',
    given: 'a refused confirm whose answer was lost',
    call: 'cancel',
    crossings: [...takenOver, ...lookedUp, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: neverCaptured,
    background: { unbegun: failed },
  },
  finishedInBackground: {
    title: '4.6: the success of a cancel that the background has finished is answered to one caller',
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

table.inRealTime('4.6: a repeated cancel takes over from a process that died as soon as its lease has expired', [
  scenarios.plain,
])

table.story(
  '4.6: a payment captured by a confirm that slept while a cancel failed the order is detected, and returned',
  async (world) => {
    const subject = await takeSubject(world, 'a paid order')
    const scenario: Scenario = { ...scenarios.neverArrived, given: 'a paid order' }
    const make = (call: CallName, strike: Strike | null = null) => attempt(world, subject, scenario, call, strike)
    const check = async (books: Books, moment: string) =>
      checkBooks(await readBooks(world, scenario, subject), books, moment)

    const stalled = await make('confirm', { at: 1, mode: 'stall-after' })
    await moveClock(world, subject)
    assert.equal((await make('cancel')).answer?.code, 'PAYMENT_CANCEL_FAILED')
    await check(neverSent, 'failed by the cancel')

    stalled.crossings.resume()
    assert.equal((await stalled.finished).code, 'VAL003')
    await check({ ...neverSent, payment: 'DONE', discrepancies: ['CONTRADICTING_OUTCOMES'] }, 'captured afterwards')

    await make('notify')
    await make('process')
    const resolved = ['CAPTURED_FOR_FAILED_ORDER', 'CONTRADICTING_OUTCOMES']
    await check({ ...neverSent, payment: 'CANCELED', resolved, notification: 'processed' }, 'returned')
  },
)
table.sum()
