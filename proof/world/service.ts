// One of the two services under a process manager: a start that fails (the database may be down) is retried, an
// unexpected end is recorded and followed by a new start. `busy` keeps two faults from striking one process, where the
// second would undo the first.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit, Launched } from '../../harness/launch.ts'
import type { ServiceName } from '../model/history.ts'
import { startProgram } from './program.ts'
import { shiftedClock } from './shifted-clock.ts'

export type ServiceSettings = {
  name: ServiceName
  port: number
  internalPort: number
  webhookPort: number
  webhookToken: string
  environment: Record<string, string>
  logFile: string
}

const startLimitMs = 90_000
const pauseBetweenStartsMs = 300
const pollMs = 40

/** What the load, the faults and the checks need of a service, wherever it runs. */
export type Service = {
  name: ServiceName
  counts: { starts: number; refusedStarts: number; shiftedStarts: number }
  endedByItself: string[]
  /** Times of SIGKILLs, monotonic clock. */
  killsMs: number[]
  /** The shift of the process's clock, and since when it serves. */
  now(): { clockShiftMs: number; readyMs: number }
  readLog(): string
  publicUrl: string
  internalUrl: string
  webhookUrl: string
  webhookBase: string
  busy: boolean
  /** Until /readyz returns 200. */
  start(clockShiftMs?: number): Promise<void>
  /** How it ended; null when it did not end in time and was killed. */
  end(signal: 'SIGKILL' | 'SIGTERM', limitMs: number): Promise<Exit | null>
  signal(signal: NodeJS.Signals): boolean
  /** It is not started again afterwards. */
  close(): Promise<void>
}

type Ports = Pick<ServiceSettings, 'port' | 'internalPort' | 'webhookPort' | 'webhookToken'>

export function addressesOf({ port, internalPort, webhookPort, webhookToken }: Ports) {
  return {
    publicUrl: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    webhookUrl: `http://127.0.0.1:${webhookPort}/webhooks/toss/${webhookToken}`,
    webhookBase: `http://127.0.0.1:${webhookPort}/webhooks/toss`,
  }
}

export function createService(settings: ServiceSettings): Service {
  const { name, port, internalPort, webhookPort, logFile } = settings
  const environment = {
    ...settings.environment,
    PORT: `${port}`,
    INTERNAL_PORT: `${internalPort}`,
    WEBHOOK_PORT: `${webhookPort}`,
  }
  const counts = { starts: 0, refusedStarts: 0, shiftedStarts: 0 }
  const endedByItself: string[] = []
  const killsMs: number[] = []
  let now = { clockShiftMs: 0, readyMs: 0 }
  let program: Launched | undefined
  let wanted = true
  let expectedEnd = false

  async function start(clockShiftMs = 0): Promise<void> {
    const limit = performance.now() + startLimitMs
    const shift = clockShiftMs === 0 ? [] : ['--import', shiftedClock(clockShiftMs)]
    if (clockShiftMs !== 0) counts.shiftedStarts += 1
    while (wanted) {
      expectedEnd = false
      counts.starts += 1
      const starting = startProgram({ args: [...shift, 'src/main.ts'], environment, logFile })
      program = starting
      if (await isReady(starting)) {
        now = { clockShiftMs, readyMs: performance.now() }
        starting.exited.then((exit) => restartUnlessExpected(starting, exit))
        return
      }
      starting.child.kill('SIGKILL')
      killsMs.push(performance.now())
      counts.refusedStarts += 1
      if (performance.now() > limit) throw new Error(`service ${name} does not start: ${lastLines(logFile)}`)
      await sleep(pauseBetweenStartsMs)
    }
  }

  /** False when it has ended, or is not ready within the limit. */
  async function isReady(starting: Launched): Promise<boolean> {
    const limit = performance.now() + startLimitMs / 2
    while (wanted && !starting.isGone() && performance.now() < limit) {
      const signal = AbortSignal.timeout(1_000)
      const ready = await fetch(`http://127.0.0.1:${internalPort}/readyz`, { signal }).catch(() => undefined)
      await ready?.body?.cancel()
      if (ready?.status === 200) return true
      await sleep(pollMs)
    }
    return false
  }

  function restartUnlessExpected(ended: Launched, { code, signal }: Exit): void {
    if (!wanted || expectedEnd || program !== ended) return
    endedByItself.push(`service ${name} (process ${ended.pid}) ended with ${signal ?? `code ${code}`}`)
    start().catch((error) => endedByItself.push(String(error)))
  }

  return {
    name,
    counts,
    endedByItself,
    killsMs,
    now: () => now,
    readLog: () => readFileSync(logFile, 'utf8'),
    ...addressesOf(settings),
    busy: false,
    start,
    async end(signal: 'SIGKILL' | 'SIGTERM', limitMs: number): Promise<Exit | null> {
      const ending = program
      if (!ending || ending.isGone()) return { code: null, signal: null }
      expectedEnd = true
      if (signal === 'SIGKILL') killsMs.push(performance.now())
      ending.child.kill(signal)
      const late = sleep(limitMs, null, { ref: false })
      const ended = await Promise.race([ending.exited, late])
      if (ended !== null) return ended
      killsMs.push(performance.now())
      ending.child.kill('SIGKILL')
      return null
    },
    signal: (signal: NodeJS.Signals) => program?.child.kill(signal) ?? false,
    async close(): Promise<void> {
      wanted = false
      if (!program || program.isGone()) return
      program.child.kill('SIGKILL')
      await program.exited
    },
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trim().split('\n').slice(-5).join('\n')
}
