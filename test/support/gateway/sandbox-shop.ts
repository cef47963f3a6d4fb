// One sandbox for each test file, and the calls of a shop on it: over real HTTP, on a free port, in a directory that is
// removed afterwards. Every test makes its own payments, so that one server serves a whole file.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../../sandbox/server.ts'
import { closeAll } from '../closing.ts'

export type Json = Record<string, unknown>
export type Reply = { status: number; text: string; body: Json; headers: Headers; traceId: string }

export const secretKey = 'test_sk_sandboxtests'
export const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`

export type Start = Partial<SandboxOptions> & { name?: string }

/** Called at the top of a test file, so that everything it started is stopped after its last test. */
export function openSandboxes() {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-test-'))
  /** Stops the running sandboxes before their directory is removed. */
  const running = new Set<RunningSandbox>()
  after(() => closeAll(...running, { close: () => rmSync(directory, { recursive: true, force: true }) }))

  async function start({ name = 'shared', ...options }: Start = {}): Promise<RunningSandbox> {
    const dataDir = join(directory, name)
    const keys = { clientKey: 'test_ck_sandboxtests', secretKey }
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, ...keys, dataDir, strict: true, ...options })
    running.add(sandbox)
    return {
      ...sandbox,
      close() {
        running.delete(sandbox)
        return sandbox.close()
      },
    }
  }
  return { directory, start }
}

export async function call(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: basic(`${secretKey}:`),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const traceId = response.headers.get('x-tosspayments-trace-id') ?? ''
  return { status: response.status, text, body: JSON.parse(text), headers: response.headers, traceId }
}

export function assertRefused(reply: Reply, status: number, code: string): void {
  assert.deepEqual({ status: reply.status, code: reply.body.code }, { status, code })
  assert.deepEqual(Object.keys(reply.body), ['code', 'message'])
}

let orders = 0
export const newOrderId = () => `order-${process.pid}-${++orders}`

export type Shop = ReturnType<typeof shop>

/** The calls of a shop on one sandbox, and those on its control endpoints. */
export function shop(url: string) {
  const withKey = (key?: string) => (key === undefined ? {} : { 'idempotency-key': key })
  const calls = {
    /** `more`: how it is paid. */
    async checkout(amount = 15000, result = 'approve', orderId = newOrderId(), more: Json = {}) {
      const reply = await call(`${url}/sandbox/payments`, 'POST', { orderId, amount, result, ...more })
      assert.equal(reply.status, 201)
      return { paymentKey: String(reply.body.paymentKey), orderId, amount }
    },
    confirm: (body: unknown, key?: string) => call(`${url}/v1/payments/confirm`, 'POST', body, withKey(key)),
    cancel: (paymentKey: string, body: unknown, key?: string) =>
      call(`${url}/v1/payments/${paymentKey}/cancel`, 'POST', body, withKey(key)),
    lookup: (paymentKey: string) => call(`${url}/v1/payments/${paymentKey}`, 'GET'),
    lookupOrder: (orderId: string) => call(`${url}/v1/payments/orders/${orderId}`, 'GET'),
    async paid(amount = 15000, more: Json = {}) {
      const checkout = await calls.checkout(amount, 'approve', undefined, more)
      assert.equal((await calls.confirm(checkout)).status, 200)
      return checkout
    },
    statusOf: async (paymentKey: string) => (await calls.lookup(paymentKey)).body.status,
    faults: (...list: Json[]) => call(`${url}/sandbox/faults`, 'PUT', list),
    behaviour: (values: Json) => call(`${url}/sandbox/behaviour`, 'PUT', values),
    advance: (advanceMs: number) => call(`${url}/sandbox/clock`, 'POST', { advanceMs }),
    now: async () => Date.parse(String((await call(`${url}/sandbox/clock`, 'GET')).body.now)),
  }
  return calls
}
