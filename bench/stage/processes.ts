// The processes of a measurement: files of the repository, each with an IPC channel to this process.
import { join } from 'node:path'
import { type Launched, startProcess, stopProcess } from '../../harness/launch.ts'
import { repository } from '../../harness/processes.ts'

export type PartOptions = { args?: string[]; execArgv?: string[]; env?: NodeJS.ProcessEnv }

/** It ends with `parts`, and none is started once they are disposed. */
export function startPart(parts: AsyncDisposableStack, file: string, options: PartOptions = {}): Launched {
  if (parts.disposed) throw new Error('the measurement is ending')
  const { args = [], execArgv = [], env = process.env } = options
  // What it logs does not belong among the tables, which are our standard output.
  const stdio = ['ignore', 2, 'inherit', 'ipc'] as const
  const part = startProcess(process.execPath, [...execArgv, join(repository, file), ...args], {
    env,
    stdio: [...stdio],
  })
  parts.defer(() => stopProcess(part))
  return part
}
