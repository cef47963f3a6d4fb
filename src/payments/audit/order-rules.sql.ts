// The audit rules about orders and their operations at the gateway: what their states allow, and their ledger entries. The SQL
// uses the names of src/payments/audit/scans.sql.ts.

import { pricePerCredit } from '../../credits/lots/price.ts'
import type { OrderStatus } from '../kinds.ts'
import { packages } from '../packages.ts'
import type { ScanRule } from './scans.sql.ts'

const catalogue = packages
  .map(({ packageType, price, credits }) => `('${packageType}', ${price}, ${credits})`)
  .join(', ')

/** The states of an order that was confirmed once. */
const everConfirmed = `('CONFIRMED', 'CANCELLED', 'REFUNDED')`

/**
 * The operations that an order may have in each state, without rejected ones, which say nothing about the state. Returns are
 * left out too: a FAILED order has one for each payment that was captured for it, and they have a rule of their own. The
 * texts are those of `done.operations`, in alphabetical order.
 */
const operationsOf: Record<OrderStatus, string[]> = {
  PENDING: ['', 'CONFIRM OPEN'],
  CONFIRMED: ['CONFIRM APPROVED', 'CANCEL OPEN, CONFIRM APPROVED', 'CONFIRM APPROVED, REFUND OPEN'],
  FAILED: ['', 'CONFIRM EXPIRED'],
  CANCELLED: ['CANCEL APPROVED, CONFIRM APPROVED'],
  REFUNDED: ['CONFIRM APPROVED, REFUND APPROVED'],
}

const allowedOperations = Object.entries(operationsOf)
  .flatMap(([status, texts]) => texts.map((text) => `('${status}', '${text}')`))
  .join(', ')

/** The entry as `booked.entries` writes it: kind, number, credits. */
const written = (kind: string, entryNumber: string, delta: string) => `'${kind} ' || ${entryNumber} || ': ' || ${delta}`
const grant = written('GRANT', 'o.grant_entry', 'o.credits')
const rollback = written('ROLLBACK', 'o.rollback_entry', 'parts.credits - o.credits')
const refund = written('REFUND', 'o.refund_entry', 'o.refund_shortfall - o.credits')

/** KRW that the credits of a refund are worth. */
const valueTaken = `(o.amount - parts.amount - (o.credits - parts.credits - p.credits_held) * ${pricePerCredit})`

/** How late the worker may be before an open operation counts as stranded. */
const stranded = `p.opened_at < now() - interval '10 minutes'
  and greatest(p.settle_at, p.lease_until) < now() - interval '5 minutes'`

export const orderRules: ScanRule[] = [
  {
    invariant: 'I-1',
    rule: 'every order belongs to an account',
    holds: '(select true from accounts a where a.customer_id = o.customer_id)',
  },
  {
    invariant: 'I-4',
    rule: 'a CONFIRMED order has one grant of its credits, and nothing was taken back but for accepted parts',
    holds: `o.status <> 'CONFIRMED' or booked.entries = array[${grant}]`,
  },
  {
    invariant: 'I-5',
    rule: 'a PENDING or FAILED order has moved no credits',
    holds: `o.status not in ('PENDING', 'FAILED') or booked.entries = '{}'
      and num_nonnulls(o.grant_entry, o.rollback_entry, o.refund_entry, o.refund_shortfall, o.refunded_amount) = 0`,
  },
  {
    invariant: 'I-6',
    rule: 'a CANCELLED order has its grant and one rollback of what accepted parts have left of it',
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
    invariant: 'I-12',
    rule: 'a FAILED order has a confirm that was refused or expired',
    holds: `o.status <> 'FAILED' or done.operations = 'CONFIRM EXPIRED' or (
      select true from payment_operations c
      where c.customer_id = o.customer_id and c.order_id = o.order_id and c.kind = 'CONFIRM' and c.state = 'REJECTED'
      limit 1)`,
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
    rule: 'the balance a confirm was answered with is what its grant left available',
    holds: `o.status not in ${everConfirmed} or case
      when booked.granted_held is null then done.total_credits between 0 and booked.granted_balance
      else done.total_credits = booked.granted_balance - booked.granted_held end`,
  },
]

export const operationRules: ScanRule[] = [
  {
    invariant: 'I-8',
    rule: 'no payment key is on two orders of a customer',
    holds: `p.kind <> 'CONFIRM' or p.state in ('REJECTED', 'EXPIRED') or 1 = (
      select count(*) from payment_operations twin
      where twin.customer_id = p.customer_id and twin.payment_key = p.payment_key
        and twin.kind = 'CONFIRM' and twin.state <> 'REJECTED')`,
  },
  {
    invariant: 'I-8',
    rule: 'no payment key is approved for two customers',
    holds: `p.kind <> 'CONFIRM' or p.state <> 'APPROVED' or p.customer_id = all (
      select twin.customer_id from payment_operations twin
      where twin.payment_key = p.payment_key and twin.kind = 'CONFIRM' and twin.state = 'APPROVED')`,
  },
  {
    invariant: 'I-12',
    rule: 'an operation is about an order and its whole amount, a cancel about what accepted parts have left of it',
    holds: `p.kind in ('REFUND', 'PART') or p.amount = o.amount
      - case when p.kind = 'CANCEL' and p.state <> 'REJECTED' then parts.amount else 0 end
      or p.kind = 'CANCEL' and p.state = 'REJECTED' and p.amount between o.amount - parts.amount and o.amount`,
  },
  {
    invariant: 'I-12',
    rule: 'a refund returns the full price, the share of the value of the credits that it takes, or what was cancelled at the gateway',
    holds: `p.kind <> 'REFUND' or p.state = 'REJECTED' or p.amount = o.amount - parts.amount
      or p.amount = ${valueTaken} * coalesce(rule.share_percent, 100) / 100
      or p.accepted and p.amount between 1 and o.amount`,
  },
  // The quote looked at its own clock.
  {
    invariant: 'I-12',
    rule: 'a refund of the unused part returns what the rule of the day of the confirm allows, and keeps that rule',
    holds: `p.refund_rule is null or p.state = 'REJECTED' or p.kind = 'REFUND' and p.refund_rule = rule.holds_from
      and (p.amount = ${valueTaken} * rule.share_percent / 100 and p.amount >= rule.smallest_amount
        or p.amount = ${valueTaken} and p.credits_held = o.credits - parts.credits
          and rule.full_price_days > 0
          and p.opened_at < o.confirmed_at + rule.full_price_days * interval '1 day' + interval '1 hour')`,
  },
  {
    invariant: 'I-12',
    rule: 'accepted parts return less than the price, and leave a credit for each 1,000 won that are left',
    holds: `p.kind <> 'PART' or p.state = 'APPROVED' and p.accepted and p.amount > 0 and parts.amount < o.amount
      and (o.credits - parts.credits) * ${pricePerCredit} >= o.amount - parts.amount and o.status in ${everConfirmed}`,
  },
  {
    invariant: 'I-12',
    rule: 'the credits of an accepted part were taken by its entry',
    holds: `p.kind <> 'PART' or p.credits_held = (
      select coalesce(sum(-e.delta), 0) from ledger_entries e
      where e.customer_id = p.customer_id and e.hold_id = p.operation_id and e.kind = 'REFUND' and e.order_id = p.order_id)`,
  },
  {
    invariant: 'I-12',
    rule: 'a REFUNDED order says what its refund returned',
    holds: `p.kind <> 'REFUND' or p.state <> 'APPROVED' or p.amount = coalesce(o.refunded_amount, o.amount)`,
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
    holds: `p.kind not in ('CANCEL', 'REFUND', 'PART') or (
      select c.order_id = p.order_id from payment_operations c
      where c.customer_id = p.customer_id and c.payment_key = p.payment_key
        and c.kind = 'CONFIRM' and c.state = 'APPROVED' limit 1)`,
  },
  {
    invariant: 'I-12',
    rule: 'a cancel holds the credits of its order, and a refund what the order says was left of them',
    holds: `case p.kind when 'CANCEL' then p.credits_held = o.credits - parts.credits
                          or p.state = 'REJECTED' and p.credits_held between o.credits - parts.credits and o.credits
                        when 'PART' then p.credits_held between 0 and o.credits
                        when 'REFUND' then p.credits_held between 0 and o.credits
                          and (p.state <> 'APPROVED' or p.credits_held = o.credits - o.refund_shortfall)
                        else p.credits_held = 0 end`,
  },
  // What was available is in the entry before the one that sets the credits aside. Without such an entry it is in the last one
  // before the operation, or in the one before that if the last has the same time.
  {
    invariant: 'I-12',
    rule: 'a full refund takes all that is left of the credits of its order',
    holds: `p.kind <> 'REFUND' or p.accepted or p.state = 'REJECTED' and parts.amount > 0
      or p.amount <> o.amount - parts.amount or p.credits_held = o.credits - parts.credits
      or case when p.credits_held > 0 then coalesce((
        select p.credits_held = b.balance_after - b.held_after
        from ledger_entries h
        join ledger_entries b on b.customer_id = h.customer_id and b.entry_number = h.entry_number - 1
        where h.customer_id = p.customer_id and h.hold_id = p.operation_id and h.kind = 'HOLD' limit 1), true)
      else (
        select bool_or(b.available = 0 and coalesce(b.next_time = p.opened_at, true))
        from (
          select l.balance_after - coalesce(l.held_after, 0) as available,
                 lead(l.created_at) over (order by l.entry_number) as next_time
          from (select * from ledger_entries e
                where e.customer_id = p.customer_id and e.created_at <= p.opened_at
                order by e.entry_number desc limit 2) l) b) end`,
  },
  {
    invariant: 'I-12',
    rule: 'a return belongs to a FAILED order, and no payment is returned twice',
    holds: `p.kind <> 'RETURN' or o.status = 'FAILED' and (p.state = 'REJECTED' or 1 = (
      select count(*) from payment_operations twin
      where twin.customer_id = p.customer_id and twin.order_id = p.order_id and twin.kind = 'RETURN'
        and twin.payment_key = p.payment_key and twin.state <> 'REJECTED'))`,
  },
  {
    invariant: 'I-12',
    rule: 'only an approved confirm has a card slip, and a card number is masked',
    holds: `num_nonnulls(p.receipt_url, p.card_number, p.approval_number) = 0
      or p.kind = 'CONFIRM' and p.state = 'APPROVED'
        and coalesce(p.card_number like '%***%' and length(translate(p.card_number, '*', '')) <= 12, true)`,
  },
  {
    invariant: 'I-12',
    rule: 'only an approved confirm says how it was paid, and the parts are its amount',
    holds: `num_nonnulls(p.paid_method, p.paid_provider, p.card_amount, p.wallet_amount, p.points_amount) = 0
      or p.kind = 'CONFIRM' and p.state = 'APPROVED'
        and coalesce(p.card_amount + p.wallet_amount + p.points_amount = p.amount, num_nonnulls(p.card_amount, p.wallet_amount, p.points_amount) = 0)`,
  },
  {
    invariant: 'I-13',
    rule: 'nothing is stranded: whatever is open has somebody who works on it or will soon',
    holds: `p.state <> 'OPEN' or not (${stranded})`,
    isLiveness: true,
  },
]
