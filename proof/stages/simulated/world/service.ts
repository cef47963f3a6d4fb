// A service of the simulation: `startService` of the product in a simulated process, which can be killed, paused and started
// again like a real one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit } from '../../../../harness/launch.ts'
import { readConfig } from '../../../../src/config.ts'
import { createLog } from '../../../../src/log.ts'
import { type Service as RunningService, startService } from '../../../../src/service.ts'
import type { ServiceName } from '../../../model/history.ts'
import { addressesOf, type Service } from '../../../world/service.ts'
import type { Simulation } from '../core/simulation.ts'

export type SimulatedServiceSettings = {
  name: ServiceName
  port: number
  internalPort: number
  webhookPort: number
  webhookToken: string
  environment: Record<string, string>
}

const pauseBetweenStartsMs = 300
const startLimitMs = 90_000

export function createSimulatedService(simulation: Simulation, settings: SimulatedServiceSettings): Service {
  const { name, port, internalPort, webhookPort } = settings
  const process = simulation.process(name)
  const environment = {
    ...settings.environment,
    PORT: `${port}`,
    INTERNAL_PORT: `${internalPort}`,
    WEBHOOK_PORT: `${webhookPort}`,
  }
  const log: string[] = []
  const counts = { starts: 0, refusedStarts: 0, shiftedStarts: 0 }
  const killsMs: number[] = []
  let now = { clockShiftMs: 0, readyMs: 0 }
  let running: RunningService | undefined

  function kill(): void {
    killsMs.push(performance.now())
    running = undefined
    process.kill()
  }

  async function start(clockShiftMs = 0): Promise<void> {
    const limit = performance.now() + startLimitMs
    if (clockShiftMs !== 0) counts.shiftedStarts += 1
    for (;;) {
      counts.starts += 1
      process.skewMs = clockShiftMs
      const write = (line: string) => void log.push(line)
      try {
        running = await process.run(() => {
          const config = readConfig(environment)
          return startService(config, createLog(config.logLevel, { write }))
        }, 'starts')
        now = { clockShiftMs, readyMs: performance.now() }
        return
      } catch (error) {
        // The database may be away: the process ends, and is started again.
        counts.refusedStarts += 1
        process.kill()
        if (performance.now() > limit) throw error
        await sleep(pauseBetweenStartsMs)
      }
    }
  }

  /** What SIGTERM does: null when it does not end in time. */
  async function stop(limitMs: number): Promise<Exit | null> {
    const stopping = running
    if (!stopping) return { code: null, signal: null }
    const closed = process.run(() => stopping.close(), 'SIGTERM')
    const ended = closed.then(
      () => 0,
      () => 1,
    )
    const code = await Promise.race([ended, sleep(limitMs, null)])
    return code === null ? null : { code, signal: null }
  }

  return {
    name,
    counts,
    endedByItself: [],
    killsMs,
    now: () => now,
    readLog: () => log.join(''),
    ...addressesOf(settings),
    busy: false,
    start,
    async end(signal, limitMs) {
      const ended: Exit | null = signal === 'SIGTERM' ? await stop(limitMs) : { code: null, signal }
      if (signal === 'SIGTERM' && ended !== null) process.kill()
      else kill()
      running = undefined
      return ended
    },
    signal(signal) {
      if (signal === 'SIGSTOP') process.pause()
      if (signal === 'SIGCONT') process.resume()
      return true
    },
    async close() {
      kill()
    },
  }
}
