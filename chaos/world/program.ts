// One program under the campaign's control: started, signalled and ended by its process id, what it says appended to a
// file. Whatever ends the campaign ends the program too: `endAll` is synchronous and may run while the process exits.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { bareEnvironment, repository } from '../../harness/processes.ts'

export type ProgramSettings = {
  /** What follows `node`. */
  args: string[]
  environment: Record<string, string>
  logFile: string
  /** For what it prints, if that is to be told from what it logs. */
  outputFile?: string
}

export type Ended = { code: number | null; signal: NodeJS.Signals | null }

export type Program = {
  pid: number
  ended: Promise<Ended>
  isGone(): boolean
  /** Says whether there was somebody to signal. */
  signal(signal: NodeJS.Signals): boolean
}

const running = new Set<ChildProcess>()

export function startProgram({ args, environment, logFile, outputFile }: ProgramSettings): Program {
  const log = openSync(logFile, 'a', 0o600)
  const output = openSync(outputFile ?? logFile, 'a', 0o600)
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: bareEnvironment(environment),
    stdio: ['ignore', output, log],
  })
  closeSync(log)
  closeSync(output)
  running.add(child)
  const gone = { yet: false }
  const ended = once(child, 'exit').then(([code, signal]) => {
    gone.yet = true
    running.delete(child)
    return { code, signal } as Ended
  })
  return {
    pid: child.pid as number,
    ended,
    isGone: () => gone.yet,
    signal: (signal) => child.kill(signal),
  }
}

/** A stopped process dies of SIGKILL like any other. */
export function endAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
