// File operations of the embedded PostgreSQL that stay right when two processes do them at once, or one is killed in
// the middle: work is done under a name of its own and put in place by one atomic step, on disk before anybody relies
// on it. Whoever comes second finds the finished work of the first.
import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive } from './postmaster.ts'

/** For names of unfinished work: tells the next start whether its maker still lives. */
export function ownName(): string {
  return `${process.pid}-${randomBytes(4).toString('hex')}`
}

export function removeAbandoned(directory: string, prefix: string): void {
  for (const entry of fs.readdirSync(directory)) {
    if (!entry.startsWith(prefix) || isAlive(Number.parseInt(entry.slice(prefix.length), 10))) continue
    try {
      fs.rmSync(join(directory, entry), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // A child of the killed process may still be writing into it. It is only in the way of nobody; next time.
    }
  }
}

/** The second of two drops his own work. */
export function moveUnlessThere(unfinished: string, place: string): void {
  try {
    fs.renameSync(unfinished, place)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    fs.rmSync(unfinished, { recursive: true, force: true })
  }
  synchronise(dirname(place))
}

/** Writes a file that nobody sees unfinished and only one process can create; gives back what the file says then. */
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

/** Does nothing to one that is there already. */
export function makeDirectory(directory: string, mode: number): void {
  try {
    fs.mkdirSync(directory, { mode })
    // Once more, because the umask takes bits away.
    fs.chmodSync(directory, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Readable by everybody, whatever the umask of the clone was, and on disk before anybody relies on it. */
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
