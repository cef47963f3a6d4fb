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
  'test/reconcile',
  'test/recovery',
  'test/refund',
  'test/spending',
  'test/webhooks',
]

const leftOut = ['test/audit/audit.test.ts', 'test/audit/daily-audit.test.ts']

export function filesOnClusters(): string[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.test.ts`))
  return files.filter((file) => !file.includes('/browser/') && !leftOut.includes(file)).sort()
}

/** The beginnings of titles, by the reason. */
export const skippedOnClusters: Record<string, string[]> = {
  'it locks rows': [
    '4.2: a confirm that began while its paymentKey was in use for another order',
    'an account that a payment has locked is left for the next time',
    'spends of a locked account are SVC001 together',
    'the sweep of holds continues after a locked account',
    'the sweep of orders continues after a locked account',
    'a spend that waited for the account while a budget was set',
    'no caller gets EXPIRED while a capture that came in time is still running',
    'an adjustment and a request with one id at once',
    'the aggregation waits for rows of uncommitted transactions',
  ],
  'it writes, damages or reads rows by statements that Citus refuses': [
    'the database refuses to delete an event that is young',
    'a rolled back statement has no effect: neither credits nor event',
    'E2: an expired order cannot get a confirm',
    'a hold that the books do not cover does not prevent the expiry of other holds',
    'a new period begins with nothing used',
    'a hold counts when it is opened, and its end gives back what was not captured',
    '64 attempts to end a hold at once',
    'parts that race a final capture',
    'an extension that races the expiry',
    'an extension that waited for the hold until its time was over',
    'spends of the version before take paid credits first',
    'customers are listed newest first, each once',
    'holds are listed by expiry, page by page',
    'the same slice is added once, however often it is requested',
    'days are Korean days, and the credits outstanding',
    'the home page shows the last audit',
    'an attempt is stored once although its statement is repeated',
    'an event is found among thousands of one customer',
    'a cancel with a key younger than a day is listed',
    'the hash of a row is the same in every session',
  ],
  'a statement is about the customers of one group': [
    'spends of one customer in one statement are applied in order',
    'each of several openings returns its own hold',
    'each of several endings returns its own hold',
  ],
  'a cluster has no budget over all customers': [
    'the budget of a service over all customers counts all its tokens',
    'spends and holds at two services under eleven budgets',
  ],
  'it expects both results of a race, or a number of audits, in the time of one server': [
    'C26: with a sweep and a confirm at the same moment',
    'during live traffic no audit finds a violation',
  ],
}
