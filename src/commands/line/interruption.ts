// How a command is ended from outside: Ctrl-C, a request to terminate, or nobody who reads what it writes. The first asks it
// to stop, and what it has opened is closed; the second ends it at once.

/** Exit codes as shells know them: 128 and the number of the signal. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, EPIPE: 141 }

export class Interrupted extends Error {
  override name = 'Interrupted'
  readonly exitCode: number
  /** Whether there is somebody to be told. */
  readonly isSeen: boolean

  constructor(cause: keyof typeof exitCodes) {
    super('interrupted')
    this.exitCode = exitCodes[cause]
    this.isSeen = cause !== 'EPIPE'
  }
}

/** Aborted with an Interrupted. */
export function watchInterrupts(): AbortSignal {
  const controller = new AbortController()
  function interrupt(cause: keyof typeof exitCodes): void {
    if (controller.signal.aborted) process.exit(exitCodes[cause])
    controller.abort(new Interrupted(cause))
  }
  process.on('SIGINT', () => interrupt('SIGINT'))
  process.on('SIGTERM', () => interrupt('SIGTERM'))
  // `credits keys list | head -1`: head has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (!controller.signal.aborted) interrupt('EPIPE')
  })
  return controller.signal
}

/** What the work gives back, or the interruption: then nobody waits for the work any more. */
export function unlessInterrupted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject)
  })
}
