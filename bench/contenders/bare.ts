// The ceiling: the same routes with the same schemas, on a Fastify that does nothing else. No keys, no database; every
// answer is constant, of the same shape and size as the real one. A confirm makes the service's exchange with the gateway:
// no service can be without it.
import fastify, { type FastifyRequest } from 'fastify'
import { pino } from 'pino'
import { gatewayOptions, readConfig } from '../../src/config.ts'
import { newOrderId } from '../../src/core/ids.ts'
import { spendingRoutes } from '../../src/credits/routes.ts'
import { openGateway } from '../../src/gateway/toss/open.ts'
import { success } from '../../src/http/envelope.ts'
import { strictValidation } from '../../src/http/input/validation.ts'
import { packages } from '../../src/payments/packages.ts'
import { paymentRoutes } from '../../src/payments/routes.ts'
import { announce, portOf } from './contender.ts'

const confirmUrl = '/public/v1/payments/confirm'
const orderId = newOrderId()
const customerId = crypto.randomUUID()
const at = new Date().toISOString()
const order = { orderId, packageType: 'BASIC', amount: 1_000 }
const shop = 'https://shop.example'

const answers: Record<string, { data: object; message: string | null; code?: number }> = {
  '/public/v1/payments/purchase': {
    data: {
      ...order,
      clientKey: 'test_ck_bench',
      successUrl: `${shop}/success`,
      failUrl: `${shop}/fail?orderId=${orderId}`,
    },
    message: 'The payment order is created.',
    code: 201,
  },
  [confirmUrl]: {
    data: {
      orderId,
      creditsAdded: 1,
      totalCredits: 1_000_000_001,
      message: '1 credit added. The balance is 1000000001 credits.',
    },
    message: 'The payment is confirmed.',
  },
  '/public/v1/payments/credits': { data: { credits: 1_000_000_000, customerId }, message: 'The credit balance.' },
  '/public/v1/payments/packages': { data: [...packages], message: 'The credit packages.' },
  '/public/v1/payments/:orderId': {
    data: { ...order, status: 'PENDING', createdAt: at, confirmedAt: null },
    message: 'The payment status.',
  },
  '/public/v1/payments/cancel': {
    data: { message: 'The payment is cancelled and its credits are taken back.' },
    message: null,
  },
  '/internal/v1/credits/spend': {
    data: { reference: crypto.randomUUID(), credits: 1, balance: 999_999_999 },
    message: 'The credits are spent.',
  },
}

const config = readConfig(process.env)
const { gateway } = openGateway(gatewayOptions(config), pino({ level: config.logLevel }))

/** The order's id is another one: a day on these routes has one order. */
async function exchange({ body }: FastifyRequest): Promise<void> {
  const { paymentKey, amount } = body as { paymentKey: string; amount: number }
  const idempotencyKey = crypto.randomUUID()
  const { kind } = await gateway.confirm({ orderId: newOrderId(), paymentKey, amount, idempotencyKey })
  if (kind !== 'approved') throw new Error(`the gateway's outcome is ${kind}`)
}

const app = fastify({ ajv: strictValidation, exposeHeadRoutes: false })
app.addHook('onRoute', (route) => {
  const answer = answers[route.url]
  if (!answer) return
  const { data, message, code = 200 } = answer
  route.handler = async (request, reply) => {
    if (route.url === confirmUrl) await exchange(request)
    return reply.code(code).send(success(data, message))
  }
})
paymentRoutes(app, undefined as never)
spendingRoutes(app, {} as never)
const port = portOf(await app.listen({ host: '127.0.0.1', port: 0 }))
announce({ publicPort: port, internalPort: port }, () => app.close())
