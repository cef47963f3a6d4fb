// `/metrics` for Prometheus, without authentication.
import type { FastifyInstance } from 'fastify'
import type { Documented } from '../http/documented.ts'
import type { Metrics } from '../telemetry/metrics.ts'

const documented: Documented = {
  operationId: 'getMetrics',
  tag: 'Operation',
  summary: 'Metrics',
  description: 'The numbers of this process in the text format of Prometheus.',
  answers: {
    200: '# HELP credits_build_info Always 1; the version is its label.\n# TYPE credits_build_info gauge\ncredits_build_info{version="1.0.0"} 1\n',
  },
  refusals: [],
}

export function metricsRoute(app: FastifyInstance, metrics: Metrics): void {
  app.get('/metrics', { config: { open: true, documented } }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  )
}
