// Every route of the three listeners with its schemas. Those of the two APIs are taken from the files that serve them,
// so that a new one is never forgotten; the health checks and the gateway's notifications have no schema.
import fastify from 'fastify'
import { type SpendingParts, spendingRoutes } from '../../../../src/credits/routes.ts'
import { publicRoutes } from '../../../../src/listeners/public.ts'
import { webhookPath } from '../../../../src/listeners/webhook.ts'
import type { PaymentContext } from '../../../../src/payments/context.ts'
import { refundRoutes } from '../../../../src/payments/refunds/routes.ts'
import type { ReceiptContext } from '../../../../src/transparency/receipts/receipts.ts'
import { receiptRoutes } from '../../../../src/transparency/receipts/routes.ts'
import { standIns } from './stand-ins.ts'

export type ListenerName = 'public' | 'internal' | 'webhook'
export const listenerNames = ['public', 'internal', 'webhook'] as const

/** The part of JSON Schema that the routes use. */
export type Schema = {
  type?: string | string[]
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
}

export type Route = {
  listener: ListenerName
  method: string
  /** With the names of its parameters. */
  path: string
  body?: Schema | undefined
  query?: Schema | undefined
}

/** Routes are only declared: handlers are never called, and their dependencies are empty objects. */
function declaredRoutes(): Route[] {
  const app = fastify()
  const routes: Route[] = []
  let listener: ListenerName = 'public'
  app.addHook('onRoute', ({ method, url: path, schema }) => {
    const { body, querystring } = (schema ?? {}) as { body?: Schema; querystring?: Schema }
    routes.push(...[method].flat().map((each) => ({ listener, method: each, path, body, query: querystring })))
  })
  publicRoutes(app, {} as PaymentContext)
  listener = 'internal'
  spendingRoutes(app, {} as SpendingParts)
  refundRoutes(app, {} as PaymentContext, (_, refund) => refund())
  receiptRoutes(app, {} as ReceiptContext)
  // The framework adds a HEAD to every GET, which the listeners do not.
  return routes.filter(({ method }) => method !== 'HEAD')
}

const text: Schema = { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' }

const notification: Schema = {
  type: 'object',
  required: ['eventType', 'data'],
  properties: {
    eventType: { type: 'string', enum: ['PAYMENT_STATUS_CHANGED', 'CANCEL_STATUS_CHANGED', 'BILLING_DELETED'] },
    createdAt: text,
    data: {
      type: 'object',
      required: ['orderId'],
      properties: {
        orderId: text,
        paymentKey: text,
        status: { type: 'string', enum: ['DONE', 'CANCELED', 'ABORTED', 'EXPIRED', 'READY', 'constructor'] },
      },
    },
  },
}

export const routes: readonly Route[] = [
  ...declaredRoutes(),
  { listener: 'internal', method: 'GET', path: '/livez' },
  { listener: 'internal', method: 'GET', path: '/readyz' },
  { listener: 'webhook', method: 'POST', path: webhookPath(standIns.webhookToken), body: notification },
]
