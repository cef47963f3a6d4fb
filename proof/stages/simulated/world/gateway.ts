// The gateway of the simulation: the sandbox in a simulated process. Its journal is a real file, written at once, so it
// outlives a kill as the real one does.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { journalName } from '../../../../sandbox/journal.ts'
import { lockName } from '../../../../sandbox/lock.ts'
import { startSandbox } from '../../../../sandbox/server.ts'
import { createControls, type Gateway, type GatewaySettings } from '../../../world/gateway.ts'
import type { Simulation } from '../core/simulation.ts'

export const gatewayName = 'gateway'

export function createSimulatedGateway(simulation: Simulation, settings: GatewaySettings): Gateway {
  const { port, directory, secretKey, ...others } = settings
  const process = simulation.process(gatewayName)
  const url = `http://127.0.0.1:${port}`
  const options = { ...others, host: '127.0.0.1', port, hostnames: [], secretKey, dataDir: directory }
  return {
    url,
    busy: false,
    secretKey,
    journalFile: join(directory, journalName),
    ...createControls(url),
    async start() {
      // The lock of the life that was killed: its process is this one, which lives.
      const lock = join(directory, lockName)
      if (existsSync(lock)) rmSync(lock)
      await process.run(() => startSandbox(options), 'starts')
    },
    async kill() {
      process.kill()
    },
    signal(signal) {
      if (signal === 'SIGSTOP') process.pause()
      if (signal === 'SIGCONT') process.resume()
      return true
    },
    async close() {
      process.kill()
    },
  }
}
