// A version after this one, made up for a test: a copy of this code with further migrations. Its commands and its service run as
// processes, beside services of this version.
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { bareEnvironment, type Cleaner, newDirectory, repository } from '../../../harness/processes.ts'

export type Change = { file: string; from: string; to: string }

/** Returns its directory. The names of the migrations and their texts; what else the version changes. */
export function nextVersion(t: Cleaner, migrations: Record<string, string>, changes: Change[]): string {
  const directory = newDirectory(t)
  const leftOut = ['node_modules', '.git']
  cpSync(repository, directory, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) })
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  for (const [name, text] of Object.entries(migrations)) writeFileSync(join(directory, 'migrations', name), text)
  for (const { file, from, to } of changes) {
    const text = readFileSync(join(directory, file), 'utf8')
    if (!text.includes(from)) throw new Error(`${file} has no "${from}"`)
    writeFileSync(join(directory, file), text.replace(from, to))
  }
  // What `npm run schema` runs.
  execFileSync(process.execPath, ['test/support/written/write-schema.ts'], {
    cwd: directory,
    env: bareEnvironment(),
    stdio: 'pipe',
  })
  return directory
}
