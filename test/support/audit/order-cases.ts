// Books that break one rule of the audit about orders and operations each.
import { actionRules } from '../../../src/payments/audit/check-actions.ts'
import {
  addEntry,
  answered,
  type BrokenRule,
  byKind,
  entryOfOperation,
  eventMatchesOrder,
  eventOfEntry,
  guardsDown,
  namesEntry,
  operationOf,
  orderOf,
  rewritten,
  withoutOperation,
} from './damage.ts'
import { rewriteLedgers } from './rewrite-ledgers.ts'

const allowed = 'the operations of an order are those its state allows'
const returns = 'a return belongs to a FAILED order, and no payment is returned twice'
const refusedOrExpired = 'a FAILED order has a confirm that was refused or expired'
const answeredRule = answered.slice('I-22 '.length)
const confirmedOnce =
  'a CONFIRMED order has one grant of its credits, and nothing was taken back but for accepted parts'
const wholeAmount =
  'an operation is about an order and its whole amount, a cancel about what accepted parts have left of it'
const partsOfPrice = 'accepted parts return less than the price, and leave a credit for each 1,000 won that are left'
const partTaken = 'the credits of an accepted part were taken by its entry'
const partAccepted = `A-1 ${actionRules.part.rule}`
const partCharged = `A-1 ${actionRules.partCharge.rule}`
const granted = `I-4 ${confirmedOnce}`
const grantTime = 'I-10 confirmed_at is the time of the grant'

export const brokenOrders: BrokenRule[] = [
  {
    invariant: 'I-4',
    rule: confirmedOnce,
    when: 'the order names the grant of another',
    damage: ({ confirmed, kept }) => `update orders set grant_entry = (select grant_entry from orders
      where order_id = '${kept}') where order_id = '${confirmed}'`,
    also: [namesEntry, eventOfEntry],
  },
  {
    invariant: 'I-4',
    rule: confirmedOnce,
    when: 'more was granted than the order sells',
    damage: ({ confirmed }) => `update ledger_entries set delta = delta + 1 where order_id = '${confirmed}';
      ${rewriteLedgers}`,
    also: rewritten,
  },
  {
    invariant: 'I-5',
    rule: 'a PENDING or FAILED order has moved no credits',
    when: 'a PENDING order was granted credits',
    damage: (books) => addEntry(books, { kind: 'GRANT', delta: 21, order: books.pending }),
    also: [namesEntry, grantTime],
  },
  {
    invariant: 'I-6',
    rule: 'a CANCELLED order has its grant and one rollback of what accepted parts have left of it',
    when: 'less was taken back than granted',
    damage: () => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set delta = delta + 1 where kind = 'ROLLBACK'; ${rewriteLedgers}`,
    also: [byKind, ...rewritten, guardsDown],
  },
  {
    invariant: 'I-7',
    rule: 'a REFUNDED order has its grant, and a refund and a shortfall that make up for it',
    when: 'less was taken back than the order states',
    damage: ({ refunded }) => `alter table ledger_entries drop constraint ledger_entries_rules;
      update ledger_entries set delta = delta + 1 where kind = 'REFUND' and order_id = '${refunded}'; ${rewriteLedgers}`,
    also: [byKind, ...rewritten, guardsDown],
  },
  {
    invariant: 'I-7',
    rule: 'a REFUNDED order has its grant, and a refund and a shortfall that make up for it',
    when: 'all credits were spent and the order states otherwise',
    damage: (books) => `alter table orders drop constraint orders_rules;
      ${orderOf('whollySpent', 'refund_shortfall = 20')(books)}`,
    also: [
      'I-12 a cancel holds the credits of its order, and a refund what the order says was left of them',
      guardsDown,
    ],
  },
  {
    invariant: 'I-8',
    rule: 'no order is credited twice',
    when: 'one is',
    damage: (books) =>
      `drop index ledger_entries_once_per_order_or_part; ${addEntry(books, { kind: 'GRANT', delta: 21, order: books.confirmed })}`,
    also: [granted, namesEntry, guardsDown],
  },
  {
    invariant: 'I-9',
    rule: 'amount and credits are those of the catalogue',
    when: 'an order has a lower price',
    damage: orderOf('pending', 'amount = amount - 1'),
  },
  {
    invariant: 'I-10',
    rule: 'confirmed_at is set when and only when the order was confirmed, and not before it was created',
    when: 'it is before the creation',
    damage: orderOf('confirmed', `created_at = confirmed_at + interval '1 hour'`),
  },
  {
    invariant: 'I-10',
    rule: 'confirmed_at is the time of the grant',
    when: 'it is another time',
    damage: orderOf('confirmed', `confirmed_at = confirmed_at + interval '1 second'`),
  },
  {
    invariant: 'I-12',
    rule: allowed,
    when: 'an order with an open confirm is FAILED',
    damage: orderOf('confirming', `status = 'FAILED'`),
    also: [`I-12 ${refusedOrExpired}`],
  },
  {
    invariant: 'I-12',
    rule: allowed,
    when: 'an expired order is PENDING again',
    damage: orderOf('expired', `status = 'PENDING'`),
    also: [eventMatchesOrder],
  },
  {
    invariant: 'I-12',
    rule: allowed,
    when: 'a CONFIRMED order has no confirm',
    damage: withoutOperation('confirmed', 'CONFIRM'),
    also: [answered],
  },
  {
    invariant: 'I-12',
    rule: allowed,
    when: 'a CANCELLED order has no cancel',
    damage: withoutOperation('cancelled', 'CANCEL'),
    also: [entryOfOperation],
  },
  {
    invariant: 'I-12',
    rule: allowed,
    when: 'a REFUNDED order has no refund',
    damage: withoutOperation('partlySpent', 'REFUND'),
    also: [entryOfOperation],
  },
  {
    invariant: 'I-12',
    rule: returns,
    when: 'money of a CONFIRMED order was returned as that of a FAILED one',
    damage: ({ returned, confirmed }) =>
      `update payment_operations set order_id = '${confirmed}' where order_id = '${returned}' and kind = 'RETURN'`,
  },
  {
    invariant: 'I-12',
    rule: returns,
    when: 'the money of one payment was returned twice',
    damage: ({ returnedTwice }) => `drop index payment_operations_one_success_of_kind;
      update payment_operations set payment_key = 'paid_twice' where order_id = '${returnedTwice}' and kind = 'RETURN'`,
    also: [guardsDown],
  },
  {
    invariant: 'I-12',
    rule: refusedOrExpired,
    when: 'the refused confirm is gone',
    damage: withoutOperation('failed', 'CONFIRM'),
  },
  {
    invariant: 'I-12',
    rule: refusedOrExpired,
    when: 'an expiry is gone',
    damage: withoutOperation('expired', 'CONFIRM'),
  },
  {
    invariant: 'I-12',
    rule: refusedOrExpired,
    when: 'a PENDING order was made FAILED by hand',
    damage: orderOf('pending', `status = 'FAILED'`),
  },
  {
    invariant: 'I-1',
    rule: 'every order belongs to an account',
    when: 'the account of a customer who has bought nothing is gone',
    damage: ({ visitor }) => `delete from accounts where customer_id = '${visitor}'`,
  },
  {
    invariant: 'I-14',
    rule: 'no idempotency key is on two orders of a customer',
    when: 'one is',
    damage: ({ customer }) => `drop index orders_once_per_idempotency_key;
      update orders set idempotency_key = 'twice' where customer_id = '${customer}'`,
    also: [guardsDown],
  },
  {
    invariant: 'I-22',
    rule: answeredRule,
    when: 'it is more',
    damage: operationOf('confirmed', 'CONFIRM', 'total_credits = 1000'),
  },
  {
    invariant: 'I-22',
    rule: answeredRule,
    when: 'it is less',
    damage: operationOf('kept', 'CONFIRM', 'total_credits = total_credits - 1'),
  },
  {
    invariant: 'I-8',
    rule: 'no payment key is on two orders of a customer',
    when: 'one is',
    damage: ({ confirmed, confirming }) => `drop index payment_operations_once_per_payment;
      update payment_operations set payment_key = 'paid_twice' where order_id in ('${confirmed}', '${confirming}')`,
    also: [guardsDown],
  },
  {
    invariant: 'I-8',
    rule: 'no payment key is approved for two customers',
    when: 'one is',
    damage: ({ confirmed, stuckRefund }) => `update payment_operations set payment_key = 'paid_of_another'
      where order_id in ('${confirmed}', '${stuckRefund}')`,
  },
  {
    invariant: 'I-12',
    rule: wholeAmount,
    when: 'it has a lower amount',
    damage: operationOf('confirmed', 'CONFIRM', 'amount = amount - 1'),
  },
  {
    invariant: 'I-12',
    rule: wholeAmount,
    when: 'the order is gone',
    damage: ({ confirming }) => `delete from orders where order_id = '${confirming}'`,
  },
  {
    invariant: 'I-12',
    rule: partsOfPrice,
    when: 'a part returned the whole price',
    damage: operationOf('parted', 'PART', 'amount = 100000'),
    also: [partCharged],
  },
  {
    invariant: 'I-12',
    rule: partsOfPrice,
    when: 'a part took more credits than it leaves won for',
    damage: ({ parted }) => `alter table ledger_entries drop constraint ledger_entries_rules;
      update payment_operations set credits_held = 16 where order_id = '${parted}' and kind = 'PART';
      update ledger_entries set delta = -16, held_delta = -16 where order_id = '${parted}' and kind = 'REFUND';
      update ledger_entries set held_delta = 16 where order_id = '${parted}' and kind = 'HOLD'; ${rewriteLedgers}`,
    also: [guardsDown, partAccepted, partCharged],
  },
  {
    invariant: 'I-12',
    rule: partTaken,
    when: 'it names more credits than its entry took',
    damage: operationOf('parted', 'PART', 'credits_held = 6'),
    also: [entryOfOperation, partAccepted, partCharged],
  },
  {
    invariant: 'I-12',
    rule: 'a refund returns the full price, the share of the value of the credits that it takes, or what was cancelled at the gateway',
    when: 'it returned a thousand won less',
    damage: ({
      refunded,
    }) => `update payment_operations set amount = amount - 1000 where order_id = '${refunded}' and kind = 'REFUND';
      update orders set refunded_amount = refunded_amount - 1000 where order_id = '${refunded}'`,
  },
  {
    invariant: 'I-12',
    rule: 'a refund of the unused part returns what the rule of the day of the confirm allows, and keeps that rule',
    when: 'it returned the value of used credits, too',
    damage: ({ refunded }) => `insert into refund_rules values ('-infinity', 0, 1000, 80), ('2000-01-01', 0, 1000, 100);
      update payment_operations set refund_rule = '-infinity' where order_id = '${refunded}' and kind = 'REFUND'`,
  },
  {
    invariant: 'I-12',
    rule: 'a REFUNDED order says what its refund returned',
    when: 'it says less',
    damage: orderOf('refunded', 'refunded_amount = refunded_amount - 1000'),
  },
  {
    invariant: 'I-12',
    rule: 'a refused operation left its order in a state that it could be in',
    when: 'the order of a refused confirm is PENDING',
    damage: orderOf('failed', `status = 'PENDING'`),
    also: [eventMatchesOrder],
  },
  {
    invariant: 'I-12',
    rule: 'money goes back by the payment key it was captured with',
    when: 'by another',
    damage: operationOf('cancelled', 'CANCEL', `payment_key = 'paid_other'`),
  },
  {
    invariant: 'I-12',
    rule: 'a cancel holds the credits of its order, and a refund what the order says was left of them',
    when: 'a cancel held less',
    damage: operationOf('cancelled', 'CANCEL', 'credits_held = 1'),
    also: [entryOfOperation],
  },
  {
    invariant: 'I-12',
    rule: 'a full refund takes all that is left of the credits of its order',
    when: 'one took nothing while credits were left',
    damage: operationOf(
      'whollySpent',
      'REFUND',
      `opened_at = (select o.confirmed_at + interval '1 microsecond' from orders o
                    where o.order_id = payment_operations.order_id)`,
    ),
  },
  {
    invariant: 'I-12',
    rule: 'only an approved confirm has a card slip, and a card number is masked',
    when: 'a cancel has one',
    damage: (books) => `alter table payment_operations drop constraint payment_operations_rules;
      ${operationOf('cancelled', 'CANCEL', `approval_number = '1'`)(books)}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-12',
    rule: 'only an approved confirm has a card slip, and a card number is masked',
    when: 'a number is masked in its last digit alone',
    damage: (books) => `alter table payment_operations drop constraint payment_operations_rules;
      ${operationOf('confirmed', 'CONFIRM', `card_number = '433012341234123*'`)(books)}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-12',
    rule: 'only an approved confirm says how it was paid, and the parts are its amount',
    when: 'its parts are less than its amount',
    damage: (books) => `alter table payment_operations drop constraint payment_operations_paid_with;
      ${operationOf('confirmed', 'CONFIRM', `(paid_method, card_amount, wallet_amount, points_amount) = ('CARD', amount - 1, 0, 0)`)(books)}`,
    also: [guardsDown],
  },
  {
    invariant: 'I-13',
    rule: 'nothing is stranded: whatever is open has somebody who works on it or will soon',
    when: 'an open confirm is not recovered',
    damage: operationOf(
      'confirming',
      'CONFIRM',
      `opened_at = now() - interval '11 minutes', (settle_at, lease_until) = row(now() - interval '6 minutes', now() - interval '7 minutes')`,
    ),
  },
]
