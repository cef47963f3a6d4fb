// The gateway port over Toss Payments. It turns answers into outcomes by the tables of outcomes.ts and believes a
// success only when the payment in it is the one we asked for: same key, same order, same amount, KRW.
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { unreachable } from '../../core/assert.ts'
import type {
  CancelIntent,
  ConfirmIntent,
  Detail,
  Finding,
  Gateway,
  GatewayState,
  Money,
  Outcome,
  Sighting,
  Unknown,
} from '../gateway.ts'
import type { Exchange, TossClient } from './client.ts'
import { type CodeClass, cancelCodes, confirmCodes } from './outcomes.ts'
import { movementQuery, readMovements } from './transactions.ts'
import { Word } from './word.ts'

const TransactionKey = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const Cancel = Type.Object({ transactionKey: TransactionKey, cancelAmount: Type.Optional(Type.Number()) })

/** The members of a Payment that decide something. Toss adds members without notice; they are ignored. */
const Payment = Type.Object({
  paymentKey: Word,
  orderId: Word,
  status: Word,
  currency: Word,
  totalAmount: Type.Number(),
  balanceAmount: Type.Number(),
  lastTransactionKey: TransactionKey,
  cancels: Type.Optional(Type.Union([Type.Null(), Type.Array(Cancel)])),
})
type Payment = Type.Static<typeof Payment>
const paymentShape = Compile(Payment)
const wordShape = Compile(Word)
const failureShape = Compile(Type.Object({ code: Type.String({ pattern: '^[A-Za-z0-9_]{1,100}$' }) }))

/** `serverError` is there when the status was 5xx. */
type Failure = { code: string; keySpent: boolean; serverError?: true }
type Unreadable = { unreadable: string; serverError?: true }

// A 4xx answer is repeated for its idempotency key for 15 days, so what comes next needs another key; it is sent only
// after a lookup has shown that nothing was done. 409 says that the first request is still running, 429 that none was.
function bindsKey(status: number): boolean {
  return status >= 400 && status < 500 && status !== 409 && status !== 429
}

export type GatewayLog = { error(fields: object, message: string): void }

export function createTossGateway(client: TossClient, log: GatewayLog): Gateway {
  let current: GatewayState = { state: 'untried', since: null }

  function note(state: GatewayState['state']): void {
    if (current.state === state) return
    current = { state, since: new Date().toISOString() }
  }

  /** What was answered: something with status 200, a code, or nothing that can be read. */
  function readAnswer(exchange: Exchange): { body: unknown } | Failure | Unreadable {
    if (exchange.kind === 'none') {
      note('failing')
      return { unreadable: exchange.cause }
    }
    const { status, body } = exchange
    const failure = status !== 200 && failureShape.Check(body) ? body : undefined
    const ours = failure && confirmCodes.get(failure.code) === 'ours'
    note(ours ? 'refusing our credentials' : status >= 500 ? 'failing' : 'answering')
    if (status === 200) return { body }
    const told = status >= 500 ? ({ serverError: true } as const) : {}
    if (failure) return { code: failure.code, keySpent: bindsKey(status), ...told }
    return { unreadable: `HTTP_${status}`, ...told }
  }

  /** The same where the answer is a payment. */
  function read(exchange: Exchange): { payment: Payment } | Failure | Unreadable {
    const answer = readAnswer(exchange)
    if (!('body' in answer)) return answer
    return paymentShape.Check(answer.body) ? { payment: answer.body as Payment } : { unreadable: 'HTTP_200' }
  }

  function ourFault(code: string): Unknown {
    log.error({ code }, 'the gateway refuses our credentials: check TOSS_SECRET_KEY')
    return { kind: 'unknown', code }
  }

  /** Acts on a code that is not a success, by its class. A code we do not know decides nothing. */
  async function judge(
    { code, keySpent, ...told }: Failure,
    codes: ReadonlyMap<string, CodeClass>,
    find: () => Promise<Finding>,
  ): Promise<Outcome> {
    const codeClass = codes.get(code) ?? 'later'
    switch (codeClass) {
      case 'refused':
        return { kind: 'rejected', code }
      case 'ours':
        return { ...ourFault(code), keySpent }
      case 'later':
        return { kind: 'unknown', code, keySpent, ...told }
      case 'refused-unless-done':
      case 'done-if-found': {
        const finding = await find()
        if (finding.kind === 'unknown') return { ...finding, keySpent }
        if (finding.kind !== 'unsent' && finding.kind !== 'absent') return finding
        return codeClass === 'refused-unless-done' ? { kind: 'rejected', code } : { kind: 'unknown', code, keySpent }
      }
      default:
        return unreachable(codeClass)
    }
  }

  async function findConfirm(intent: ConfirmIntent): Promise<Finding> {
    return lookUp(intent, (payment) => {
      // The payment key belongs to another order: a refusal, and that order's payment is left alone.
      if (payment.paymentKey === intent.paymentKey && payment.orderId !== intent.orderId) {
        return { kind: 'rejected', code: 'PAYMENT_OF_ANOTHER_ORDER' }
      }
      const other = contradiction(payment, intent)
      if (other) return other
      switch (payment.status) {
        case 'DONE':
          return { kind: 'approved', transactionKey: wordOrNull(payment.lastTransactionKey) }
        case 'READY':
        case 'IN_PROGRESS':
          return { kind: 'unsent' }
        case 'ABORTED':
        case 'EXPIRED':
          return { kind: 'rejected', code: payment.status }
        case 'CANCELED':
        case 'PARTIAL_CANCELED':
          return capturedAndCancelled(payment)
        default:
          return unknownPayment(`PAYMENT_${payment.status}`, payment)
      }
    })
  }

  async function findCancel(intent: CancelIntent): Promise<Finding> {
    return lookUp(intent, (payment) => {
      const other = contradiction(payment, intent)
      if (other) return other
      const money = moneyOf(payment)
      if (money === 'returned') return { kind: 'approved', transactionKey: cancelTransactionKey(payment) }
      // Our cancel takes all that is left: while something is left it has not happened.
      if (money === 'kept' || money === 'partly returned') return { kind: 'unsent' }
      return unknownPayment(`PAYMENT_${payment.status}`, payment)
    })
  }

  async function lookUp(intent: ConfirmIntent, judgePayment: (payment: Payment) => Finding): Promise<Finding> {
    const sighted = await sight(intent.paymentKey)
    return 'payment' in sighted ? judgePayment(sighted.payment) : sighted
  }

  async function sight(paymentKey: string): Promise<{ payment: Payment } | { kind: 'absent' } | Unknown> {
    const answer = read(await client.get([paymentKey]))
    if ('payment' in answer) return answer
    if ('unreadable' in answer) return { kind: 'unknown', code: answer.unreadable }
    if (answer.code === 'NOT_FOUND_PAYMENT') return { kind: 'absent' }
    if (confirmCodes.get(answer.code) === 'ours') return ourFault(answer.code)
    return { kind: 'unknown', code: answer.code }
  }

  return {
    findConfirm,
    findCancel,
    async look(paymentKey) {
      const sighted = await sight(paymentKey)
      return 'payment' in sighted ? sightingOf(sighted.payment) : sighted
    },

    async listMovements(query) {
      const answer = readAnswer(await client.transactions(movementQuery(query)))
      if ('body' in answer) return readMovements(answer.body)
      if ('unreadable' in answer) return { kind: 'unknown', code: answer.unreadable }
      return confirmCodes.get(answer.code) === 'ours' ? ourFault(answer.code) : { kind: 'unknown', code: answer.code }
    },

    state: () => current,
    close: () => client.close(),

    async confirm(intent) {
      const { orderId, paymentKey, amount, idempotencyKey } = intent
      const answer = read(await client.post(['confirm'], { paymentKey, orderId, amount }, idempotencyKey))
      if ('unreadable' in answer) return unreadableOutcome(answer)
      if ('code' in answer) return judge(answer, confirmCodes, () => findConfirm(intent))
      const { payment } = answer
      const other = contradiction(payment, intent)
      if (other) return other
      if (payment.status !== 'DONE') return { kind: 'unknown', code: `PAYMENT_${payment.status}` }
      return { kind: 'approved', transactionKey: wordOrNull(payment.lastTransactionKey) }
    },

    async cancel(intent) {
      const { paymentKey, reason, idempotencyKey } = intent
      const answer = read(await client.post([paymentKey, 'cancel'], { cancelReason: reason }, idempotencyKey))
      if ('unreadable' in answer) return unreadableOutcome(answer)
      if ('code' in answer) return judge(answer, cancelCodes, () => findCancel(intent))
      const { payment } = answer
      const other = contradiction(payment, intent)
      if (other) return other
      if (moneyOf(payment) !== 'returned') return unknownPayment('CANCEL_NOT_WHOLE', payment)
      return { kind: 'approved', transactionKey: cancelTransactionKey(payment) }
    },
  }
}

function unreadableOutcome({ unreadable: code, ...told }: Unreadable): Unknown {
  return { kind: 'unknown', code, ...told }
}

/**
 * What became of the money; undefined where the status says nothing about it, or the numbers contradict the status.
 * CANCELED never counts as captured, whatever its list of cancels says. PARTIAL_CANCELED stays when the last part is
 * given back, so there the numbers decide, and only if the list explains what is missing from the balance.
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
      const given = (cancels ?? []).reduce((sum, { cancelAmount = Number.NaN }) => sum + cancelAmount, 0)
      if (balanceAmount < 0 || balanceAmount >= totalAmount || given !== totalAmount - balanceAmount) return undefined
      return balanceAmount === 0 ? 'returned' : 'partly returned'
    }
    default:
      return undefined
  }
}

/**
 * Captured, and cancelled by somebody else before we knew. Nothing is left: there is nothing to grant credits for. Part
 * of it is left: it was captured for us all the same, and what was given back is for a person to look at.
 */
function capturedAndCancelled(payment: Payment): Finding {
  switch (moneyOf(payment)) {
    case 'returned':
      return { kind: 'rejected', code: payment.status, returned: true }
    case 'partly returned':
      return {
        kind: 'approved',
        transactionKey: wordOrNull(payment.lastTransactionKey),
        discrepancy: detailOf(payment),
      }
    default:
      return unknownPayment(`PAYMENT_${payment.status}`, payment)
  }
}

function sightingOf(payment: Payment): Sighting {
  const { paymentKey, orderId, totalAmount: amount, balanceAmount: balance, currency, status } = payment
  const money = moneyOf(payment)
  if (money === undefined) return unknownPayment(`PAYMENT_${status}`, payment)
  const transactionKey = wordOrNull(payment.lastTransactionKey)
  return { kind: 'payment', paymentKey, orderId, amount, currency, money, status, balance, transactionKey }
}

function cancelTransactionKey(payment: Payment): string | null {
  return wordOrNull(payment.cancels?.at(-1)?.transactionKey ?? payment.lastTransactionKey)
}

/** The money has moved, whatever its number looks like: a transaction key that cannot be stored is left out. */
function wordOrNull(text: string | null | undefined): string | null {
  return text && wordShape.Check(text) ? text : null
}

/** An answer about another payment is never a success, whatever it says. */
function contradiction(payment: Payment, intent: ConfirmIntent): Unknown | undefined {
  const { paymentKey, orderId, totalAmount, currency } = payment
  const same = paymentKey === intent.paymentKey && orderId === intent.orderId
  if (same && totalAmount === intent.amount && currency === 'KRW') return undefined
  return unknownPayment('PAYMENT_DIFFERS', payment)
}

function unknownPayment(code: string, payment: Payment): Unknown {
  return { kind: 'unknown', code, discrepancy: detailOf(payment) }
}

function detailOf({ orderId, status, totalAmount, balanceAmount, currency }: Payment): Detail {
  return { orderId, status, totalAmount, balanceAmount, currency }
}
