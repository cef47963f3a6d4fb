// The gateway port over Toss Payments. It maps answers to outcomes by the tables of outcomes.ts. A success counts only when
// the payment in it is the requested one: same key, same order, same amount, KRW.
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { unreachable } from '../../core/assert.ts'
import type {
  Approved,
  CancelIntent,
  ConfirmIntent,
  FetchedPayment,
  Gateway,
  GatewayState,
  LookupResult,
  Money,
  Outcome,
  PaymentDetail,
  Unknown,
} from '../gateway.ts'
import type { Exchange, TossClient } from './client.ts'
import { type CodeClass, cancelCodes, confirmCodes } from './outcomes.ts'
import { paidWithOf } from './paid-with.ts'
import { printableText } from './printable-text.ts'
import { cardSlipOf } from './slip.ts'
import { movementQuery, readMovements } from './transactions.ts'

const TransactionKey = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const Cancel = Type.Object({ transactionKey: TransactionKey, cancelAmount: Type.Optional(Type.Number()) })

/**
 * The fields of a Payment that decide something, and those that are read if they are well formed: by slip.ts and paid-with.ts,
 * and why a payment has failed. Toss adds fields without notice; they are ignored.
 */
const Payment = Type.Object({
  paymentKey: printableText,
  orderId: printableText,
  status: printableText,
  currency: printableText,
  totalAmount: Type.Number(),
  balanceAmount: Type.Number(),
  lastTransactionKey: TransactionKey,
  cancels: Type.Optional(Type.Union([Type.Null(), Type.Array(Cancel)])),
  receipt: Type.Optional(Type.Unknown()),
  method: Type.Optional(Type.Unknown()),
  card: Type.Optional(Type.Unknown()),
  easyPay: Type.Optional(Type.Unknown()),
  failure: Type.Optional(Type.Unknown()),
})
type Payment = Type.Static<typeof Payment>
const paymentShape = Compile(Payment)
const printableShape = Compile(printableText)
const failureShape = Compile(Type.Object({ code: Type.String({ pattern: '^[A-Za-z0-9_]{1,100}$' }) }))

type Failure = { code: string; needsNewIdempotencyKey: boolean; serverError?: true }
type Unreadable = { unreadable: string; serverError?: true }

// Toss repeats a 4xx answer for its idempotency key for 15 days, so the next send needs another key; it is sent only after
// a lookup has shown that nothing was done. 409 means that the first request is still running, 429 that none was started.
function isRepeatedForKey(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429
}

export type GatewayLog = { error(fields: object, message: string): void }

export function createTossGateway(client: TossClient, log: GatewayLog): Gateway {
  let current: GatewayState = { state: 'untried', since: null }

  function setState(state: GatewayState['state']): void {
    if (current.state === state) return
    current = { state, since: new Date().toISOString() }
  }

  /** The body of a 200, the code of a failure, or why there is no readable answer. */
  function readAnswer(exchange: Exchange): { body: unknown } | Failure | Unreadable {
    if (exchange.kind === 'none') {
      setState('failing')
      return { unreadable: exchange.cause }
    }
    const { status, body } = exchange
    const failure = status !== 200 && failureShape.Check(body) ? body : undefined
    const ours = failure && confirmCodes.get(failure.code) === 'ours'
    setState(ours ? 'refusing our credentials' : status >= 500 ? 'failing' : 'answering')
    if (status === 200) return { body }
    const serverError = status >= 500 ? ({ serverError: true } as const) : {}
    if (failure) return { code: failure.code, needsNewIdempotencyKey: isRepeatedForKey(status), ...serverError }
    return { unreadable: `HTTP_${status}`, ...serverError }
  }

  function readPayment(exchange: Exchange): { payment: Payment } | Failure | Unreadable {
    const answer = readAnswer(exchange)
    if (!('body' in answer)) return answer
    return paymentShape.Check(answer.body) ? { payment: answer.body as Payment } : { unreadable: 'HTTP_200' }
  }

  function refusedCredentials(code: string): Unknown {
    log.error({ code }, 'the gateway refuses our credentials: check TOSS_SECRET_KEY')
    return { kind: 'unknown', code }
  }

  /** By the class of the code. A code that is not in the table decides nothing. */
  async function outcomeOfCode(
    { code, needsNewIdempotencyKey, ...serverError }: Failure,
    codes: ReadonlyMap<string, CodeClass>,
    find: () => Promise<LookupResult>,
  ): Promise<Outcome> {
    const codeClass = codes.get(code) ?? 'later'
    switch (codeClass) {
      case 'refused':
        return { kind: 'rejected', code }
      case 'ours':
        return { ...refusedCredentials(code), needsNewIdempotencyKey }
      case 'later':
        return { kind: 'unknown', code, needsNewIdempotencyKey, ...serverError }
      case 'refused-unless-done':
      case 'done-if-found': {
        const found = await find()
        if (found.kind === 'unknown') return { ...found, needsNewIdempotencyKey }
        if (found.kind !== 'unsent' && found.kind !== 'absent') return found
        if (codeClass === 'refused-unless-done') return { kind: 'rejected', code }
        return { kind: 'unknown', code, needsNewIdempotencyKey }
      }
      default:
        return unreachable(codeClass)
    }
  }

  async function findConfirm(intent: ConfirmIntent): Promise<LookupResult> {
    return lookUp(intent, (payment) => {
      // The payment key belongs to another order: this confirm is rejected, and that order's payment is left alone.
      if (payment.paymentKey === intent.paymentKey && payment.orderId !== intent.orderId) {
        return { kind: 'rejected', code: 'PAYMENT_OF_ANOTHER_ORDER' }
      }
      const other = contradiction(payment, intent)
      if (other) return other
      switch (payment.status) {
        case 'DONE':
          return { kind: 'approved', ...captureOf(payment) }
        case 'READY':
        case 'IN_PROGRESS':
          return { kind: 'unsent' }
        case 'ABORTED':
        case 'EXPIRED':
          return { kind: 'rejected', code: codeOfFailed(payment) }
        case 'CANCELED':
        case 'PARTIAL_CANCELED':
          return capturedAndCancelled(payment)
        default:
          return unknownPayment(`PAYMENT_${payment.status}`, payment)
      }
    })
  }

  async function findCancel(intent: CancelIntent): Promise<LookupResult> {
    return lookUp(intent, (payment) => {
      const other = contradiction(payment, intent)
      if (other) return other
      const money = moneyOf(payment)
      if (money === undefined || money === 'none') return unknownPayment(`PAYMENT_${payment.status}`, payment)
      if (intent.cancelAmount !== undefined) {
        // It is made only of what was left when it began (`refundableAmount`): if another cancel came first, ours never succeeds.
        if (payment.totalAmount - payment.balanceAmount === (intent.returnedBefore ?? 0)) return { kind: 'unsent' }
        const next = ownPartOf(payment, intent)
        return next ? approvedPart(payment, next) : { kind: 'rejected', code: notMatching }
      }
      // Our cancel refunds all that is left: while something is left it was not made.
      if (money !== 'returned') return { kind: 'unsent' }
      return { kind: 'approved', transactionKey: cancelTransactionKey(payment) }
    })
  }

  async function lookUp(
    { paymentKey }: ConfirmIntent,
    resultOf: (payment: Payment) => LookupResult,
  ): Promise<LookupResult> {
    const fetched = await getPayment(paymentKey)
    return 'payment' in fetched ? resultOf(fetched.payment) : fetched
  }

  async function getPayment(paymentKey: string): Promise<{ payment: Payment } | { kind: 'absent' } | Unknown> {
    const answer = readPayment(await client.get([paymentKey]))
    if ('payment' in answer) return answer
    if ('unreadable' in answer) return { kind: 'unknown', code: answer.unreadable }
    if (answer.code === 'NOT_FOUND_PAYMENT') return { kind: 'absent' }
    if (confirmCodes.get(answer.code) === 'ours') return refusedCredentials(answer.code)
    return { kind: 'unknown', code: answer.code }
  }

  return {
    findConfirm,
    findCancel,
    async fetchPayment(paymentKey) {
      const fetched = await getPayment(paymentKey)
      return 'payment' in fetched ? snapshotOf(fetched.payment) : fetched
    },

    async listMovements(query) {
      const answer = readAnswer(await client.transactions(movementQuery(query)))
      if ('body' in answer) return readMovements(answer.body)
      if ('unreadable' in answer) return { kind: 'unknown', code: answer.unreadable }
      return confirmCodes.get(answer.code) === 'ours'
        ? refusedCredentials(answer.code)
        : { kind: 'unknown', code: answer.code }
    },

    state: () => current,
    close: () => client.close(),

    async confirm(intent) {
      const { orderId, paymentKey, amount, idempotencyKey } = intent
      const answer = readPayment(await client.post(['confirm'], { paymentKey, orderId, amount }, idempotencyKey))
      if ('unreadable' in answer) return unreadableOutcome(answer)
      if ('code' in answer) return outcomeOfCode(answer, confirmCodes, () => findConfirm(intent))
      const { payment } = answer
      const other = contradiction(payment, intent)
      if (other) return other
      if (payment.status !== 'DONE') return { kind: 'unknown', code: `PAYMENT_${payment.status}` }
      return { kind: 'approved', ...captureOf(payment) }
    },

    async cancel(intent) {
      const { paymentKey, reason: cancelReason, amount, cancelAmount, returnedBefore = 0, idempotencyKey } = intent
      const part = cancelAmount === undefined ? {} : { cancelAmount, refundableAmount: amount - returnedBefore }
      const answer = readPayment(await client.post([paymentKey, 'cancel'], { cancelReason, ...part }, idempotencyKey))
      if ('unreadable' in answer) return unreadableOutcome(answer)
      if ('code' in answer) return outcomeOfCode(answer, cancelCodes, () => findCancel(intent))
      const { payment } = answer
      const other = contradiction(payment, intent)
      if (other) return other
      if (cancelAmount !== undefined) {
        const next = ownPartOf(payment, intent)
        return next ? approvedPart(payment, next) : unknownPayment('CANCEL_OF_ANOTHER_PART', payment)
      }
      if (moneyOf(payment) !== 'returned') return unknownPayment('CANCEL_NOT_WHOLE', payment)
      return { kind: 'approved', transactionKey: cancelTransactionKey(payment) }
    },
  }
}

/** Silence, and an answer that cannot be read, decide nothing. */
export function unreadableOutcome({ unreadable: code, ...serverError }: Unreadable): Unknown {
  return { kind: 'unknown', code, ...serverError }
}

/**
 * Undefined for a status that does not show where the money is, or numbers that contradict the status. CANCELED never
 * counts as captured, whatever its list of cancels has. PARTIAL_CANCELED stays when the last part is refunded, so there the
 * numbers decide, and only if the list of cancels adds up to what is missing from the balance.
 */
function moneyOf({ status, totalAmount, balanceAmount, cancels }: Payment): Money | undefined {
  switch (status) {
    case 'READY':
    case 'IN_PROGRESS':
    case 'ABORTED':
    case 'EXPIRED':
      return 'none'
    case 'DONE':
      return 'kept'
    case 'CANCELED':
      return balanceAmount === 0 ? 'returned' : undefined
    case 'PARTIAL_CANCELED': {
      const refunded = (cancels ?? []).reduce((sum, { cancelAmount = Number.NaN }) => sum + cancelAmount, 0)
      if (balanceAmount < 0 || balanceAmount >= totalAmount || refunded !== totalAmount - balanceAmount)
        return undefined
      return balanceAmount === 0 ? 'returned' : 'partly returned'
    }
    default:
      return undefined
  }
}

/** The code that refused the confirm, as its own answer would have had it; the status where the payment has no such code. */
function codeOfFailed({ status, failure }: Payment): string {
  return failureShape.Check(failure) && confirmCodes.get(failure.code) === 'refused' ? failure.code : status
}

function captureOf(payment: Payment): Pick<Approved, 'transactionKey' | 'slip' | 'wrongParts'> {
  const { paidWith, ...wrong } = paidWithOf(payment)
  const slip = { ...cardSlipOf(payment), paidWith }
  const isKnown = Object.values(slip).some((value) => value !== null)
  return { transactionKey: printableOrNull(payment.lastTransactionKey), ...(isKnown && { slip }), ...wrong }
}

/**
 * Captured, and cancelled at the gateway before we knew of the capture. If nothing is left there is nothing to grant credits
 * for. If part of it is left the capture stands, and a person has to look at the refunded part.
 */
export function capturedAndCancelled(payment: Payment): LookupResult {
  switch (moneyOf(payment)) {
    case 'returned':
      return { kind: 'rejected', code: payment.status, returned: true }
    case 'partly returned':
      // The last transaction is the cancel.
      return { kind: 'approved', ...captureOf(payment), transactionKey: null, discrepancy: detailOf(payment) }
    default:
      return unknownPayment(`PAYMENT_${payment.status}`, payment)
  }
}

function snapshotOf(payment: Payment): FetchedPayment {
  const { paymentKey, orderId, totalAmount: amount, balanceAmount: balance, currency, status } = payment
  const money = moneyOf(payment)
  if (money === undefined) return unknownPayment(`PAYMENT_${status}`, payment)
  return { kind: 'payment', paymentKey, orderId, amount, currency, money, status, balance, ...captureOf(payment) }
}

/** The gateway's code for a balance that is not the expected one. */
const notMatching = 'NOT_MATCHES_REFUNDABLE_AMOUNT'

/**
 * The place of the intent's cancel among those of the payment: it is the one after those that had returned as much as was
 * returned before. Two of the same amount are the same to us.
 */
function ownPartOf(
  payment: Payment,
  { cancelAmount, returnedBefore = 0 }: CancelIntent,
): { index: number } | undefined {
  const money = moneyOf(payment)
  if (money !== 'partly returned' && money !== 'returned') return undefined
  const cancels = payment.cancels ?? []
  let returned = 0
  let index = 0
  while (index < cancels.length && returned < returnedBefore) returned += cancels[index++]?.cancelAmount ?? Number.NaN
  return returned === returnedBefore && cancels[index]?.cancelAmount === cancelAmount ? { index } : undefined
}

/** A person has to look at further cancels. */
function approvedPart({ cancels, ...payment }: Payment, { index }: { index: number }): Outcome {
  const transactionKey = printableOrNull(cancels?.[index]?.transactionKey)
  const isLast = cancels?.length === index + 1
  return { kind: 'approved', transactionKey, ...(!isLast && { discrepancy: detailOf(payment) }) }
}

function cancelTransactionKey(payment: Payment): string | null {
  return printableOrNull(payment.cancels?.at(-1)?.transactionKey ?? payment.lastTransactionKey)
}

/** The money has moved in any case: a transaction key that cannot be stored is left out. */
function printableOrNull(text: string | null | undefined): string | null {
  return text && printableShape.Check(text) ? text : null
}

/** An answer about another payment is never a success. */
function contradiction(payment: Payment, intent: ConfirmIntent): Unknown | undefined {
  const { paymentKey, orderId, totalAmount, currency } = payment
  const same = paymentKey === intent.paymentKey && orderId === intent.orderId
  if (same && totalAmount === intent.amount && currency === 'KRW') return undefined
  return unknownPayment('PAYMENT_DIFFERS', payment)
}

function unknownPayment(code: string, payment: Payment): Unknown {
  return { kind: 'unknown', code, discrepancy: detailOf(payment) }
}

function detailOf({ orderId, status, totalAmount, balanceAmount, currency }: Payment): PaymentDetail {
  return { orderId, status, totalAmount, balanceAmount, currency }
}
