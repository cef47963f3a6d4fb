// A gateway that gives any answer a test sets, and records its requests: for answers that the sandbox never gives,
// because it is consistent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GatewayRequest = {
  method: string
  url: string
  idempotencyKey: string | undefined
  body: Record<string, unknown>
}
export type GatewayAnswer = { status: number; body: unknown }
type Script = (request: GatewayRequest) => GatewayAnswer

export async function startContradictingGateway() {
  const requests: GatewayRequest[] = []
  let script: Script = () => ({ status: 500, body: {} })
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const { method = '', url = '' } = incoming
    const idempotencyKey = incoming.headers['idempotency-key']?.toString()
    const request = { method, url, idempotencyKey, body: text ? JSON.parse(text) : {} }
    requests.push(request)
    const { status, body } = script(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith(next: Script): void {
      script = next
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type ContradictingGateway = Awaited<ReturnType<typeof startContradictingGateway>>

/** The members of a Payment that we read; captured and not cancelled by default. */
export function tossPayment(
  parts: { paymentKey: string; orderId: string; totalAmount: number } & Record<string, unknown>,
) {
  const cancels = parts.status === 'CANCELED' ? [{ transactionKey: 'T2' }] : null
  const balanceAmount = cancels ? 0 : parts.totalAmount
  return { status: 'DONE', currency: 'KRW', balanceAmount, lastTransactionKey: 'T1', cancels, ...parts }
}
