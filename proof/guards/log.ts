// Sabotages of the transparency log and of receipts. Triggers refuse a head without its tiles, a run that does not continue the
// log and a second append of the same entries: what is broken here is what no constraint can see.
import type { Sabotage } from './sabotage.ts'

const appendSql = 'src/transparency/append.sql.ts'

export const logSabotages: Record<string, Sabotage> = {
  'checkpoint-signed-late': {
    what: 'The log grows under the checkpoint of its earlier size, until the worker runs again.',
    changes: [
      {
        file: appendSql,
        from: `root = $4::bytea, note = $5::text, marks =`,
        to: `root = $4::bytea, note = case when $5::text <> '' then note end, marks =`,
      },
    ],
  },
  'log-left-to-the-dead': {
    what: 'The process that has appended last is expected to go on, whether it lives or not.',
    changes: [
      {
        file: appendSql,
        from: `appended_at > now() - $1::int * interval '1 ms' and appended_at <= now() as "isFresh"`,
        to: `appended_at > '-infinity' and $1::int > 0 as "isFresh"`,
      },
    ],
  },
  'receipt-of-other-entries': {
    what: 'The receipt of an order has all entries of its customer.',
    changes: [
      {
        file: 'src/transparency/receipts/receipts.sql.ts',
        from: ` and e.order_id = o.order_id and e.delta <> 0`,
        to: ` and e.delta <> 0`,
      },
    ],
  },
}
