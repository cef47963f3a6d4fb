// Starts child processes, collects what they print, and knows when they are gone. Every child is killed when this
// process exits, so nothing outlives the test, campaign or measurement that started it.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'

export type Exit = { code: number | null; signal: NodeJS.Signals | null }
export type ProcessEnd = Exit & { stdout: string; stderr: string }

export type Launched = {
  pid: number
  child: ChildProcess
  /** What was printed so far; empty where `stdio` sends it elsewhere. */
  output: { stdout: string; stderr: string }
  isGone(): boolean
  /** Both reject when the process could not be started, or was ended by `signal` of the options. */
  exited: Promise<Exit>
  /** With all of its output: as long as an orphan of the process holds that open, this does not resolve. */
  ended: Promise<ProcessEnd>
}

const running = new Set<ChildProcess>()
process.once('exit', killAll)

/** Synchronous, so that it can run while this process exits. A stopped process dies of SIGKILL like any other. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

export function startProcess(command: string, args: string[], options: SpawnOptions): Launched {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  running.add(child)
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  let gone = false
  const exited = once(child, 'exit')
    .then(([code, signal]): Exit => ({ code, signal }))
    .finally(() => {
      gone = true
      running.delete(child)
    })
  const ended = once(child, 'close').then(([code, signal]): ProcessEnd => ({ code, signal, ...output }))
  exited.catch(() => undefined)
  ended.catch(() => undefined)
  return { pid: child.pid as number, child, output, isGone: () => gone, exited, ended }
}

/** Waits until it is gone. */
export async function stopProcess({ child, isGone }: Launched, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (isGone()) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/** The next message of a child that has an IPC channel; its end instead is an error. */
export async function messageOf<Message>({ child }: Launched): Promise<Message> {
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
