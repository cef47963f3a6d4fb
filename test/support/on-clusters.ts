// What `npm run test:cluster` runs, on a coordinator with three workers, and what it leaves out. Those tests look at or change
// tables of customers past the service, as the owner on the coordinator, in a way that Citus refuses. The service is not
// different there, except where the reason says so.
import { globSync } from 'node:fs'

const folders = [
  'test/adjustments',
  'test/api',
  'test/audit',
  'test/cluster',
  'test/console',
  'test/events',
  'test/faults',
  'test/reconcile',
  'test/recovery',
  'test/refund',
  'test/spending',
  'test/webhooks',
]

const leftOut = ['test/audit/audit.test.ts']

export function filesOnClusters(): string[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`))
  return files.filter((file) => !file.includes('/browser/') && !leftOut.includes(file)).sort()
}

/** The beginnings of titles, by the reason. */
export const skippedOnClusters: Record<string, string[]> = {
  'the session that it sets up leads to the coordinator alone': ['the hash of a row is the same in every session'],
  'it fills the tables in bulk, without indexes and keys': ['days are Korean days, and the credits outstanding'],
  'a cluster has no budget over all customers': ['the budget of a service over all customers counts all its tokens'],
}
