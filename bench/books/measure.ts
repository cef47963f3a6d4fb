// Runs a command of the service as a process of its own and measures what it costs: wall time and peak memory.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProcessEnd, startProcess } from '../../harness/launch.ts'
import { peakMegabytesOf } from '../../harness/process-usage.ts'
import { bareEnvironment, repository } from '../../harness/processes.ts'

const pollMs = 100

export type Measured = Pick<ProcessEnd, 'code' | 'stdout' | 'stderr'> & {
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

/** `signal` ends the process when the measurement itself is ended. */
export async function measure(
  args: string[],
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<Measured> {
  const startedAt = performance.now()
  const env = bareEnvironment({ ...environment, NODE_COMPILE_CACHE: undefined })
  const { pid, isGone, ended } = startProcess(process.execPath, [...commandOf(), ...args], {
    cwd: repository,
    env,
    signal,
  })
  let peakMegabytes: number | null = null
  while (!isGone()) {
    peakMegabytes = peakMegabytesOf(pid) ?? peakMegabytes
    await Promise.race([ended, sleep(pollMs)])
  }
  const { code, stdout, stderr } = await ended
  return { code, stdout, stderr, seconds: (performance.now() - startedAt) / 1_000, peakMegabytes }
}
