// One HTTP exchange of a client that may misbehave: it times out, or drops its connection in the middle of its request,
// before the answer, or in the middle of the answer. Never throws: an exchange ends with an answer, or with the cause
// why there is none. Not harness/raw-http.ts: valid requests over a pool of kept connections.
import { Agent, type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { type Drop, drops } from '../../faults.ts'

/** The causes of exchanges that the client ended itself. */
export const dropCauses: Record<Drop, string> = {
  'mid-request': 'DROPPED_MID_REQUEST',
  'before-answer': 'DROPPED_BEFORE_ANSWER',
  'mid-answer': 'DROPPED_MID_ANSWER',
}
export const dropNames = drops.map((kind) => `caller: connection dropped ${kind}`)

export type Exchange = {
  url: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers: Record<string, string>
  body?: string | undefined
  timeoutMs: number
  /** `afterMs` counts from the whole request being sent. */
  drop?: { kind: Drop; afterMs: number } | undefined
}

export type Answer =
  | { kind: 'answer'; status: number; contentType: string; text: string; cookies: string[] }
  | { kind: 'none'; cause: string }

export type Exchanger = ReturnType<typeof createExchanger>

/** Connections are kept, so that those of a killed process are used again. */
export function createExchanger(maxConnections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections, scheduling: 'fifo' })
  return {
    exchange: (exchange: Exchange) => run(agent, exchange),
    close: () => agent.destroy(),
  }
}

function run(agent: Agent, { url, method, headers, body, timeoutMs, drop }: Exchange): Promise<Answer> {
  return new Promise((resolve) => {
    const request = openRequest(url, { agent, method, headers: withLength(headers, body) })
    const limit = setTimeout(() => end('TIMED_OUT'), timeoutMs)
    let ended = false

    function end(cause: string): void {
      finish({ kind: 'none', cause })
      request.destroy()
    }
    function finish(answer: Answer): void {
      if (ended) return
      ended = true
      clearTimeout(limit)
      resolve(answer)
    }
    request.on('error', (error: NodeJS.ErrnoException) => finish({ kind: 'none', cause: error.code ?? error.message }))
    request.on('response', (response) => {
      if (drop?.kind === 'mid-answer') end(dropCauses['mid-answer'])
      else read(response, finish)
    })
    if (drop?.kind === 'mid-request') sendHalf(request, body ?? '', () => end(dropCauses['mid-request']))
    else request.end(body)
    if (drop?.kind === 'before-answer') {
      request.on('finish', () => setTimeout(() => end(dropCauses['before-answer']), drop.afterMs))
    }
  })
}

/** With the length, so that the server waits for the second half. */
function withLength(headers: Record<string, string>, body: string | undefined): Record<string, string> {
  return body === undefined ? headers : { ...headers, 'content-length': `${Buffer.byteLength(body)}` }
}

function sendHalf(request: ClientRequest, body: string, then: () => void): void {
  if (body === '') request.flushHeaders()
  else request.write(body.slice(0, body.length / 2))
  // Long enough for the bytes to leave.
  setTimeout(then, 5)
}

function read(response: IncomingMessage, finish: (answer: Answer) => void): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk) => chunks.push(chunk))
  response.on('error', (error: NodeJS.ErrnoException) => finish({ kind: 'none', cause: error.code ?? error.message }))
  response.on('close', () => {
    if (!response.complete) return finish({ kind: 'none', cause: 'TRUNCATED' })
    const text = Buffer.concat(chunks).toString('utf8')
    const { 'content-type': contentType = '', 'set-cookie': cookies = [] } = response.headers
    finish({ kind: 'answer', status: response.statusCode ?? 0, contentType, text, cookies })
  })
}
