// The fault table of confirm (section 4.2): a crash, a lost connection, a lost answer or a long sleep at every call of the
// database or the gateway; then the caller retries, or only the worker continues.

import {
  confirmAnswer,
  confirmation,
  confirmed as confirmedOrder,
  failed,
  lookedUp,
  pending,
} from '../../proof/stages/calls/ends.ts'
import type { Scenario } from '../../proof/stages/calls/scenario.ts'
import { crossingTable } from '../../proof/stages/calls/table.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'

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

const scenarios = {
  plain: {
    title: '4.2: a confirm adds the credits once',
    given: 'a paid order',
    call: 'confirm',
    crossings: confirmation,
    ends: confirmed,
    background: { unbegun: pending },
  },
  refused: {
    title: '4.2: a confirm that the gateway refuses fails the order and adds no credits',
    given: 'an order the card company will refuse',
    call: 'confirm',
    crossings: confirmation,
    ends: failed,
    background: { unbegun: pending },
  },
  captured: {
    title: '4.2: a confirm after a lost answer finds the captured payment',
    given: 'a captured payment whose answer was lost',
    call: 'confirm',
    crossings: [...takenOver, ...lookedUp, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
  },
  neverArrived: {
    title: '4.2: a confirm that never arrived is sent again',
    given: 'a confirm that never arrived',
    call: 'confirm',
    crossings: [...takenOver, ...sentAgain, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
  },
  neverArrivedNorShown: {
    title: '4.2: a confirm that never arrived and that the gateway does not show is sent again',
    given: 'a confirm that never arrived',
    call: 'confirm',
    gateway: hidingTheUnsent,
    crossings: [...takenOver, ...sentAgain, ...readAgain],
    ends: confirmed,
    background: { unbegun: confirmed },
  },
  refusalLost: {
    title: '4.2: a confirm after a lost refusal finds the refusal',
    given: 'a refused confirm whose answer was lost',
    call: 'confirm',
    crossings: [...takenOver, ...lookedUp, ...readAgain],
    ends: failed,
    background: { unbegun: failed },
  },
  cancelledSince: {
    title: '4.2: a confirm of a payment that was captured, and then cancelled outside this service, fails the order',
    given: 'a captured payment whose answer was lost, cancelled since',
    call: 'confirm',
    crossings: [...takenOver, ...lookedUp, ...readAgain],
    ends: { ...failed, payment: 'CANCELED' },
    background: { unbegun: failed },
    sends: ['confirm'],
  },
  keySpent: {
    title: '4.2: a confirm whose idempotency key is used up is sent with the next one',
    given: 'a paid order',
    call: 'confirm',
    gateway: spendingTheFirstKey,
    crossings: ['payments.claimConfirms', 'gateway.confirm', 'payments.releaseLease'],
    firstAnswer: 'SVC001',
    ends: confirmed,
    background: { unbegun: pending },
  },
} satisfies Record<string, Scenario>

const table = crossingTable()
for (const scenario of Object.values<Scenario>(scenarios)) table.each(scenario)

for (const scenario of [scenarios.plain, scenarios.refused, scenarios.keySpent]) table.pairs(scenario, 'confirm')
for (const scenario of [scenarios.plain, scenarios.refused, scenarios.keySpent, scenarios.neverArrived]) {
  table.pairs(scenario, 'recover')
}

table.inRealTime('4.2: a repeated confirm takes over from a process that died as soon as its lease has expired', [
  scenarios.plain,
])
table.sum()
