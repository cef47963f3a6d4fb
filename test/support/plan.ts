// Which test files have a process of their own, and why. All others are shared out among a few processes, the lanes: each
// takes the next file when it has ended one.
import { globSync } from 'node:fs'
import { dirname } from 'node:path'

/** What has a process of its own, by file or folder, because … */
export const alone: Record<string, string> = {
  'test/run.test.ts': 'it starts runs of its own',
  'test/gateway/checkout-script.test.ts': 'it puts a window and a document into the global scope',
  'test/faults': 'the fault table replaces the clock of its process, and each file is as long as a group',
}

/** Seconds on the clock that the files of a folder may take together, on two cores with nothing else to do. */
export const budgets: Record<string, number> = {
  test: 20,
  'test/api': 40,
  'test/api/concurrency': 45,
  'test/api/faults': 35,
  'test/audit': 45,
  'test/bench': 5,
  'test/browser': 60,
  'test/client': 30,
  'test/commands': 10,
  'test/config': 5,
  'test/console': 60,
  'test/console/browser': 90,
  'test/console/session': 50,
  'test/console/words': 5,
  'test/database': 30,
  'test/events': 60,
  'test/faults': 180,
  'test/gateway': 30,
  'test/hostile': 45,
  'test/http': 25,
  'test/metrics': 15,
  'test/openapi': 30,
  'test/operations': 90,
  'test/process': 150,
  'test/process/commands': 90,
  'test/reconcile': 30,
  'test/recovery': 40,
  'test/refund': 15,
  'test/sandbox': 40,
  'test/security': 60,
  'test/spending': 60,
  'test/storefront': 20,
  'test/tracing': 20,
  'test/unit': 10,
  'test/webhooks': 20,
}

/** Taken first, so that no lane still runs one of them when the others have ended. */
const longest = [
  'test/process/readme.test.ts',
  'test/process/fuzz.test.ts',
  'test/operations/rehearsal.test.ts',
  'test/console/browser/pages.test.ts',
]

export type Plan = { alone: string[]; shared: string[] }

/** Every test file there is, once. */
export function planOf(files = globSync('test/**/*.test.ts').sort()): Plan {
  const isAlone = (file: string) => file in alone || dirname(file) in alone
  const shared = files.filter((file) => !isAlone(file))
  return {
    alone: files.filter(isAlone),
    shared: [...longest, ...shared.filter((file) => !longest.includes(file))],
  }
}
