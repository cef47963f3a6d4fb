// Runs commands of the CLI as an operator would: each as a process beside the services, with their settings. Some are
// killed half way; the worker then finishes what they had begun.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProgram } from '../world/program.ts'
import { shiftedClock } from '../world/shifted-clock.ts'
import type { World } from '../world/world.ts'

export type CommandResult = {
  /** Null when it was killed. */
  code: number | null
  stdout: string
  stderr: string
}

const limitMs = 120_000
let run = 0

export type CommandOptions = { killAfterMs?: number | undefined; clockShiftMs?: number }

export async function runCommand(
  world: World,
  args: string[],
  { killAfterMs = limitMs, clockShiftMs = 0 }: CommandOptions = {},
): Promise<CommandResult> {
  run += 1
  const logFile = join(world.directory, `command-${run}.log`)
  const outputFile = join(world.directory, `command-${run}.out`)
  const { environment } = world
  const shift = clockShiftMs === 0 ? [] : ['--import', shiftedClock(clockShiftMs)]
  const program = startProgram({ args: [...shift, 'src/cli.ts', ...args], environment, logFile, outputFile })
  const late = sleep(killAfterMs, null, { ref: false })
  if ((await Promise.race([program.exited, late])) === null) program.child.kill('SIGKILL')
  const { code } = await program.exited
  return { code, stdout: readFileSync(outputFile, 'utf8'), stderr: readFileSync(logFile, 'utf8') }
}

const dayMs = 86_400_000
const aheadMs = 120_000

/**
 * Reconciles the whole campaign and a day around it. The command leaves out the last minute, which a real gateway may
 * not list yet; the sandbox lists it at once, so the command's clock is set ahead.
 */
export function runReconciliation(world: World): Promise<CommandResult> {
  const time = (ms: number) => new Date(ms).toISOString()
  const args = ['reconcile', '--from', time(Date.now() - dayMs), '--to', time(Date.now() + dayMs), '--json']
  return runCommand(world, args, { clockShiftMs: aheadMs })
}
