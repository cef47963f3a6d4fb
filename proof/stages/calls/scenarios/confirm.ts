// The fault table of confirm (section 4.2): a crash, a lost connection, a lost answer or a long sleep at every call of the
// database or the gateway; then the caller retries, or only the worker continues.
import type { Gateway } from '../../../../src/gateway/gateway.ts'
import { confirmAnswer, confirmation, confirmed as confirmedOrder, failed, lookedUp, pending } from '../ends.ts'
import type { Scenario } from '../scenario.ts'

/** A 4xx without an outcome, which the gateway repeats for the same idempotency key. */
const spendingTheFirstKey = (gateway: Gateway): Gateway => ({
  ...gateway,
  confirm: async (intent) =>
    intent.idempotencyKey.endsWith('-1')
      ? { kind: 'unknown', code: 'PROVIDER_ERROR', needsNewIdempotencyKey: true }
      : gateway.confirm(intent),
})

/** The gateway does not show a payment that waits for its confirm. */
const hidingTheUnsent = (gateway: Gateway): Gateway => ({
  ...gateway,
  async findConfirm(intent) {
    const finding = await gateway.findConfirm(intent)
    return finding.kind === 'unsent' ? { kind: 'absent' } : finding
  },
})

const confirmed = { ...confirmedOrder, data: confirmAnswer }
const takenOver = ['payments.claimConfirms', 'payments.findConfirmSubjects', 'payments.claimLease']
const sentAgain = ['gateway.findConfirm', 'payments.renewLease', 'gateway.confirm', 'payments.finishOperations']
const readAgain = ['payments.claimConfirms', 'payments.findConfirmSubjects']

export const scenarios = {
  plain: {
    title: '4.2: a confirm adds the credits once',
    given: 'a paid order',
    action: 'confirm',
    calls: confirmation,
    ends: confirmed,
    background: { unbegun: pending },
    followedBy: ['confirm', 'recover'],
    inRealTime: '4.2: a repeated confirm takes over from a process that died as soon as its lease has expired',
  },
  refused: {
    title: '4.2: a confirm that the gateway refuses fails the order and adds no credits',
    given: 'an order the card company will refuse',
    action: 'confirm',
    calls: confirmation,
    ends: failed,
    background: { unbegun: pending },
    followedBy: ['confirm', 'recover'],
  },
  captured: {
    title: '4.2: a confirm after a lost answer finds the captured payment',
    given: 'a captured payment whose answer was lost',
    action: 'confirm',
    calls: [...takenOver, ...lookedUp, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
  },
  neverArrived: {
    title: '4.2: a confirm that never arrived is sent again',
    given: 'a confirm that never arrived',
    action: 'confirm',
    calls: [...takenOver, ...sentAgain, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
    followedBy: ['recover'],
  },
  neverArrivedNorShown: {
    title: '4.2: a confirm that never arrived and that the gateway does not show is sent again',
    given: 'a confirm that never arrived',
    action: 'confirm',
    gateway: hidingTheUnsent,
    calls: [...takenOver, ...sentAgain, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
  },
  refusalLost: {
    title: '4.2: a confirm after a lost refusal finds the refusal',
    given: 'a refused confirm whose answer was lost',
    action: 'confirm',
    calls: [...takenOver, ...lookedUp, ...readAgain],
    ends: failed,
    background: { unbegun: failed },
  },
  cancelledSince: {
    title: '4.2: a confirm of a payment that was captured, and then cancelled outside this service, fails the order',
    given: 'a captured payment whose answer was lost, cancelled since',
    action: 'confirm',
    calls: [...takenOver, ...lookedUp, ...readAgain],
    ends: { ...failed, payment: 'CANCELED' },
    background: { unbegun: failed },
    sends: ['confirm'],
  },
  keySpent: {
    title: '4.2: a confirm whose idempotency key is used up is sent with the next one',
    given: 'a paid order',
    action: 'confirm',
    gateway: spendingTheFirstKey,
    calls: ['payments.claimConfirms', 'gateway.confirm', 'payments.releaseLease'],
    firstAnswer: 'SVC001',
    ends: confirmed,
    background: { unbegun: pending },
    followedBy: ['confirm', 'recover'],
  },
} satisfies Record<string, Scenario>
