// A scripted faulty server: one line of the script for each request, in order, and a success after its end. It records
// the requests, so that a test can count and compare attempts.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { catalogue, type ErrorCode } from '../../src/core/errors.ts'

export type Received = { line: string; headers: IncomingMessage['headers']; body: string; at: number }
export type Line = (response: ServerResponse, request: IncomingMessage) => unknown

const json = { 'content-type': 'application/json; charset=utf-8' }

export function success(data: unknown, status = 200): Line {
  return raw(status, json, JSON.stringify({ success: true, data, message: null, code: 'SUCCESS', metadata: null }))
}

export function refusal(code: ErrorCode, headers: Record<string, string> = {}, metadata: object | null = null): Line {
  const body = { success: false, data: null, message: 'refused', code, metadata }
  return raw(catalogue[code].status, { ...json, ...headers }, JSON.stringify(body))
}

export function raw(status: number, headers: Record<string, string>, body: string): Line {
  return (response) => response.writeHead(status, headers).end(body)
}

/** The connection closes before the first byte of the answer. */
export const reset: Line = (response) => response.destroy()
/** The connection closes in the middle of the answer. */
export const cut: Line = (response) => {
  response.writeHead(200, { ...json, 'content-length': '500' })
  response.write('{"success":true,"da', () => response.destroy())
}
export const silence: Line = () => undefined
/** An answer that never ends. */
export const endless: Line = (response) => {
  response.writeHead(200, json)
  response.write('{')
}

export async function startScriptedServer() {
  const received: Received[] = []
  let script: Line[] = []
  let otherwise: Line = success({})
  const server = createServer(async (request, response) => {
    const index = received.length
    const entry = {
      line: `${request.method} ${request.url}`,
      headers: request.headers,
      body: '',
      at: performance.now(),
    }
    received.push(entry)
    entry.body = await text(request)
    await (script[index] ?? otherwise)(response, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Replaces the script and forgets the received requests. */
    play(lines: Line[], last: Line = success({})): void {
      received.length = 0
      script = lines
      otherwise = last
    },
    close(): Promise<unknown> {
      server.closeAllConnections()
      server.close()
      return once(server, 'close')
    },
  }
}
