// Which test files have a process of their own, and why. All others are shared out among a few processes, the lanes: each
// takes the next file when it has ended one. Those that need the machine for themselves come last, one at a time.
import { globSync } from 'node:fs'
import { dirname } from 'node:path'

/** What has a process of its own, by file or folder, because … */
export const alone: Record<string, string> = {
  'test/run.test.ts': 'it starts runs of its own',
  'test/gateway/checkout-script.test.ts': 'it puts a window and a document into the global scope',
  'test/simulation': 'it replaces timers, clocks, randomness and sockets of its process',
  'test/faults': 'the fault table replaces the clock of its process, and each file is as long as a group',
}

/** Left to `npm run test:outer`, by file or folder, because it needs … */
export const outer: Record<string, string> = {
  'test/faults/failover.test.ts': 'three PostgreSQL under Patroni',
  'test/cluster': 'a Citus cluster',
}

/** Seconds on the clock that the files of a folder may take together, on two cores with nothing else to do. */
export const budgets: Record<string, number> = {
  test: 15,
  'test/api': 50,
  'test/api/concurrency': 65,
  'test/api/faults': 35,
  'test/adjustments': 15,
  'test/audit': 90,
  'test/bench': 5,
  'test/browser': 95,
  'test/client': 40,
  'test/commands': 10,
  'test/config': 5,
  'test/console': 60,
  'test/console/browser': 190,
  'test/console/session': 40,
  'test/console/words': 5,
  'test/database': 55,
  'test/events': 60,
  'test/faults': 290,
  'test/gateway': 35,
  'test/hostile': 50,
  'test/http': 35,
  'test/metrics': 15,
  'test/openapi': 50,
  'test/operations': 130,
  'test/process': 280,
  'test/process/commands': 110,
  'test/reconcile': 50,
  'test/recovery': 40,
  'test/refund': 22,
  'test/sandbox': 25,
  'test/sandbox/product': 35,
  'test/security': 70,
  'test/simulation': 45,
  'test/spending': 90,
  'test/spending/budgets': 25,
  'test/spending/holds': 40,
  'test/storefront': 30,
  'test/tracing': 25,
  'test/transparency': 35,
  'test/unit': 5,
  'test/verify': 20,
  'test/webhooks': 15,
}

/** Taken first, so that no lane still runs one of them when the others have ended. */
const longest = [
  'test/process/readme.test.ts',
  'test/process/fuzz.test.ts',
  'test/operations/rehearsal.test.ts',
  'test/console/browser/pages.test.ts',
]

/**
 * Campaigns, which compare answers with time limits: beside the others they would fill a slow machine, and fail with them. Each
 * takes whole clusters of processes, as do the measurements and the load at killed processes. And the start, whose memory is
 * measured: without a free processor it is collected later.
 */
export const last = [
  'test/faults/campaign.test.ts',
  'test/process/bench.test.ts',
  'test/process/start.test.ts',
  'test/spending/budgets/processes.test.ts',
]

export type Plan = { alone: string[]; shared: string[]; last: string[] }

export const allFiles = () => globSync('test/**/*.test.ts').sort()
const isIn = (places: Record<string, string>) => (file: string) => file in places || dirname(file) in places
export const isOuter = isIn(outer)
const isAlone = isIn(alone)

/** Of these files alone. */
export function planOfFiles(files: string[]): Plan {
  return {
    alone: files.filter((file) => !last.includes(file)),
    shared: [],
    last: files.filter((file) => last.includes(file)),
  }
}

/** Every test file that is not left to the outer ring, once. */
export function planOf(): Plan {
  const files = allFiles().filter((file) => !last.includes(file) && !isOuter(file))
  const shared = files.filter((file) => !isAlone(file))
  return {
    alone: files.filter(isAlone),
    shared: [...longest, ...shared.filter((file) => !longest.includes(file))],
    last,
  }
}
