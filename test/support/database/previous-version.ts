// The version of this code before the newest migration, from git: it runs beside the current version during a rollout. If the
// history does not reach back that far, the current version is used in its place.
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
