// A whole service in this process, started from the settings that `npm start` would read: for tests that need neither its
// exit code nor a signal. It saves most of the two seconds of a core that a process takes to start.
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { type Cleaner, defer, type Environment, settingsFor } from '../../../harness/processes.ts'
import { readConfig } from '../../../src/config.ts'
import { startDevelopment } from '../../../src/dev/start.ts'
import { createLog } from '../../../src/log.ts'
import { secretsIn } from '../leaks.ts'

export type LogLine = Record<string, unknown> & { msg: string; level: number }
export type ServiceInProcess = Awaited<ReturnType<typeof startInProcess>>

/** Rejects with the line that the process would print. */
export async function startInProcess(t: Cleaner, dataDir: string, settings: Environment = {}) {
  const environment = settingsFor(dataDir, settings)
  const config = readConfig(environment)
  const lines: LogLine[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...`${chunk}`.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : [])))
      done()
    },
  })
  const service = await startDevelopment(config, createLog(config.logLevel, destination))
  let isOpen = true
  async function close(): Promise<void> {
    if (isOpen) await service.close()
    isOpen = false
    assert.deepEqual(secretsIn(JSON.stringify(lines), environment), [], 'a secret was logged')
  }
  defer(t, close)
  return {
    ...service,
    sandboxUrl: service.sandboxUrl ?? '',
    /** The key of the first start, otherwise empty. */
    demoKey: service.demoKey?.apiKey ?? '',
    lines,
    environment,
    close,
  }
}
