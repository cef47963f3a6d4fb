// What a customer reads of its orders, beside the six endpoints of the specification. No other path of the public API begins
// like these, so none of them is taken for an orderId.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'
import { orderIdPattern } from '../../core/ids.ts'
import { SuccessOf, success } from '../../http/envelope.ts'
import { pageSizeOf } from '../../http/input/page.ts'
import type { PaymentContext } from '../context.ts'
import { failureOf } from '../failure-reasons.ts'
import { orderNotFound } from '../refusals.ts'
import { StatusParams } from '../schemas.ts'
import { documentedHistory } from './document.ts'
import { findOwnOrder, listOwnOrders, type OwnOrder } from './orders.sql.ts'
import { OwnOrderData, OwnOrdersData, OwnOrdersQuery } from './schemas.ts'

export function historyRoutes(app: FastifyInstance, { database }: Pick<PaymentContext, 'database'>): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/public/v1/orders',
    {
      config: { work: 'read', documented: documentedHistory.orders },
      schema: { querystring: OwnOrdersQuery, response: { 200: SuccessOf(OwnOrdersData) } },
    },
    async ({ customerId, query: { cursor = null, limit } }) => {
      const pageSize = pageSizeOf(limit)
      const found = await listOwnOrders(database, customerId, { below: cursor, limit: pageSize + 1 })
      const orders = found.slice(0, pageSize).map(shownOrder)
      const nextCursor = found.length > pageSize ? (orders.at(-1)?.orderId ?? null) : null
      return success({ customerId, orders, nextCursor }, 'The orders of the customer.')
    },
  )

  typed.get(
    '/public/v1/orders/:orderId',
    {
      config: { work: 'read', documented: documentedHistory.order },
      schema: { params: StatusParams, response: { 200: SuccessOf(OwnOrderData) } },
    },
    async ({ customerId, params: { orderId } }) => {
      const order = orderIdPattern.test(orderId) ? await findOwnOrder(database, { customerId, orderId }) : null
      if (!order) throw orderNotFound()
      return success(shownOrder(order), 'The order.')
    },
  )
}

function shownOrder({ failed, ...order }: OwnOrder) {
  return {
    ...order,
    createdAt: order.createdAt.toISOString(),
    confirmedAt: order.confirmedAt?.toISOString() ?? null,
    refusalReason: failed && failureOf(failed),
  }
}
