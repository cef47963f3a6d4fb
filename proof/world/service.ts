// A service under a process manager: a start that fails (the database may be down) is retried, an unexpected end is recorded
// and followed by a new start. `busy` keeps two faults from one process, where the second would undo the first. What a process
// is differs: one of the machine here, one of the simulation in its stage.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Exit } from '../../harness/launch.ts'
import type { ServiceName } from '../model/history.ts'
import { startProgram } from './program.ts'
import { shiftedClock } from './shifted-clock.ts'

export type ServiceSettings = {
  name: ServiceName
  port: number
  internalPort: number
  webhookPort: number
  webhookToken: string
  /** Without its ports. */
  environment: Record<string, string>
}

export const startLimitMs = 90_000
const pauseBetweenStartsMs = 300
const pollMs = 40

/** A process from its start to its end. */
type Life = {
  /** Returns when it serves, or why it does not. */
  failure(): Promise<Error | null>
  isGone(): boolean
  /** When it ends without being asked to. */
  exited?: Promise<Exit>
  signal(signal: NodeJS.Signals): boolean
  /** How it ended; null when it did not in time. */
  end(signal: 'SIGKILL' | 'SIGTERM', limitMs: number): Promise<Exit | null>
}

/** What the load, the faults and the checks need of a service, wherever it runs. */
export type Service = ReturnType<typeof superviseService>

export function superviseService(
  { name, port, internalPort, webhookPort, webhookToken }: ServiceSettings,
  { launch, readLog }: { launch(clockShiftMs: number): Life; readLog(): string },
) {
  const counts = { starts: 0, refusedStarts: 0, shiftedStarts: 0 }
  const endedByItself: string[] = []
  const killsMs: number[] = []
  let now = { clockShiftMs: 0, readyMs: 0 }
  let life: Life | undefined
  let wanted = true
  let expectedEnd = false

  async function start(clockShiftMs = 0): Promise<void> {
    const limit = performance.now() + startLimitMs
    if (clockShiftMs !== 0) counts.shiftedStarts += 1
    while (wanted) {
      expectedEnd = false
      counts.starts += 1
      const starting = launch(clockShiftMs)
      life = starting
      const failure = await starting.failure()
      if (failure === null) {
        now = { clockShiftMs, readyMs: performance.now() }
        starting.exited?.then((exit) => startUnlessExpected(starting, exit))
        return
      }
      if (!starting.isGone()) await kill(starting)
      counts.refusedStarts += 1
      if (performance.now() > limit) throw new Error(`service ${name} does not start: ${failure.message}`)
      await sleep(pauseBetweenStartsMs)
    }
  }

  async function kill(killed: Life): Promise<void> {
    killsMs.push(performance.now())
    await killed.end('SIGKILL', startLimitMs)
  }

  function startUnlessExpected(ended: Life, { code, signal }: Exit): void {
    if (!wanted || expectedEnd || life !== ended) return
    endedByItself.push(`service ${name} ended with ${signal ?? `code ${code}`}`)
    start().catch((error) => endedByItself.push(String(error)))
  }

  return {
    name,
    counts,
    endedByItself,
    /** Times of SIGKILLs, monotonic clock. */
    killsMs,
    /** The shift of the process's clock, and since when it serves. */
    now: () => now,
    readLog,
    ports: { public: port, internal: internalPort, webhook: webhookPort },
    publicUrl: `http://127.0.0.1:${port}`,
    internalUrl: `http://127.0.0.1:${internalPort}`,
    webhookUrl: `http://127.0.0.1:${webhookPort}/webhooks/toss/${webhookToken}`,
    webhookBase: `http://127.0.0.1:${webhookPort}/webhooks/toss`,
    busy: false,
    /** Until it serves. */
    start,
    /** How it ended; null when it did not end in time and was killed. */
    async end(signal: 'SIGKILL' | 'SIGTERM', limitMs: number): Promise<Exit | null> {
      if (!life || life.isGone()) return { code: null, signal: null }
      expectedEnd = true
      if (signal === 'SIGKILL') killsMs.push(performance.now())
      const ended = await life.end(signal, limitMs)
      if (ended === null) await kill(life)
      return ended
    },
    signal: (signal: NodeJS.Signals) => life?.signal(signal) ?? false,
    /** It is not started again afterwards. */
    async close(): Promise<void> {
      wanted = false
      if (life && !life.isGone()) await life.end('SIGKILL', startLimitMs)
    },
  }
}

/** The environment of its process. */
export function environmentOf({
  environment,
  port,
  internalPort,
  webhookPort,
}: ServiceSettings): Record<string, string> {
  return { ...environment, PORT: `${port}`, INTERNAL_PORT: `${internalPort}`, WEBHOOK_PORT: `${webhookPort}` }
}

/** A process of this machine; what it prints is appended to the files. */
export function createService(settings: ServiceSettings & { logFile: string; errorFile: string }) {
  const { internalPort, logFile, errorFile } = settings
  const environment = environmentOf(settings)
  let pid = 0

  async function isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(1_000)
    const ready = await fetch(`http://127.0.0.1:${internalPort}/readyz`, { signal }).catch(() => undefined)
    await ready?.body?.cancel()
    return ready?.status === 200
  }

  function launch(clockShiftMs: number): Life {
    const shift = clockShiftMs === 0 ? [] : ['--import', shiftedClock(clockShiftMs)]
    const args = ['--disable-proto=delete', ...shift, 'src/main.ts']
    const program = startProgram({ args, environment, logFile: errorFile, outputFile: logFile })
    pid = program.pid
    return {
      async failure() {
        const limit = performance.now() + startLimitMs / 2
        while (!program.isGone() && performance.now() < limit) {
          if (await isReady()) return null
          await sleep(pollMs)
        }
        return new Error(readLog().trim().split('\n').slice(-5).join('\n'))
      },
      isGone: program.isGone,
      exited: program.exited,
      signal: (signal) => program.child.kill(signal),
      end(signal, limitMs) {
        program.child.kill(signal)
        return Promise.race([program.exited, sleep(limitMs, null, { ref: false })])
      },
    }
  }

  const readLog = () => [logFile, errorFile].map((file) => readFileSync(file, 'utf8')).join('')
  return Object.assign(superviseService(settings, { launch, readLog }), { logFile, errorFile, pid: () => pid })
}

/** One whose log is a file. */
export type ServiceProcess = ReturnType<typeof createService>
