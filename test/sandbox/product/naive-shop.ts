// A shop with the usual mistakes, for the tests of the scenarios: it confirms whatever the address says, takes every failure
// for a refusal, sends no Idempotency-Key, and believes webhooks.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** `webhooks`: how they are answered, and how long after that they are handled. */
export async function startNaiveShop(secretKey: string, webhooks = { status: 200, lateMs: 0 }) {
  let gatewayUrl = ''
  let failuresLeft = 0
  const states = new Map<string, string>()

  async function post(path: string, body: object): Promise<boolean> {
    const headers = { authorization: `Basic ${btoa(`${secretKey}:`)}`, 'content-type': 'application/json' }
    const response = await fetch(`${gatewayUrl}/v1/payments/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return response.ok && (await response.json()) !== null
  }

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://shop.invalid')
    const [, what = '', orderId = '', key = ''] = pathname.split('/')
    const body = await text(request)
    const succeeds = (done: Promise<boolean>) => done.catch(() => false)
    if (what === 'order') {
      const fresh = { orderId: `naive-${states.size}`, amount: 20_000, successUrl: `${url}/success` }
      states.set(fresh.orderId, 'pending')
      return response.end(JSON.stringify(fresh))
    }
    if (what === 'success') {
      const { orderId: paid = '', ...query } = Object.fromEntries(searchParams)
      states.set(paid, (await succeeds(post('confirm', { ...query, orderId: paid }))) ? 'paid' : 'failed')
    }
    if (what === 'cancel' && (await succeeds(post(`${key}/cancel`, { cancelReason: 'changed my mind' }))))
      states.set(orderId, 'cancelled')
    if (what === 'webhook') {
      response.writeHead(webhooks.status).end()
      await sleep(webhooks.lateMs)
      states.set(JSON.parse(body).data.orderId, JSON.parse(body).data.status === 'DONE' ? 'paid' : 'failed')
    }
    if (what === 'missing') response.writeHead(404)
    if (what === 'status' && failuresLeft > 0) {
      failuresLeft -= 1
      response.writeHead(500)
    }
    response.end(states.get(orderId))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    connectTo: (at: string) => {
      gatewayUrl = at
    },
    failNextStatus: () => {
      failuresLeft = 1
    },
    close: () => void server.close(),
  }
}
