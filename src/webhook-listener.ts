// The webhook listener: one route, for the gateway, which must be able to reach it from outside. A notification is stored
// before it is answered with 200, and nothing else happens here: the worker asks the gateway whether it is true. The token
// in the path is what the gateway was given with the address; without it there is nothing here.
import { createHash, timingSafeEqual } from 'node:crypto'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { deadlineIn, within } from './core/clock.ts'
import { refuse } from './core/errors.ts'
import type { Database } from './db/database.ts'
import { readNotification } from './gateway/toss/webhook.ts'
import { success } from './http/envelope.ts'
import { createAnswerError } from './http/error-handler.ts'
import { acceptJsonOnly } from './http/json-body.ts'
import { closeConnectionsWhenStopping } from './http/stopping.ts'
import { insertNotification } from './payments/notification-sql.ts'

export type WebhookListenerParts = {
  database: Database
  token: string
  /** Called when something was stored. */
  onStored: () => void
  log: FastifyBaseLogger
}

/** A notification carries a whole payment: about 2 KB, and more with many cancels. */
const bodyLimitBytes = 64 * 1024

/** The gateway waits ten seconds for its answer, and tells again what was not answered with 200. */
const storeLimitMs = 8_000

export function webhookPath(token: string): string {
  return `/webhooks/toss/${token}`
}

export function buildWebhookListener({ database, token, onStored, log }: WebhookListenerParts): FastifyInstance {
  const expected = digest(token)
  const answerError = createAnswerError(log, () => stopping.hasBegun())
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyLimitBytes,
    requestTimeout: 8_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 300 },
    // A path the router cannot read is an address that does not exist, too.
    frameworkErrors: answerError,
  })

  /** Before a byte of the body is read: a wrong token is an address that does not exist. */
  async function requireToken(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    stopping.note(request, reply)
    const { token: given = '' } = request.params as { token?: string }
    if (request.is404 || !timingSafeEqual(digest(given), expected)) throw refuse('NOT000')
  }

  acceptJsonOnly(app)
  const stopping = closeConnectionsWhenStopping(app)
  app.addHook('onRequest', requireToken)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(async () => {
    throw refuse('NOT000')
  })

  app.post(webhookPath(':token'), async (request) => {
    if (request.body === undefined) throw refuse('VAL001', { message: 'The request has no body.' })
    const transmissionId = request.headers['tosspayments-webhook-transmission-id']
    const read = readNotification(transmissionId?.toString(), request.body)
    if (read.kind === 'unreadable') throw refuse('VAL001', { message: 'This is not a notification of the gateway.' })
    if (read.kind === 'payment') {
      const stored = insertNotification(database, read.notification).then(() => true)
      if (!(await within(deadlineIn(storeLimitMs), stored, false))) throw refuse('SVC001')
      onStored()
    }
    return success(null, null)
  })
  return app
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
