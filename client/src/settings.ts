// The settings of a client, checked when it is created, so that a mistake does not show only at the first payment. No
// message contains a key.

/** `fetch`, or a replacement: a proxy's agent, a test. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type ClientOptions = {
  /** The URL of the API, or of your own proxy for it. May have a path; in a browser it may be only a path. */
  baseUrl: string
  /** Sent with every request. */
  headers?: Record<string, string> | undefined
  /** For one attempt, its answer read to the end. 10 seconds. */
  timeoutMs?: number | undefined
  /** The same for confirm and cancel, which wait for the payment gateway. 45 seconds. */
  settleTimeoutMs?: number | undefined
  /** For a whole call: all attempts and the pauses between them. 60 seconds. */
  deadlineMs?: number | undefined
  /** The first one included. 4. */
  maxAttempts?: number | undefined
  /** The pause before the second attempt is at most this, and doubles at most. 250 milliseconds. */
  firstPauseMs?: number | undefined
  /** 5 seconds. Retry-After of the service is obeyed in any case. */
  longestPauseMs?: number | undefined
  fetch?: Fetch | undefined
}

/** For one call. */
export type CallOptions = {
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
  deadlineMs?: number | undefined
  maxAttempts?: number | undefined
}

export type Limits = {
  timeoutMs: number
  settleTimeoutMs: number
  deadlineMs: number
  maxAttempts: number
  firstPauseMs: number
  longestPauseMs: number
}

export type Settings = { baseUrl: string; headers: Record<string, string>; limits: Limits; fetch: Fetch }

/**
 * The service gives the gateway 30 seconds, and 5 to look a payment up. A client that hangs up earlier on a confirm has
 * to retry for an answer that was about to come.
 */
const defaults: Limits = {
  timeoutMs: 10_000,
  settleTimeoutMs: 45_000,
  deadlineMs: 60_000,
  maxAttempts: 4,
  firstPauseMs: 250,
  longestPauseMs: 5_000,
}

/** The longest that a timer can wait. */
const longestMs = 2 ** 31 - 1
const visibleAscii = /^[\x21-\x7e]+$/

export function settingsOf(
  options: ClientOptions,
  secret: { name: string; header: string; value: string } | null,
): Settings {
  const headers = headersOf(options.headers ?? {})
  if (secret) {
    requireSafePlace(secret.name)
    headers[secret.header] = secret.value
  }
  return {
    baseUrl: baseUrlOf(options.baseUrl),
    headers,
    limits: limitsOf(defaults, options),
    // Looked up at each call, so that a later replacement of the global one, for tracing or in a test, takes effect.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
  }
}

/** A key or a token as the value of a header. */
export function requireSecret(name: string, value: string | undefined): string {
  if (value === undefined) throw new TypeError(`${name}: is given, and undefined.`)
  if (typeof value === 'string' && visibleAscii.test(value)) return value
  throw new TypeError(`${name}: expected visible ASCII characters without blanks.`)
}

/** Limits of a call over those of its client. */
export function limitsOf(base: Limits, changes: Partial<Record<keyof Limits, number | undefined>>): Limits {
  const limits = { ...base }
  for (const name of Object.keys(base) as (keyof Limits)[]) {
    const value = changes[name]
    if (value === undefined) continue
    const least = name === 'firstPauseMs' || name === 'longestPauseMs' ? 0 : 1
    if (!(Number.isInteger(value) && value >= least && value <= longestMs)) {
      throw new RangeError(`${name}: expected a whole number from ${least} to ${longestMs}, got ${value}.`)
    }
    limits[name] = value
  }
  return limits
}

/** Without a trailing slash. Resolved against the page of a browser here, once. */
function baseUrlOf(text: string): string {
  const page = (globalThis as { location?: { href?: string } }).location?.href
  const url = URL.canParse(text, page) ? new URL(text, page) : undefined
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === ''
  if (!isPlain)
    throw new TypeError('baseUrl: expected http:// or https://, a host and perhaps a path, and nothing else.')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function headersOf(given: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(given)) {
    try {
      new Headers([[name, value]])
    } catch {
      throw new TypeError(`headers: ${JSON.stringify(name)} or its value cannot be sent.`)
    }
    headers[name.toLowerCase()] = value
  }
  return headers
}

type Place = { document?: unknown; WorkerGlobalScope?: unknown; process?: { versions?: { node?: string } } }

/** Every visitor can read everything in a page, its workers included: a key would be public there. */
function requireSafePlace(name: string): void {
  const { document, WorkerGlobalScope, process } = globalThis as Place
  if ((document === undefined && WorkerGlobalScope === undefined) || process?.versions?.node) return
  throw new TypeError(`${name} does not belong in a browser: give the baseUrl of a proxy that adds it.`)
}
