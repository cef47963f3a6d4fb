// What must be true of the books at any moment, as a table: the rules the audit judges every row by. `holds` is SQL over
// one subject of the rule's scan (src/payments/audit-sql.ts has the names); what is not true is broken, null included.
// A rule looks only at what one statement of the service writes at once, so it holds in every snapshot while money moves.
import type { OrderStatus } from './order-status.ts'
import { packages } from './packages.ts'

export type ScanName = 'accounts' | 'entries' | 'orders' | 'operations'

export type Rule = { invariant: string; rule: string; scan: ScanName; holds: string }

const largestInJson = Number.MAX_SAFE_INTEGER

const catalogue = packages
  .map(({ packageType, price, credits }) => `('${packageType}', ${price}, ${credits})`)
  .join(', ')

/** The states of an order that was confirmed at some time. */
const everConfirmed = `('CONFIRMED', 'CANCELLED', 'REFUNDED')`

/**
 * An order's operations by its state, refused ones left out: those say nothing about the state. The text is what
 * `done.operations` has, in the order of the alphabet.
 */
const operationsOf: Record<OrderStatus, string[]> = {
  PENDING: ['', 'CONFIRM OPEN'],
  CONFIRMED: ['CONFIRM APPROVED', 'CANCEL OPEN, CONFIRM APPROVED', 'CONFIRM APPROVED, REFUND OPEN'],
  FAILED: [
    ...['', 'RETURN OPEN', 'RETURN APPROVED'],
    ...['CONFIRM EXPIRED', 'CONFIRM EXPIRED, RETURN OPEN', 'CONFIRM EXPIRED, RETURN APPROVED'],
  ],
  CANCELLED: ['CANCEL APPROVED, CONFIRM APPROVED'],
  REFUNDED: ['CONFIRM APPROVED, REFUND APPROVED'],
}

const allowedOperations = Object.entries(operationsOf)
  .flatMap(([status, texts]) => texts.map((text) => `('${status}', '${text}')`))
  .join(', ')

/** The entry as `booked.entries` writes it: kind, number, credits. */
const written = (kind: string, entryNumber: string, delta: string) => `'${kind} ' || ${entryNumber} || ': ' || ${delta}`
const grant = written('GRANT', 'o.grant_entry', 'o.credits')
const rollback = written('ROLLBACK', 'o.rollback_entry', '-o.credits')
const refund = written('REFUND', 'o.refund_entry', 'o.refund_shortfall - o.credits')

/** Who waits for its turn may be late by this before it counts as left alone. */
const stranded = `p.opened_at < now() - interval '10 minutes'
  and greatest(p.settle_at, p.lease_until) < now() - interval '5 minutes'`

// That a balance is the sum of its ledger needs no sum: each entry's balance is the one before it plus its credits, from
// nothing on and without a gap (the chain, I-3), so the last entry's balance is the sum, and the account has just that.
const accountRules: Omit<Rule, 'scan'>[] = [
  {
    invariant: 'I-1',
    rule: 'the balance is what the last entry of the ledger left',
    holds: 'a.balance = coalesce(last.balance_after, 0)',
  },
  {
    invariant: 'I-2',
    rule: 'nothing is negative, what is held is covered, and JSON can tell the balance exactly',
    holds: `0 <= a.held and a.held <= a.balance and a.balance <= ${largestInJson}`,
  },
  {
    invariant: 'I-3',
    rule: 'the account knows the number of its last entry',
    holds: 'a.last_entry = coalesce(last.entry_number, 0)',
  },
  {
    invariant: 'I-15',
    rule: `the account knows the hash of its last entry`,
    holds: `a.last_hash = coalesce(last.entry_hash, ''::bytea)`,
  },
  {
    invariant: 'I-11',
    rule: 'what is held is what the open operations hold',
    holds: 'a.held = a.held_by_operations',
  },
]

// After a gap only the gap is named: balance and hash are judged where the entry before is there.
const entryRules: Omit<Rule, 'scan'>[] = [
  {
    invariant: 'I-1',
    rule: 'every ledger belongs to an account',
    holds: `e.previous_number is not null
      or (select true from accounts a where a.customer_id = e.customer_id)`,
  },
  {
    invariant: 'I-3',
    rule: 'the entries of a customer are numbered from one without a gap',
    holds: 'e.entry_number = coalesce(e.previous_number, 0) + 1',
  },
  {
    invariant: 'I-3',
    rule: 'each balance is the one before it plus the credits of the entry',
    holds: `e.entry_number <> coalesce(e.previous_number, 0) + 1
      or e.balance_after = coalesce(e.previous_balance, 0) + e.delta`,
  },
  {
    invariant: 'I-15',
    rule: 'no entry has been changed: its hash is that of the entry and of the hash before it',
    holds: `e.entry_number <> coalesce(e.previous_number, 0) + 1
      or e.entry_hash = ledger_entry_hash(coalesce(e.previous_hash, ''::bytea), e.customer_id, e.entry_number, e.kind,
                                          e.delta, e.balance_after, e.order_id, e.reference, e.created_at)`,
  },
  {
    invariant: 'I-2',
    rule: 'no balance has ever been negative',
    holds: `e.balance_after between 0 and ${largestInJson}`,
  },
  {
    invariant: 'I-20',
    rule: 'only a grant adds credits, everything else takes them, and each says for what',
    holds: `case e.kind when 'GRANT' then e.delta > 0 and e.order_id is not null and e.reference is null
                        when 'SPEND' then e.delta < 0 and e.order_id is null and e.reference is not null
                        else e.delta < 0 and e.order_id is not null and e.reference is null end`,
  },
  {
    invariant: 'I-8',
    rule: 'an entry for an order is the one that the order names',
    holds: `e.order_id is null or e.entry_number = (
      select case e.kind when 'GRANT' then o.grant_entry when 'ROLLBACK' then o.rollback_entry
                         when 'REFUND' then o.refund_entry end
      from orders o where o.customer_id = e.customer_id and o.order_id = e.order_id)`,
  },
  {
    invariant: 'I-8',
    rule: 'no reference is spent twice',
    holds: `e.reference is null or 1 = (
      select count(*) from ledger_entries twin where twin.customer_id = e.customer_id and twin.reference = e.reference)`,
  },
]

const orderRules: Omit<Rule, 'scan'>[] = [
  {
    invariant: 'I-4',
    rule: 'a CONFIRMED order has one grant of its credits and no other entry',
    holds: `o.status <> 'CONFIRMED' or booked.entries = array[${grant}]`,
  },
  {
    invariant: 'I-5',
    rule: 'a PENDING or FAILED order has no entries',
    holds: `o.status not in ('PENDING', 'FAILED') or booked.entries = '{}'
      and num_nonnulls(o.grant_entry, o.rollback_entry, o.refund_entry, o.refund_shortfall) = 0`,
  },
  {
    invariant: 'I-6',
    rule: 'a CANCELLED order has its grant and one rollback of as much',
    holds: `o.status <> 'CANCELLED' or booked.entries = array[${grant}, ${rollback}]`,
  },
  {
    invariant: 'I-7',
    rule: 'a REFUNDED order has its grant, and a refund and a shortfall that make up for it',
    holds: `o.status <> 'REFUNDED' or o.refund_shortfall between 0 and o.credits
      and booked.entries = array[${grant}] || case when o.refund_shortfall < o.credits then array[${refund}] end`,
  },
  { invariant: 'I-8', rule: 'no order is credited twice', holds: 'booked.grants <= 1' },
  {
    invariant: 'I-9',
    rule: 'amount and credits are those of the catalogue',
    holds: `(o.package_type, o.amount, o.credits) in (${catalogue})`,
  },
  {
    invariant: 'I-10',
    rule: 'confirmed_at is set when and only when the order was confirmed, and not before it was created',
    holds: `(o.confirmed_at is not null) = (o.status in ${everConfirmed})
      and coalesce(o.confirmed_at >= o.created_at, true)`,
  },
  {
    invariant: 'I-10',
    rule: 'confirmed_at is the time of the grant',
    holds: 'o.confirmed_at is not distinct from booked.granted_at',
  },
  {
    invariant: 'I-12',
    rule: 'the operations of an order are those its state allows',
    holds: `(o.status, done.operations) in (${allowedOperations})`,
  },
  {
    invariant: 'I-14',
    rule: 'no idempotency key is on two orders of a customer',
    holds: `o.idempotency_key is null or 1 = (
      select count(*) from orders twin
      where twin.customer_id = o.customer_id and twin.idempotency_key = o.idempotency_key)`,
  },
  {
    invariant: 'I-22',
    rule: 'the balance a confirm was answered with is covered by its grant',
    holds: `o.status not in ${everConfirmed} or done.total_credits between 0 and booked.granted_balance`,
  },
]

const operationRules: Omit<Rule, 'scan'>[] = [
  {
    invariant: 'I-8',
    rule: 'no payment key is on two orders of a customer',
    holds: `p.kind <> 'CONFIRM' or p.state in ('REJECTED', 'EXPIRED') or 1 = (
      select count(*) from payment_operations twin
      where twin.customer_id = p.customer_id and twin.payment_key = p.payment_key
        and twin.kind = 'CONFIRM' and twin.state <> 'REJECTED')`,
  },
  {
    invariant: 'I-12',
    rule: 'an operation is about an order and its whole amount',
    holds: 'p.amount = o.amount',
  },
  {
    invariant: 'I-12',
    rule: 'a refused operation left its order in a state that it could be in',
    holds: `p.state <> 'REJECTED' or case when p.kind in ('CONFIRM', 'RETURN') then o.status = 'FAILED'
                                          else o.status in ${everConfirmed} end`,
  },
  {
    invariant: 'I-12',
    rule: 'money goes back by the payment key it was captured with',
    holds: `p.kind not in ('CANCEL', 'REFUND') or (
      select c.order_id = p.order_id from payment_operations c
      where c.customer_id = p.customer_id and c.payment_key = p.payment_key
        and c.kind = 'CONFIRM' and c.state = 'APPROVED' limit 1)`,
  },
  {
    invariant: 'I-12',
    rule: 'a cancel holds the credits of its order, and a refund what the order says was left of them',
    holds: `case p.kind when 'CANCEL' then p.credits_held = o.credits
                        when 'REFUND' then p.credits_held between 0 and o.credits
                          and (p.state <> 'APPROVED' or p.credits_held = o.credits - o.refund_shortfall)
                        else p.credits_held = 0 end`,
  },
  {
    invariant: 'I-13',
    rule: 'nothing is stranded: whatever is open has somebody who works on it or will soon',
    holds: `p.state <> 'OPEN' or not (${stranded})`,
  },
]

const byScan: Record<ScanName, Omit<Rule, 'scan'>[]> = {
  accounts: accountRules,
  entries: entryRules,
  orders: orderRules,
  operations: operationRules,
}

export const rules: Rule[] = Object.entries(byScan).flatMap(([scan, list]) =>
  list.map((each) => ({ ...each, scan: scan as ScanName })),
)

export function rulesOf(scan: ScanName): Rule[] {
  return rules.filter((each) => each.scan === scan)
}
