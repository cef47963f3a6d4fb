// What a command shows on stderr while it runs: how far each of its phases is, and after five seconds without progress what it
// waits for. The statements of a command have no time limit: a slow one must not look like a command that hangs. With --json
// and without a terminal each line is a JSON document, as warnings and errors are.
import type { WatchStatement } from '../../db/database.ts'
import { createProgressBar, type ProgressBar, type ProgressOutput } from './progress.ts'

export type Status = {
  show(phase: string, done: number, total: number): void
  watch: WatchStatement
  /** Passes on what the command writes to stdout, and counts its lines. */
  counted(pieces: AsyncIterable<string>): AsyncIterable<string>
  /** From now on nothing is asked: lines disturb no question. */
  begin(): void
  /** Clears the bar before the result is written. */
  end(): void
}

const quietMs = 5_000
const checkMs = 1_000
const clearLine = '\r\x1b[K'
const defaultColumns = 80
const thousands = new Intl.NumberFormat('en-US')

export function createStatus(
  isJson: boolean,
  stream: ProgressOutput = process.stderr,
  nowMs: () => number = () => performance.now(),
): Status {
  const { isTTY = false, columns = defaultColumns } = stream
  const underWay = new Set<{ name: string; sinceMs: number }>()
  let movedMs = nowMs()
  let startedMs = movedMs
  let reached: { phase: string; done: number; total: number } | undefined
  let bar: ProgressBar | undefined
  let writtenLines = 0
  let isWaitShown = false
  let timer: NodeJS.Timeout | undefined

  const output: ProgressOutput = {
    isTTY,
    columns,
    write(text) {
      movedMs = nowMs()
      stream.write(isJson && !isTTY ? `${JSON.stringify({ progress: text.trimEnd() })}\n` : text)
    },
  }

  function waitText(): string {
    const now = nowMs()
    const [oldest] = underWay
    const seconds = (sinceMs: number) => `${Math.round((now - sinceMs) / 1_000)} s`
    const what =
      oldest && now - oldest.sinceMs >= checkMs
        ? `Waiting for the database for ${seconds(oldest.sinceMs)}: ${oldest.name}`
        : `Running for ${seconds(startedMs)}`
    if (writtenLines > 0) return `${what}, ${thousands.format(writtenLines)} lines written`
    if (!reached) return what
    return `${what}, ${reached.phase}: ${thousands.format(reached.done)} of ${thousands.format(reached.total)}`
  }

  function clearWait(): void {
    if (isTTY && isWaitShown) stream.write(clearLine)
    isWaitShown = false
  }

  function sayIfQuiet(): void {
    if (nowMs() - movedMs < quietMs) return
    const text = waitText()
    isWaitShown = true
    output.write(isTTY ? `${clearLine}${text.slice(0, columns - 1)}` : `${text}\n`)
  }

  return {
    show(phase, done, total) {
      if (reached?.phase !== phase) {
        bar?.end()
        bar = createProgressBar(phase, output, nowMs)
      }
      reached = { phase, done, total }
      movedMs = nowMs()
      bar?.update(done, total)
    },
    watch(name) {
      const statement = { name, sinceMs: nowMs() }
      underWay.add(statement)
      return () => underWay.delete(statement)
    },
    async *counted(pieces) {
      for await (const piece of pieces) {
        clearWait()
        movedMs = nowMs()
        writtenLines += piece.split('\n').length - 1
        yield piece
      }
    },
    begin() {
      startedMs = nowMs()
      movedMs = startedMs
      timer ??= setInterval(sayIfQuiet, checkMs).unref()
    },
    end() {
      clearInterval(timer)
      timer = undefined
      bar?.end()
      clearWait()
    },
  }
}
