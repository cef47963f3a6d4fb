// File operations of the embedded PostgreSQL that are safe when two processes run them at once, or one is killed in between: work
// is done under a temporary name and put in place by one atomic step, synced to disk. The second process finds the finished work
// of the first.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive } from './postmaster.ts'

/** For names of unfinished work: the next start sees whether its process is still alive. */
export function ownName(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`
}

export function removeAbandoned(directory: string, prefix: string): void {
  for (const entry of fs.readdirSync(directory)) {
    if (!entry.startsWith(prefix) || isAlive(Number.parseInt(entry.slice(prefix.length), 10))) continue
    try {
      fs.rmSync(join(directory, entry), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // A child of the killed process may still be writing into it. It does no harm; the next start removes it.
    }
  }
}

/** The second of two processes discards its own work. */
export function moveUnlessThere(unfinished: string, place: string): void {
  try {
    fs.renameSync(unfinished, place)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    fs.rmSync(unfinished, { recursive: true, force: true })
  }
  synchronise(dirname(place))
}

/** Creates a file atomically; only the first process succeeds. Returns the content that the file has then. */
export function publish(file: string, content: string): string {
  const unfinished = `${file}.${ownName()}`
  fs.writeFileSync(unfinished, content, { mode: 0o600, flush: true })
  try {
    fs.linkSync(unfinished, file)
    synchronise(dirname(file))
    return content
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return fs.readFileSync(file, 'utf8')
  } finally {
    fs.unlinkSync(unfinished)
  }
}

export function readIfThere(file: string): string | null {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : null
}

/** Leaves an existing one unchanged. */
export function makeDirectory(directory: string, mode: number): void {
  try {
    fs.mkdirSync(directory, { mode })
    // Again, because the umask removes bits.
    fs.chmodSync(directory, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Readable by every user, whatever the umask of the clone was, and synced to disk. */
export function copyReadable(source: string, target: string): void {
  fs.cpSync(source, target, { recursive: true, verbatimSymlinks: true })
  for (const entry of [target, ...fs.readdirSync(target, { recursive: true }).map((name) => join(target, `${name}`))]) {
    const { mode } = fs.lstatSync(entry)
    if ((mode & fs.constants.S_IFMT) === fs.constants.S_IFLNK) continue
    fs.chmodSync(entry, mode & 0o100 ? 0o755 : 0o644)
    synchronise(entry)
  }
}

export function synchronise(path: string): void {
  const descriptor = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
}
