// The processes of the test files, seen from the one that has started them. The watchdog of a process is a timer, and so are the
// time limits of its tests: a file whose event loop never yields comes to none of them, and is ended from here.
import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentFile } from './lane.ts'
import { idleLimitMs } from './watchdog.ts'

/** The watchdog of the process has the first word: it names what keeps the process. */
const silenceLimitMs = idleLimitMs * 1.1

const endMs = 2_000
const started = 'child_process'

/** Watches the processes that run a file of this directory: each writes when a test begins or ends. */
export function watchChildren(directory: string) {
  const running = new Set<ChildProcess>()

  function onStart(message: unknown): void {
    const { process: child } = message as { process: ChildProcess }
    // It has no arguments and no output yet.
    process.nextTick(() => {
      const entry = child.spawnargs.find((argument) => argument.startsWith(directory))
      if (entry !== undefined) watch(child, entry)
    })
  }

  function watch(child: ChildProcess, entry: string): void {
    running.add(child)
    const timer = setTimeout(() => {
      const file = fileOf(entry, child.pid)
      process.stderr.write(`${file}: no test has begun or ended for ${silenceLimitMs} ms, and the process is killed.\n`)
      child.kill('SIGKILL')
    }, silenceLimitMs)
    child.stdout?.on('data', () => void timer.refresh())
    child.once('exit', () => {
      clearTimeout(timer)
      running.delete(child)
    })
  }

  subscribe(started, onStart)
  return {
    /** Ends those that still run, because the run was stopped: what they have started is ended by them, if they can. */
    async end(): Promise<void> {
      unsubscribe(started, onStart)
      const ended = [...running].map((child) => once(child, 'exit'))
      for (const child of running) child.kill('SIGTERM')
      await Promise.race([Promise.all(ended), sleep(endMs, undefined, { ref: false })])
      for (const child of running) child.kill('SIGKILL')
    },
  }
}

function fileOf(entry: string, pid: number | undefined): string {
  try {
    return readFileSync(currentFile(join(dirname(entry), 'claims'), pid), 'utf8')
  } catch {
    return basename(entry)
  }
}
