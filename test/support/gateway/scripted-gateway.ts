// A gateway with scripted faults: a real HTTP server that plays one script per request, in order, and records the
// requests. The sandbox behaves like the real gateway; this one answers late, wrong, too much or not at all.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Gateway } from '../../../src/gateway/gateway.ts'
import { createTossGateway } from '../../../src/gateway/toss/adapter.ts'
import { createTossClient, type TossClientSettings } from '../../../src/gateway/toss/client.ts'

export type Recorded = { method: string; path: string; headers: IncomingMessage['headers']; body: string }

/** The handling of one request. `body` settles once the whole request is read. */
export type Script = (response: ServerResponse, body: Promise<string>) => void | Promise<void>

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Script =>
  async (response, read) => {
    await read
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** Answers with this exact text: HTML, half a document, nothing. */
export const answerText = (status: number, text: string, headers: Record<string, string> = {}): Script =>
  answer(status, text, { 'content-type': 'text/html', ...headers })

export const refusal = (status: number, code: string): Script => answer(status, { code, message: 'as scripted' })

export const resetBeforeReading: Script = (response) => {
  response.socket?.resetAndDestroy()
}

export const resetAfterReading: Script = async (response, read) => {
  await read
  response.socket?.resetAndDestroy()
}

/** Announces more than it sends, and closes the connection. */
export const resetInTheMiddle =
  (text: string): Script =>
  async (response, read) => {
    await read
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': `${text.length + 1}` })
    response.write(text, () => response.socket?.resetAndDestroy())
  }

export const hang: Script = async (_response, read) => {
  await read
}

/** Sends a byte at intervals, without end. */
export const drip =
  (everyMs: number): Script =>
  async (response, read) => {
    await read
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(' '), everyMs)
    response.once('close', () => clearInterval(timer))
  }

/** Sends without end, as fast as the client reads. */
export const flood: Script = async (response, read) => {
  await read
  const chunk = Buffer.alloc(64 * 1024, 0x20)
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', pour)
  response.writeHead(200, { 'content-type': 'application/json' })
  pour()
}

export type ScriptedGateway = Awaited<ReturnType<typeof startScriptedGateway>>

export async function startScriptedGateway() {
  const scripts: Script[] = []
  const requests: Recorded[] = []
  let openConnections = 0
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const recorded: Recorded = { method, path, headers, body: '' }
    requests.push(recorded)
    const read = readText(request).then((text) => {
      recorded.body = text
      return text
    })
    read.catch(() => undefined)
    await (scripts.shift() ?? refusal(500, 'NOTHING_SCRIPTED'))(response, read)
  })
  server.on('connection', (socket) => {
    openConnections += 1
    socket.once('close', () => {
      openConnections -= 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    /** Clears the recorded requests and sets the next scripts. */
    play(...next: Script[]): void {
      requests.length = 0
      scripts.splice(0, scripts.length, ...next)
    },
    openConnections: () => openConnections,
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

export const scriptedSecretKey = 'test_sk_never_to_be_seen'

export type LoggedLine = { fields: Record<string, unknown>; message: string }

/** The port under test, as the service builds it, with a log that records its lines. */
export function openPort(
  apiUrl: string,
  settings: Partial<TossClientSettings> = {},
): { gateway: Gateway; logged: LoggedLine[] } {
  const logged: LoggedLine[] = []
  const limits = {
    connectTimeoutMs: 5_000,
    callTimeoutMs: 5_000,
    lookupTimeoutMs: 5_000,
    listTimeoutMs: 5_000,
    maxConnections: 8,
  }
  const client = createTossClient({ apiUrl, secretKey: scriptedSecretKey, ...limits, ...settings })
  const log = { error: (fields: object, message: string) => logged.push({ fields: { ...fields }, message }) }
  return { gateway: createTossGateway(client, log), logged }
}

export const intent = {
  orderId: 'ord_of_the_intent',
  paymentKey: 'pay_never_to_be_logged',
  amount: 20_000,
  idempotencyKey: 'operation-1',
  reason: 'changed my mind',
}

/** A Payment of Toss for the intent, with members that we do not know. */
export function paymentObject(members: Record<string, unknown> = {}): Record<string, unknown> {
  const { orderId, paymentKey, amount } = intent
  return {
    version: '2022-11-16',
    paymentKey,
    orderId,
    orderName: '21 credits',
    status: 'DONE',
    currency: 'KRW',
    totalAmount: amount,
    balanceAmount: amount,
    lastTransactionKey: 'transaction-1',
    cancels: null,
    card: null,
    addedWithoutNotice: { by: 'the gateway' },
    ...members,
  }
}

export const cancelled = {
  status: 'CANCELED',
  balanceAmount: 0,
  cancels: [{ transactionKey: 'transaction-2', cancelAmount: 20_000, cancelStatus: 'DONE' }],
}
export const partlyCancelled = {
  status: 'PARTIAL_CANCELED',
  balanceAmount: 5_000,
  cancels: [{ transactionKey: 'transaction-2', cancelAmount: 15_000, cancelStatus: 'DONE' }],
}
export const cancelledInParts = {
  status: 'PARTIAL_CANCELED',
  balanceAmount: 0,
  cancels: [...partlyCancelled.cancels, { transactionKey: 'transaction-3', cancelAmount: 5_000, cancelStatus: 'DONE' }],
}
