// Ends a listener of this process. Whoever is connected may be about to ask again, and a stop waits for that; here the callers
// are through.
import type { FastifyInstance } from 'fastify'

export function closeNow(listener: Pick<FastifyInstance, 'server' | 'close'>): Promise<void> {
  listener.server.closeIdleConnections()
  return listener.close()
}
