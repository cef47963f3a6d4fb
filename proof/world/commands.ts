// Runs commands of the CLI as an operator would: each as a process beside the services, with their settings. Some are
// killed half way; the worker then finishes what they had begun.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProgram } from './program.ts'
import { shiftedClock } from './shifted-clock.ts'

export type CommandResult = {
  /** Null when it was killed. */
  code: number | null
  stdout: string
  stderr: string
}

export type CommandOptions = { killAfterMs?: number | undefined; clockShiftMs?: number }

export type RunCommand = (args: string[], options?: CommandOptions) => Promise<CommandResult>

const limitMs = 120_000

export function createCommands(directory: string, environment: Record<string, string>): RunCommand {
  let run = 0
  return async (args, { killAfterMs = limitMs, clockShiftMs = 0 } = {}) => {
    run += 1
    const logFile = join(directory, `command-${run}.log`)
    const outputFile = join(directory, `command-${run}.out`)
    const shift = clockShiftMs === 0 ? [] : ['--import', shiftedClock(clockShiftMs)]
    const program = startProgram({ args: [...shift, 'src/cli.ts', ...args], environment, logFile, outputFile })
    const late = sleep(killAfterMs, null, { ref: false })
    if ((await Promise.race([program.exited, late])) === null) program.child.kill('SIGKILL')
    const { code } = await program.exited
    return { code, stdout: readFileSync(outputFile, 'utf8'), stderr: readFileSync(logFile, 'utf8') }
  }
}
