// Refund of the unused part for the platform's own support pages, on the internal listener: a quote, and the refund that does
// exactly what was quoted.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../core/errors.ts'
import { customerIdPattern, orderIdPattern } from '../../core/ids.ts'
import { SuccessOf, success } from '../../http/envelope.ts'
import type { PaymentContext } from '../context.ts'
import type { OrderKey } from '../orders.sql.ts'
import { asFieldRefusal, orderNotFound } from '../refusals.ts'
import { documentedRefunds } from './document.ts'
import { quoteUnused } from './quote.ts'
import { refundOrder } from './refund.ts'
import { RefundBody, RefundParams, UnusedQuoteData, UnusedRefundData } from './schemas.ts'

export type ServiceRefund = OrderKey & { serviceId: string; reason: string }

/** Logs the refund of a service before and after the work. */
export type RecordRefund = <Answer extends object>(
  refund: ServiceRefund,
  work: () => Promise<Answer>,
) => Promise<Answer>

export function refundRoutes(app: FastifyInstance, payments: PaymentContext, record: RecordRefund): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/internal/v1/customers/:customerId/orders/:orderId/refund-quote',
    {
      config: { work: 'read', scope: 'refund', documented: documentedRefunds.quote },
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
      config: { work: 'settle', scope: 'refund', documented: documentedRefunds.refund },
      schema: { params: RefundParams, body: RefundBody, response: { 200: SuccessOf(UnusedRefundData) } },
    },
    async ({ serviceId, params, body }) => {
      const { amount, credits } = body
      const key = keyOf(params)
      const reason = body.reason.trim()
      const refund = () => refundOrder(payments, key, { reason, unused: { amount, credits } })
      const answer = await withFieldRefusals(record({ ...key, serviceId, reason }, refund))
      return success(answer, 'The unused part is refunded.')
    },
  )
}

async function withFieldRefusals<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work
  } catch (error) {
    throw error instanceof Refusal ? asFieldRefusal(error) : error
  }
}

/** Text that is no id identifies nothing. */
function keyOf({ customerId, orderId }: OrderKey): OrderKey {
  if (!customerIdPattern.test(customerId) || !orderIdPattern.test(orderId)) throw orderNotFound()
  return { customerId: customerId.toLowerCase(), orderId }
}
