// The processes of a measurement, and what they cost: processor time and memory as the kernel counts them.
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type Running = { process: ChildProcess; pid: number }

/** A file of the repository as a process with a channel to us; it ends with us, and none begins when we are ending. */
export function start(parts: AsyncDisposableStack, file: string, options: ForkOptions & { args?: string[] }): Running {
  if (parts.disposed) throw new Error('the measurement is ending')
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const child = fork(path, options.args ?? [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...options })
  parts.defer(() => stop(child))
  return { process: child, pid: child.pid ?? 0 }
}

export function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

export async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (!isRunning(child)) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** The next message, or the end of the process as an error. */
export async function messageOf<Message>({ process: child }: Running): Promise<Message> {
  const done = new AbortController()
  const ended = once(child, 'exit', { signal: done.signal }).then(([code]) => {
    throw new Error(`${child.spawnargs[1]} ended with ${code}`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: done.signal }), ended])
    return message as Message
  } finally {
    done.abort()
    ended.catch(() => undefined)
  }
}

const ticksPerSecond = 100

type Stat = { parent: number; cpuSeconds: number }

function readStat(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may have blanks: state, parent, ... 12th and 13th the time of user and system, then those of
    // children that have ended.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].map((place) => Number(fields[place]))
    const cpuSeconds = ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond
    return { parent: Number(fields[1]), cpuSeconds }
  } catch {
    return undefined
  }
}

/** Null where there is no /proc. */
export function cpuSecondsOf(pid: number): number | null {
  return readStat(pid)?.cpuSeconds ?? null
}

export function megabytesOf(pid: number): number | null {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Number(kilobytes) / 1_024 : null
  } catch {
    return null
  }
}

/** Of PostgreSQL: its first process and all that it has started. */
export function cpuSecondsOfFamily(pid: number): number | null {
  const own = readStat(pid)
  if (!own) return null
  const children = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [readStat(name)] : []))
  return children.reduce((sum, child) => sum + (child?.parent === pid ? child.cpuSeconds : 0), own.cpuSeconds)
}
