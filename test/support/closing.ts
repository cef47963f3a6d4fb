// How tests close what they opened: all of it, whatever fails meanwhile. What stays open keeps the test process, and a run
// that has failed would not end.
import type { FastifyInstance } from 'fastify'

/** One after the other, each whatever becomes of those before it; undefined is what a failed start never opened. */
export async function closeAll(...parts: ({ close(): unknown } | undefined)[]): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const part of parts.toReversed()) stack.defer(async () => void (await part?.close()))
}

/**
 * A listener of this process. Whoever is connected may be about to ask again, and a stop waits for that; here the callers
 * are through.
 */
export function closeNow(listener: Pick<FastifyInstance, 'server' | 'close'>): Promise<void> {
  listener.server.closeIdleConnections()
  return listener.close()
}
