// Refund of the unused part for the platform's own support pages, on the internal listener: a quote, and the refund that does
// exactly what was quoted.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { uuidPattern } from '../../core/ids.ts'
import { SuccessOf, success } from '../../http/envelope.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderKey } from '../orders.sql.ts'
import { orderNotFound } from '../refusals.ts'
import { documentedRefunds } from './document.ts'
import { quoteUnused } from './quote.ts'
import { refundOrder } from './refund.ts'
import { RefundBody, RefundData, RefundParams, RefundQuoteData } from './schemas.ts'

export function refundRoutes(app: FastifyInstance, payments: PaymentContext): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/internal/v1/customers/:customerId/orders/:orderId/refund-quote',
    {
      config: { work: 'read', documented: documentedRefunds.quote },
      schema: { params: RefundParams, response: { 200: SuccessOf(RefundQuoteData) } },
    },
    async ({ params }) => success(await quoteUnused(payments, keyOf(params)), 'The refund as it would be made now.'),
  )

  typed.post(
    '/internal/v1/customers/:customerId/orders/:orderId/refund',
    {
      config: { work: 'settle', documented: documentedRefunds.refund },
      schema: { params: RefundParams, body: RefundBody, response: { 200: SuccessOf(RefundData) } },
    },
    async ({ params, body: { reason, ...unused } }) => {
      const key = keyOf(params)
      const answer = await refundOrder(payments, key, { orderId: key.orderId, reason: reason.trim(), unused })
      return success(answer, 'The unused part is refunded.')
    },
  )
}

/** Text that is no UUID identifies nothing. */
function keyOf({ customerId, orderId }: OrderKey): OrderKey {
  if (!uuidPattern.test(customerId)) throw orderNotFound()
  return { customerId: customerId.toLowerCase(), orderId }
}
