// Which test files belong to which ring, which have a process of their own, and why. All others are shared out among a few
// processes, the lanes: each takes the next file when it has ended one. Those that need the machine for themselves come last,
// one at a time.
import { globSync } from 'node:fs'
import { dirname } from 'node:path'

/** What has a process of its own, by file or folder, because … */
export const alone: Record<string, string> = {
  'test/run.test.ts': 'it starts runs of its own',
  'test/gateway/checkout-script.test.ts': 'it puts a window and a document into the global scope',
  'test/simulation': 'it replaces timers, clocks, randomness and sockets of its process',
  'test/faults': 'the fault table replaces the clock of its process, and each file is as long as a group',
}

/** Left to `npm run test:outer`, by file or folder, because it is … */
export const outer: Record<string, string> = {
  'test/faults/campaign.test.ts': 'kills under load',
  'test/faults/ended-sessions.test.ts': 'kills under load',
  'test/spending/budgets/processes.test.ts': 'kills under load',
  'test/faults/calls-notifications.test.ts': 'the faults of jobs, which the simulated seed also has',
  'test/faults/calls-reconcile.test.ts': 'the faults of jobs, which the simulated seed also has',
  'test/process/crash.test.ts': 'kills under load',
  'test/process/bug.test.ts': 'kills under load',
  'test/security/guessing.test.ts': 'thousands of requests',
  'test/spending/processes.test.ts': 'several services as processes',
  'test/tracing/tracing.test.ts': 'traces, on which nothing else depends',
  'test/transparency/restored.test.ts': 'backup, copy and upgrade with processes',
  'test/browser/faults.test.ts': 'the matrix of pages, languages and widths',
  'test/browser/pictures.test.ts': 'the matrix of pages, languages and widths',
  'test/browser/sandbox.test.ts': 'the matrix of pages, languages and widths',
  'test/browser/shop-pages.test.ts': 'the matrix of pages, languages and widths',
  'test/browser/verify.test.ts': 'the matrix of pages, languages and widths',
  'test/console/browser/books.test.ts': 'the matrix of pages, languages and widths',
  'test/console/browser/pages.test.ts': 'the matrix of pages, languages and widths',
  'test/console/browser/session.test.ts': 'the matrix of pages, languages and widths',
  'test/openapi/page.test.ts': 'the matrix of pages, languages and widths',
  'test/console/browser/stories.test.ts': 'the stories in a browser beside one of an operator and one of a buyer',
  'test/process/clone.test.ts': 'a clone and the README, as a new user has them',
  'test/process/readme.test.ts': 'a clone and the README, as a new user has them',
  'test/process/start.test.ts': 'a clone and the README, as a new user has them',
  'test/operations/container.test.ts': 'backup, copy and upgrade with processes',
  'test/operations/copy.test.ts': 'backup, copy and upgrade with processes',
  'test/operations/copy-safety.test.ts': 'backup, copy and upgrade with processes',
  'test/operations/rehearsal.test.ts': 'backup, copy and upgrade with processes',
  'test/operations/rolling-upgrade.test.ts': 'backup, copy and upgrade with processes',
  'test/process/embedded.test.ts': 'backup, copy and upgrade with processes',
  'test/process/service-role.test.ts': 'backup, copy and upgrade with processes',
  'test/process/commands': 'commands as processes; the others call them in their own',
  'test/openapi/answers.test.ts': 'with tools that are installed for it',
  'test/openapi/undocumented.test.ts': 'with tools that are installed for it',
  'test/process/settled-after-kill.test.ts': 'kills under load',
  'test/process/machine.test.ts': 'a test of the tools',
  'test/client/browser.test.ts': 'a package of its own',
  'test/client/package.test.ts': 'a package of its own',
  'test/sandbox/product': 'a package of its own',
  'test/storefront': 'a package of its own',
  'test/bench': 'a test of the tools',
  'test/faults/campaign-checks.test.ts': 'a test of the tools',
  'test/process/bench.test.ts': 'a test of the tools',
  'test/process/fuzz.test.ts': 'a test of the tools',
  'test/simulation/checks.test.ts': 'a test of the tools',
  'test/run.test.ts': 'a test of the tools',
  'test/simulation/core.test.ts': 'a test of the tools',
  'test/simulation/record.test.ts': 'a test of the tools',
  'test/simulation/search.test.ts': 'a test of the tools',
  'test/simulation/shrink.test.ts': 'a test of the tools',
  'test/database/standbys.test.ts': 'on a primary with standbys',
  'test/faults/failover.test.ts': 'on three PostgreSQL under Patroni',
  'test/cluster': 'on a Citus cluster',
}

/** Taken first, so that no lane still runs one of them when the others have ended. */
const longest = [
  'test/audit/audit.test.ts',
  'test/process/readme.test.ts',
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

/** These files and no others. */
export function planOfFiles(files: string[]): Plan {
  return {
    alone: files.filter((file) => !last.includes(file)),
    shared: [],
    last: files.filter((file) => last.includes(file)),
  }
}

/** All these files, most of them in the lanes. */
export function planOf(files: string[] = allFiles().filter((file) => !isOuter(file))): Plan {
  const inRounds = files.filter((file) => !last.includes(file))
  const shared = inRounds.filter((file) => !isAlone(file))
  return {
    alone: inRounds.filter(isAlone),
    shared: [...longest.filter((file) => shared.includes(file)), ...shared.filter((file) => !longest.includes(file))],
    last: last.filter((file) => files.includes(file)),
  }
}
