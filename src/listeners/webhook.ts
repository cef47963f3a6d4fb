// The webhook listener: one route for the gateway, reachable from the internet. A notification is stored before it is answered
// with 200, and nothing else happens here: the worker verifies it with the gateway. The path contains a token that was configured
// at the gateway with the URL; without it every path is NOT000.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { deadlineIn, within } from '../core/clock.ts'
import { refuse } from '../core/errors.ts'
import type { Tallies } from '../core/tallies.ts'
import type { Database } from '../db/database.ts'
import { readNotification } from '../gateway/toss/webhook.ts'
import { success } from '../http/envelope.ts'
import { buildListener } from '../http/listener.ts'
import type { RequestCounts } from '../http/request-counts.ts'
import { insertNotification } from '../payments/recovery/notifications.sql.ts'

export type WebhookListenerParts = {
  database: Database
  token: string
  /** Called when something was stored. */
  onStored: () => void
  log: FastifyBaseLogger
  counts?: RequestCounts
  tallies: Tallies
}

/** A notification carries a whole payment: about 2 KB, and more with many cancels. */
const bodyLimitBytes = 64 * 1024

/** The gateway waits ten seconds for an answer, and retries a notification that was not answered with 200. */
const storeLimitMs = 8_000

export function webhookPath(token: string): string {
  return `/webhooks/toss/${token}`
}

export function buildWebhookListener(parts: WebhookListenerParts): FastifyInstance {
  const { database, token, onStored, log, counts, tallies } = parts
  const expected = digest(token)

  /** A wrong token is an unknown path. */
  function admit(request: FastifyRequest): Error | undefined {
    // A path that the router could not read has no params.
    const { token: given = '' } = (request.params ?? {}) as { token?: string }
    return request.is404 || !timingSafeEqual(digest(given), expected) ? refuse('NOT000') : undefined
  }

  const { app } = buildListener({
    admit,
    admitConnect: async () => refuse('NOT000'),
    log,
    bodyLimitBytes,
    ...(counts && { counts }),
    maxParamLength: 300,
    limits: { headMs: 5_000, requestMs: storeLimitMs },
  })

  app.post(webhookPath(':token'), async (request) => {
    if (request.body === undefined) throw refuse('VAL001', { message: 'The request has no body.' })
    const transmissionId = request.headers['tosspayments-webhook-transmission-id']
    const read = readNotification(transmissionId?.toString(), request.body)
    if (read.kind === 'unreadable') {
      tallies.webhooks.unreadable += 1
      throw refuse('VAL001', { message: 'This is not a notification of the gateway.' })
    }
    if (read.kind === 'payment') {
      const stored = insertNotification(database, read.notification).then(() => true)
      if (!(await within(deadlineIn(storeLimitMs), stored, false))) throw refuse('SVC001')
      onStored()
    }
    tallies.webhooks[read.kind === 'payment' ? 'stored' : 'ignored'] += 1
    return success(null, null)
  })
  return app
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
