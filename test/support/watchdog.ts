// The last resort against a test process that does not exit: a hook that never ends, or a server, pool or process that a
// failed test left open. It is loaded before each test file (--import). When no test has begun or ended for some minutes it
// reports what keeps the process and ends it with a code that fails the file. A leak is reported, not hidden:
// --test-force-exit would end such a process as a success. One whose event loop never yields is killed by the run (children.ts).
import { writeSync } from 'node:fs'
import { afterEach, beforeEach } from 'node:test'
import { isMainThread } from 'node:worker_threads'

export const idleLimitVariable = 'TEST_IDLE_LIMIT_MS'

/** Longer than a test may take (--test-timeout), and than the installation of a browser before the first one. */
export const idleLimitMs = Number(process.env[idleLimitVariable] ?? 600_000)

// Not in the process that starts the files, and not in the threads of a test.
if (process.env.NODE_TEST_CONTEXT && isMainThread) {
  const timer = setTimeout(end, idleLimitMs).unref()
  beforeEach(() => void timer.refresh())
  afterEach(() => void timer.refresh())
  // A run that is stopped: what a test has started ends with its process (harness/launch.ts).
  process.once('SIGTERM', () => process.exit(143))
}

function end(): void {
  const kept = Object.entries(Object.groupBy(process.getActiveResourcesInfo(), (name) => name))
  const names = kept.map(([name, each = []]) => `${each.length} ${name}`).join(', ')
  writeSync(2, `No test has begun or ended for ${idleLimitMs} ms, and the process stays. It is kept by: ${names}\n`)
  process.exit(1)
}
