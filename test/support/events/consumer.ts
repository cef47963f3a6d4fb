// A consumer of events: real HTTP on a free port. Every request is verified by the library of the Standard Webhooks
// scheme. A request that does not verify is refused, recorded, and fails the test at the end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

export type Payload = { type: string; timestamp: string; sequence: number; data: Record<string, unknown> }
export type Received = {
  id: string
  headers: Record<string, string>
  body: string
  payload: Payload
  customerId: string
  status: number
}

/** A status, a function that handles the response, or no answer. */
export type Reaction = number | 'hang' | ((response: ServerResponse) => void)

export type Consumer = Awaited<ReturnType<typeof startConsumer>>

export async function startConsumer() {
  /** Set when the endpoint is added: one of them must verify. */
  const secrets: string[] = []
  const received: Received[] = []
  const wrong: string[] = []
  const consumer = {
    secrets,
    received,
    url: '',
    react: (_: Omit<Received, 'status'>): Reaction => 200,
    /** The sequence numbers of the events answered with 200, in order of arrival. */
    taken: (customerId?: string) =>
      received
        .filter((each) => each.status === 200 && (customerId ?? each.customerId) === each.customerId)
        .map(({ payload }) => payload.sequence),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      assert.deepEqual(wrong, [])
    },
  }

  function verify(body: string, headers: Record<string, string>): Payload | undefined {
    for (const secret of secrets) {
      try {
        return new Webhook(secret).verify(body, headers) as Payload
      } catch {
        // Not this one.
      }
    }
    return undefined
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const headers = request.headers as Record<string, string>
    const body = await text(request)
    const payload = verify(body, headers)
    if (!payload) {
      wrong.push(body)
      response.writeHead(401).end()
      return
    }
    const customerId = String(payload.data.customerId)
    const event = { id: headers['webhook-id'] ?? '', headers, body, payload, customerId }
    const reaction = consumer.react(event)
    received.push({ ...event, status: typeof reaction === 'number' ? reaction : 0 })
    if (reaction === 'hang') return
    if (typeof reaction === 'number') response.writeHead(reaction).end()
    else reaction(response)
  }

  const server = createServer((request, response) => {
    // The connection was closed in the middle of the request.
    handle(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  consumer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return consumer
}
