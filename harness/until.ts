// Waiting for something that happens elsewhere: asks until it is so, and fails with a name instead of hanging.
import { setTimeout as sleep } from 'node:timers/promises'

export async function until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`waited ${limitMs} ms in vain: ${what}`)
    await sleep(10)
  }
}
