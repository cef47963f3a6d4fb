// The notes of running services about their data (src/listeners/running-note.ts), apart from those of other test files.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Cleaner, defer, newDirectory } from '../../../harness/processes.ts'

/** For services and commands in this process, until the test ends. Returns the directory of the notes. */
export function separateNotes(t: Cleaner): string {
  const { TMPDIR } = process.env
  const directory = newDirectory(t)
  process.env.TMPDIR = directory
  defer(t, () => {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  })
  const notes = join(directory, `prepaid-credits-${process.getuid?.()}`)
  mkdirSync(notes, { mode: 0o700 })
  return notes
}
