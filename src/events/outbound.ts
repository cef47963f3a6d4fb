// Requests to URLs that were configured by others. They never reach a private, loopback or link-local address, however a name
// resolves now or later: the address is checked when the connection is made, and the connection goes to the checked address.
// Redirects are not followed, and at most 4 KB of an answer are read.
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { isPublicAddress } from './public-addresses.ts'

export type Answered = { status: number; retryAfter: string | undefined }
export type AnsweredText = { status: number; text: string }

export type OutboundRequest = { headers: Record<string, string>; body: string }

export type Outbound = {
  /** Why nothing may be posted to this URL; undefined: it may. */
  faultOf(url: string): string | undefined
  /** The status, or the error if there was no answer. */
  post(url: string, headers: Record<string, string>, body: string): Promise<Answered | { error: string }>
  /** With what was answered, for answers that are read: at most 4 KB. */
  exchange(url: string, request: OutboundRequest, giveUp: AbortSignal): Promise<AnsweredText | { error: string }>
  close(): Promise<void>
}

export type OutboundOptions = {
  /** For development: http, any port, any address. */
  allowPrivate: boolean
  timeoutMs: number
  /** Default: the system's. */
  resolve?: Resolve
}

const connectTimeoutMs = 5_000
/** So much of an answer is read to reuse the connection; after a longer one it is closed. */
const answerLimitBytes = 4_096

export function createOutbound({ allowPrivate, timeoutMs, resolve = lookup }: OutboundOptions): Outbound {
  const plain = { allowH2: false }
  const connect = buildConnector({
    ...plain,
    timeout: Math.min(timeoutMs, connectTimeoutMs),
    minVersion: 'TLSv1.2',
    ...(allowPrivate ? {} : { lookup: lookupPublic(oneAtATime(resolve)) }),
  })
  const agent = new Agent({
    ...plain,
    connect(options, callback) {
      // A literal address is not resolved.
      const literal = withoutBrackets(options.hostname)
      const isRefused = !allowPrivate && isIP(literal) !== 0 && !isPublicAddress(literal)
      if (isRefused) callback(notPublic(literal), null)
      else connect(options, callback)
    },
  })
  const faultOf = (url: string) => (allowPrivate ? undefined : publicUrlFault(url))

  async function send<Result>(
    url: string,
    { headers, body }: OutboundRequest,
    read: (answer: Dispatcher.ResponseData) => Result | Promise<Result>,
    giveUp: AbortSignal[] = [],
  ): Promise<Result | { error: string }> {
    const fault = faultOf(url)
    if (fault) return { error: fault }
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...giveUp])
      return await read(await request(url, { dispatcher: agent, method: 'POST' as const, headers, body, signal }))
    } catch (error) {
      return { error: explain(error) }
    }
  }

  return {
    faultOf,
    post: (url, headers, body) =>
      send(url, { headers, body }, (answer) => {
        answer.body.dump({ limit: answerLimitBytes }).catch(() => undefined)
        const retryAfter = answer.headers['retry-after']
        return { status: answer.statusCode, retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter }
      }),
    exchange: (url, request, giveUp) =>
      send(url, request, async (answer) => ({ status: answer.statusCode, text: await readText(answer.body) }), [
        giveUp,
      ]),
    close: () => agent.destroy(),
  }
}

/** Leaving the loop closes the connection. */
async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  let read = Buffer.alloc(0)
  for await (const chunk of body) {
    read = Buffer.concat([read, chunk])
    if (read.length > answerLimitBytes) throw Object.assign(new Error(), { code: 'ANSWER_TOO_LONG' })
  }
  return read.toString('utf8')
}

const withoutBrackets = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

/** What can be checked before the name is resolved. Ports below 1024 belong to other services. */
function publicUrlFault(url: string): string | undefined {
  const { protocol, port, hostname, username, password } = new URL(url)
  if (protocol !== 'https:') return 'the URL does not begin with https://'
  if (username || password) return 'the URL has a user or a password'
  if (port !== '' && Number(port) < 1_024) return `port ${port} is neither 443 nor at least 1024`
  const literal = withoutBrackets(hostname)
  return isIP(literal) !== 0 && !isPublicAddress(literal) ? notPublic(literal).message : undefined
}

const notPublicCode = 'NOT_A_PUBLIC_ADDRESS'

function notPublic(address: string): Error {
  return Object.assign(new Error(`${address} is not a public address`), { code: notPublicCode })
}

/** Our own reason as text, else the code of the system or of undici; a time-out has a numeric code, so its name is used. */
function explain(error: unknown): string {
  const { code, message, name } = error as { code?: unknown; message: string; name: string }
  if (code === notPublicCode) return message
  return typeof code === 'string' ? code : name
}

type Resolved = (error: Error | null, addresses: LookupAddress[]) => void
export type Resolve = (hostname: string, options: LookupOptions & { all: true }, callback: Resolved) => void

/** Shares one lookup of a name: lookups run on a few threads, which the gateway's name needs too. */
export function oneAtATime(resolve: Resolve): Resolve {
  const waiting = new Map<string, Resolved[]>()
  return (hostname, options, callback) => {
    const others = waiting.get(hostname)
    if (others) return void others.push(callback)
    const all = [callback]
    waiting.set(hostname, all)
    resolve(hostname, options, (error, addresses) => {
      waiting.delete(hostname)
      for (const each of all) each(error, addresses)
    })
  }
}

/** Resolves a name if all its addresses are public: one that is not makes the others suspicious. */
export function lookupPublic(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses = []) => {
      const [first] = addresses
      if (error) return callback(error, [])
      if (!first || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(notPublic(hostname), [])
      }
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
