// Which test files share a process, which have one of their own and why, and in which order the processes start: the
// longest first, so that no core is idle while the last one ends. A file that no row names is in the group of its folder.
import { globSync } from 'node:fs'
import { dirname } from 'node:path'

/** What has a process of its own, by file or folder, because … */
export const alone: Record<string, string> = {
  'test/run.test.ts': 'it starts runs of its own',
  'test/gateway/checkout-script.test.ts': 'it puts a window and a document into the global scope',
  'test/faults': 'the fault table replaces the clock of its process, and each file is as long as a group',
}

/** Folders that share a process, since each has little to do; any other folder has one for itself. */
const together: Record<string, readonly string[]> = {
  'without a service': ['test', 'test/unit', 'test/bench', 'test/commands', 'test/config', 'test/console/words'],
  'with a browser': ['test/browser', 'test/console/browser'],
  'after a payment': ['test/refund', 'test/reconcile', 'test/webhooks'],
  'as seen from outside': ['test/client', 'test/openapi', 'test/storefront'],
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

/** They start first. */
const longest = [
  'test/process',
  'with a browser',
  'test/operations',
  'test/process/commands',
  'test/faults/crossings-confirm.test.ts',
  'test/faults/campaign.test.ts',
  'test/api/concurrency',
  'test/console/session',
  'test/events',
  'test/audit',
]

export type Entry = { name: string; files: string[] }

function entryOf(file: string): string {
  const folder = dirname(file)
  if (file in alone || folder in alone) return file
  return Object.keys(together).find((name) => together[name]?.includes(folder)) ?? folder
}

function rankOf({ name }: Entry): number {
  const place = longest.indexOf(name)
  return place < 0 ? longest.length : place
}

/** Every test file there is, each in one entry. */
export function planOf(files = globSync('test/**/*.test.ts').sort()): Entry[] {
  const entries = Object.groupBy(files, entryOf)
  return Object.entries(entries)
    .map(([name, each = []]) => ({ name, files: each }))
    .sort((one, other) => rankOf(one) - rankOf(other))
}
