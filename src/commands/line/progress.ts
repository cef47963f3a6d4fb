// Shows the progress of a long command on stderr: a bar on a terminal, elsewhere a line every five seconds. A command that
// ends before the first line is due writes none.

export type ProgressOutput = { write(text: string): unknown; isTTY?: boolean; columns?: number }

export type ProgressBar = {
  update(done: number, total: number): void
  /** Clears the bar before the result is written. */
  end(): void
}

const redrawMs = 100
const lineMs = 5_000
const maxBarWidth = 30
const defaultColumns = 80
const clearLine = '\r\x1b[K'
const thousands = new Intl.NumberFormat('en-US')

export function createProgressBar(
  label: string,
  output: ProgressOutput = process.stderr,
  nowMs: () => number = () => performance.now(),
): ProgressBar {
  const startedAt = nowMs()
  const pauseMs = output.isTTY ? redrawMs : lineMs
  let lastAt = output.isTTY ? Number.NEGATIVE_INFINITY : startedAt
  let drawn = false

  return {
    update(done, total) {
      const now = nowMs()
      if (now - lastAt < pauseMs) return
      lastAt = now
      const share = total > 0 ? Math.min(1, done / total) : 0
      const text = sentence(label, done, total, share, now - startedAt)
      output.write(output.isTTY ? `${clearLine}${withBar(text, share, output.columns ?? defaultColumns)}` : `${text}\n`)
      drawn = true
    },
    end() {
      if (output.isTTY && drawn) output.write(clearLine)
      drawn = false
    },
  }
}

function sentence(label: string, done: number, total: number, share: number, elapsedMs: number): string {
  const counted = `${label}: ${thousands.format(done)} of ${thousands.format(total)} (${Math.floor(share * 100)} %)`
  return share > 0 ? `${counted}, ${duration((elapsedMs / share) * (1 - share))} left` : counted
}

/** The two largest units: it is an estimate. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** Never wider than the terminal: a wrapped line could not be redrawn. */
function withBar(text: string, share: number, columns: number): string {
  const width = Math.min(maxBarWidth, columns - text.length - 4)
  if (width < 1) return text.slice(0, columns - 1)
  const full = Math.round(share * width)
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${text}`
}
