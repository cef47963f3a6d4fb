// `npm start`: reads the settings, starts the service, reports where it listens, and stops it cleanly on a signal. A start
// that fails prints one line and exits with code 1.

import type { Logger } from 'pino'
import { type Config, ConfigFaults, readConfig } from './config.ts'
import { createLog } from './log.ts'
import { type Service, startService } from './service.ts'

function fail(error: unknown): never {
  const lines = error instanceof ConfigFaults ? error.faults : [(error as Error).message]
  for (const line of lines) process.stderr.write(`${line}\n`)
  process.exit(1)
}

/** Development adds its surroundings, which production with the real gateway does not load. */
async function start(config: Config, log: Logger): Promise<Service> {
  if (config.production && config.gateway.kind === 'toss') return startService(config, log)
  const { startDevelopment } = await import('./dev/start.ts')
  return startDevelopment(config, log)
}

async function main(config: Config): Promise<void> {
  const log = createLog(config.logLevel)
  const starting = start(config, log)
  let stopping = false

  /** Finishes what is under way. Past the limit it exits anyway: open operations are in the database, and the worker of the next process resumes them. */
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
  else process.stdout.write((await import('./dev/banner.ts')).banner(service, config, process.pid))
}

try {
  await main(readConfig())
} catch (error) {
  fail(error)
}
