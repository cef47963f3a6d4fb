// The running server by its lock file: `postmaster.pid` has the process, its socket directory and whether it accepts connections.
// A process id alone proves nothing (it may be a zombie, or reused by an unrelated process after a crash), so nothing here
// signals or trusts a process that is known to be another one.
import { readFileSync, readlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Names the socket file, `.s.PGSQL.5432`; nothing listens on a TCP port. */
export const socketPort = 5432

const fastShutdownMs = 10_000
const immediateShutdownMs = 10_000
const pollMs = 10

export type Postmaster = { pid: number; socketDirectory: string; status: string }

/** The server that runs on the directory; its status is `ready`, or it is starting or stopping. */
export function findPostmaster(dataDirectory: string): Postmaster | null {
  const lines = readLines(join(dataDirectory, 'postmaster.pid'))
  const pid = processIn(lines)
  if (pid === null || !mayServe(pid, dataDirectory)) return null
  return { pid, socketDirectory: lines[4] ?? '', status: lines[7]?.trim() ?? 'starting' }
}

/** A zombie counts as dead: it has neither files nor connections, and some init processes never reap theirs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/**
 * Removes the lock files of a killed server that PostgreSQL would take for a live one, because the process id is a zombie's or of
 * an unrelated process. Not the only protection: while a process of the dead server is attached to its shared memory, PostgreSQL
 * refuses to start with or without these files.
 */
export function removeStaleLockFiles(dataDirectory: string, socketDirectory: string): void {
  for (const file of [join(dataDirectory, 'postmaster.pid'), join(socketDirectory, `.s.PGSQL.${socketPort}.lock`)]) {
    const pid = processIn(readLines(file))
    // Read, checked and removed synchronously, so that a server that starts meanwhile does not lose a new file.
    if (pid !== null && isAnswering(pid) && !mayServe(pid, dataDirectory)) unlinkSync(file)
  }
}

/** Fast shutdown: sessions are ended, a checkpoint is written. If that hangs, an immediate one: the next start recovers. */
export async function stopPostmaster(dataDirectory: string): Promise<void> {
  const postmaster = findPostmaster(dataDirectory)
  if (postmaster === null) return
  for (const [signal, waitMs] of [
    ['SIGINT', fastShutdownMs],
    ['SIGQUIT', immediateShutdownMs],
  ] as const) {
    signalProcess(postmaster.pid, signal)
    const deadline = Date.now() + waitMs
    while (Date.now() < deadline) {
      if (!isAlive(postmaster.pid)) return
      await sleep(pollMs)
    }
  }
  throw new Error(`The embedded PostgreSQL (process ${postmaster.pid}) does not stop: check it, then kill it.`)
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** False only when it is certain. A server's working directory is its data directory; not every system shows it. */
function mayServe(pid: number, dataDirectory: string): boolean {
  if (!isAnswering(pid) || isZombie(pid)) return false
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === dataDirectory
  } catch {
    return true
  }
}

/** PostgreSQL's own test, which zombies pass. A process we may not signal is not a server of ours. */
function isAnswering(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function isZombie(pid: number): boolean {
  try {
    return /\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function processIn(lines: string[]): number | null {
  const pid = Number(lines[0])
  return Number.isSafeInteger(pid) && pid > 1 ? pid : null
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
