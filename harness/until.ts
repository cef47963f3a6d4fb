// Waits for a condition: polls until it holds, and fails with its name instead of hanging.
import { setTimeout as sleep } from 'node:timers/promises'

export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(25)
  }
}
