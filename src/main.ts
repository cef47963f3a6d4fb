// `npm start`: reads the settings, starts the service, says where it is, and stops it cleanly when told to. Whatever is
// wrong at the start is one line for people and exit code 1.

import { type Config, ConfigFaults, readConfig } from './config.ts'
import { banner } from './dev/banner.ts'
import { createLog } from './log.ts'
import { startService } from './service.ts'

function fail(error: unknown): never {
  const lines = error instanceof ConfigFaults ? error.faults : [(error as Error).message]
  for (const line of lines) process.stderr.write(`${line}\n`)
  process.exit(1)
}

async function main(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const starting = startService(config, log)
  let stopping = false

  /** Finishes what is under way; past the limit it goes anyway: what was under way is in the database, and settled by the next try. */
  async function stop(exitCode: number): Promise<void> {
    if (stopping) return
    stopping = true
    const limit = setTimeout(() => {
      log.error({ limitMs: config.shutdownTimeoutMs }, 'stopped before everything under way was finished')
      process.exit(1)
    }, config.shutdownTimeoutMs)
    const clean = await starting.then((service) => service.close()).then(() => true, notClean)
    clearTimeout(limit)
    process.exit(clean ? exitCode : 1)
  }
  function notClean(error: unknown): false {
    log.error({ err: error }, 'the stop was not clean')
    return false
  }
  process.on('SIGTERM', () => stop(0))
  process.on('SIGINT', () => stop(0))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'a bug outside of any request: stopping')
    stop(1)
  })

  const service = await starting
  if (stopping) return
  if (config.production)
    log.info(
      { ...service, webhookUrl: new URL(service.webhookUrl).origin, close: undefined, demoKey: undefined },
      'ready',
    )
  else process.stdout.write(banner(service, process.pid))
}

try {
  await main(readConfig())
} catch (error) {
  fail(error)
}
