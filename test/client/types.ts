// Checks the types of the client by compiling: a line below a @ts-expect-error must be an error, every other line must
// compile. Never run: `npm run check` compiles it here, and test/client/package.test.ts against the installed package,
// with two versions of the compiler.
import {
  type BudgetLowEvent,
  type CheckpointPublishedEvent,
  type CreditsClient,
  type CreditsErrorOf,
  type CreditsEvent,
  type CreditsLowEvent,
  createCreditsClient,
  createSpendingClient,
  isCreditsError,
  type OrderConfirmedEvent,
  type OrderStatus,
  type SpendingClient,
} from '../../client/src/index.ts'

const credits: CreditsClient = createCreditsClient({ baseUrl: 'http://127.0.0.1:8080', apiKey: 'cpk_' })
const spending: SpendingClient = createSpendingClient({ baseUrl: 'http://127.0.0.1:8081', token: 'cst_' })

export async function requestsAndData(signal: AbortSignal): Promise<void> {
  const { orderId, amount } = await credits.purchaseCredits({ packageType: 'PRO' }, { idempotencyKey: 'a', signal })
  // @ts-expect-error there is no such package
  await credits.purchaseCredits({ packageType: 'GOLD' })
  // @ts-expect-error the amount is needed
  await credits.confirmPayment({ orderId, paymentKey: 'a' })
  // @ts-expect-error an amount is a number
  await credits.confirmPayment({ orderId, paymentKey: 'a', amount: '1000' })
  const confirmation = await credits.confirmPayment({ orderId, paymentKey: 'a', amount })
  confirmation.creditsAdded satisfies number
  // @ts-expect-error only a purchase has an idempotency key
  await credits.cancelPayment({ paymentKey: 'a', reason: 'b' }, { idempotencyKey: 'c' })
  const { status, confirmedAt, refusalReason } = await credits.getPaymentStatus({ orderId })
  // @ts-expect-error there is no such reason
  if (refusalReason === 'too-poor') return
  status satisfies OrderStatus
  // @ts-expect-error it may be null
  confirmedAt.slice(0, 10)
  // @ts-expect-error there is no such state
  if (status === 'PAID') return
  for await (const order of credits.orders({ limit: 10 })) {
    order.refunds satisfies { amount: number; refundedAt: string }[]
    // @ts-expect-error it may be null
    order.refundedAmount.toFixed()
    // @ts-expect-error an order has no payment key
    order.paymentKey
  }
  // @ts-expect-error the customer is that of the key
  await credits.getOwnStatement({ customerId: 'a' })
  // @ts-expect-error a service has a token
  createSpendingClient({ baseUrl: 'http://127.0.0.1:8081' })
  for await (const entry of spending.statementEntries({ customerId: 'a', kind: ['SPEND'], from: new Date() })) {
    entry.kind satisfies
      | ('GRANT' | 'ROLLBACK' | 'REFUND' | 'SPEND' | 'HOLD' | 'CAPTURE' | 'RELEASE' | 'EXPIRE')
      | ('GOODWILL' | 'CORRECTION' | 'REVERSAL')
  }
  const { remaining } = await spending.capturePart({ customerId: 'a', holdId: 'b', credits: 1, reference: 'c' })
  remaining satisfies number
  // @ts-expect-error a part has a reference
  await spending.capturePart({ customerId: 'a', holdId: 'b', credits: 1 })
  // @ts-expect-error a part has a method of its own
  await spending.captureHold({ customerId: 'a', holdId: 'b', final: false })
  // @ts-expect-error there is no such kind
  spending.getStatement({ customerId: 'a', kind: 'SPENT' })
}

export function errorsByCode(error: unknown): string | number | null {
  // @ts-expect-error its type is not narrowed yet
  String(error.code)
  if (!isCreditsError(error)) return null
  error.outcome satisfies 'not-done' | 'unknown'
  // @ts-expect-error not every code has it
  String(error.metadata.available)
  // @ts-expect-error there is no such code
  String(error.code === 'BUS003')
  if (error.code === 'BUS002') {
    error.status satisfies 402
    return error.metadata.available
  }
  if (error.code === 'PAYMENT_CANCEL_FAILED') return error.metadata.paymentKey
  if (error.code === 'VAL002' || error.code === 'VAL003') return error.metadata.fields.map(({ field }) => field).join()
  if (error.code === 'INT001') return error.metadata.requestId
  if (error.kind === 'no-answer') {
    error.code satisfies 'CONNECTION_LOST' | 'TIMED_OUT' | 'ABORTED' | 'UNREADABLE_ANSWER'
    return error.code === 'UNREADABLE_ANSWER' ? error.status.toFixed() : error.status
  }
  error.metadata satisfies null
  return error.message
}

/** Every code of one method has its case: without one of them this does not compile. */
export function allOfConfirm(error: CreditsErrorOf<'confirmPayment'>): 'retry' | 'refused' | 'mistake' {
  switch (error.code) {
    case 'SVC001':
    case 'INT001':
    case 'CONNECTION_LOST':
    case 'TIMED_OUT':
    case 'ABORTED':
    case 'UNREADABLE_ANSWER':
      return 'retry'
    case 'VAL003':
    case 'NOT000':
      return 'refused'
    case 'VAL001':
    case 'VAL002':
    case 'VAL004':
    case 'INVALID_API_KEY':
    case 'AUTH001':
    case 'AUTH003':
      return 'mistake'
  }
}

/** Every event has its case. */
export function eventsByType(event: CreditsEvent): string | number {
  event.sequence satisfies number
  // @ts-expect-error not every event has it
  String(event.data.threshold)
  switch (event.type) {
    case 'order.confirmed':
      event satisfies OrderConfirmedEvent
      return event.data.credits
    case 'order.failed':
    case 'order.cancelled':
    case 'order.refunded':
      return event.data.orderId
    case 'credits.low':
      event satisfies CreditsLowEvent
      return event.data.threshold
    case 'credits.reversed':
      return event.data.reversedReference
    case 'credits.adjusted':
      return event.data.kind
    case 'credits.empty':
      return event.data.customerId
    case 'budget.low':
      event satisfies BudgetLowEvent
      return event.data.left
    case 'checkpoint.published':
      event satisfies CheckpointPublishedEvent
      return event.data.size
  }
}

export function codesOfOneMethod(error: unknown): void {
  if (isCreditsError(error, 'cancelPayment')) {
    error.operation satisfies 'cancelPayment'
    if (error.code === 'PAYMENT_CANCEL_FAILED') error.metadata.reason satisfies string
    // @ts-expect-error a cancel is never refused for a lack of credits by this code
    if (error.code === 'BUS002') return
  }
  if (isCreditsError(error, 'spendCredits') && error.code === 'BUS002') error.metadata.requested satisfies number
  // @ts-expect-error there is no such method
  isCreditsError(error, 'payForIt')
}
