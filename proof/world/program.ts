// One program under the campaign's control: its output is appended to files that outlive it.
import { closeSync, openSync } from 'node:fs'
import { type Launched, startProcess } from '../../harness/launch.ts'
import { bareEnvironment, repository } from '../../harness/processes.ts'

export type ProgramSettings = {
  /** The arguments of `node`. */
  args: string[]
  environment: Record<string, string>
  logFile: string
  /** For stdout, where it has to be separate from the log. */
  outputFile?: string
}

export function startProgram({ args, environment, logFile, outputFile }: ProgramSettings): Launched {
  const log = openSync(logFile, 'a', 0o600)
  const output = openSync(outputFile ?? logFile, 'a', 0o600)
  const env = bareEnvironment(environment)
  const program = startProcess(process.execPath, args, { cwd: repository, env, stdio: ['ignore', output, log] })
  closeSync(log)
  closeSync(output)
  return program
}
