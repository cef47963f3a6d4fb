// One sandbox per data directory: two on one journal would each miss what the other does. The lock is a file with the
// process id of its holder and, on a system with /proc, the time at which that process started, so that a reused id is
// not mistaken for the holder. The lock of a dead process is taken over.

import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const lockName = 'sandbox.lock'

/** Longer than writing a line takes: a file that is still empty or in the way then was left by a dead process. */
const momentMs = 10_000

export type Lock = { release(): void }

export function lockDirectory(directory: string): Lock {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, lockName)
  const mine = `${process.pid} ${startOf(process.pid) ?? ''}`
  if (!create(path, mine)) takeOver(directory, path, mine)
  return {
    release() {
      if (read(path) === mine) rmSync(path, { force: true })
    },
  }
}

function takeOver(directory: string, path: string, mine: string): void {
  refuseIfHeld(directory, path)
  // When two processes find the same dead holder, one must not remove the lock that the other has just created.
  const guard = `${path}.takeover`
  if (isAbandoned(guard)) rmSync(guard, { force: true })
  if (!create(guard, mine)) throw new Error(`Another sandbox is just starting in ${directory}: try again.`)
  try {
    refuseIfHeld(directory, path)
    rmSync(path, { force: true })
    if (!create(path, mine)) refuseIfHeld(directory, path)
  } finally {
    rmSync(guard, { force: true })
  }
}

function refuseIfHeld(directory: string, path: string): void {
  const content = read(path)
  if (content === null) return
  const [pid = '', start = ''] = content.split(' ')
  const held = pid === '' ? !isAbandoned(path) : isAlive(Number(pid), start)
  if (!held) return
  const holder = pid === '' ? 'another process' : `process ${pid}`
  throw new Error(`The sandbox data in ${directory} is in use by ${holder}: stop it, or choose another directory.`)
}

function isAlive(pid: number, start: string): boolean {
  if (start !== '') return startOf(pid) === start
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** In ticks since the machine started; null for a process that has ended, a zombie, or on a system without /proc. */
function startOf(pid: number): string | null {
  const status = read(`/proc/${pid}/stat`)
  // The name of the program, in brackets, may contain anything; state is the first field after it, start the 20th.
  const fields = status?.slice(status.lastIndexOf(')') + 2).split(' ') ?? []
  return fields[0] === undefined || 'ZX'.includes(fields[0]) ? null : (fields[19] ?? null)
}

function isAbandoned(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > momentMs
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // ESRCH: a process that ended between the opening and the reading of its file in /proc.
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}
