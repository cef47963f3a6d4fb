// How tests close what they opened: all of it, whatever fails meanwhile. What stays open keeps the test process, and a run
// that has failed would not end.
import assert from 'node:assert/strict'
import type { FastifyInstance } from 'fastify'

/** One after the other, each whatever becomes of those before it; undefined is what a failed start never opened. */
export async function closeAll(...parts: ({ close(): unknown } | undefined)[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const part of parts.toReversed()) stack.defer(async () => void (await part?.close()))
}

/** Longer than any request of a test takes to its end. */
const underWayMs = 10_000

/**
 * A listener of this process. Whoever is connected may be about to ask again, and a stop waits for that; here the callers
 * are through. A request that a failed test left waiting would keep the listener open for ever: it is cut off, and that is
 * a failure of its own.
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
