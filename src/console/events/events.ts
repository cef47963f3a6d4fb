// The pages of event endpoints: where events are sent, each attempt to deliver one with its answer, what waits, and dead events.
// Actions call the same functions as the commands. A signing secret is shown once, in the answer that creates it.
import { deadlineIn } from '../../core/clock.ts'
import { refuse, refuseFields } from '../../core/errors.ts'
import { withCustomerNames } from '../../customers/names.sql.ts'
import { attemptCursorPattern, listAttempts } from '../../events/attempts/attempts.sql.ts'
import { sendTestEvent } from '../../events/attempts/test-event.ts'
import { beforeAllDead, deadEventsCountedTo, listDeadEventsAfter } from '../../events/dead.sql.ts'
import { isAccepted } from '../../events/deliver.ts'
import { type Endpoint, findEndpoint, listEndpoints, updateEndpointStatus } from '../../events/endpoints.sql.ts'
import {
  addEndpoint,
  enableEndpoint,
  hostOf,
  isEndpointUrl,
  removeEndpoint,
  retryQueues,
  rotateEndpoint,
} from '../../events/endpoints.ts'
import { eventTypes } from '../../events/outbox.sql.ts'
import { resendDeadEvents, resendMs } from '../../events/resend.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'
import { countDeadByEndpoint, listWaitingQueues, sumWaiting } from './events.sql.ts'

type Names =
  | ('eventEndpoints' | 'eventEndpoint' | 'eventAttempts' | 'deadEvents')
  | ('addEndpoint' | 'disableEndpoint' | 'enableEndpoint' | 'rotateEndpoint' | 'removeEndpoint')
  | ('retryEndpoint' | 'testEndpoint' | 'resendDead')

const maxEndpointsListed = 500
const maxQueuesListed = 100
/** Failed resends whose errors are shown. */
const maxErrorsShown = 20

const deadCursorPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}~\d{1,16}$/

export function eventHandlers({ database, deliveries, peppers }: ConsoleContext): Handlers<Names> {
  async function knownEndpoint(endpointId: string): Promise<Endpoint> {
    const endpoint = await findEndpoint(database, endpointId)
    if (!endpoint) throw noSuchEndpoint()
    return endpoint
  }

  /** With what waits and what is dead, for all endpoints or one. */
  async function rowsOf(endpoints: Endpoint[], endpointId: string | null = null) {
    const [waiting, dead] = await Promise.all([
      sumWaiting(database, endpointId),
      countDeadByEndpoint(database, deadEventsCountedTo, endpointId),
    ])
    return endpoints.map(({ endpointId: id, url, types, status, createdAt }) => {
      const queues = waiting.find((each) => each.endpointId === id)
      return {
        endpointId: id,
        host: hostOf(url),
        types,
        status,
        createdAt,
        waitingEvents: queues?.events ?? 0,
        waitingCustomers: queues?.customers ?? 0,
        failingSince: queues?.failingSince ?? null,
        deadEvents: dead.get(id) ?? 0,
      }
    })
  }

  return {
    async eventEndpoints() {
      const endpoints = await listEndpoints(database, maxEndpointsListed)
      return { endpoints: await rowsOf(endpoints), knownTypes: [...eventTypes] }
    },

    async eventEndpoint({ params: { endpointId } }) {
      const [[row], queues] = await Promise.all([
        rowsOf([await knownEndpoint(endpointId)], endpointId),
        listWaitingQueues(database, endpointId, maxQueuesListed),
      ])
      if (!row) throw noSuchEndpoint()
      return { ...row, queues: await withCustomerNames(database, queues) }
    },

    async eventAttempts({ params: { endpointId }, query }) {
      await knownEndpoint(endpointId)
      const limit = limitOf(query)
      const wanted = { cursor: cursorOf(query, attemptCursorPattern), limit: limit + 1 }
      const { page, nextCursor } = pageOf(
        await listAttempts(database, endpointId, wanted),
        limit,
        ({ cursor }) => cursor,
      )
      const attempts = page.map(({ cursor: _, ...attempt }) => attempt)
      return { attempts: await withCustomerNames(database, attempts), nextCursor }
    },

    async deadEvents({ params: { endpointId }, query }) {
      await knownEndpoint(endpointId)
      const limit = limitOf(query)
      const [customerId, eventNumber] = cursorOf(query, deadCursorPattern)?.split('~') ?? []
      const after = customerId ? { customerId, endpointId, eventNumber: Number(eventNumber) } : beforeAllDead
      const { page, nextCursor } = pageOf(
        await listDeadEventsAfter(database, after, limit + 1, { endpointId }),
        limit,
        (dead) => `${dead.customerId}~${dead.eventNumber}`,
      )
      const dead = page.map(({ customerId, eventNumber, type, attempts, lastError: error, diedAt, data }) => {
        const { orderId = null } = data as { orderId?: string }
        return { customerId, eventNumber, type, orderId, attempts, error, diedAt }
      })
      return { dead: await withCustomerNames(database, dead), nextCursor }
    },

    async addEndpoint({ body: { url, types } }) {
      if (!isEndpointUrl(url)) throw refuseUrl('must be a URL without user, password and fragment')
      const fault = deliveries.outbound.faultOf(url)
      if (fault) throw refuseUrl(`must be one that events can be sent to: ${fault}`)
      const { endpointId, secret } = await addEndpoint(database, peppers[0], { url, types: [...new Set(types)] })
      return { endpointId, host: hostOf(url), secret }
    },

    async disableEndpoint({ params: { endpointId } }) {
      if (!(await updateEndpointStatus(database, endpointId, 'DISABLED'))) throw noSuchEndpoint()
      return { endpointId, status: 'DISABLED' }
    },

    async enableEndpoint({ params: { endpointId } }) {
      if (!(await enableEndpoint(database, endpointId))) throw noSuchEndpoint()
      return { endpointId, status: 'ACTIVE' }
    },

    async rotateEndpoint({ params: { endpointId } }) {
      const secret = await rotateEndpoint(database, peppers[0], endpointId)
      if (!secret) throw noSuchEndpoint()
      return { endpointId, secret }
    },

    async removeEndpoint({ params: { endpointId } }) {
      if (!(await removeEndpoint(database, endpointId))) throw noSuchEndpoint()
      return { endpointId }
    },

    async retryEndpoint({ params: { endpointId }, body: { customerId } }) {
      await knownEndpoint(endpointId)
      return { endpointId, customers: await retryQueues(database, endpointId, customerId ?? null) }
    },

    async testEndpoint({ params: { endpointId } }) {
      const sent = await sendTestEvent(deliveries, await knownEndpoint(endpointId))
      return { endpointId, accepted: isAccepted(sent), status: sent.status, error: sent.error, tookMs: sent.tookMs }
    },

    async resendDead({ params: { endpointId }, body: { customerId, eventNumber } }) {
      await knownEndpoint(endpointId)
      if (eventNumber !== undefined && customerId === undefined) {
        throw refuseFields('VAL003', [{ field: 'customerId', rule: 'must be sent with eventNumber' }])
      }
      const of = { endpointId, customerId, eventNumber }
      const { resent, left, failed } = await resendDeadEvents(deliveries, of, { deadline: deadlineIn(resendMs) })
      const errors = failed.slice(0, maxErrorsShown).map(({ endpointId: _, ...error }) => error)
      return { endpointId, resent, left, failed: failed.length, errors }
    },
  }
}

function noSuchEndpoint() {
  return refuse('NOT000', { message: 'There is no such endpoint.' })
}

function refuseUrl(rule: string) {
  return refuseFields('VAL003', [{ field: 'url', rule }])
}
