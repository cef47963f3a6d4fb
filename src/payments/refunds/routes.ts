// Refund of the unused part for the platform's own support pages, on the internal listener: a quote, and the refund that does
// exactly what was quoted.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import { SuccessOf, success } from '../../http/envelope.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderKey } from '../orders.sql.ts'
import { asFieldRefusal, orderNotFound } from '../refusals.ts'
import { documentedRefunds } from './document.ts'
import { quoteUnused } from './quote.ts'
import { refundOrder } from './refund.ts'
import { RefundBody, RefundParams, UnusedQuoteData, UnusedRefundData } from './schemas.ts'

export function refundRoutes(app: FastifyInstance, payments: PaymentContext): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/internal/v1/customers/:customerId/orders/:orderId/refund-quote',
    {
      config: { work: 'read', documented: documentedRefunds.quote },
      schema: { params: RefundParams, response: { 200: SuccessOf(UnusedQuoteData) } },
    },
    async ({ params }) => {
      const quote = await withFieldRefusals(quoteUnused(payments, keyOf(params)))
      return success(quote, 'The refund as it would be made now.')
    },
  )

  typed.post(
    '/internal/v1/customers/:customerId/orders/:orderId/refund',
    {
      config: { work: 'settle', documented: documentedRefunds.refund },
      schema: { params: RefundParams, body: RefundBody, response: { 200: SuccessOf(UnusedRefundData) } },
    },
    async ({ params, body: { reason, ...unused } }) => {
      const key = keyOf(params)
      const request = { orderId: key.orderId, reason: reason.trim(), unused }
      const answer = await withFieldRefusals(refundOrder(payments, key, request))
      return success(answer, 'The unused part is refunded.')
    },
  )
}

async function withFieldRefusals<Answer>(work: Promise<Answer>): Promise<Answer> {
  return work.catch((error) => Promise.reject(error instanceof Refusal ? asFieldRefusal(error) : error))
}

/** Text that is no UUID identifies nothing. */
function keyOf({ customerId, orderId }: OrderKey): OrderKey {
  if (!uuidPattern.test(customerId)) throw orderNotFound()
  return { customerId: customerId.toLowerCase(), orderId }
}
