// The platform's consumer of events: an HTTP server in the campaign's own process. Every delivery is verified with the
// Standard Webhooks library and recorded. It can be unavailable in every way: it fails, hangs, breaks off, answers too
// late, does not listen. It never answers that it is gone for good (410).
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { createRandom } from '../../harness/random.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import type { Database } from '../../src/db/database.ts'
import { addEndpoint, rotateEndpoint } from '../../src/events/endpoints.ts'
import type { Outage } from '../faults.ts'

export type Payload = { type: string; timestamp: string; sequence: number; data: Record<string, unknown> }

export type Delivery = {
  eventId: string
  payload: Payload
  /** Its position among all arrivals and acceptances. */
  came: number
  /** Monotonic clock. */
  cameAtMs: number
  /** The position of the 2xx answer; null when there was none. */
  accepted: number | null
  /** How many of the secrets signed it. */
  signatures: number
}

/** `accept` writes the 2xx. */
type Reaction = (exchange: { response: ServerResponse; accept(status: number): void }) => unknown

/** Longer than the delivery's timeout. */
const lateMs = 1_400

const acceptDelivery: Reaction = ({ response, accept }) => {
  accept(204)
  response.end()
}

const closed = 'does not listen' satisfies Outage

const reactions: Record<Exclude<Outage, typeof closed>, Reaction> = {
  fails: ({ response }) => response.writeHead(500).end('no'),
  'answers with Retry-After': ({ response }) => response.writeHead(503, { 'retry-after': '1' }).end(),
  redirects: ({ response }) => response.writeHead(302, { location: '/elsewhere' }).end(),
  hangs: () => undefined,
  'answers too late': async (exchange) => {
    await sleep(lateMs)
    acceptDelivery(exchange)
  },
  'closes the connection': ({ response }) => response.destroy(),
  'closes the connection in its answer': ({ response, accept }) => {
    accept(200)
    response.write('{')
    setImmediate(() => response.destroy())
  },
}
export type Consumer = Awaited<ReturnType<typeof startConsumer>>

export async function startConsumer(port: number, seed: number) {
  const random = createRandom(seed)
  const secrets: string[] = []
  const deliveries: Delivery[] = []
  const wrong: string[] = []
  let endpointId = ''
  let moments = 0
  let outage: Outage | null = null
  let wanted = true

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const headers = request.headers as Record<string, string>
    const checked = secrets.map((secret) => verify(secret, body, headers))
    if (!checked.includes(null)) {
      wrong.push(`${checked[0]}: ${headers['webhook-id']} at ${headers['webhook-timestamp']}: ${body}`)
      response.writeHead(401).end()
      return
    }
    moments += 1
    const delivery: Delivery = {
      eventId: headers['webhook-id'] ?? '',
      payload: JSON.parse(body),
      came: moments,
      cameAtMs: performance.now(),
      accepted: null,
      signatures: checked.filter((fault) => fault === null).length,
    }
    deliveries.push(delivery)
    const [how, react] = reactionNow()
    const { type, sequence, data } = delivery.payload
    consumer.note('event delivered', { customerId: data.customerId, sequence, eventType: type, how })
    await react({
      response,
      accept(status) {
        moments += 1
        delivery.accepted = moments
        response.writeHead(status)
      },
    })
  }

  function reactionNow(): [name: string, Reaction] {
    const fails = consumer.failShare > 0 && random.chance(consumer.failShare)
    const how = outage ?? (fails ? random.shuffled(Object.keys(reactions))[0] : undefined) ?? 'accepts'
    return [how, (reactions as Record<string, Reaction>)[how] ?? acceptDelivery]
  }

  const server = createServer((request, response) => {
    // The connection was closed while it was read.
    handle(request, response).catch(() => response.destroy())
  })

  async function open(): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }

  async function shut(): Promise<void> {
    server.closeAllConnections()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }

  const consumer = {
    busy: false,
    /** Verified, in order of arrival. */
    deliveries,
    /** Deliveries without a right signature. */
    wrong,
    /** Wall clock; null before a rotation. */
    rotatedAt: null as number | null,
    /** The share of deliveries that fail while it is available. */
    failShare: 0,
    note: (_event: string, _fields: object): void => undefined,
    secretCount: () => secrets.length,
    async register(database: Database, peppers: Peppers): Promise<void> {
      const added = await addEndpoint(database, peppers[0], { url: `http://127.0.0.1:${port}/events`, types: [] })
      endpointId = added.endpointId
      secrets.push(added.secret)
    },
    /** The old secret stays valid for a while: this consumer accepts both. */
    async rotate(database: Database, peppers: Peppers): Promise<void> {
      const secret = await rotateEndpoint(database, peppers[0], endpointId)
      if (secret === undefined) throw new Error('the endpoint of the campaign is gone')
      consumer.rotatedAt = Date.now()
      secrets.push(secret)
    },
    async beUnavailable(how: Outage, forMs: number): Promise<void> {
      outage = how
      if (how === closed) await shut()
      await sleep(forMs)
      if (how === closed && wanted) await open()
      outage = null
    },
    async close(): Promise<void> {
      wanted = false
      await shut()
    },
  }
  await open()
  return consumer
}

/** Null when the signature is right. */
function verify(secret: string, body: string, headers: Record<string, string>): string | null {
  try {
    new Webhook(secret).verify(body, headers)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
