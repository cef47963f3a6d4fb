// One HTTP exchange with Toss Payments: what was answered, or why there is no answer. Never throws. Connections are kept;
// connecting and the whole exchange have separate limits, answers are limited in size, redirects are not followed. The
// secret key goes into one header and nowhere else.
import { Agent, request } from 'undici'

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

/** `body` is parsed JSON, whatever its shape, or undefined when it is none; `cause` is a word for the log. */
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
    connect: { timeout: settings.connectTimeoutMs },
    keepAliveTimeout: 30_000,
    pipelining: 1,
  })
  const authorization = `Basic ${Buffer.from(`${settings.secretKey}:`).toString('base64')}`

  async function exchange(
    method: 'GET' | 'POST',
    address: () => string,
    totalMs: number,
    rest: object,
  ): Promise<Exchange> {
    try {
      const { statusCode, body } = await request(`${settings.apiUrl}${address()}`, {
        dispatcher: agent,
        method,
        signal: AbortSignal.timeout(totalMs),
        ...rest,
      })
      return { kind: 'answer', status: statusCode, body: parseOrUndefined(await readLimited(body)) }
    } catch (error) {
      const { code, name } = error as { code?: string; name?: string }
      return { kind: 'none', cause: code && typeof code === 'string' ? code : (name ?? 'Error') }
    }
  }

  return {
    post: (segments, body, idempotencyKey) =>
      exchange('POST', () => pathOf(segments), settings.callTimeoutMs, {
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(body),
      }),
    get: (segments) =>
      exchange('GET', () => pathOf(segments), settings.lookupTimeoutMs, { headers: { authorization } }),
    transactions: (query) =>
      exchange('GET', () => `/v1/transactions?${new URLSearchParams(query)}`, settings.listTimeoutMs, {
        headers: { authorization },
      }),
    close: () => agent.destroy(),
  }
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

async function readLimited(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxAnswerBytes) throw Object.assign(new Error('answer too large'), { code: 'ANSWER_TOO_LARGE' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
