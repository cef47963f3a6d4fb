// `npm run docs`: only the reference page of the API, without a database, on a free port or on DOCS_PORT.
import { readDocsConfig } from '../config.ts'
import { refuse } from '../core/errors.ts'
import { buildListener } from '../http/listener.ts'
import { createLog } from '../log.ts'
import { referenceRoutes } from '../openapi/page.ts'
import { listen } from './listen.ts'

async function main(): Promise<void> {
  const { host, port, hostnames } = readDocsConfig()
  const { app } = buildListener({
    admit: (request) => (request.is404 ? refuse('NOT000') : undefined),
    admitConnect: async () => refuse('NOT000'),
    log: createLog('warn'),
    bodyLimitBytes: 1_024,
    hostnames,
  })
  referenceRoutes(app)
  process.on('SIGTERM', () => app.close())
  process.on('SIGINT', () => app.close())
  process.stdout.write(`The API reference: ${await listen(app, 'DOCS_PORT', host, port)}/docs\n`)
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
