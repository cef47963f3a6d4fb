// Watches the process that is fuzzed: whether it is alive, what it logs, what it prints besides its log, its memory and
// its connections.
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { megabytesOf } from '../../../harness/process-usage.ts'
import type { RunningService } from '../../../harness/processes.ts'
import { type Breach, judgeLine, type Secrets } from './trial/oracles.ts'

export type Watch = ReturnType<typeof watchService>

const intervalMs = 500

/**
 * Options of Node for the process that is fuzzed: a signal makes it collect its garbage. When it would do so by itself
 * depends on the size of the machine, so memory before a collection proves nothing.
 */
export const collectOnSignal =
  "--expose-gc --import=data:text/javascript,process.on('SIGUSR2',()=>gc({type:'major',flavor:'last-resort'}))"
const readingsAfterCollection = 10
const readAgainMs = 30

export function watchService(service: RunningService, secrets: Secrets, onBreach: (breach: Breach) => void) {
  const lines = { total: 0, byMessage: new Map<string, number>() }
  let read = 0
  let reported = 0
  let isGone = false
  let isOver = false

  function readLog(): void {
    const text = service.output.stdout
    const end = text.lastIndexOf('\n') + 1
    if (end <= read) return
    for (const line of text.slice(read, end - 1).split('\n')) {
      lines.total += 1
      const message = messageOf(line)
      lines.byMessage.set(message, (lines.byMessage.get(message) ?? 0) + 1)
      for (const breach of judgeLine({ line, secrets })) onBreach(breach)
    }
    read = end
  }

  function check(): void {
    const { stderr } = service.output
    if (stderr.length > reported)
      onBreach({ oracle: 'nothing is printed besides the log', detail: stderr.slice(reported, reported + 2_000) })
    reported = stderr.length
    readLog()
    if (!isGone && service.isGone()) {
      isGone = true
      const { exitCode, signalCode } = service.child
      onBreach({ oracle: 'the process lives', detail: `it has ended with ${signalCode ?? `code ${exitCode}`}` })
    }
  }

  const timer = setInterval(check, intervalMs)
  return {
    lines,
    isGone: () => service.isGone(),
    /** Uncollected garbage included; null where there is no /proc. */
    megabytes: () => megabytesOf(service.pid),
    /** The least of several readings after a collection, because requests go on. */
    async megabytesKept(): Promise<number | null> {
      if (service.isGone() || megabytesOf(service.pid) === null) return null
      process.kill(service.pid, 'SIGUSR2')
      const seen: number[] = []
      for (let reading = 0; reading < readingsAfterCollection; reading += 1) {
        await sleep(readAgainMs)
        seen.push(megabytesOf(service.pid) ?? Number.POSITIVE_INFINITY)
      }
      return Math.min(...seen)
    },
    sockets: () => socketsOf(service.pid),
    /** After a last check. */
    stop(): void {
      if (!isOver) check()
      isOver = true
      clearInterval(timer)
    },
  }
}

function messageOf(line: string): string {
  const [, level = '', message = line.slice(0, 80)] = /^\{"level":(\d+),.*"msg":"([^"]*)"/.exec(line) ?? []
  return `${level} ${message}`.trim()
}

/** Null where there is no /proc. */
export function socketsOf(pid: number): number | null {
  try {
    const open = readdirSync(`/proc/${pid}/fd`)
    return open.filter((name) => isSocket(`/proc/${pid}/fd/${name}`)).length
  } catch {
    return null
  }
}

/** A descriptor may be closed by now. */
function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    return false
  }
}
