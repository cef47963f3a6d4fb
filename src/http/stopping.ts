// A graceful stop: requests under way are answered and take their connection with them. Connections that are idle at the
// moment are closed by the framework; one that is kept alive after its answer would hold the stop up to its limit.
import type { FastifyInstance } from 'fastify'

export function closeConnectionsWhenStopping(app: FastifyInstance): void {
  let stopping = false
  app.addHook('preClose', async () => {
    stopping = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (stopping) reply.header('connection', 'close')
  })
}
