// The fault table of cancel (section 4.6): with any fault the credits are deducted once, the money is refunded once, and one
// caller gets the answer.
import assert from 'node:assert/strict'
import { attempt } from '../actions.ts'
import { checkBooks, readBooks } from '../checks.ts'
import { cancellation, cancelled, confirmed, failed, lookedUp, refusingCancels } from '../ends.ts'
import type { FaultAt } from '../faulty-calls.ts'
import { takeSubject } from '../givens.ts'
import type { ActionName, Books, Scenario, Story } from '../scenario.ts'
import { moveClock } from '../world.ts'

const takenOver = ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimLease']
const refused = { ...confirmed, answer: 'PAYMENT_CANCEL_FAILED' }
const neverSent = { ...failed, answer: 'PAYMENT_CANCEL_FAILED', payment: 'IN_PROGRESS' }
const neverCaptured = { ...failed, answer: 'PAYMENT_CANCEL_FAILED' }

export const scenarios = {
  plain: {
    title: '4.6: a cancel deducts the credits once',
    given: 'a confirmed order',
    action: 'cancel',
    calls: cancellation,
    ends: cancelled,
    background: { unbegun: confirmed },
    followedBy: ['cancel', 'recover'],
    inRealTime: '4.6: a repeated cancel takes over from a process that died as soon as its lease has expired',
  },
  refused: {
    title: '4.6: a cancel that the gateway refuses releases the credits',
    given: 'a confirmed order',
    action: 'cancel',
    gateway: refusingCancels,
    calls: cancellation,
    ends: refused,
    background: { unbegun: refused },
    followedBy: ['cancel', 'recover'],
  },
  captured: {
    title: '4.6: a cancel of a captured payment whose answer was lost completes its confirm first',
    given: 'a captured payment whose answer was lost',
    action: 'cancel',
    calls: [...takenOver, ...lookedUp, ...cancellation],
    ends: cancelled,
    background: { unbegun: confirmed },
    followedBy: ['recover'],
  },
  neverArrived: {
    title: '4.6: a cancel of a payment whose confirm never arrived is refused, and nothing is captured',
    given: 'a confirm that never arrived',
    action: 'cancel',
    calls: [...takenOver, ...lookedUp, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: neverSent,
    // The worker may send the confirm before the cancel has failed the order; a confirmed order can then be cancelled.
    background: {
      byStatus: {
        FAILED: { rests: neverSent, last: neverSent },
        CONFIRMED: { rests: confirmed, last: cancelled },
        CANCELLED: { rests: cancelled, last: cancelled },
      },
    },
    followedBy: ['recover'],
  },
  refusalLost: {
    title: '4.6: a cancel of a refused payment whose answer was lost is refused',
    given: 'a refused confirm whose answer was lost',
    action: 'cancel',
    calls: [...takenOver, ...lookedUp, 'payments.claimCancels', 'payments.findCancelSubject'],
    ends: neverCaptured,
    background: { unbegun: failed },
  },
  finishedInBackground: {
    title: '4.6: the success of a cancel that the background has finished is answered to one caller',
    given: 'a cancel that the background has finished',
    action: 'cancel',
    calls: ['payments.claimCancels', 'payments.findCancelSubject', 'payments.claimAnswer'],
    ends: cancelled,
    followedBy: ['cancel'],
  },
} satisfies Record<string, Scenario>

export const stories: Story[] = [
  {
    title: '4.6: a payment captured by a confirm that slept while a cancel failed the order is detected, and returned',
    async run(world) {
      const subject = await takeSubject(world, 'a paid order')
      const scenario: Scenario = { ...scenarios.neverArrived, given: 'a paid order' }
      const make = (action: ActionName, fault: FaultAt | null = null) =>
        attempt(world, subject, scenario, action, fault)
      const check = async (books: Books, moment: string) =>
        checkBooks(await readBooks(world, scenario, subject), books, moment)

      const paused = await make('confirm', { at: 1, kind: 'paused-after' })
      await moveClock(world, subject)
      assert.equal((await make('cancel')).answer?.code, 'PAYMENT_CANCEL_FAILED')
      await check(neverSent, 'failed by the cancel')

      paused.calls.resume()
      assert.equal((await paused.finished).code, 'VAL003')
      await check({ ...neverSent, payment: 'DONE', discrepancies: ['CONTRADICTING_OUTCOMES'] }, 'captured afterwards')

      await make('notify')
      await make('process')
      const resolved = ['CAPTURED_FOR_FAILED_ORDER', 'CONTRADICTING_OUTCOMES']
      await check({ ...neverSent, payment: 'CANCELED', resolved, notification: 'processed' }, 'returned')
    },
  },
]
