// What a cell of the fault table consists of, and what must be true of it afterwards: every answer that was given, what
// reached the gateway, and what the gateway has.
import assert from 'node:assert/strict'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { Crossings } from './crossings.ts'
import type { GatewayPayment } from './invariants.ts'

/** How far the customer has come before the request. The last three left their confirm without a known outcome. */
export type Given =
  | 'a customer'
  | 'a paid order'
  | 'an order the card company will refuse'
  | 'a confirmed order'
  | 'a captured payment whose answer was lost'
  | 'a confirm that never arrived'
  | 'a refused confirm whose answer was lost'

export type RequestName = 'purchase' | 'confirm' | 'cancel' | 'spend'

export type Scenario = {
  title: string
  given: Given
  request: RequestName
  /** Something else than the sandbox behind the port. */
  gateway?: (gateway: Gateway) => Gateway
  /** What the request crosses when nothing is struck. */
  crossings: string[]
  /** The answer of the request when nothing is struck, if it is not the last one. */
  firstAnswer?: 'SVC001'
  /** `open`: how many operations are left open. */
  ends: { answer: string; order: string; movements: string[]; payment: string | null; open?: number }
}

export type Subject = {
  customerId: string
  reference: string
  orderId: string
  paymentKey: string
  gateway: Gateway
  /** What reached the gateway: the verb and the idempotency key. */
  sends: { verb: 'confirm' | 'cancel'; key: string }[]
}

export type Answer = { code: string; message: string | null; data: unknown }
export type Attempt = { crossings: Crossings; answer: Answer | null; finished: Promise<Answer> }

export type Cell = {
  label: string
  scenario: Scenario
  paymentKey: string
  fired: boolean
  /** What the first attempt crossed. */
  crossed: string[]
  failure: string | null
}

export function isStalled({ crossings }: Attempt): boolean {
  return crossings.fired() && (crossings.strike?.mode.startsWith('stall') ?? false)
}

const wonLeft: Record<string, number> = { IN_PROGRESS: 20_000, DONE: 20_000, CANCELED: 0, ABORTED: 20_000 }

/** What the gateway has of each cell's payment: captured once, given back once, or neither. */
export function findPaymentFaults(cells: Cell[], payments: GatewayPayment[]): string[] {
  const found = new Map(payments.map((payment) => [payment.paymentKey, payment]))
  return cells.flatMap(({ label, scenario: { ends }, paymentKey }) => {
    const { status, balanceAmount, cancels } = found.get(paymentKey) ?? {
      status: null,
      balanceAmount: 0,
      cancels: null,
    }
    const cancelled = ends.payment === 'CANCELED' ? 1 : 0
    const right = status === ends.payment && balanceAmount === (wonLeft[status ?? ''] ?? 0)
    return right && (cancels?.length ?? 0) === cancelled
      ? []
      : [`${label}: the payment is ${status}, ${balanceAmount} left`]
  })
}

/** Every answer is true, and unknown is never told as a refusal. */
export function checkAnswers(
  scenario: Scenario,
  subject: Subject,
  attempts: Attempt[],
  answers: (Answer | null)[],
): void {
  const { ends, request } = scenario
  const once = request === 'cancel' && ends.answer === 'SUCCESS'
  const told = answers.map((answer) => answer && `${answer.code} ${answer.message ?? ''}`).join(', ')
  const closed = 'The payment is already cancelled.'
  const definite = answers.filter((answer) => answer !== null && answer.code !== 'SVC001') as Answer[]
  for (const answer of definite) {
    if (once && answer.code === 'PAYMENT_CANCEL_FAILED') assert.equal(answer.message, closed, told)
    else assert.equal(answer.code, ends.answer, told)
    if (answer.code === 'SUCCESS') checkData(request, subject, answer, definite)
  }
  // The one 200 of a cancel may be lost with the process, or with the database, right after its commit.
  const mayBeLost = attempts.some(
    ({ crossings: { strike, place } }) =>
      place() === 'payments.finishOperations' && (strike?.mode === 'crash-after' || strike?.mode === 'away'),
  )
  const successes = definite.filter((answer) => answer.code === 'SUCCESS').length
  if (once) assert.ok(successes === 1 || (successes === 0 && mayBeLost), `${successes} cancels succeeded: ${told}`)
  for (const [index, { crossings }] of attempts.entries()) {
    const expected = answerTo(scenario, crossings, index)
    if (expected) assert.equal(answers[index]?.code, expected, `the answer to ${crossings.strike?.mode}: ${told}`)
  }
}

/** What the struck request itself must answer, where that is certain. */
function answerTo(scenario: Scenario, crossings: Crossings, index: number): string | undefined {
  const mode = crossings.fired() ? crossings.strike?.mode : undefined
  if (mode === 'away') return 'SVC001'
  if (index > 0 || (mode !== 'error' && mode !== 'lost-answer')) return undefined
  // No answer from the gateway is never a refusal; a lost connection to the database is not even noticed.
  if (crossings.place()?.startsWith('gateway.')) return 'SVC001'
  return scenario.firstAnswer ?? scenario.ends.answer
}

function checkData(request: Scenario['request'], subject: Subject, answer: Answer, definite: Answer[]): void {
  if (request === 'confirm') {
    assert.deepEqual(answer.data, { orderId: subject.orderId, creditsAdded: 21, totalCredits: 21 })
  }
  if (request === 'spend') assert.deepEqual(answer.data, { spent: 5, available: 16 })
  if (request === 'purchase') assert.deepEqual(answer.data, definite[0]?.data)
}

/** The gateway is asked once, and again only by somebody who woke up late; always with the key of the one intent. */
export function checkSends({ ends, gateway }: Scenario, { sends }: Subject, attempts: Attempt[]): void {
  if (gateway) return
  for (const verb of ['confirm', 'cancel'] as const) {
    const keys = sends.filter((send) => send.verb === verb).map((send) => send.key)
    assert.ok(new Set(keys).size <= 1, `${verb} was sent with several keys: ${keys}`)
    if (!attempts.some(isStalled)) assert.ok(keys.length <= 1, `${verb} was sent ${keys.length} times`)
  }
  assert.equal(
    sends.some((send) => send.verb === 'cancel'),
    ends.payment === 'CANCELED',
  )
}
