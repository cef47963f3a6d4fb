// A run of the tests writes below the repository and the temporary directory, and changes nothing else on the machine. What it
// starts finds these programs first in its PATH: they do nothing, fail, and list how they were called, which fails the run.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export const refusedPrograms = [
  'apt',
  'apt-get',
  'dpkg',
  'useradd',
  'adduser',
  'groupadd',
  'addgroup',
  'usermod',
  'sudo',
  'systemctl',
]

export type Refusal = {
  /** The directory that comes first in PATH. */
  directory: string
  /** A line for each call, with its arguments. */
  calls(): string[]
  remove(): void
}

/** On the disk: a file in memory may not be executable. */
export function refusePrograms(): Refusal {
  const home = mkdtempSync(join(tmpdir(), 'credits-refused-'))
  const directory = join(home, 'bin')
  const list = join(home, 'calls')
  mkdirSync(directory)
  for (const name of refusedPrograms) {
    writeFileSync(join(directory, name), `#!/bin/sh\necho "${name} $*" >>'${list}'\nexit 1\n`, { mode: 0o755 })
  }
  return {
    directory,
    calls: () => (existsSync(list) ? readFileSync(list, 'utf8').trimEnd().split('\n') : []),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** For the processes that are started from now on. */
export function putFirst({ directory }: Refusal): void {
  process.env.PATH = `${directory}${delimiter}${process.env.PATH}`
}
