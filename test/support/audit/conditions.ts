// The single conditions of the audit's rules about money and credits: for each a change of right books that breaks the rule, or
// one that it must allow. Only the rule itself is judged; what else breaks with the change is not compared. The constraints of
// the schema are gone.
import { cancelledAtGateway } from '../../../src/gateway/gateway.ts'
import type { actionRules } from '../../../src/payments/audit/check-actions.ts'
import { cancelledElsewhere } from '../../../src/payments/kinds.ts'
import { partlyCancelled } from '../../../src/payments/recovery/review.ts'
import type { Books } from '../database/books.ts'
import { account, holdOf, operationOf, orderOf } from './damage.ts'

export type ConditionBooks = Books & { adjusted: string }
export type Change = string | ((books: ConditionBooks) => string)
/** By what has changed. */
export type Conditions = { broken?: Record<string, Change>; kept?: Record<string, Change> }

const nobody = '00000000-0000-0000-0000-000000000000'
const entries = (set: string, where: string) => `update ledger_entries set ${set} where ${where}`
const ofOrder = (name: keyof Books, set: string, kind: string) => (books: Books) =>
  entries(set, `order_id = '${books[name]}' and kind = '${kind}'`)
const ofHold = (name: keyof Books, set: string, kind: string) => (books: Books) =>
  entries(set, `hold_id = '${books[name]}' and kind = '${kind}'`)
const data = (type: string, members: object) =>
  `update events set data = data::jsonb || '${JSON.stringify(members)}' where type = '${type}'`
const all =
  (...changes: Change[]) =>
  (books: ConditionBooks) =>
    changes.map((change) => (typeof change === 'string' ? change : change(books))).join('; ')
/** The accepted part of 5,000 won and 5 credits, as one of another order. */
const partOf = (name: keyof Books) => (books: Books) =>
  `update payment_operations set (customer_id, order_id) = ('${books.customer}', '${books[name]}') where kind = 'PART'`
const keyOf = (name: keyof Books, kind: string, of: keyof Books) => (books: Books) =>
  `update payment_operations set payment_key = (
     select payment_key from payment_operations where order_id = '${books[of]}' and kind = 'CONFIRM')
   where order_id = '${books[name]}' and kind = '${kind}'`
/** Entries from before held credits had entries, in a ledger that was empty. */
const oldEntries = ({ visitor }: Books) => `insert into ledger_entries
    (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, entry_hash)
  select '${visitor}', number, kind, delta, sum(delta) over (order by number), of_order, reference, now(), sha256('')
  from (values (1, 'GRANT', 21, 'ord_old', null), (2, 'SPEND', -1, null, 'old'), (3, 'ROLLBACK', -5, 'ord_old', null),
               (4, 'REFUND', -5, 'ord_older', null)) as e (number, kind, delta, of_order, reference)`
/**
 * Two entries of the version before adjustments, a spend of all but four credits and a grant, and one of this version that says
 * that `adjusted` credits without cash value are left.
 */
const afterTheVersionBefore =
  (adjusted: number | null) =>
  ({ adjusted: customer }: ConditionBooks) =>
    `insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, entry_hash,
                                 held_delta, held_after, adjusted_after)
     select customer_id, last_entry + number, kind, case number when 1 then 4 - balance else delta end, left_over, of_order,
            of_reference, now(), sha256(''), 0, 0, adjusted_credits
     from accounts
     cross join (values (1, 'SPEND', 0, 4, null, 'one', null), (2, 'GRANT', 21, 25, 'ord_old', null, null),
                        (3, 'SPEND', -1, 24, null, 'two', ${adjusted}::bigint))
       as e (number, kind, delta, left_over, of_order, of_reference, adjusted_credits)
     where customer_id = '${customer}';
     update accounts set last_entry = last_entry + 3 where customer_id = '${customer}'`
const lastSpendOfBefore = (adjusted: string) => (books: ConditionBooks) =>
  `${entries('adjusted_after = null', `reference = 'later'`)};
   update accounts set adjusted = ${adjusted} where customer_id = '${books.adjusted}'`
const beforeTheLast = `(select adjusted_after from ledger_entries where kind = 'GOODWILL' order by entry_number desc limit 1)`
const endpoint = (lastEvent: string, types = '{}') => `
  insert into event_endpoints (endpoint_id, url, types, secrets, created_at)
  values ('end_old', 'https://consumer.example', '${types}', '[{}]', now() - interval '2 days');
  insert into event_queues (customer_id, endpoint_id, next_event, last_event)
  select customer_id, 'end_old', 1, ${lastEvent} from accounts where last_event > 1`
/** Exactly the credits of the open cancel were paid for; `more` of them were not. */
const paidFor = (more: number) => ofOrder('cancelling', `adjusted_after = balance_after - held_delta + ${more}`, 'HOLD')
const overdue = (opened: number, settle: number, lease: number) => {
  const ago = (minutes: number) => `now() - interval '${minutes} minutes'`
  return operationOf(
    'confirming',
    'CONFIRM',
    `(opened_at, settle_at, lease_until) = row(${[opened, settle, lease].map(ago)})`,
  )
}
const card = (digits: string) => operationOf('confirmed', 'CONFIRM', `card_number = '${digits}'`)
const usage = (set: string) => `update budget_usage set ${set}`
const dayOfBudgets = (time: string) =>
  `update budgets set period = 'DAY'; ${usage(`period_start = date_trunc('day', ${time}, 'Asia/Seoul')`)}`

const ofAccounts: Record<string, Conditions> = {
  'nothing is negative, what is held is covered, and JSON can tell the balance exactly': {
    broken: {
      'what is held is negative': account('held = -1'),
      'the balance is more than JSON can tell': account('balance = 9007199254740992'),
    },
    kept: { 'all of the largest balance is held': account('(balance, held) = (9007199254740991, 9007199254740991)') },
  },
  'the account knows how much of its balance comes from adjustments, as the ledger left it': {
    broken: {
      'a spend of the version before took one of them': lastSpendOfBefore(`${beforeTheLast} - 1`),
      'it has forgotten how little entries of the version before left': all(
        afterTheVersionBefore(null),
        (books) => `update accounts set adjusted = 5 where customer_id = '${books.adjusted}'`,
      ),
    },
    kept: {
      'a spend of the version before took none of them': lastSpendOfBefore(beforeTheLast),
      'it has what entries of the version before left': all(
        afterTheVersionBefore(null),
        (books) => `update accounts set adjusted = 4 where customer_id = '${books.adjusted}'`,
      ),
    },
  },
  'no queue of events is past its end, and no end past the last event': {
    broken: {
      'one of two queues ends after the last event': `${endpoint('last_event')}; insert into event_queues
         (customer_id, endpoint_id, next_event, last_event) select customer_id, 'end_other', 1, last_event + 1 from accounts`,
      'one of two queues is past its end': `${endpoint('last_event')}; insert into event_queues
         (customer_id, endpoint_id, next_event, last_event) select customer_id, 'end_other', 3, 1 from accounts`,
    },
    kept: {
      'all events were delivered': `${endpoint('last_event')}; update event_queues set next_event = last_event + 1`,
    },
  },
  'an account is marked as restricted when its customer has a budget or is suspended, and only then': {
    broken: {
      'the mark is left of a budget that was removed': 'update budgets set removed_at = now()',
      'a suspended customer is not marked': ({ visitor }) =>
        `update customers set suspended_at = now() where customer_id = '${visitor}'`,
    },
    kept: {
      'another customer is suspended': ({ visitor }) =>
        `update customers set suspended_at = now() where customer_id = '${visitor}';
         update accounts set restricted_at = now() where customer_id = '${visitor}'`,
      'its budget was removed, and the mark with it': ({ limited }) =>
        `update budgets set removed_at = now(); update accounts set restricted_at = null where customer_id = '${limited}'`,
      'the platform has a budget for all customers': ({ visitor, limited }) =>
        `update budgets set customer_id = '${nobody}';
         update accounts set restricted_at = null where customer_id = '${limited}';
         update accounts set customer_id = '${nobody}' where customer_id = '${visitor}'`,
    },
  },
  'an endpoint that wants the last event of a customer has a queue that reaches it': {
    broken: {
      'it wants events of that type alone': ({ customer }) =>
        `${endpoint('last_event', '{order.failed,order.confirmed,order.cancelled,order.refunded}')};
         delete from event_queues where customer_id = '${customer}'`,
      'only the queue of another customer reaches it': ({ limited }) =>
        `${endpoint('last_event')}; delete from event_queues where customer_id = '${limited}'`,
      'only the queue of another endpoint reaches it': `${endpoint('last_event - 1')};
         insert into event_queues (customer_id, endpoint_id, next_event, last_event)
         select customer_id, 'end_other', 1, last_event from accounts`,
    },
    kept: {
      'every queue ends with the last event': endpoint('last_event'),
      'it wants other types': ({ customer }) =>
        `${endpoint('last_event', '{checkpoint.published}')}; delete from event_queues where customer_id = '${customer}'`,
      'it was removed': `${endpoint('last_event - 1')};
         update event_endpoints set status = 'REMOVED' where endpoint_id = 'end_old'`,
      'it was added within the day before': `${endpoint('last_event - 1')};
         update event_endpoints set created_at = now() - interval '23 hours' where endpoint_id = 'end_old'`,
    },
  },
}

/** By the kind of an entry: what breaks it, as a change of one. */
const ofKinds = {
  GRANT: ['delta = -1', 'delta = 0', 'held_delta = 1', `reference = 'another'`],
  ROLLBACK: [
    '(delta, held_delta) = (1, 1)',
    '(delta, held_delta) = (0, 0)',
    'held_delta = held_delta - 1',
    `reference = 'another'`,
  ],
  REFUND: [
    '(delta, held_delta) = (1, 1)',
    '(delta, held_delta) = (0, 0)',
    'held_delta = held_delta - 1',
    'hold_id = null',
    `reference = 'another'`,
  ],
  SPEND: ['delta = 0', 'held_delta = 1', `order_id = 'another'`],
  HOLD: ['delta = 1', 'held_delta = 0', '(order_id, reference) = (null, null)'],
  CAPTURE: [
    '(reference, delta) = (null, 0)',
    '(reference, held_delta) = (null, delta + 1)',
    `(reference, held_delta) = ('another', delta - 1)`,
  ],
  RELEASE: ['delta = -1', 'held_delta = 0', '(order_id, service_id) = (null, null)'],
  EXPIRE: ['delta = -1', 'held_delta = 0', `service_id = 'another'`],
  GOODWILL: [
    'delta = -1',
    'delta = 0',
    'held_delta = 1',
    'held_delta = null',
    'adjusted_after = null',
    `service_id = 'another'`,
  ],
  CORRECTION: ['delta = 0', 'held_delta = 1', 'held_delta = null', 'adjusted_after = null', `service_id = 'another'`],
  REVERSAL: [
    'delta = -1',
    'delta = 0',
    'held_delta = 1',
    'held_delta = null',
    'adjusted_after = null',
    'service_id = null',
  ],
}

const oldOnes = { 'the entries are from before held credits had entries': oldEntries }

const ofEntries: Record<string, Conditions> = {
  'the kind of an entry says what it does to the balance and to what is held, and for what': {
    broken: Object.fromEntries(
      Object.entries(ofKinds).flatMap(([kind, sets]) =>
        sets.map((set) => [`a ${kind} has ${set}`, entries(set, `kind = '${kind}'`)]),
      ),
    ),
    kept: oldOnes,
  },
  'what is held after an entry is what was held before it and what the entry sets aside or gives back': {
    kept: oldOnes,
  },
  'what was held was covered by the balance at any time': { kept: oldOnes },
  'the time of an entry is not before that of the one before it': {
    kept: {
      'the one before had no held credits yet, and its time was not that of the lock': all(oldEntries, ({ visitor }) =>
        entries(`created_at = now() + interval '1 s'`, `customer_id = '${visitor}' and entry_number = 1`),
      ),
    },
  },
  'credits of adjustments grow by adjustments alone, and are never more than the balance': {
    broken: { 'it says more than entries of the version before left': afterTheVersionBefore(5) },
    kept: { 'it says what entries of the version before left': afterTheVersionBefore(4) },
  },
  'an entry names a hold or a service only where its hash covers them': {
    broken: {
      'it has held credits after it, and none that it moves': entries('held_delta = null', `reference = 'second'`),
    },
    kept: oldOnes,
  },
  'a cancel or a refund of a part took credits that were paid for, and that no other one had taken': {
    broken: {
      'one credit of a cancel was not paid for': paidFor(1),
      'another cancel had taken them': all(paidFor(0), operationOf('kept', 'CANCEL', 'closed_at = now()'), (books) =>
        ofOrder('kept', 'hold_id = null', 'RELEASE')(books),
      ),
      'a refund of a part took credits of adjustments': all(
        ofOrder('refunded', 'adjusted_after = balance_after', 'HOLD'),
        operationOf('refunded', 'REFUND', 'amount = amount - 1000'),
      ),
    },
    kept: {
      'the credits were paid for, and another customer has a cancel under way': all(
        paidFor(0),
        ({ stuckRefund }) => `update payment_operations set opened_at = '2020-01-01' where order_id = '${stuckRefund}'`,
      ),
      'the credits were paid for, and another cancel had ended with its entry': all(
        paidFor(0),
        operationOf('kept', 'CANCEL', 'closed_at = now()'),
      ),
      'a hold of a service took credits of adjustments': ofHold('held', 'adjusted_after = balance_after', 'HOLD'),
      'a full refund took credits of adjustments': ofOrder('refunded', 'adjusted_after = balance_after', 'HOLD'),
      'a full refund of what an accepted part has left did': all(
        ofOrder('refunded', 'adjusted_after = balance_after', 'HOLD'),
        operationOf('refunded', 'REFUND', 'amount = amount - 5000'),
        partOf('refunded'),
      ),
      'a part that was accepted as a refund did': all(
        ofOrder('refunded', 'adjusted_after = balance_after', 'HOLD'),
        operationOf('refunded', 'REFUND', '(amount, accepted) = (1000, true)'),
      ),
    },
  },
  'an entry that moves the credits of an order is the one that the order names, or of an accepted part': {
    broken: {
      'the order is of another customer': ({ kept, whollySpent }) =>
        `update orders set grant_entry = (select grant_entry from orders where order_id = '${kept}')
         where order_id = '${whollySpent}'; ${entries(`order_id = '${whollySpent}'`, `order_id = '${kept}' and kind = 'GRANT'`)}`,
      'that of an accepted part is no refund': ofOrder('parted', `kind = 'ROLLBACK'`, 'REFUND'),
      'that of a refund is not the one of its order': orderOf('refunded', 'refund_entry = refund_entry + 1'),
      'the accepted part is of another customer': ({ visitor }) =>
        `update payment_operations set customer_id = '${visitor}' where kind = 'PART'`,
    },
  },
  'no reference is used twice': {
    kept: { 'another customer uses the same one': entries(`reference = 'first'`, `reference = 'large'`) },
  },
  'an entry of a hold is the one that the hold names': {
    broken: {
      'it sets credits aside and is not the first of the hold': holdOf('held', 'opening_entry = opening_entry - 1'),
      'it gives them back and is not the last of the hold': holdOf('released', 'closing_entry = closing_entry + 1'),
      'one that gives back counts as a part': holdOf(
        'released',
        '(closing_entry, part_entry) = (closing_entry + 1, closing_entry)',
      ),
      'a part is from before the hold': ({ inParts }) => entries(`hold_id = '${inParts}'`, `reference = 'first'`),
      'the hold is of another customer': ({ released, visitor }) =>
        `update holds set customer_id = '${visitor}' where hold_id = '${released}'`,
    },
    kept: {
      'a part has ended the hold': holdOf('inParts', '(closing_entry, part_entry) = (part_entry, part_entry - 1)'),
    },
  },
  'an entry of an operation is about its order and about all that it holds, and ends it as it ended': {
    broken: {
      'the operation is about another order': ({ confirmed, cancelling }) =>
        `update payment_operations set order_id = '${confirmed}' where order_id = '${cancelling}' and kind = 'CANCEL'`,
      'the operation holds less': operationOf('cancelling', 'CANCEL', 'credits_held = credits_held - 1'),
      'a return has set credits aside': operationOf('cancelling', 'CANCEL', `kind = 'RETURN'`),
      'a refund has rolled back': operationOf('cancelled', 'CANCEL', `kind = 'REFUND'`),
      'a refused cancel has rolled back': operationOf('cancelled', 'CANCEL', `state = 'REJECTED'`),
      'a cancel has refunded': operationOf('refunded', 'REFUND', `kind = 'CANCEL'`),
      'an open refund has refunded': operationOf('refunded', 'REFUND', `state = 'OPEN'`),
      'a part has released': operationOf('kept', 'CANCEL', `kind = 'PART'`),
      'an approved cancel has released': operationOf('kept', 'CANCEL', `state = 'APPROVED'`),
      'the operation is of another customer': ({ cancelling, visitor }) =>
        `update payment_operations set customer_id = '${visitor}' where order_id = '${cancelling}'`,
    },
    kept: { 'a refused refund has released': operationOf('kept', 'CANCEL', `kind = 'REFUND'`) },
  },
  'what is set aside is set aside once and ends once': {
    broken: {
      'a hold with a reference is set aside twice': ({ held, inParts }) =>
        entries(`hold_id = '${held}'`, `hold_id = '${inParts}' and kind = 'HOLD'`),
      'a hold ends twice': ({ released, overdue }) =>
        entries(`hold_id = '${released}'`, `hold_id = '${overdue}' and kind = 'EXPIRE'`),
    },
    kept: {
      'a hold of which parts were captured ends': ({ inParts, released }) =>
        entries(`hold_id = '${inParts}'`, `hold_id = '${released}' and kind = 'RELEASE'`),
    },
  },
}

const ofHolds: Record<string, Conditions> = {
  'a hold is counted in budgets of its customer and of all customers': {
    broken: {
      'it names another customer with the id of a budget of its own': ({ limited, visitor }) =>
        `update holds set charged = replace(charged::text, '${limited}', '${visitor}')::jsonb`,
      'it names a budget that there is not': 'update budgets set budget_id = gen_random_uuid()',
    },
    kept: {
      'it is counted in a budget for all customers': ({ limited }) => `update budgets set customer_id = '${nobody}';
        update holds set charged = replace(charged::text, '${limited}', '${nobody}')::jsonb`,
    },
  },
  'a hold begins with the entry that sets its credits aside for its service': {
    broken: { 'the entry is about an order': ofHold('held', `order_id = 'ord_any'`, 'HOLD') },
  },
  'a hold ends by one later entry, of the kind that its state says, and an active one has not ended': {
    broken: {
      'an active one has ended': holdOf('held', 'closing_entry = opening_entry + 1'),
      'a released one has the state EXPIRED': holdOf('released', `state = 'EXPIRED'`),
      'it ended with the entry that began it': holdOf('released', 'opening_entry = closing_entry'),
      'it ended before its last part': holdOf('released', 'part_entry = closing_entry + 1'),
    },
  },
  'what is captured is part of what was held': {
    broken: {
      'nothing was held': holdOf('held', 'credits = 0'),
      'more was captured': holdOf('captured', 'captured = credits + 1'),
      'nothing was captured': holdOf('captured', 'captured = 0'),
    },
  },
  'no hold is left active when its time is over': {
    kept: {
      'it was released, and its time is over': holdOf('released', `expires_at = now() - interval '1 hour'`),
      'the worker had nine minutes to end it': holdOf('held', `expires_at = now() - interval '9 minutes'`),
    },
  },
  'no more is reversed than was spent': {
    kept: { 'all of it was reversed': `update adjustments set credits = 10 where kind = 'REVERSAL'` },
  },
  'an adjustment above the limit of one person has the approval of a second one': {
    broken: {
      'one person has requested and approved it': `update adjustment_requests set decided_by = requested_by;
        update adjustments set approved_by = actor where approved_by is not null`,
      'it has other credits than the request': 'update adjustment_requests set credits = credits - 1',
      'it is of another kind than the request': `update adjustment_requests set kind = 'CORRECTION'`,
      'another person has requested it': `update adjustment_requests set requested_by = 'park'`,
      'another person has approved the request': `update adjustment_requests set decided_by = 'park'`,
    },
  },
}

const ofOrders: Record<string, Conditions> = {
  'a PENDING or FAILED order has moved no credits': {
    broken: {
      'a FAILED one names a grant': orderOf('failed', 'grant_entry = 1'),
      'a PENDING one has an amount that was refunded': orderOf('pending', 'refunded_amount = 1'),
    },
  },
  'a CANCELLED order has its grant and one rollback of what accepted parts have left of it': {
    broken: { 'its rollback took what an accepted part had taken': partOf('cancelled') },
    kept: {
      'its rollback took what an accepted part has left': all(
        partOf('cancelled'),
        ofOrder('cancelled', 'delta = -16', 'ROLLBACK'),
      ),
    },
  },
  'a REFUNDED order has its grant, and a refund and a shortfall that make up for it': {
    broken: {
      'the shortfall is more than its credits': orderOf('whollySpent', 'refund_shortfall = credits + 1'),
      'the shortfall is negative': all(
        orderOf('refunded', 'refund_shortfall = -1'),
        ofOrder('refunded', 'delta = -22', 'REFUND'),
      ),
    },
  },
  'amount and credits are those of the catalogue': {
    broken: { 'it has one credit more': orderOf('pending', 'credits = credits + 1') },
    kept: {
      'the package is BASIC': orderOf('pending', `(package_type, amount, credits) = ('BASIC', 1000, 1)`),
      'the package is PRO': orderOf('pending', `(package_type, amount, credits) = ('PRO', 100000, 110)`),
    },
  },
  'confirmed_at is set when and only when the order was confirmed, and not before it was created': {
    broken: {
      'a CONFIRMED order has none': orderOf('confirmed', 'confirmed_at = null'),
      'a FAILED order has one': orderOf('failed', 'confirmed_at = now()'),
    },
    kept: { 'both have one time': orderOf('confirmed', 'created_at = confirmed_at') },
  },
  'a FAILED order has a confirm that was refused or expired': {
    broken: {
      'its confirm is open': operationOf('failed', 'CONFIRM', `state = 'OPEN'`),
      'a cancel was refused': operationOf('failed', 'CONFIRM', `kind = 'CANCEL'`),
    },
  },
  'no idempotency key is on two orders of a customer': {
    kept: {
      'another customer has the same one': ({ confirmed, whollySpent }) =>
        `update orders set idempotency_key = 'same' where order_id in ('${confirmed}', '${whollySpent}')`,
      'the orders have none': 'update orders set idempotency_key = null',
    },
  },
  'the balance a confirm was answered with is what its grant left available': {
    broken: {
      'it is more, of a CANCELLED order': operationOf('cancelled', 'CONFIRM', 'total_credits = total_credits + 1'),
      'it is more, of a REFUNDED order': operationOf('refunded', 'CONFIRM', 'total_credits = total_credits + 1'),
      'it is more than the balance, and the grant is from before held credits': all(
        ofOrder('kept', '(held_delta, held_after) = (null, null)', 'GRANT'),
        operationOf('kept', 'CONFIRM', 'total_credits = 1000'),
      ),
    },
    kept: {
      'it is less than the balance, and the grant is from before held credits': all(
        ofOrder('kept', '(held_delta, held_after) = (null, null)', 'GRANT'),
        operationOf('kept', 'CONFIRM', 'total_credits = total_credits - 1'),
      ),
    },
  },
}

const twoCustomers = { 'another customer has it in an open confirm': keyOf('confirming', 'CONFIRM', 'whollySpent') }

const ofOperations: Record<string, Conditions> = {
  'no payment key is on two orders of a customer': {
    kept: { ...twoCustomers, 'the confirm of the other order was refused': keyOf('failed', 'CONFIRM', 'confirmed') },
  },
  'no payment key is approved for two customers': {
    kept: { ...twoCustomers, 'a refund of another customer has it': keyOf('partlySpent', 'REFUND', 'confirmed') },
  },
  'an operation is about an order and its whole amount, a cancel about what accepted parts have left of it': {
    broken: {
      'a cancel returned what an accepted part had': partOf('cancelled'),
      'a confirm captured what an accepted part has left': all(
        partOf('cancelled'),
        operationOf('cancelled', 'CONFIRM', 'amount = amount - 5000'),
      ),
      'a refused cancel asked for less than any part has left': all(
        partOf('kept'),
        operationOf('kept', 'CANCEL', 'amount = amount - 5001'),
      ),
      'a refused cancel asked for more than was paid': operationOf('kept', 'CANCEL', 'amount = amount + 1'),
    },
    kept: {
      'a cancel returned what an accepted part has left': all(
        partOf('cancelled'),
        operationOf('cancelled', 'CANCEL', 'amount = amount - 5000'),
      ),
      'a cancel was refused before the part was accepted': partOf('kept'),
      'a cancel was refused after the part was accepted': all(
        partOf('kept'),
        operationOf('kept', 'CANCEL', 'amount = amount - 5000'),
      ),
      'a refund returned less': operationOf('refunded', 'REFUND', 'amount = amount - 1000'),
    },
  },
  'a refund returns the full price, the value of the credits that it takes, or what was cancelled at the gateway': {
    broken: {
      'it returned the price in spite of an accepted part': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', 'credits_held = 16'),
      ),
      'more than was paid was cancelled at the gateway': operationOf(
        'refunded',
        'REFUND',
        '(amount, accepted) = (amount + 1, true)',
      ),
      'nothing was cancelled at the gateway': operationOf('refunded', 'REFUND', '(amount, accepted) = (0, true)'),
    },
    kept: {
      'it returned what an accepted part has left': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', 'amount = amount - 5000'),
      ),
      'it returned the value of one credit less': operationOf(
        'refunded',
        'REFUND',
        '(amount, credits_held) = (amount - 1000, 20)',
      ),
      'it returned the value of one credit less, after an accepted part': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', '(amount, credits_held) = (amount - 6000, 15)'),
      ),
      'one won was cancelled at the gateway': operationOf('refunded', 'REFUND', '(amount, accepted) = (1, true)'),
      'it was refused': operationOf('refunded', 'REFUND', `(amount, state) = (1, 'REJECTED')`),
    },
  },
  'accepted parts return less than the price, and leave a credit for each 1,000 won that are left': {
    broken: {
      'a part is open': operationOf('parted', 'PART', `state = 'OPEN'`),
      'a part was not accepted': operationOf('parted', 'PART', 'accepted = false'),
      'a part returned nothing': operationOf('parted', 'PART', 'amount = 0'),
      'its order was never confirmed': orderOf('parted', `status = 'FAILED'`),
    },
    kept: {
      'a credit for each 1,000 won is left': operationOf('parted', 'PART', 'credits_held = 15'),
      'the rest of the order was cancelled': orderOf('parted', `status = 'CANCELLED'`),
      'the rest of the order was refunded': orderOf('parted', `status = 'REFUNDED'`),
    },
  },
  'the credits of an accepted part were taken by its entry': {
    broken: { 'the entry is about another order': ofOrder('parted', `order_id = 'ord_any'`, 'REFUND') },
    kept: {
      'the order was refunded by another entry, too': ({ parted, partCustomer }) =>
        `insert into ledger_entries select (jsonb_populate_record(e, jsonb_build_object('entry_number', 99, 'hold_id', null))).*
         from ledger_entries e
         where customer_id = '${partCustomer}' and order_id = '${parted}' and kind = 'REFUND'`,
    },
  },
  'a REFUNDED order says what its refund returned': {
    kept: { 'a refund of less is open': operationOf('stuckRefund', 'REFUND', 'amount = amount - 1000') },
  },
  'a refused operation left its order in a state that it could be in': {
    broken: { 'the order of a refused cancel is PENDING': orderOf('kept', `status = 'PENDING'`) },
    kept: {
      'a return was refused': operationOf('returned', 'RETURN', `state = 'REJECTED'`),
      'the order was cancelled after a refused cancel': orderOf('kept', `status = 'CANCELLED'`),
      'the order was refunded after a refused cancel': orderOf('kept', `status = 'REFUNDED'`),
    },
  },
  'money goes back by the payment key it was captured with': {
    broken: {
      'that of a refund by another': operationOf('refunded', 'REFUND', `payment_key = 'paid_other'`),
      'that of an accepted part by another': operationOf('parted', 'PART', `payment_key = 'paid_other'`),
      'by that of another order': keyOf('cancelled', 'CANCEL', 'confirmed'),
      'by one whose confirm was refused': operationOf('cancelled', 'CONFIRM', `state = 'REJECTED'`),
    },
  },
  'a cancel holds the credits of its order, and a refund what the order says was left of them': {
    broken: {
      'a cancel held those of an accepted part': partOf('cancelled'),
      'a refused cancel held less than any part has left': all(
        partOf('kept'),
        operationOf('kept', 'CANCEL', 'credits_held = 15'),
      ),
      'a refused cancel held more': operationOf('kept', 'CANCEL', 'credits_held = 22'),
      'a part took more than the order has': operationOf('parted', 'PART', 'credits_held = 111'),
      'a refund holds less than nothing': operationOf('stuckRefund', 'REFUND', 'credits_held = -1'),
      'a refund held less than the order says': operationOf('refunded', 'REFUND', 'credits_held = 20'),
      'a confirm holds credits': operationOf('confirmed', 'CONFIRM', 'credits_held = 1'),
    },
    kept: {
      'a cancel held what an accepted part has left': all(
        partOf('cancelled'),
        operationOf('cancelled', 'CANCEL', 'credits_held = 16'),
      ),
      'a cancel was refused before the part was accepted': partOf('kept'),
    },
  },
  'a full refund takes all that is left of the credits of its order': {
    broken: {
      'one took less than was available': operationOf('refunded', 'REFUND', 'credits_held = 20'),
      'one took less than was available and an accepted part has left': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', '(amount, credits_held) = (amount - 5000, 15)'),
      ),
      'a refused one held less than was available': operationOf(
        'refunded',
        'REFUND',
        `(credits_held, state) = (20, 'REJECTED')`,
      ),
    },
    kept: {
      'one took what an accepted part has left': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', '(amount, credits_held) = (amount - 5000, 16)'),
      ),
      'one took what was not held': entries('(balance_after, held_after) = (2, 1)', `kind = 'SPEND' and delta = -20`),
      'one took nothing, because all was held': entries(
        '(balance_after, held_after) = (1, 1)',
        `kind = 'SPEND' and delta = -21`,
      ),
      'one that was accepted took less': operationOf('refunded', 'REFUND', '(credits_held, accepted) = (20, true)'),
      'one that was refused held less, and a part was accepted': all(
        partOf('refunded'),
        operationOf('refunded', 'REFUND', `(amount, credits_held, state) = (amount - 5000, 15, 'REJECTED')`),
      ),
      'one of the unused part took less': operationOf(
        'refunded',
        'REFUND',
        '(amount, credits_held) = (amount - 1000, 20)',
      ),
    },
  },
  'a return belongs to a FAILED order, and no payment is returned twice': {
    kept: {
      'the return was refused': operationOf('returned', 'RETURN', `state = 'REJECTED'`),
      'the first return was refused': ({ returnedTwice }) =>
        `update payment_operations set payment_key = 'paid_twice' where order_id = '${returnedTwice}' and kind = 'RETURN';
         update payment_operations set state = 'REJECTED' where operation_id = (
           select min(operation_id::text)::uuid from payment_operations where order_id = '${returnedTwice}' and kind = 'RETURN')`,
      'the confirm that expired has the key, too': operationOf('returned', 'CONFIRM', `state = 'EXPIRED'`),
    },
  },
  'only an approved confirm has a card slip, and a card number is masked': {
    broken: {
      'a refused confirm has one': operationOf('failed', 'CONFIRM', `approval_number = '1'`),
      'two digits are masked': card('43301234**1234'),
      '13 digits are not masked': card('43301234****12345'),
    },
    kept: {
      '12 digits are not masked': card('43301234****1234'),
      'an approved confirm has no card number': operationOf('confirmed', 'CONFIRM', `approval_number = '1'`),
    },
  },
  'nothing is stranded: whatever is open has somebody who works on it or will soon': {
    kept: {
      'it was opened nine minutes ago': overdue(9, 6, 6),
      'its next attempt was due four minutes ago': overdue(11, 4, 20),
      'its lease ended four minutes ago': overdue(11, 20, 4),
      'it is closed': operationOf(
        'confirmed',
        'CONFIRM',
        `(opened_at, settle_at, lease_until) = row(
        now() - interval '1 hour', now() - interval '1 hour', now() - interval '1 hour')`,
      ),
    },
  },
}

const numbersAsText = (type: string, members: string[]) =>
  Object.fromEntries(
    members.map((member) => [
      `${member} of ${type} is a text`,
      `update events set data = data::jsonb || jsonb_build_object('${member}', data ->> '${member}') where type = '${type}'`,
    ]),
  )

const ofEvents: Record<string, Conditions> = {
  'an event about an order tells what has become of it': {
    broken: {
      'one about credits names another customer': data('credits.low', { customerId: nobody }),
      'its status is not its type': data('order.confirmed', { status: 'FAILED' }),
      'a confirmed order is FAILED': orderOf('confirmed', `status = 'FAILED'`),
      'a failed order is CANCELLED': orderOf('failed', `status = 'CANCELLED'`),
    },
  },
  'an event about few credits has fewer than its threshold': {
    broken: {
      'it has as many': data('credits.low', { credits: 5, threshold: 5 }),
      ...numbersAsText('credits.low', ['credits', 'threshold']),
    },
  },
  'credits.empty has no credits, and what is left of a budget is its limit less its use': {
    broken: numbersAsText('budget.low', ['credits', 'used', 'left']),
  },
  'what is used of a budget is not negative, and is of a key or user only where each has the limit for itself': {
    broken: {
      'it is negative': usage('used = -1'),
      'a budget of one user counts each user': `update budgets set value = 'ann' where scope = 'USER'`,
    },
    kept: {
      'nothing is used': usage('used = 0'),
      'each key has the limit': `update budgets set scope = 'KEY' where scope = 'USER'`,
    },
  },
  'what is used of a budget is of a period that has begun': {
    broken: { 'the day begins in two days': dayOfBudgets(`now() + interval '2 days'`) },
    kept: { 'it is the Korean day of today': dayOfBudgets('now()') },
  },
}

const action = (subject: string) => `insert into operator_actions (action_id, step, actor, command, arguments)
  values ('${subject}', 'BEGUN', 'viewer', 'keys issue', '{}')`
const [oneAction, otherAction] = ['0190aaaa-0000-7000-8000-00000000000a', '0190aaaa-0000-7000-8000-00000000000b']
const triggersFire = 'set local session_replication_role = origin'

const ofRecords: Record<string, Conditions> = {
  'an action that has begun has an end or is open': {
    broken: {
      'another action is open': `${triggersFire}; ${action(oneAction)}; ${action(otherAction)};
        delete from open_actions where action_id = '${oneAction}'`,
    },
    kept: { 'it is open': `${triggersFire}; ${action(oneAction)}` },
  },
  'every change of a record began with what its last journal entry had': {
    kept: {
      'it was changed three times': `${triggersFire}; update operators set role = 'admin';
        update operators set status = 'SUSPENDED'; update operators set role = 'viewer'`,
    },
  },
}

export const conditionsOf: Record<string, Conditions> = {
  ...ofAccounts,
  ...ofEntries,
  ...ofHolds,
  ...ofOrders,
  ...ofOperations,
  ...ofEvents,
  ...ofRecords,
}

const began = (command: string, set: string) =>
  `update operator_actions set ${set} where step = 'BEGUN' and command = '${command}'`
/** The end of each action, a second before what it may cover, or after. */
const ended = (outcome: string, when: string, time: string) =>
  `update operator_actions e set outcome = '${outcome}: a reason', happened_at = i.at + interval '${when}'
   from operator_actions b join (${time}) i on i.subject = b.subject
   where e.step = 'ENDED' and b.step = 'BEGUN' and b.action_id = e.action_id`
const beganAt = (when: string, time: string) =>
  `update operator_actions b set happened_at = i.at + interval '${when}' from (${time}) i
   where b.subject = i.subject and b.step = 'BEGUN'`
const timeOfRefunds = `select order_id as subject, opened_at as at from payment_operations where kind = 'REFUND'`
const timeOfAdjustments = `select customer_id::text as subject, requested_at as at from adjustment_requests`
const timeOfApprovals = `select customer_id::text as subject, created_at as at from adjustments where approved_by is not null`
const timeOfParts = `select operation_id::text as subject, opened_at as at from payment_operations where kind = 'PART'`
const refusals = ['VAL001', 'VAL003', 'NOT000', 'BUS002', 'PAYMENT_CANCEL_FAILED']
const refused = (time: string, first = ''): Conditions => ({
  broken: Object.fromEntries(
    refusals.map((code) => [`the action was refused before with ${code}`, `${first}${ended(code, '-1 s', time)}`]),
  ),
  kept: {
    'another action was refused before': `${first}insert into operator_actions (action_id, step, happened_at, outcome, about)
      values (gen_random_uuid(), 'ENDED', '2020-01-01', 'VAL003: another one', '{}')`,
    'the action was refused afterwards': `${first}${ended('VAL003', '1 s', time)}`,
    'the outcome of the action was not known': `${first}${ended('SVC001', '-1 s', time)}`,
  },
})
const both = (one: Conditions, other: Conditions): Conditions => ({
  broken: { ...one.broken, ...other.broken },
  kept: { ...one.kept, ...other.kept },
})
const days = (actor: string, set: string) => `update adjustment_days set ${set} where actor = '${actor}'`

/** Everything is from before the version that checks actions. */
const later = `insert into record_journal (record_number, table_name, row_key, content_hash, written_at, journal_hash)
  values (1000000, 'schema_migrations', '54', sha256(''), now() + interval '1 hour', sha256(''))`
/** The one that was requested. */
const madeLater = `update adjustments set created_at = created_at + interval '3 days' where approved_by is not null;
  update adjustment_days set day = day + 3 where actor = 'lee'`

/** Of a part of 5,000 won that took three credits, two less than they stand for, by kim, who is charged for it. */
const partBy = (name: string, charge: number, day = 0) =>
  all(
    operationOf('parted', 'PART', 'credits_held = 3'),
    began('discrepancies accept', `(actor, arguments) = ('Kim as root', '{--credits,3}')`),
    `insert into adjustment_days (actor, day, credits, charges)
     select '${name}', (opened_at at time zone 'Asia/Seoul')::date + ${day}, ${charge},
            array[concat_ws('/', customer_id, operation_id, 'PART', ${charge})]
     from payment_operations where kind = 'PART'
     on conflict (actor, day) do update set charges = excluded.charges`,
  )
const requestId = '0190aaaa-0000-7000-8000-00000000000c'
/** The same, requested by kim and approved by lee, who is charged, too. */
const approvedPart = (...more: Change[]) =>
  all(
    partBy('kim', 2),
    partBy('lee', 2),
    `insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by, requested_at, state,
       decided_by, decided_at, discrepancy_id, order_id, amount)
     select customer_id, '${requestId}', 'PART', 3, 'agreed', 'kim', opened_at, 'APPROVED', 'lee', opened_at, operation_id,
       order_id, amount from payment_operations where kind = 'PART';
     update operator_actions set about = '{"requestId": "${requestId}"}' where step = 'ENDED' and action_id in (
       select action_id from operator_actions where command = 'discrepancies accept');
     insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
     select gen_random_uuid(), 'BEGUN', opened_at, 'lee', 'adjustments approve', array['${requestId}'], customer_id::text
     from payment_operations where kind = 'PART'`,
    ...more,
  )
const ofApprovalOfPart = (set: string) =>
  `update operator_actions set ${set} where command = 'adjustments approve' and arguments = array['${requestId}']`
const endOfApproval = (outcome: string, when: string) =>
  `insert into operator_actions (action_id, step, happened_at, outcome, about)
   select action_id, 'ENDED', happened_at + interval '${when}', '${outcome}: a reason', '{}'
   from operator_actions where arguments = array['${requestId}']`
const endedAbout = (about: string) =>
  `update operator_actions set about = '${about}' where step = 'ENDED' and action_id in (
     select action_id from operator_actions where command = 'discrepancies accept')`
const refundAs = (set: string) => operationOf('refunded', 'REFUND', set)
const noAction = "update operator_actions set subject = 'none' where command = 'orders refund'"
const found = `reason = '${cancelledElsewhere}'`
/** The version before refunded an order of which a part was cancelled at the gateway. */
const acceptedRefund = (...more: Change[]) =>
  all(
    noAction,
    operationOf('refunded', 'REFUND', 'accepted = true'),
    ({ partlySpent, whollySpent, stuckRefund }) =>
      `update payment_operations set kind = 'CANCEL' where order_id in ('${partlySpent}', '${whollySpent}', '${stuckRefund}')
         and kind = 'REFUND'`,
    ({ refunded, customer }) => `update discrepancies set (customer_id, order_id) = ('${customer}', '${refunded}')
       where kind = '${partlyCancelled}'`,
    ...more,
  )

/** The rules about the actions of operators, by their names. */
export const conditionsOfActions: { [Name in keyof typeof actionRules]?: Conditions } = {
  adjustment: both(refused(timeOfAdjustments), {
    broken: {
      'the action is about another customer': began('adjustments grant', `subject = 'another'`),
      'the action of a goodwill corrects': began('adjustments grant', `command = 'adjustments correct'`),
      'the action of a correction grants': began('adjustments correct', `command = 'adjustments grant'`),
      'the action began 25 hours before': beganAt('-25 hours', timeOfAdjustments),
      'the action began 25 hours afterwards': beganAt('25 hours', timeOfAdjustments),
      'the action has other credits': began('adjustments grant', `arguments = '{--credits,6}'`),
      'the action names another adjustment': began(
        'adjustments correct',
        `arguments = arguments || array['--adjustmentId', gen_random_uuid()::text]`,
      ),
    },
    kept: {
      'it was approved three days after its action': madeLater,
      'it is from before the version that checks it': all(later, began('adjustments grant', `subject = 'another'`)),
      'the action began 23 hours before': beganAt('-23 hours', timeOfAdjustments),
      'the action began 23 hours afterwards': beganAt('23 hours', timeOfAdjustments),
      'the action has the credits with their sign': began('adjustments grant', `arguments[2] = '+' || arguments[2]`),
    },
  }),
  charge: {
    broken: {
      'the day of another operator is charged': days('kim', `actor = 'park'`),
      'the day is two days off': days('kim', 'day = day - 2'),
      'the day of the one who approved it is two days off': days('lee', 'day = day + 2'),
      'the charge is for other credits': days('kim', `charges[1] = charges[1] || '0'`),
    },
    kept: {
      'it was approved three days after its request': madeLater,
      'the day is one day off': days('kim', 'day = day - 1'),
      'the day of the one who approved it is one day off': days('lee', 'day = day + 1'),
    },
  },
  approval: both(refused(timeOfApprovals), {
    broken: {
      'the action is about another customer': began('adjustments approve', `subject = 'another'`),
      'the action rejects': began('adjustments approve', `command = 'adjustments reject'`),
      'the action approves another one': began('adjustments approve', `arguments = array[gen_random_uuid()::text]`),
      'the action is of another operator': began('adjustments approve', `actor = 'park'`),
      'one that was approved has no second person': 'update adjustments set approved_by = null',
    },
    kept: {
      'the id of the action is in capitals': began('adjustments approve', 'arguments = array[upper(arguments[1])]'),
      'one that nobody approved was rejected': `update adjustments set approved_by = null;
        ${began('adjustments approve', `command = 'adjustments reject'`)}`,
      'one that nobody approved was refused its approval': `update adjustments set approved_by = null;
        ${ended('VAL003', '-1 s', timeOfAdjustments)}`,
    },
  }),
  total: {
    broken: { 'one day has less than its charges': days('kim', 'credits = credits - 1') },
    kept: {
      'the day is from before the version that checks it': all(later, days('kim', 'credits = credits - 1')),
      'a charge is negative': days('kim', `charges = charges || array['a/b/CORRECTION/-4'], credits = credits + 4`),
    },
  },
  refund: both(refused(timeOfRefunds), {
    broken: {
      'the action is about another order': noAction,
      'the action does something else': began('orders refund', `command = 'orders review'`),
      'the action began 25 hours before': beganAt('-25 hours', timeOfRefunds),
      'the action began two minutes afterwards': beganAt('2 minutes', timeOfRefunds),
      'the gateway alone says that it was cancelled there': all(
        noAction,
        refundAs(`gateway_code = '${cancelledAtGateway}'`),
      ),
      'its reason alone says that it was cancelled at the gateway': all(
        acceptedRefund(),
        refundAs(`accepted = false, ${found}`),
      ),
      'the accepted discrepancy is of another order': acceptedRefund(
        `update discrepancies set order_id = 'another' where kind = '${partlyCancelled}'`,
      ),
      'the accepted discrepancy is of another customer': acceptedRefund(
        ({ visitor }) => `update discrepancies set customer_id = '${visitor}' where kind = '${partlyCancelled}'`,
      ),
      'the discrepancy was accepted 25 hours before': acceptedRefund(
        began('discrepancies accept', `happened_at = now() - interval '25 hours'`),
      ),
      'a discrepancy was accepted, and the refund not': acceptedRefund(refundAs('accepted = false')),
      'the discrepancy was resolved in another way': acceptedRefund(
        began('discrepancies accept', `command = 'discrepancies resolve'`),
      ),
    },
    kept: {
      'the action began 23 hours before': beganAt('-23 hours', timeOfRefunds),
      'the action began half a minute afterwards': beganAt('30 s', timeOfRefunds),
      'it is from before the version that checks it': all(later, noAction),
      'it was found cancelled at the gateway': acceptedRefund(
        refundAs(`accepted = false, ${found}, gateway_code = '${cancelledAtGateway}'`),
      ),
      'it was found cancelled at the gateway, and is open': acceptedRefund(
        refundAs(`accepted = false, ${found}, state = 'OPEN'`),
      ),
      'its discrepancy was accepted': acceptedRefund(),
    },
  }),
  part: both(refused(timeOfParts), {
    broken: {
      'the discrepancy has another id': `update discrepancies set discrepancy_id = gen_random_uuid()`,
      'the discrepancy is of another customer': ({ visitor }) => `update discrepancies set customer_id = '${visitor}'`,
      'the discrepancy is of another order': `update discrepancies set order_id = 'another'`,
      'the discrepancy is of another kind': `update discrepancies set kind = 'PAYMENT_DIFFERS'`,
      'the action resolves': began('discrepancies accept', `command = 'discrepancies resolve'`),
      'the action is about another discrepancy': began('discrepancies accept', `subject = 'another'`),
      'the action began 25 hours before': beganAt('-25 hours', timeOfParts),
      'the action began two minutes afterwards': beganAt('2 minutes', timeOfParts),
      'the action has other credits': began('discrepancies accept', `arguments = '{--credits,4}'`),
      'the action names no credits, and it took others': all(
        partBy('kim', 2),
        began('discrepancies accept', `arguments = '{}'`),
      ),
      'the action has stored a request': endedAbout(`{"requestId": "${requestId}"}`),
      'the action has stored another request': approvedPart(endedAbout('{"requestId": "another"}')),
      'another operator than the one of the request has the action': approvedPart(
        began('discrepancies accept', `actor = 'park'`),
      ),
    },
    kept: {
      'the action began 23 hours before': beganAt('-23 hours', timeOfParts),
      'the action began half a minute afterwards': beganAt('30 s', timeOfParts),
      'the action names no credits, and it took those of its won': began('discrepancies accept', `arguments = '{}'`),
      'the action has stored the request that was approved': approvedPart(),
      'a request of another person was rejected': approvedPart(
        `update adjustment_requests set (state, requested_by) = ('REJECTED', 'park') where kind = 'PART'`,
        endedAbout('{}'),
      ),
    },
  }),
  partCharge: {
    broken: {
      'less is charged': partBy('kim', 1),
      'another operator is charged': partBy('park', 2),
      'the day is two days off': partBy('kim', 2, 2),
      'the charge is for another part': all(partBy('kim', 2), days('kim', `charges = array['a/b/PART/2']`)),
      'the one who approved it is not charged': approvedPart(days('lee', `charges = '{}'`)),
      'the day of the one who approved it is two days off': approvedPart(days('lee', 'day = day - 2')),
      'the one who approved it is charged less': approvedPart(partBy('lee', 1)),
    },
    kept: {
      'as much is charged': partBy('kim', 2),
      'more is charged': partBy('kim', 3),
      'the day is one day off': partBy('kim', 2, 1),
      'both are charged': approvedPart(),
      'the day of the one who approved it is one day off': approvedPart(days('lee', 'day = day - 1')),
    },
  },
  partApproval: {
    broken: {
      'the action is about another customer': approvedPart(ofApprovalOfPart(`subject = 'another'`)),
      'the action rejects': approvedPart(ofApprovalOfPart(`command = 'adjustments reject'`)),
      'the action approves another one': approvedPart(ofApprovalOfPart(`arguments = array[gen_random_uuid()::text]`)),
      'the action is of another operator': approvedPart(ofApprovalOfPart(`actor = 'kim'`)),
      'the action was refused before': approvedPart(endOfApproval('VAL003', '-1 s')),
    },
    kept: {
      'the action was refused afterwards': approvedPart(endOfApproval('VAL003', '1 s')),
      'another action was refused before': approvedPart(
        `insert into operator_actions (action_id, step, happened_at, outcome, about)
         values (gen_random_uuid(), 'ENDED', '2020-01-01', 'VAL003: another one', '{}')`,
      ),
      'the id of the action is in capitals': approvedPart(ofApprovalOfPart('arguments = array[upper(arguments[1])]')),
    },
  },
}
