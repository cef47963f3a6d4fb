// Section 4 of the specification on one page: six endpoints, what they take, what they give. A field's description is
// the rule a caller reads when it breaks it.

import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { refuse, refuseFields } from '../core/errors.ts'
import { orderIdPattern } from '../core/ids.ts'
import { NullableText, SuccessOf, success } from '../http/envelope.ts'
import { valuesOf } from '../http/headers.ts'
import { answerAfterReading } from '../http/pace.ts'
import { cancel } from './cancel.ts'
import { confirm } from './confirm.ts'
import type { PaymentContext } from './context.ts'
import { orderStatuses } from './order-status.ts'
import { packages, packageTypes, paymentMethod } from './packages.ts'
import { purchase } from './purchase.ts'

const PackageType = Type.Enum([...packageTypes], { description: `one of ${packageTypes.join(', ')}` })
const Amount = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'a whole number of KRW' })
// Issued by the gateway: at most 200 characters there. It becomes a segment of a URL's path, so nothing but visible
// ASCII, and not the two names that lead elsewhere.
const PaymentKey = Type.String({
  pattern: '^(?!\\.{1,2}$)[\\x21-\\x7e]{1,200}$',
  description: '1 to 200 visible ASCII characters',
})
// Any text a person writes, but nothing PostgreSQL cannot hold (NUL, lone surrogates) and no other control characters.
const Reason = Type.String({
  maxLength: 200,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\p{Cs}]*$',
  description: '1 to 200 characters, not blank, without control characters',
})

const PurchaseBody = Type.Object({
  packageType: PackageType,
  paymentMethod: Type.Optional(Type.Enum([paymentMethod], { description: paymentMethod })),
})
const ConfirmBody = Type.Object({
  orderId: Type.String({ minLength: 1, description: 'the orderId of a purchase' }),
  paymentKey: PaymentKey,
  amount: Amount,
})
const CancelBody = Type.Object({ paymentKey: PaymentKey, reason: Reason })

const PurchaseData = Type.Object({
  orderId: Type.String(),
  packageType: PackageType,
  amount: Amount,
  clientKey: Type.String(),
  successUrl: Type.String(),
  failUrl: Type.String(),
})
const ConfirmData = Type.Object({
  orderId: Type.String(),
  creditsAdded: Type.Integer(),
  totalCredits: Type.Integer(),
  message: Type.String(),
})
const StatusData = Type.Object({
  orderId: Type.String(),
  status: Type.Enum([...orderStatuses]),
  packageType: PackageType,
  amount: Amount,
  createdAt: Type.String(),
  confirmedAt: NullableText,
})
const BalanceData = Type.Object({ credits: Type.Integer(), customerId: Type.String() })
const PackageData = Type.Object({
  packageType: PackageType,
  credits: Type.Integer(),
  price: Type.Integer(),
  displayName: Type.String(),
  description: Type.String(),
  bonusPercentage: Type.Integer(),
  bonusCredits: Type.Integer(),
})
const CancelData = Type.Object({ message: Type.String() })

const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/

/** Optional, 1 to 255 visible ASCII characters; sent twice it is malformed. It has a meaning on purchase alone. */
function idempotencyKeyOf(request: FastifyRequest): string | null {
  const values = valuesOf(request.raw, 'x-idempotency-key')
  const [value] = values
  if (value === undefined) return null
  if (values.length === 1 && idempotencyKeyPattern.test(value)) return value
  throw refuseFields('VAL003', [
    { field: 'X-Idempotency-Key', rule: 'must be 1 to 255 visible ASCII characters, once' },
  ])
}

function credits(count: number): string {
  return count === 1 ? '1 credit' : `${count} credits`
}

/** The same for everybody, so written once. To answer with it costs less than a refusal: nobody is turned away. */
const packagesText = JSON.stringify(success(packages, 'The credit packages.'))

export function paymentRoutes(app: FastifyInstance, context: PaymentContext): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>()

  // 4.1 Purchase credits
  routes.post(
    '/public/v1/payments/purchase',
    { config: { work: 'write' }, schema: { body: PurchaseBody, response: { 201: SuccessOf(PurchaseData) } } },
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
    { config: { work: 'settle' }, schema: { body: ConfirmBody, response: { 200: SuccessOf(ConfirmData) } } },
    async (request) => {
      const answer = await confirm(context, request.customerId, request.body)
      const message = `${credits(answer.creditsAdded)} added. The balance is ${credits(answer.totalCredits)}.`
      return success({ ...answer, message }, 'The payment is confirmed.')
    },
  )

  // 4.4 Get credit balance
  routes.get(
    '/public/v1/payments/credits',
    { config: { work: 'read' }, schema: { response: { 200: SuccessOf(BalanceData) } } },
    async ({ customerId }) =>
      success({ credits: await context.credits.readBalance(customerId), customerId }, 'The credit balance.'),
  )

  // 4.5 List credit packages
  app.get(
    '/public/v1/payments/packages',
    { schema: { response: { 200: SuccessOf(Type.Array(PackageData)) } } },
    (_request, reply) => {
      answerAfterReading(() => reply.type('application/json; charset=utf-8').send(packagesText))
    },
  )

  // 4.3 Get payment status
  routes.get(
    '/public/v1/payments/:orderId',
    {
      config: { work: 'read' },
      schema: {
        params: Type.Object({ orderId: Type.String() }),
        response: { 200: SuccessOf(StatusData) },
      },
    },
    async (request) => {
      const { orderId } = request.params
      const order = orderIdPattern.test(orderId)
        ? await context.batches.findOrder({ customerId: request.customerId, orderId })
        : null
      if (!order) throw refuse('NOT000')
      const { createdAt, confirmedAt } = order
      const times = { createdAt: createdAt.toISOString(), confirmedAt: confirmedAt?.toISOString() ?? null }
      return success({ ...order, ...times }, 'The payment status.')
    },
  )

  // 4.6 Cancel payment
  routes.post(
    '/public/v1/payments/cancel',
    { config: { work: 'settle' }, schema: { body: CancelBody, response: { 200: SuccessOf(CancelData) } } },
    async (request) => {
      await cancel(context, request.customerId, request.body)
      return success({ message: 'The payment is cancelled and its credits are taken back.' }, null)
    },
  )
}
