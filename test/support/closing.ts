// Closes everything that a test opened, even if some of it fails. An open handle keeps the test process alive, and a failed
// run would not end.
import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'

/** One after the other, each even if one before it fails; undefined: never opened, because the start failed. */
export async function closeAll(...parts: ({ close(): unknown } | undefined)[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const part of parts.toReversed()) stack.defer(async () => void (await part?.close()))
}

/** Longer than any request of a test takes. */
const underWayMs = 10_000

/**
 * Closes a listener of this process. A normal stop waits for further requests on open connections; here the callers are done.
 * A request that a failed test left waiting would keep the listener open forever: it is cut off, which is a failure too.
 */
export async function closeNow(listener: Pick<FastifyInstance, 'server' | 'close'>): Promise<void> {
  const { server } = listener
  server.closeIdleConnections()
  let cutOff = false
  const limit = setTimeout(() => {
    cutOff = true
    server.closeAllConnections()
  }, underWayMs)
  try {
    await listener.close()
  } finally {
    clearTimeout(limit)
  }
  assert.equal(cutOff, false, `a request was under way ${underWayMs} ms after the last test`)
}
