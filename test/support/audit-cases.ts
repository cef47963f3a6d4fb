// Books that break one rule of the audit each, as somebody with all rights over the database could break them. Where a
// guard of the schema stands in the way it is taken down first, and the audit names that too.
import type { Books } from './books.ts'
import { rewriteHashes, rewriteLedgers } from './rewrite-ledgers.ts'

export type BrokenRule = {
  invariant: string
  rule: string
  when: string
  damage: (books: Books) => string
  /** Rules that cannot but break with it. */
  also?: string[]
}

/** One more entry at the end of the customer's ledger, rightly chained. */
const addEntry = (
  { customer }: Books,
  columns: { kind: string; delta: number; order?: string; reference?: string },
) => `
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, entry_hash)
  select customer_id, last_entry + 1, '${columns.kind}', ${columns.delta}, balance + ${columns.delta},
         ${columns.order ? `'${columns.order}'` : 'null'}, ${columns.reference ? `'${columns.reference}'` : 'null'},
         sha256('')
  from accounts where customer_id = '${customer}';
  ${rewriteLedgers}`

const guardsDown = `SCHEMA the schema's guards are in place`
const namesEntry = 'I-8 an entry for an order is the one that the order names'
const chained = 'I-3 each balance is the one before it plus the credits of the entry'
const allowed = 'the operations of an order are those its state allows'
const granted = 'I-4 a CONFIRMED order has one grant of its credits and no other entry'
const grantTime = 'I-10 confirmed_at is the time of the grant'

const account = (set: string) => (books: Books) => `update accounts set ${set} where customer_id = '${books.customer}'`
const orderOf = (name: keyof Books, set: string) => (books: Books) =>
  `update orders set ${set} where order_id = '${books[name]}'`
const operationOf = (name: keyof Books, kind: string, set: string) => (books: Books) =>
  `update payment_operations set ${set} where order_id = '${books[name]}' and kind = '${kind}'`
const withoutOperation = (name: keyof Books, kind: string) => (books: Books) =>
  `delete from payment_operations where order_id = '${books[name]}' and kind = '${kind}'`

export const brokenRules: BrokenRule[] = [
  {
    ...{ invariant: 'I-1', rule: 'the balance is what the last entry of the ledger left' },
    ...{ when: 'a balance was raised by hand', damage: account('balance = balance + 1') },
  },
  {
    ...{
      invariant: 'I-2',
      rule: 'nothing is negative, what is held is covered, and JSON can tell the balance exactly',
    },
    when: 'more is held than there is',
    damage: (books) =>
      `alter table accounts drop constraint accounts_held_is_covered; ${account('held = balance + 1')(books)}`,
    also: ['I-11 what is held is what the open operations hold', guardsDown],
  },
  {
    ...{ invariant: 'I-3', rule: 'the account knows the number of its last entry' },
    ...{ when: 'the account has another number', damage: account('last_entry = last_entry + 1') },
  },
  {
    ...{ invariant: 'I-15', rule: 'the account knows the hash of its last entry' },
    ...{ when: 'the account has another hash', damage: account(`last_hash = sha256('')`) },
  },
  {
    ...{ invariant: 'I-15', rule: 'the account knows the hash of its last entry' },
    when: 'the last entry was removed',
    damage: ({ customer }) => `delete from ledger_entries e using accounts a where a.customer_id = '${customer}'
      and e.customer_id = a.customer_id and e.entry_number = a.last_entry`,
    also: [
      ...[
        'I-1 the balance is what the last entry of the ledger left',
        'I-3 the account knows the number of its last entry',
      ],
      ...[granted, grantTime, 'I-22 the balance a confirm was answered with is covered by its grant'],
    ],
  },
  {
    ...{ invariant: 'I-11', rule: 'what is held is what the open operations hold' },
    ...{ when: 'something is held for nobody', damage: account('held = held + 1') },
  },
  {
    ...{ invariant: 'I-11', rule: 'what is held is what the open operations hold' },
    when: 'an open cancel is gone and left what it held',
    damage: withoutOperation('cancelling', 'CANCEL'),
  },
  {
    ...{ invariant: 'I-1', rule: 'every ledger belongs to an account', when: 'an account was deleted' },
    damage: ({ customer }) => `delete from accounts where customer_id = '${customer}'`,
  },
  {
    ...{ invariant: 'I-3', rule: 'the entries of a customer are numbered from one without a gap' },
    ...{ when: 'an entry was deleted', damage: () => `delete from ledger_entries where reference = 'second'` },
  },
  {
    ...{ invariant: 'I-3', rule: 'each balance is the one before it plus the credits of the entry' },
    when: 'a balance in the middle was changed, and the hashes with it',
    damage: () =>
      `update ledger_entries set balance_after = balance_after + 1 where reference = 'second'; ${rewriteHashes}`,
  },
  {
    ...{
      invariant: 'I-15',
      rule: 'no entry has been changed: its hash is that of the entry and of the hash before it',
    },
    when: 'a reference was changed',
    damage: () => `update ledger_entries set reference = 'other' where reference = 'second'`,
  },
  {
    ...{ invariant: 'I-2', rule: 'no balance has ever been negative', when: 'a balance in the middle is' },
    damage: () => `alter table ledger_entries drop constraint ledger_entries_never_negative;
      update ledger_entries set balance_after = -1 where reference = 'second'; ${rewriteHashes}`,
    also: [chained, guardsDown],
  },
  {
    ...{ invariant: 'I-20', rule: 'only a grant adds credits, everything else takes them, and each says for what' },
    when: 'a spend added credits',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_sign;
      update ledger_entries set delta = -delta where reference = 'second'; ${rewriteLedgers}`,
    also: [guardsDown],
  },
  {
    ...{ invariant: 'I-8', rule: 'an entry for an order is the one that the order names' },
    when: 'credits were granted for an order that is not there',
    damage: (books) => addEntry(books, { kind: 'GRANT', delta: 21, order: 'ord_of_nobody' }),
  },
  {
    ...{ invariant: 'I-8', rule: 'no reference is spent twice', when: 'one is' },
    damage: (books) =>
      `drop index ledger_entries_once_per_reference; ${addEntry(books, { kind: 'SPEND', delta: -1, reference: 'first' })}`,
    also: [guardsDown],
  },
  {
    ...{ invariant: 'I-4', rule: 'a CONFIRMED order has one grant of its credits and no other entry' },
    when: 'the order names the grant of another',
    damage: ({ confirmed, kept }) => `update orders set grant_entry = (select grant_entry from orders
      where order_id = '${kept}') where order_id = '${confirmed}'`,
    also: [namesEntry],
  },
  {
    ...{ invariant: 'I-4', rule: 'a CONFIRMED order has one grant of its credits and no other entry' },
    when: 'more was granted than the order sells',
    damage: ({ confirmed }) => `update ledger_entries set delta = delta + 1 where order_id = '${confirmed}';
      ${rewriteLedgers}`,
  },
  {
    ...{ invariant: 'I-5', rule: 'a PENDING or FAILED order has no entries', when: 'one was granted credits' },
    damage: (books) => addEntry(books, { kind: 'GRANT', delta: 21, order: books.pending }),
    also: [namesEntry, grantTime],
  },
  {
    ...{ invariant: 'I-6', rule: 'a CANCELLED order has its grant and one rollback of as much' },
    when: 'less was taken back than granted',
    damage: () => `update ledger_entries set delta = delta + 1 where kind = 'ROLLBACK'; ${rewriteLedgers}`,
  },
  {
    ...{ invariant: 'I-7', rule: 'a REFUNDED order has its grant, and a refund and a shortfall that make up for it' },
    when: 'less was taken back than the order says',
    damage: ({ refunded }) => `update ledger_entries set delta = delta + 1
      where kind = 'REFUND' and order_id = '${refunded}'; ${rewriteLedgers}`,
  },
  {
    ...{ invariant: 'I-7', rule: 'a REFUNDED order has its grant, and a refund and a shortfall that make up for it' },
    when: 'all was spent and the order says otherwise',
    damage: (books) => `alter table orders drop constraint orders_refunded_means_accounted_for;
      ${orderOf('whollySpent', 'refund_shortfall = 20')(books)}`,
    also: [
      'I-12 a cancel holds the credits of its order, and a refund what the order says was left of them',
      guardsDown,
    ],
  },
  {
    ...{ invariant: 'I-8', rule: 'no order is credited twice', when: 'one is' },
    damage: (books) =>
      `drop index ledger_entries_once_per_order; ${addEntry(books, { kind: 'GRANT', delta: 21, order: books.confirmed })}`,
    also: [granted, namesEntry, guardsDown],
  },
  {
    ...{ invariant: 'I-9', rule: 'amount and credits are those of the catalogue', when: 'an order is cheaper' },
    damage: orderOf('pending', 'amount = amount - 1'),
  },
  {
    invariant: 'I-10',
    rule: 'confirmed_at is set when and only when the order was confirmed, and not before it was created',
    ...{ when: 'it is before', damage: orderOf('confirmed', `created_at = confirmed_at + interval '1 hour'`) },
  },
  {
    ...{ invariant: 'I-10', rule: 'confirmed_at is the time of the grant', when: 'it is another' },
    damage: orderOf('confirmed', `confirmed_at = confirmed_at + interval '1 second'`),
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'an order with an open confirm is FAILED' },
    damage: orderOf('confirming', `status = 'FAILED'`),
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'an expired order is PENDING again' },
    damage: orderOf('expired', `status = 'PENDING'`),
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'nobody confirmed a CONFIRMED order' },
    damage: withoutOperation('confirmed', 'CONFIRM'),
    also: ['I-22 the balance a confirm was answered with is covered by its grant'],
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'nobody cancelled a CANCELLED order' },
    damage: withoutOperation('cancelled', 'CANCEL'),
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'nobody refunded a REFUNDED order' },
    damage: withoutOperation('partlySpent', 'REFUND'),
  },
  {
    ...{ invariant: 'I-12', rule: allowed, when: 'money of a CONFIRMED order was returned as that of a FAILED one' },
    damage: ({ returned, confirmed }) =>
      `update payment_operations set order_id = '${confirmed}' where order_id = '${returned}' and kind = 'RETURN'`,
  },
  {
    ...{ invariant: 'I-14', rule: 'no idempotency key is on two orders of a customer', when: 'one is' },
    damage: ({ customer }) => `drop index orders_once_per_idempotency_key;
      update orders set idempotency_key = 'twice' where customer_id = '${customer}'`,
    also: [guardsDown],
  },
  {
    ...{ invariant: 'I-22', rule: 'the balance a confirm was answered with is covered by its grant' },
    ...{ when: 'it is more', damage: operationOf('confirmed', 'CONFIRM', 'total_credits = 1000') },
  },
  {
    ...{ invariant: 'I-8', rule: 'no payment key is on two orders of a customer', when: 'one is' },
    damage: ({ confirmed, confirming }) => `drop index payment_operations_payment_key;
      update payment_operations set payment_key = 'paid_twice' where order_id in ('${confirmed}', '${confirming}')`,
    also: [guardsDown],
  },
  {
    ...{ invariant: 'I-12', rule: 'an operation is about an order and its whole amount', when: 'it is about less' },
    damage: operationOf('confirmed', 'CONFIRM', 'amount = amount - 1'),
  },
  {
    ...{ invariant: 'I-12', rule: 'an operation is about an order and its whole amount', when: 'the order is gone' },
    damage: ({ confirming }) => `delete from orders where order_id = '${confirming}'`,
  },
  {
    ...{ invariant: 'I-12', rule: 'a refused operation left its order in a state that it could be in' },
    ...{ when: 'the order of a refused confirm is PENDING', damage: orderOf('failed', `status = 'PENDING'`) },
  },
  {
    ...{ invariant: 'I-12', rule: 'money goes back by the payment key it was captured with', when: 'by another' },
    damage: operationOf('cancelled', 'CANCEL', `payment_key = 'paid_other'`),
  },
  {
    invariant: 'I-12',
    rule: 'a cancel holds the credits of its order, and a refund what the order says was left of them',
    ...{ when: 'a cancel held less', damage: operationOf('cancelled', 'CANCEL', 'credits_held = 1') },
  },
  {
    invariant: 'I-13',
    rule: 'nothing is stranded: whatever is open has somebody who works on it or will soon',
    when: 'an open confirm has been left alone',
    damage: operationOf(
      ...(['confirming', 'CONFIRM'] as const),
      `opened_at = now() - interval '11 minutes', (settle_at, lease_until) = row(now() - interval '6 minutes', now() - interval '7 minutes')`,
    ),
  },
]
