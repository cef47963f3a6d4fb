// One attempt: a request, and its result as a value. It ends by itself, by its time-out or by the caller's signal,
// whichever comes first, even if `fetch` ignores signals; then the connection is aborted.
import { type Answer, readAnswer } from './answer.ts'
import type { Failure } from './errors.ts'
import type { Fetch } from './settings.ts'

const noAnswer = { status: null, metadata: null, retryAfterMs: null, refusalReason: null }

export type Request = { url: string; method: 'GET' | 'POST'; headers: Record<string, string>; body: string | null }

export async function attempt(
  fetch: Fetch,
  request: Request,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const controller = new AbortController()
  const { promise: ended, resolve: end } = withResolver<Failure>()
  const abort = () => end(abortedBy(signal))
  const timer = setTimeout(() => end(timedOut(timeoutMs)), timeoutMs)
  signal?.addEventListener('abort', abort)
  try {
    return await Promise.race([exchange(fetch, request, controller.signal), ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    controller.abort()
  }
}

/** Never rejects: after a time-out its result is ignored. */
async function exchange(fetch: Fetch, { url, ...request }: Request, signal: AbortSignal): Promise<Answer> {
  try {
    // A redirect is not followed: the key would be sent along. And a balance is never taken from a cache, which some
    // frameworks put in front of `fetch`.
    const response = await fetch(url, { ...request, redirect: 'manual', cache: 'no-store', signal })
    return readAnswer(response, await response.text())
  } catch (cause) {
    const message = 'The connection failed, or was lost before the answer was whole.'
    return { code: 'CONNECTION_LOST', message, ...noAnswer, cause }
  }
}

export function abortedBy(signal: AbortSignal | undefined): Failure {
  const message = 'The caller aborted the call.'
  return { code: 'ABORTED', message, ...noAnswer, cause: signal?.reason }
}

export function timedOut(timeoutMs: number): Failure {
  const message = `No answer within ${Math.round(timeoutMs)} ms.`
  return { code: 'TIMED_OUT', message, ...noAnswer }
}

function withResolver<Value>() {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((given) => {
    resolve = given
  })
  return { promise, resolve }
}
