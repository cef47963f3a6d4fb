// Section 4.1: a purchase is one insert. The idempotency key is a column of the order, unique within the customer: a retry
// finds the original order in any state, and there can be no second one. A refused request stores nothing, so its key can
// be used again.
import { newOrderId } from '../core/ids.ts'
import type { PaymentContext } from './context.ts'
import type { OrderOfKey } from './orders.sql.ts'
import { type PackageType, packageOf } from './packages.ts'
import { purchaseRefusals } from './refusals.ts'

export type PurchaseRequest = { packageType: PackageType; paymentMethod: string; idempotencyKey: string | null }

export type PurchaseAnswer = {
  orderId: string
  packageType: PackageType
  amount: number
  clientKey: string
  successUrl: string
  failUrl: string
}

export async function purchase(
  context: PaymentContext,
  customerId: string,
  request: PurchaseRequest,
): Promise<PurchaseAnswer> {
  const { packageType, paymentMethod, idempotencyKey } = request
  const { price: amount, credits } = packageOf(packageType)
  const maxPending = context.settings.pendingOrdersPerCustomer
  const orderId = newOrderId()
  const order = { customerId, orderId, packageType, paymentMethod, amount, credits, idempotencyKey, maxPending }
  if (await context.batches.insertOrder(order)) {
    context.tallies.orders.created += 1
    return answer(context, order)
  }

  const found = await context.batches.findOrderOfKey({ customerId, orderId, idempotencyKey })
  if (!found) throw purchaseRefusals.tooManyPending(maxPending)
  requireSameRequest(found, request)
  return answer(context, found)
}

/** By the letter of rule 1 the original order could be returned here too; an error shows the caller its bug. */
function requireSameRequest(found: OrderOfKey, request: PurchaseRequest): void {
  if (found.packageType === request.packageType && found.paymentMethod === request.paymentMethod) return
  throw purchaseRefusals.idempotencyKeyUsed()
}

/** The data of the order with the present settings of the checkout. */
function answer(
  { settings }: PaymentContext,
  order: { orderId: string; packageType: PackageType; amount: number },
): PurchaseAnswer {
  const { orderId, packageType, amount } = order
  const { clientKey, successUrl, failUrlOf } = settings
  return { orderId, packageType, amount, clientKey, successUrl, failUrl: failUrlOf(orderId) }
}
