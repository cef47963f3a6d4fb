// Which entries a receipt is about: those of an order, of a reference, or how many a customer has. Each is looked up by an
// index that begins with the customer; the entries themselves are read by the log.
import { type Database, statement } from '../../db/database.ts'

/** In the order of their numbers; null: there is no such order or reference of this customer. */
export type FoundEntries = number[] | null

// What the order has moved: granted, taken back. By a unique index these are a few. Entries of a cancellation that only hold and
// release credits are not among them. An order without entries is one row without a number.
const findOrderEntriesStatement = statement.ofCustomer(
  'transparency.findOrderEntries',
  `select e.entry_number as "entryNumber"
  from orders o
  left join ledger_entries e on e.customer_id = o.customer_id and e.order_id = o.order_id and e.delta <> 0
  where o.customer_id = $1 and o.order_id = $2
  order by e.entry_number`,
)

export async function findOrderEntries(
  database: Database,
  { customerId, orderId }: { customerId: string; orderId: string },
): Promise<FoundEntries> {
  type Row = { entryNumber: number | null }
  const rows = await database.run<Row>(findOrderEntriesStatement, [customerId, orderId])
  return rows.length === 0 ? null : rows.flatMap(({ entryNumber }) => entryNumber ?? [])
}

// A reference names one entry. That of a hold stands for all that became of it: its parts and its end.
const findReferenceEntriesStatement = statement.ofCustomer(
  'transparency.findReferenceEntries',
  `select e.entry_number as "entryNumber"
  from ledger_entries named
  cross join lateral (
    select named.entry_number
    union all
    select h.entry_number from ledger_entries h
    where named.kind = 'HOLD' and h.customer_id = named.customer_id and h.hold_id = named.hold_id and h.kind <> 'HOLD'
  ) e
  where named.customer_id = $1 and named.reference = $2
  order by e.entry_number
  limit $3`,
)

/** At most `limit`. */
export async function findReferenceEntries(
  database: Database,
  { customerId, reference }: { customerId: string; reference: string },
  limit: number,
): Promise<FoundEntries> {
  const values = [customerId, reference, limit]
  const rows = await database.run<{ entryNumber: number }>(findReferenceEntriesStatement, values)
  return rows.length === 0 ? null : rows.map(({ entryNumber }) => entryNumber)
}

const findLastEntryStatement = statement.ofCustomer(
  'transparency.findLastEntry',
  `select last_entry as "lastEntry" from accounts where customer_id = $1`,
)

/** 0 before the first; null: there is no such customer. */
export async function findLastEntry(database: Database, customerId: string): Promise<number | null> {
  const [row] = await database.run<{ lastEntry: number }>(findLastEntryStatement, [customerId])
  return row?.lastEntry ?? null
}
