// Looks after the process that is fuzzed while it is: whether it lives, what it logs, what it says beside its log, and how
// much memory and how many connections it has.
import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { megabytesOf } from '../harness/process-usage.ts'
import type { RunningService } from '../harness/processes.ts'
import { type Breach, judgeLine, type Secrets } from './trial/oracles.ts'

export type Watch = ReturnType<typeof watchService>

const rhythmMs = 500

/**
 * Of Node, for the process that is fuzzed: a signal makes it collect its garbage. How much it lets lie before it does so by
 * itself depends on the size of the machine, and says nothing of what it keeps.
 */
export const collectOnSignal =
  "--expose-gc --import=data:text/javascript,process.on('SIGUSR2',()=>gc({type:'major',flavor:'last-resort'}))"
const looksAfterCollection = 10
const lookAgainMs = 30

export function watchService(service: RunningService, secrets: Secrets, onBreach: (breach: Breach) => void) {
  const lines = { total: 0, byMessage: new Map<string, number>() }
  let read = 0
  let said = 0
  let isGone = false
  let isOver = false

  function readLog(): void {
    const text = service.said.stdout
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

  function look(): void {
    const { stderr } = service.said
    if (stderr.length > said)
      onBreach({ oracle: 'nothing is said beside the log', detail: stderr.slice(said, said + 2_000) })
    said = stderr.length
    readLog()
    if (!isGone && service.isGone()) {
      isGone = true
      const { exitCode, signalCode } = service.child
      onBreach({ oracle: 'the process lives', detail: `it has ended with ${signalCode ?? `code ${exitCode}`}` })
    }
  }

  const timer = setInterval(look, rhythmMs)
  return {
    lines,
    isGone: () => service.isGone(),
    /** As it is, rubbish included; null where there is no /proc. */
    megabytes: () => megabytesOf(service.pid),
    /** What is left after a collection, at the least: requests go on meanwhile. */
    async megabytesKept(): Promise<number | null> {
      if (service.isGone() || megabytesOf(service.pid) === null) return null
      process.kill(service.pid, 'SIGUSR2')
      const seen: number[] = []
      for (let look = 0; look < looksAfterCollection; look += 1) {
        await sleep(lookAgainMs)
        seen.push(megabytesOf(service.pid) ?? Number.POSITIVE_INFINITY)
      }
      return Math.min(...seen)
    },
    sockets: () => socketsOf(service.pid),
    /** After a last look. */
    stop(): void {
      if (!isOver) look()
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

/** One that was open a moment ago may be gone. */
function isSocket(link: string): boolean {
  try {
    return readlinkSync(link).startsWith('socket:')
  } catch {
    return false
  }
}
