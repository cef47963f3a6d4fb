// The operator's commands as an operator runs them: a process of its own beside the services, with their settings. Some
// are killed half way; what they had begun is then the worker's.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProgram } from './program.ts'
import type { World } from './world.ts'

export type CommandResult = {
  /** Null when it was killed. */
  code: number | null
  stdout: string
  stderr: string
}

const limitMs = 120_000
let run = 0

export async function runCommand(world: World, args: string[], killAfterMs = limitMs): Promise<CommandResult> {
  run += 1
  const logFile = join(world.directory, `command-${run}.log`)
  const outputFile = join(world.directory, `command-${run}.out`)
  const { environment } = world
  const program = startProgram({ args: ['src/cli.ts', ...args], environment, logFile, outputFile })
  const late = sleep(killAfterMs, null, { ref: false })
  if ((await Promise.race([program.ended, late])) === null) program.signal('SIGKILL')
  const { code } = await program.ended
  return { code, stdout: readFileSync(outputFile, 'utf8'), stderr: readFileSync(logFile, 'utf8') }
}

const hourMs = 3_600_000

/** The gateway's own list against the books, for the whole campaign and a little around it. */
export function reconcileArguments(): string[] {
  const time = (ms: number) => new Date(ms).toISOString()
  return ['reconcile', '--from', time(Date.now() - hourMs), '--to', time(Date.now() + hourMs), '--json']
}
