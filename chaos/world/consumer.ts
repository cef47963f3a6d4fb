// The platform's program that is told events: an HTTP server in the campaign's own process. Whatever comes is verified by
// the library of the Standard Webhooks scheme and written down. It can be away in every way such a program can: it fails,
// hangs, breaks off, answers too late, is not there at all. It never says that it is gone for good (410).
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { createRandom } from '../../harness/random.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import type { Database } from '../../src/db/database.ts'
import { addEndpoint, rotateEndpoint } from '../../src/events/endpoints.ts'

export type Payload = { type: string; timestamp: string; sequence: number; data: Record<string, unknown> }

export type Delivery = {
  eventId: string
  payload: Payload
  /** Its place among all that came and all that was taken. */
  came: number
  /** On the clock that nobody sets. */
  cameAtMs: number
  /** When a 2xx left; null when none did. */
  taken: number | null
  /** How many of the secrets have signed it. */
  signatures: number
}

/** `take` says the 2xx. */
type Reaction = (exchange: { response: ServerResponse; take(status: number): void }) => unknown

/** Longer than a delivery waits. */
const lateMs = 1_400

const takeIt: Reaction = ({ response, take }) => {
  take(204)
  response.end()
}

const reactions: Record<string, Reaction> = {
  fails: ({ response }) => response.writeHead(500).end('no'),
  'asks to wait': ({ response }) => response.writeHead(503, { 'retry-after': '1' }).end(),
  'sends elsewhere': ({ response }) => response.writeHead(302, { location: '/elsewhere' }).end(),
  hangs: () => undefined,
  'answers too late': async (exchange) => {
    await sleep(lateMs)
    takeIt(exchange)
  },
  'breaks off': ({ response }) => response.destroy(),
  'breaks off in its answer': ({ response, take }) => {
    take(200)
    response.write('{')
    setImmediate(() => response.destroy())
  },
}
const closed = 'is not there'
export const outages = [...Object.keys(reactions), closed]
/** Of those that come while it is well otherwise. */
const stumbleShare = 0.04

export type Consumer = Awaited<ReturnType<typeof startConsumer>>

export async function startConsumer(port: number, seed: number) {
  const random = createRandom(seed)
  const secrets: string[] = []
  const deliveries: Delivery[] = []
  const wrong: string[] = []
  let endpointId = ''
  let moments = 0
  let outage: string | null = null
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
      taken: null,
      signatures: checked.filter((fault) => fault === null).length,
    }
    deliveries.push(delivery)
    const [how, react] = reactionNow()
    const { type, sequence, data } = delivery.payload
    consumer.note('event delivered', { customerId: data.customerId, sequence, told: type, how })
    await react({
      response,
      take(status) {
        moments += 1
        delivery.taken = moments
        response.writeHead(status)
      },
    })
  }

  function reactionNow(): [name: string, Reaction] {
    const stumbles = consumer.mayStumble() && random.chance(stumbleShare)
    const how = outage ?? (stumbles ? random.shuffled(Object.keys(reactions))[0] : undefined) ?? 'takes it'
    return [how, reactions[how] ?? takeIt]
  }

  const server = createServer((request, response) => {
    // Who was cut off while talking has nothing to be told.
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
    /** What was verified, as it came. */
    deliveries,
    /** What came with a wrong signature, or none. */
    wrong,
    /** On the clock on the wall; null while there was no rotation. */
    rotatedAt: null as number | null,
    mayStumble: () => false,
    note: (_event: string, _fields: object): void => undefined,
    secretCount: () => secrets.length,
    async register(database: Database, peppers: Peppers): Promise<void> {
      const added = await addEndpoint(database, peppers[0], { url: `http://127.0.0.1:${port}/events`, types: [] })
      endpointId = added.endpointId
      secrets.push(added.secret)
    },
    /** The old one stays valid for a while: this consumer goes on with both. */
    async rotate(database: Database, peppers: Peppers): Promise<void> {
      const secret = await rotateEndpoint(database, peppers[0], endpointId)
      if (secret === undefined) throw new Error('the endpoint of the campaign is gone')
      consumer.rotatedAt = Date.now()
      secrets.push(secret)
    },
    async beAway(how: string, forMs: number): Promise<void> {
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

/** Null when it fits. */
function verify(secret: string, body: string, headers: Record<string, string>): string | null {
  try {
    new Webhook(secret).verify(body, headers)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
