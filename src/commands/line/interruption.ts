// Interrupts of a command: Ctrl-C, SIGTERM, or a closed stdout pipe. The first one aborts the command, which then closes its
// connections; the second one ends the process at once.

/** As shells have them: 128 plus the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, EPIPE: 141 }

export class Interrupted extends Error {
  override name = 'Interrupted'
  readonly exitCode: number
  /** A closed pipe is not reported as an error. */
  readonly isReported: boolean

  constructor(cause: keyof typeof exitCodes) {
    super('interrupted')
    this.exitCode = exitCodes[cause]
    this.isReported = cause !== 'EPIPE'
  }
}

/** The signal's reason is an Interrupted. */
export function watchInterrupts(): AbortSignal {
  const controller = new AbortController()
  function interrupt(cause: keyof typeof exitCodes): void {
    if (controller.signal.aborted) process.exit(exitCodes[cause])
    controller.abort(new Interrupted(cause))
  }
  process.on('SIGINT', () => interrupt('SIGINT'))
  process.on('SIGTERM', () => interrupt('SIGTERM'))
  // `credits keys list | head -1`: head closes the pipe after the first line.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (!controller.signal.aborted) interrupt('EPIPE')
  })
  return controller.signal
}

/** Resolves as the work does; rejects at an interrupt, without waiting for the work. */
export function unlessInterrupted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject)
  })
}
