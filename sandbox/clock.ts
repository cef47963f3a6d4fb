// The sandbox's clock: the machine's, plus what the control endpoint has advanced it by. Every time in the sandbox is
// read here. It only goes forward, and the advance is kept in the journal: after a restart nothing is in the future.

import { boundedInteger } from './protocol/fields.ts'

export const advanceFields = { advanceMs: boundedInteger(0, 400 * 24 * 3600_000) }

export type Clock = ReturnType<typeof createClock>

export function createClock() {
  let offsetMs = 0
  return {
    now: (): Date => new Date(Date.now() + offsetMs),
    nowMs: (): number => Date.now() + offsetMs,
    offsetMs: (): number => offsetMs,
    setOffset(ms: number): void {
      offsetMs = ms
    },
  }
}
