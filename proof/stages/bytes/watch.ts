// Watches the process that is fuzzed: whether it is alive, what it logs, what it prints besides its log, its memory and
// its connections.
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { megabytesOf } from '../../../harness/process-usage.ts'
import type { ServiceProcess } from '../../world/service.ts'
import { type Breach, checkLine, type Secrets } from './trial/oracles.ts'

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

export function watchService(
  service: Pick<ServiceProcess, 'endedByItself' | 'logFile' | 'errorFile' | 'pid'>,
  secrets: Secrets,
  onBreach: (breach: Breach) => void,
) {
  const lines = { total: 0, byMessage: new Map<string, number>() }
  const log = openEnd(service.logFile)
  const errors = openEnd(service.errorFile)
  // Another one is started when it has ended.
  const pid = service.pid()
  let begun = ''
  let isGone = false
  let isOver = false

  function readLog(): void {
    const whole = (begun + log.read()).split('\n')
    begun = whole.pop() ?? ''
    for (const line of whole) {
      lines.total += 1
      const message = messageOf(line)
      lines.byMessage.set(message, (lines.byMessage.get(message) ?? 0) + 1)
      for (const breach of checkLine({ line, secrets })) onBreach(breach)
    }
  }

  function check(): void {
    const printed = errors.read()
    if (printed) onBreach({ oracle: 'nothing is printed besides the log', detail: printed.slice(0, 2_000) })
    readLog()
    const [ended] = service.endedByItself
    if (!isGone && ended) onBreach({ oracle: 'the process lives', detail: ended })
    isGone = ended !== undefined
  }

  const timer = setInterval(check, intervalMs)
  return {
    lines,
    isGone: () => service.endedByItself.length > 0,
    /** Uncollected garbage included; null where there is no /proc. */
    megabytes: () => megabytesOf(pid),
    /** The least of several readings after a collection, because requests go on. */
    async megabytesKept(): Promise<number | null> {
      if (service.endedByItself.length > 0 || megabytesOf(pid) === null) return null
      process.kill(pid, 'SIGUSR2')
      const seen: number[] = []
      for (let reading = 0; reading < readingsAfterCollection; reading += 1) {
        await sleep(readAgainMs)
        seen.push(megabytesOf(pid) ?? Number.POSITIVE_INFINITY)
      }
      return Math.min(...seen)
    },
    sockets: () => socketsOf(pid),
    /** After a last check. */
    stop(): void {
      if (!isOver) check()
      isOver = true
      clearInterval(timer)
    },
  }
}

/** Reads what a file has more than the last time. */
function openEnd(file: string) {
  const decoder = new StringDecoder('utf8')
  let place = 0
  return {
    read(): string {
      const open = openSync(file, 'r')
      const more = Buffer.alloc(fstatSync(open).size - place)
      place += readSync(open, more, 0, more.length, place)
      closeSync(open)
      return decoder.write(more)
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
