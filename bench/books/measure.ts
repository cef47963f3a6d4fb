// Runs a command of the service as a process of its own and measures what it costs: wall time, and the most memory it
// had at any time, as the kernel counts it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const pollMs = 100

export type Measured = {
  code: number | null
  stdout: string
  stderr: string
  seconds: number
  /** Null where there is no /proc. */
  peakMegabytes: number | null
}

/** As `npm run credits` starts it, without npm and the shell: what is measured is the command itself. */
function commandOf(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    scripts: { credits: string }
  }
  return scripts.credits.split(' ').slice(2)
}

/** `signal` ends the process, when the measurement itself is ended. */
export async function measure(
  args: string[],
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<Measured> {
  const { PATH, HOME } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, [...commandOf(), ...args], {
    cwd: repository,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  let peakMegabytes: number | null = null
  let running = true
  const closed = once(child, 'close').finally(() => {
    running = false
  })
  while (running) {
    peakMegabytes = highWaterMark(child.pid) ?? peakMegabytes
    await Promise.race([closed, sleep(pollMs)])
  }
  const [code] = await closed
  return { code, ...said, seconds: (performance.now() - startedAt) / 1_000, peakMegabytes }
}

/** The kernel keeps the peak itself: what happened between two looks is in the second. */
function highWaterMark(pid: number | undefined): number | null {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Number(kilobytes) / 1_024 : null
  } catch {
    return null
  }
}
