// The directory of a run, for everything that its processes write outside of the database. It is their temporary directory
// too: a service leaves a note there by which commands find it, and those of this machine are not to find a simulated one.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Template } from './template.ts'

export function makeDirectory({ directory: parent }: Template): { directory: string; remove(): void } {
  const { TMPDIR } = process.env
  const directory = mkdtempSync(join(parent, 'run-'))
  process.env.TMPDIR = directory
  return {
    directory,
    remove() {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}
