// Shared parts of the cases that break a rule of the audit: the type of a case, names of rules that break together, and
// damage that needs all rights over the database.
import type { Books } from '../database/books.ts'
import { rewriteLedgers } from './rewrite-ledgers.ts'

export type BrokenRule = {
  invariant: string
  rule: string
  when: string
  damage: (books: Books) => string
  /** Rules that necessarily break with it. */
  also?: string[]
}

export const guardsDown = `SCHEMA the schema's guards are in place`
export const namesEntry =
  'I-8 an entry that moves the credits of an order is the one that the order names, or of an accepted part'
export const byKind = 'I-20 the kind of an entry says what it does to the balance and to what is held, and for what'
export const entryOfOperation =
  'I-11 an entry of an operation is about its order and about all that it holds, and ends it as it ended'
export const eventOfEntry = 'I-17 an event about an order has the balance and the time of its ledger entry'
export const answered = 'I-22 the balance a confirm was answered with is what its grant left available'
/** The rules that later orders of the customer break after the ledger was rewritten. */
export const rewritten = [eventOfEntry, answered]
export const eventMatchesOrder = 'I-17 an event about an order tells what has become of it'

type Entry = {
  kind: string
  delta: number
  heldDelta?: number
  order?: string
  reference?: string
  /** An SQL expression. */
  holdId?: string
}

const quoted = (text: string | undefined) => (text ? `'${text}'` : 'null')

/** Adds an entry at the end of the customer's ledger, with the right hash. */
export const addEntry = (
  { customer }: Books,
  { kind, delta, heldDelta = 0, order, reference, holdId = 'null' }: Entry,
) => `
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                              held_delta, held_after, hold_id, service_id, entry_hash)
  select customer_id, last_entry + 1, '${kind}', ${delta}, balance + ${delta}, ${quoted(order)}, ${quoted(reference)},
         clock_timestamp(), ${heldDelta}, held + ${heldDelta}, ${holdId}, ${quoted(kind === 'SPEND' ? 'svc_test' : undefined)}, sha256('')
  from accounts where customer_id = '${customer}';
  ${rewriteLedgers}`

export const account = (set: string) => (books: Books) =>
  `update accounts set ${set} where customer_id = '${books.customer}'`
export const holdOf = (name: keyof Books, set: string) => (books: Books) =>
  `update holds set ${set} where hold_id = '${books[name]}'`
export const orderOf = (name: keyof Books, set: string) => (books: Books) =>
  `update orders set ${set} where order_id = '${books[name]}'`
export const operationOf = (name: keyof Books, kind: string, set: string) => (books: Books) =>
  `update payment_operations set ${set} where order_id = '${books[name]}' and kind = '${kind}'`
export const withoutOperation = (name: keyof Books, kind: string) => (books: Books) =>
  `delete from payment_operations where order_id = '${books[name]}' and kind = '${kind}'`
