// Progress of a measurement on stderr: a line for each step done, and how long the rest will take.
import type { Log } from '../../src/db/database.ts'

export function logLine(text: string): void {
  process.stderr.write(`${text}\n`)
}

export const databaseLog: Log = {
  warn: (fields, message) => logLine(`${message} ${JSON.stringify(fields)}`),
  error: (fields, message) => logLine(`${message} ${JSON.stringify(fields)}`),
}

/** For each step: `3 of 81, about 7 min left: ...`. */
export function createProgress(total: number, now: () => number = Date.now): (what: string) => string {
  const startedAt = now()
  let done = 0
  return (what) => {
    done += 1
    const leftMinutes = ((now() - startedAt) / done / 60_000) * (total - done)
    return `${done} of ${total}, about ${Math.ceil(leftMinutes)} min left: ${what}`
  }
}
