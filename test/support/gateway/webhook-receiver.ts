// A shop's webhook endpoint: records the webhooks, and gives the answer that a test sets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { until } from '../../../harness/until.ts'

export type ReceivedWebhook = {
  path: string
  headers: Record<string, string>
  body: { eventType: string; createdAt: string; data: Record<string, unknown> }
}

/** A status, or a function that handles the response. */
export type ReceiverAnswer = number | ((response: ServerResponse) => void)

export async function startReceiver() {
  const received: ReceivedWebhook[] = []
  let answer: ReceiverAnswer = 200
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = request.headers as Record<string, string>
    received.push({ path: request.url ?? '', headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
    if (typeof answer === 'number') response.writeHead(answer).end()
    else answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    received,
    answerWith(next: ReceiverAnswer): void {
      answer = next
    },
    of: (paymentKey: unknown) => received.filter(({ body }) => body.data.paymentKey === paymentKey),
    /** Waits for this many webhooks of a payment, and returns their statuses in order of arrival. */
    async statusesOf(paymentKey: unknown, count: number): Promise<unknown[]> {
      await until(`${count} webhooks of ${paymentKey}`, () => receiver.of(paymentKey).length >= count)
      assert.equal(receiver.of(paymentKey).length, count)
      return receiver.of(paymentKey).map(({ body }) => body.data.status)
    },
  }
  return receiver
}
