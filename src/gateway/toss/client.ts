// One HTTP exchange with Toss Payments: the answer, or why there is none. Never throws. Connections are kept alive;
// connecting and the whole exchange have separate limits, answers are limited in size, redirects are not followed. The
// secret key goes into one header and nowhere else.
import { Agent, type Dispatcher } from 'undici'

export type TossClientSettings = {
  apiUrl: string
  secretKey: string
  connectTimeoutMs: number
  /** For confirm and cancel: card issuers are slow. */
  callTimeoutMs: number
  lookupTimeoutMs: number
  /** For lists of transactions, which may take a minute. */
  listTimeoutMs: number
  maxConnections: number
}

/** `body` is parsed JSON of any shape, or undefined when it is not JSON; `cause` is a code for the log. */
export type Exchange = { kind: 'answer'; status: number; body: unknown } | { kind: 'none'; cause: string }

/** Segments of the path behind /v1/payments, and the query of /v1/transactions; encoded here. */
export type TossClient = {
  post(segments: string[], body: object, idempotencyKey: string): Promise<Exchange>
  get(segments: string[]): Promise<Exchange>
  transactions(query: Record<string, string>): Promise<Exchange>
  close(): Promise<void>
}

/** A Payment is about 2 KB, a page of a thousand transactions about 500; more than this is neither. */
const maxAnswerBytes = 1024 * 1024

export function createTossClient(settings: TossClientSettings): TossClient {
  const agent = new Agent({
    connections: settings.maxConnections,
    // Set here, so that no flag and no default of the machine allows an older version.
    connect: { timeout: settings.connectTimeoutMs, minVersion: 'TLSv1.2' },
    keepAliveTimeout: 30_000,
    pipelining: 1,
  })
  const authorization = `Basic ${Buffer.from(`${settings.secretKey}:`).toString('base64')}`

  type Request = { method: 'GET' | 'POST'; address: () => string; headers?: object; body?: string; totalMs: number }

  // Uses undici's events: the streams and signals on top of them cost as much again as the exchange itself.
  function exchange({ method, address, headers, body, totalMs }: Request): Promise<Exchange> {
    const { promise, resolve } = Promise.withResolvers<Exchange>()
    const answer = { status: 0, chunks: [] as Buffer[], size: 0 }
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false

    function end(result: Exchange): void {
      isOver = true
      clearTimeout(limit)
      resolve(result)
    }
    function giveUp(cause: string): void {
      end({ kind: 'none', cause })
      controller?.abort(new Error(cause))
    }
    const limit = setTimeout(() => giveUp('TimeoutError'), totalMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        if (isOver) controller.abort(new Error('given up before it was sent'))
      },
      onResponseStart(_controller, status) {
        answer.status = status
      },
      onResponseData(_controller, chunk) {
        answer.size += chunk.length
        if (answer.size > maxAnswerBytes) giveUp('ANSWER_TOO_LARGE')
        else answer.chunks.push(chunk)
      },
      onResponseEnd() {
        const text = Buffer.concat(answer.chunks).toString('utf8')
        end({ kind: 'answer', status: answer.status, body: parseOrUndefined(text) })
      },
      onResponseError(_controller, error) {
        if (!isOver) end({ kind: 'none', cause: describeCause(error) })
      },
    }
    try {
      const { origin, pathname, search } = new URL(`${settings.apiUrl}${address()}`)
      const all = { authorization, ...headers }
      agent.dispatch({ origin, path: `${pathname}${search}`, method, headers: all, body: body ?? null }, handler)
    } catch (error) {
      end({ kind: 'none', cause: describeCause(error) })
    }
    return promise
  }

  return {
    post: (segments, body, idempotencyKey) =>
      exchange({
        method: 'POST',
        address: () => pathOf(segments),
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(body),
        totalMs: settings.callTimeoutMs,
      }),
    get: (segments) => exchange({ method: 'GET', address: () => pathOf(segments), totalMs: settings.lookupTimeoutMs }),
    transactions: (query) =>
      exchange({
        method: 'GET',
        address: () => `/v1/transactions?${new URLSearchParams(query)}`,
        totalMs: settings.listTimeoutMs,
      }),
    close: () => agent.destroy(),
  }
}

function describeCause(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: string }
  return typeof code === 'string' && code !== '' ? code : (name ?? 'Error')
}

/** A segment of dots would be folded away by the URL parser, encoded or not, and lead to another address. */
function pathOf(segments: string[]): string {
  if (segments.some((segment) => /^\.{0,2}$/.test(segment))) {
    throw Object.assign(new Error('not a segment of a path'), { code: 'UNSENDABLE_KEY' })
  }
  return `/v1/payments/${segments.map(encodeURIComponent).join('/')}`
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
