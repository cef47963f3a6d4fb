// Processor time and memory of processes, as the kernel counts them; null where there is no /proc.
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'

const ticksPerSecond = 100

type Stat = { parent: number; cpuSeconds: number }

function readStat(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // After the name, which may contain blanks: state, parent, ... 12th and 13th user and system time, then those of
    // children that have ended.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].map((place) => Number(fields[place]))
    const cpuSeconds = ticks.reduce((sum, each) => sum + each, 0) / ticksPerSecond
    return { parent: Number(fields[1]), cpuSeconds }
  } catch {
    return undefined
  }
}

export function cpuSecondsOf(pid: number): number | null {
  return readStat(pid)?.cpuSeconds ?? null
}

/** The processor time of PostgreSQL: its first process and all its children. */
export function cpuSecondsOfFamily(pid: number): number | null {
  const own = readStat(pid)
  if (!own) return null
  const children = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [readStat(name)] : []))
  return children.reduce((sum, child) => sum + (child?.parent === pid ? child.cpuSeconds : 0), own.cpuSeconds)
}

function readMegabytes(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
    return kilobytes ? Number(kilobytes) / 1_024 : null
  } catch {
    return null
  }
}

export function megabytesOf(pid: number): number | null {
  return readMegabytes(pid, 'VmRSS')
}

/** The kernel keeps the peak itself: what happened between two readings is in the second. */
export function peakMegabytesOf(pid: number | undefined): number | null {
  return readMegabytes(pid, 'VmHWM')
}

/** Since the machine started, per processor: runnable time that the host gave to other machines; 0 where it is not counted. */
export function stolenSeconds(): number {
  try {
    const [, ...ticks] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/ +/)
    return Number(ticks[7] ?? 0) / ticksPerSecond / cpus().length
  } catch {
    return 0
  }
}
