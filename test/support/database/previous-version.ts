// The version of this code that came before the newest migration, as git has it: what runs beside the present one while it
// is rolled out. Where the history does not reach so far back, the present version stands in for it.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleaner, newDirectory, repository } from '../../../harness/processes.ts'
import { listMigrations } from '../../../src/db/migrate.ts'

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()

function commitBefore(migration: string): string | undefined {
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '-1', '--', `migrations/${migration}`)
    return git('rev-parse', '--verify', '--quiet', added === '' ? 'HEAD' : `${added}^`)
  } catch {
    return undefined
  }
}

export type PreviousVersion = { directory: string; isPresent: boolean }

export function previousVersion(t: Cleaner): PreviousVersion {
  const newest = listMigrations().at(-1)?.name ?? ''
  const commit = commitBefore(newest)
  if (commit === undefined) return { directory: repository, isPresent: true }
  const directory = newDirectory(t)
  mkdirSync(directory, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: repository, maxBuffer: 256 * 1_048_576 })
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive })
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`)
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'))
  return { directory, isPresent: false }
}
