// Shows on stderr how far a long command is: a bar that draws itself again on a terminal, elsewhere a plain line every
// few seconds. A command that is done before the first line is due says nothing.

export type ProgressOutput = { write(text: string): unknown; isTTY?: boolean; columns?: number }

export type Progress = {
  update(done: number, total: number): void
  /** Takes the bar away: what follows is the result. */
  end(): void
}

const redrawMs = 100
const lineMs = 5_000
const widestBar = 30
const plainColumns = 80
const clearLine = '\r\x1b[K'
const thousands = new Intl.NumberFormat('en-US')

export function createProgress(
  label: string,
  output: ProgressOutput = process.stderr,
  nowMs: () => number = () => performance.now(),
): Progress {
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
      output.write(output.isTTY ? `${clearLine}${withBar(text, share, output.columns ?? plainColumns)}` : `${text}\n`)
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

/** The largest two units are enough for an estimate. */
function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor((seconds % 3_600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`
}

/** One line, whatever the width: a wrapped one could not be drawn again. */
function withBar(text: string, share: number, columns: number): string {
  const width = Math.min(widestBar, columns - text.length - 4)
  if (width < 1) return text.slice(0, columns - 1)
  const full = Math.round(share * width)
  return `[${'#'.repeat(full)}${'-'.repeat(width - full)}] ${text}`
}
