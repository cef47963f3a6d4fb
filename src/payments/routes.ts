// Section 4 of the specification on one page: six endpoints, each with its schemas and its handler.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { orderIdPattern } from '../core/ids.ts'
import { refusalReasonHeader, SuccessOf, success } from '../http/envelope.ts'
import { valuesOf } from '../http/headers.ts'
import { answerAfterReading } from '../http/limits/event-loop.ts'
import { cancel } from './cancel.ts'
import { confirm } from './confirm.ts'
import type { PaymentContext } from './context.ts'
import { documentedPayments } from './document.ts'
import { failureOf } from './failure-reasons.ts'
import type { RequestRef } from './operations/begin.sql.ts'
import { packages, paymentMethod } from './packages.ts'
import { purchase } from './purchase.ts'
import { orderNotFound, purchaseRefusals } from './refusals.ts'
import {
  BalanceData,
  CancelBody,
  CancelData,
  ConfirmBody,
  ConfirmData,
  idempotencyKeyPattern,
  PackageData,
  PurchaseBody,
  PurchaseData,
  StatusData,
  StatusParams,
} from './schemas.ts'
import { slipHeadersOf } from './slip-headers.ts'

/** Optional, 1 to 255 visible ASCII characters, once. Only a purchase reads it. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const values = valuesOf(request.raw, 'x-idempotency-key')
  const [value] = values
  if (value === undefined) return null
  if (values.length === 1 && idempotencyKeyPattern.test(value)) return value
  throw purchaseRefusals.malformedIdempotencyKey()
}

function requestRef({ id: requestId, keyId }: FastifyRequest): RequestRef {
  return { requestId, keyId }
}

function credits(count: number): string {
  return count === 1 ? '1 credit' : `${count} credits`
}

/** The same for every caller, so it is serialised once. Sending it costs less than a refusal, so there is no admission. */
const packagesText = JSON.stringify(success(packages, 'The credit packages.'))

export function paymentRoutes(app: FastifyInstance, context: PaymentContext): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()

  // 4.1 Purchase credits
  routes.post(
    '/public/v1/payments/purchase',
    {
      config: { work: 'write', documented: documentedPayments.purchase },
      schema: { body: PurchaseBody, response: { 201: SuccessOf(PurchaseData) } },
    },
    async (request, reply) => {
      const { packageType, paymentMethod: method = paymentMethod } = request.body
      const idempotencyKey = idempotencyKeyOf(request)
      const order = await purchase(context, request.customerId, { packageType, paymentMethod: method, idempotencyKey })
      return reply.code(201).send(success(order, 'The payment order is created.'))
    },
  )

  // 4.2 Confirm payment
  routes.post(
    '/public/v1/payments/confirm',
    {
      config: { work: 'settle', documented: documentedPayments.confirm },
      schema: { body: ConfirmBody, response: { 200: SuccessOf(ConfirmData) } },
    },
    async (request, reply) => {
      const { slip, ...answer } = await confirm(context, request.customerId, request.body, requestRef(request))
      const message = `${credits(answer.creditsAdded)} added. The balance is ${credits(answer.totalCredits)}.`
      return reply.headers(slipHeadersOf(slip)).send(success({ ...answer, message }, 'The payment is confirmed.'))
    },
  )

  // 4.4 Get credit balance
  routes.get(
    '/public/v1/payments/credits',
    {
      config: { work: 'read', documented: documentedPayments.credits },
      schema: { response: { 200: SuccessOf(BalanceData) } },
    },
    async ({ customerId }) =>
      success({ credits: await context.credits.readBalance(customerId), customerId }, 'The credit balance.'),
  )

  // 4.5 List credit packages
  app.get(
    '/public/v1/payments/packages',
    {
      config: { documented: documentedPayments.packages },
      schema: { response: { 200: SuccessOf(Type.Array(PackageData)) } },
    },
    (_request, reply) => {
      answerAfterReading(() => reply.type('application/json; charset=utf-8').send(packagesText))
    },
  )

  // 4.3 Get payment status
  routes.get(
    '/public/v1/payments/:orderId',
    {
      config: { work: 'read', documented: documentedPayments.status },
      schema: { params: StatusParams, response: { 200: SuccessOf(StatusData) } },
    },
    async (request, reply) => {
      const { orderId } = request.params
      const order = orderIdPattern.test(orderId)
        ? await context.batches.findOrder({ customerId: request.customerId, orderId })
        : null
      if (!order) throw orderNotFound()
      const { createdAt, confirmedAt } = order
      const times = { createdAt: createdAt.toISOString(), confirmedAt: confirmedAt?.toISOString() ?? null }
      if (order.failed) reply.header(refusalReasonHeader, failureOf(order.failed))
      return reply.headers(slipHeadersOf(order)).send(success({ ...order, ...times }, 'The payment status.'))
    },
  )

  // 4.6 Cancel payment
  routes.post(
    '/public/v1/payments/cancel',
    {
      config: { work: 'settle', documented: documentedPayments.cancel },
      schema: { body: CancelBody, response: { 200: SuccessOf(CancelData, Type.Null()) } },
    },
    async (request) => {
      await cancel(context, request.customerId, request.body, requestRef(request))
      return success({ message: 'The payment is cancelled and its credits are taken back.' }, null)
    },
  )
}
