// What `npm run test:cluster` runs, on a coordinator with three workers, and what it leaves out, by the reason. The service is
// not different there, except that it has no budget over all customers.
import { globSync } from 'node:fs'

const folders = [
  'test/adjustments',
  'test/api',
  'test/audit',
  'test/cluster',
  'test/console',
  'test/events',
  'test/faults',
  'test/hostile',
  'test/reconcile',
  'test/recovery',
  'test/refund',
  'test/security',
  'test/spending',
  'test/storefront',
  'test/transparency',
  'test/webhooks',
]

const leftOut: Record<string, string[]> = {
  'it damages the tables and their guards in one transaction, and audits in it': [
    'test/audit/conditions.test.ts',
    'test/audit/audit.test.ts',
    'test/audit/security-table.test.ts',
    'test/transparency/check.test.ts',
  ],
  'it starts its own PostgreSQL': ['test/faults/campaign.test.ts', 'test/faults/failover.test.ts'],
}

export function filesOnClusters(): string[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`))
  const others = Object.values(leftOut).flat()
  return files.filter((file) => !file.includes('/browser/') && !others.includes(file)).sort()
}

/** The beginnings of titles, by the reason. */
export const skippedOnClusters: Record<string, string[]> = {
  'it waits for locks of one server': ['of two processes that wait for the account of the platform'],
  'it audits in the transaction that has damaged the tables': ['the audit finds a published checkpoint that is not'],
  'the session that it sets up leads to the coordinator alone': [
    'the hash of a row is the same in every session',
    'an entry that commits after younger ones were appended',
    'an entry that the reads of every second have missed',
    'an entry that the ledger has otherwise than the log',
    'an entry that is in the log and not in the ledger',
  ],
  'it fills the tables in bulk, without indexes and keys': [
    'days are Korean days, and the credits outstanding',
    'today and the month are compared with a count of the rows',
  ],
  'each group of customers has its turn': ['the queue that has waited longest is claimed first'],
  'a cluster has no budget over all customers': [
    'the budget of a service over all customers counts all its tokens',
    'a service has a budget over all customers, named without the blanks',
    'a spend that waited for the account while the budget of its service was lowered',
  ],
}
