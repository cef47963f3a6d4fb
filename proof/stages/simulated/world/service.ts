// A service of the simulation: `startService` of the product in a simulated process, which can be killed, paused and started
// again like a real one.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit } from '../../../../harness/launch.ts'
import { readConfig } from '../../../../src/config.ts'
import { createLog } from '../../../../src/log.ts'
import { startService } from '../../../../src/service.ts'
import { environmentOf, type Service, type ServiceSettings, superviseService } from '../../../world/service.ts'
import type { Simulation } from '../core/simulation.ts'

export function createSimulatedService(simulation: Simulation, settings: ServiceSettings): Service {
  const process = simulation.process(settings.name)
  const environment = environmentOf(settings)
  const log: string[] = []

  function launch(clockShiftMs: number) {
    process.skewMs = clockShiftMs
    const starting = process.run(() => {
      const config = readConfig(environment)
      return startService(config, createLog(config.logLevel, { write: (line) => void log.push(line) }))
    }, 'starts')
    /** What SIGTERM does. */
    async function stop(): Promise<Exit> {
      const service = await starting
      return process
        .run(() => service.close(), 'SIGTERM')
        .then(
          () => ({ code: 0, signal: null }),
          () => ({ code: 1, signal: null }),
        )
    }
    return {
      failure: () =>
        starting.then(
          () => null,
          (error: Error) => {
            process.kill()
            return error
          },
        ),
      isGone: () => !process.isRunning,
      signal(signal: NodeJS.Signals) {
        if (signal === 'SIGSTOP') process.pause()
        if (signal === 'SIGCONT') process.resume()
        return true
      },
      async end(signal: 'SIGKILL' | 'SIGTERM', limitMs: number): Promise<Exit | null> {
        const ended = signal === 'SIGTERM' ? await Promise.race([stop(), sleep(limitMs, null)]) : { code: null, signal }
        if (ended !== null) process.kill()
        return ended
      },
    }
  }

  return superviseService(settings, { launch, readLog: () => log.join('') })
}
