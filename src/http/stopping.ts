// A graceful stop: requests under way are answered and take their connection with them. Connections that are idle at the
// moment are closed by the framework; one that is kept alive after its answer would hold the stop up to its limit.
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export type Stopping = {
  /** Is to be told of every request: a hook before each answer would do the same at ten times the cost. */
  note(request: FastifyRequest, reply: FastifyReply): void
  hasBegun(): boolean
}

export function closeConnectionsWhenStopping(app: FastifyInstance): Stopping {
  const latest = new Map<Socket, FastifyReply>()
  let hasBegun = false
  app.addHook('preClose', async () => {
    hasBegun = true
    for (const reply of latest.values()) if (!reply.sent) reply.header('connection', 'close')
  })
  return {
    note({ raw: { socket } }, reply) {
      if (!latest.has(socket)) socket.once('close', () => latest.delete(socket))
      latest.set(socket, reply)
    },
    hasBegun: () => hasBegun,
  }
}
