// The single conditions of the audit's rules about money and credits. Below each rule, `-` is a change of right books that
// breaks it and `+` one that it must allow: when, `|`, and the change. Only the rule itself is checked; what else breaks with
// the change is not compared. The constraints of the schema are gone.
import assert from 'node:assert/strict'
import { cancelledAtGateway } from '../../../src/gateway/gateway.ts'
import type { actionRules } from '../../../src/payments/audit/check-actions.ts'
import { cancelledElsewhere } from '../../../src/payments/kinds.ts'
import { partlyCancelled } from '../../../src/payments/recovery/review.ts'
import type { Books } from '../database/books.ts'

export type ConditionBooks = Books & { adjusted: string }
export type Condition = { rule: string; isBroken: boolean; when: string; change: (books: ConditionBooks) => string }

const requestId = '0190aaaa-0000-7000-8000-00000000000c'
const others: Record<string, string> = { nobody: '00000000-0000-0000-0000-000000000000', requestId }

/** The forms of a step, what stands before the colon and then what is set. All else is SQL; `{name}` is an id of the books. */
const forms: [form: RegExp, sql: string][] = [
  [/^([A-Z]+) of (\w+): (.*)$/s, `update payment_operations set $3 where order_id = '{$2}' and kind = '$1'`],
  [
    /^the part is of (\w+)$/,
    `update payment_operations set (customer_id, order_id) = ('{customer}', '{$1}') where kind = 'PART'`,
  ],
  [/^entry (\w+) of hold (\w+): (.*)$/s, `update ledger_entries set $3 where hold_id = '{$2}' and kind = '$1'`],
  [/^entry (\w+) of (\w+): (.*)$/s, `update ledger_entries set $3 where order_id = '{$2}' and kind = '$1'`],
  [/^(hold|order) (\w+): (.*)$/s, `update $1s set $3 where $1_id = '{$2}'`],
  [/^(account|customer) of (\w+): (.*)$/s, `update $1s set $3 where customer_id = '{$2}'`],
  [/^data of ([\w.]+): (.*)$/s, `update events set data = data::jsonb || $2 where type = '$1'`],
  [/^action ([a-z ]+): (.*)$/s, `update operator_actions set $2 where step = 'BEGUN' and command = '$1'`],
  [
    /^approval of the part: (.*)$/s,
    `update operator_actions set $1 where command = 'adjustments approve' and arguments = array['{requestId}']`,
  ],
  [/^days of (\w+): (.*)$/s, `update adjustment_days set $2 where actor = '$1'`],
  [/^(\w+) where (.*?): (.*)$/s, 'update $1 set $3 where $2'],
  [/^(\w+): (.*)$/s, 'update $1 set $2'],
]

function sqlOf(step: string): string {
  const [form, sql] = forms.find(([each]) => each.test(step)) ?? []
  return form && sql ? step.replace(form, sql) : step
}

const idIn = (books: ConditionBooks, name: string) =>
  others[name] ?? books[name as keyof ConditionBooks] ?? assert.fail(`{${name}}`)

/** A row begins with two spaces and its sign, a rule without spaces; all other lines continue a row. */
function conditionsIn(table: string): Condition[] {
  return table.split(/^(?=\S)/m).flatMap((part) => {
    const [rule = '', ...rows] = part.trimEnd().split(/\n {2}(?=[-+] )/)
    return rows.map((row) => {
      const [, sign, when, steps] = /^([-+]) (.*?) \|\s+(.*)$/s.exec(row) ?? assert.fail(row)
      const sql = (steps ?? '').split(/;\s+/).map(sqlOf).join('; ')
      const change = (books: ConditionBooks) => sql.replaceAll(/\{(\w+)\}/g, (_, name) => idIn(books, name))
      return { rule, isBroken: sign === '-', when: when ?? '', change }
    })
  })
}

/** Entries from before held credits had entries, in a ledger that was empty. */
const oldEntries = `insert into ledger_entries
    (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, entry_hash)
  select '{visitor}', number, kind, delta, sum(delta) over (order by number), of_order, reference, now(), sha256('')
  from (values (1, 'GRANT', 21, 'ord_old', null), (2, 'SPEND', -1, null, 'old'), (3, 'ROLLBACK', -5, 'ord_old', null),
               (4, 'REFUND', -5, 'ord_older', null)) as e (number, kind, delta, of_order, reference)`
/**
 * Two entries of the version before adjustments, a spend of all but four credits and a grant, and one of this version that says
 * that `left` credits without cash value are left.
 */
const afterTheVersionBefore = (left: number | null) => `
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, entry_hash,
                              held_delta, held_after, adjusted_after)
  select customer_id, last_entry + number, kind, case number when 1 then 4 - balance else delta end, left_over, of_order,
         of_reference, now(), sha256(''), 0, 0, adjusted_credits
  from accounts
  cross join (values (1, 'SPEND', 0, 4, null, 'one', null), (2, 'GRANT', 21, 25, 'ord_old', null, null),
                     (3, 'SPEND', -1, 24, null, 'two', ${left}::bigint))
    as e (number, kind, delta, left_over, of_order, of_reference, adjusted_credits)
  where customer_id = '{adjusted}'; account of adjusted: last_entry = last_entry + 3`
const beforeTheLast = `(select adjusted_after from ledger_entries where kind = 'GOODWILL' order by entry_number desc limit 1)`
const endpoint = (lastEvent: string, types = '{}') => `
  insert into event_endpoints (endpoint_id, url, types, secrets, created_at)
  values ('end_old', 'https://consumer.example', '${types}', '[{}]', now() - interval '2 days');
  insert into event_queues (customer_id, endpoint_id, next_event, last_event)
  select customer_id, 'end_old', 1, ${lastEvent} from accounts where last_event > 1`
const otherQueue = (events: string) => `insert into event_queues (customer_id, endpoint_id, next_event, last_event)
  select customer_id, 'end_other', ${events} from accounts`
const keyOf = (order: string) =>
  `(select payment_key from payment_operations where order_id = '{${order}}' and kind = 'CONFIRM')`
const minutesAgo = (...opened: [opened: number, settle: number, lease: number]) =>
  `(opened_at, settle_at, lease_until) = row(${opened.map((minutes) => `now() - interval '${minutes} minutes'`)})`
const triggersFire = 'set local session_replication_role = origin'
const action = (digit: string) => `insert into operator_actions (action_id, step, actor, command, arguments)
  values ('0190aaaa-0000-7000-8000-00000000000${digit}', 'BEGUN', 'viewer', 'keys issue', '{}')`

/** By the kind of an entry: what breaks it, as a change of one. */
const breaksKind = {
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
const ofKinds = Object.entries(breaksKind)
  .flatMap(([kind, sets]) =>
    sets.map((set) => `  - a ${kind} has ${set} | ledger_entries where kind = '${kind}': ${set}`),
  )
  .join('\n')

export const conditions =
  conditionsIn(`nothing is negative, what is held is covered, and JSON can tell the balance exactly
  - what is held is negative | account of customer: held = -1
  - the balance is more than JSON can tell | account of customer: balance = 9007199254740992
  + all of the largest balance is held | account of customer: (balance, held) = (9007199254740991, 9007199254740991)
the account knows how much of its balance comes from adjustments, as the ledger left it
  - a spend of the version before took one of them |
      ledger_entries where reference = 'later': adjusted_after = null; account of adjusted: adjusted = ${beforeTheLast} - 1
  - it has forgotten how little entries of the version before left | ${afterTheVersionBefore(null)}; account of adjusted: adjusted = 5
  + a spend of the version before took none of them | ledger_entries where reference = 'later': adjusted_after = null; account of adjusted: adjusted = ${beforeTheLast}
  + it has what entries of the version before left | ${afterTheVersionBefore(null)}; account of adjusted: adjusted = 4
no queue of events is past its end, and no end past the last event
  - one of two queues ends after the last event | ${endpoint('last_event')}; ${otherQueue('1, last_event + 1')}
  - one of two queues is past its end | ${endpoint('last_event')}; ${otherQueue('3, 1')}
  + all events were delivered | ${endpoint('last_event')}; event_queues: next_event = last_event + 1
an account is marked as restricted when its customer has a budget or is suspended, and only then
  - the mark is left of a budget that was removed | budgets: removed_at = now()
  - a suspended customer is not marked | customer of visitor: suspended_at = now()
  + another customer is suspended | customer of visitor: suspended_at = now(); account of visitor: restricted_at = now()
  + its budget was removed, and the mark with it | budgets: removed_at = now(); account of limited: restricted_at = null
  + the platform has a budget for all customers |
      budgets: customer_id = '{nobody}'; account of limited: restricted_at = null; account of visitor: customer_id = '{nobody}'
an endpoint that wants the last event of a customer has a queue that reaches it
  - it wants events of that type alone |
      ${endpoint('last_event', '{order.failed,order.confirmed,order.cancelled,order.refunded}')}; delete from event_queues where customer_id = '{customer}'
  - only the queue of another customer reaches it | ${endpoint('last_event')}; delete from event_queues where customer_id = '{limited}'
  - only the queue of another endpoint reaches it | ${endpoint('last_event - 1')}; ${otherQueue('1, last_event')}
  + every queue ends with the last event | ${endpoint('last_event')}
  + it wants other types | ${endpoint('last_event', '{checkpoint.published}')}; delete from event_queues where customer_id = '{customer}'
  + it was removed | ${endpoint('last_event - 1')}; event_endpoints where endpoint_id = 'end_old': status = 'REMOVED'
  + it was added within the day before | ${endpoint('last_event - 1')}; event_endpoints where endpoint_id = 'end_old': created_at = now() - interval '23 hours'
the kind of an entry says what it does to the balance and to what is held, and for what
${ofKinds}
  + the entries are from before held credits had entries | ${oldEntries}
what is held after an entry is what was held before it and what the entry sets aside or gives back
  + the entries are from before held credits had entries | ${oldEntries}
what was held was covered by the balance at any time
  + the entries are from before held credits had entries | ${oldEntries}
the time of an entry is not before that of the one before it
  + the one before had no held credits yet, and its time was not that of the lock |
      ${oldEntries}; ledger_entries where customer_id = '{visitor}' and entry_number = 1: created_at = now() + interval '1 s'
credits of adjustments grow by adjustments alone, and are never more than the balance
  - it says more than entries of the version before left | ${afterTheVersionBefore(5)}
  + it says what entries of the version before left | ${afterTheVersionBefore(4)}
an entry names a hold or a service only where its hash covers them
  - it has held credits after it, and none that it moves | ledger_entries where reference = 'second': held_delta = null
  + the entries are from before held credits had entries | ${oldEntries}
a cancel or a refund of a part took credits that were paid for, and that no other one had taken
  - one credit of a cancel was not paid for | entry HOLD of cancelling: adjusted_after = balance_after - held_delta + 1
  - another cancel had taken them |
      entry HOLD of cancelling: adjusted_after = balance_after - held_delta; CANCEL of kept: closed_at = now(); entry RELEASE of kept: hold_id = null
  - a refund of a part took credits of adjustments | entry HOLD of refunded: adjusted_after = balance_after; REFUND of refunded: amount = amount - 1000
  + the credits were paid for, and another customer has a cancel under way |
      entry HOLD of cancelling: adjusted_after = balance_after - held_delta; payment_operations where order_id = '{stuckRefund}': opened_at = '2020-01-01'
  + the credits were paid for, and another cancel had ended with its entry |
      entry HOLD of cancelling: adjusted_after = balance_after - held_delta; CANCEL of kept: closed_at = now()
  + a hold of a service took credits of adjustments | entry HOLD of hold held: adjusted_after = balance_after
  + a full refund took credits of adjustments | entry HOLD of refunded: adjusted_after = balance_after
  + a full refund of what an accepted part has left did |
      entry HOLD of refunded: adjusted_after = balance_after; REFUND of refunded: amount = amount - 5000; the part is of refunded
  + a part that was accepted as a refund did | entry HOLD of refunded: adjusted_after = balance_after; REFUND of refunded: (amount, accepted) = (1000, true)
an entry that moves the credits of an order is the one that the order names, or of an accepted part
  - the order is of another customer |
      order whollySpent: grant_entry = (select grant_entry from orders where order_id = '{kept}'); entry GRANT of kept: order_id = '{whollySpent}'
  - that of an accepted part is no refund | entry REFUND of parted: kind = 'ROLLBACK'
  - that of a refund is not the one of its order | order refunded: refund_entry = refund_entry + 1
  - the accepted part is of another customer | payment_operations where kind = 'PART': customer_id = '{visitor}'
no reference is used twice
  + another customer uses the same one | ledger_entries where reference = 'large': reference = 'first'
an entry of a hold is the one that the hold names
  - it sets credits aside and is not the first of the hold | hold held: opening_entry = opening_entry - 1
  - it gives them back and is not the last of the hold | hold released: closing_entry = closing_entry + 1
  - one that gives back counts as a part | hold released: (closing_entry, part_entry) = (closing_entry + 1, closing_entry)
  - a part is from before the hold | ledger_entries where reference = 'first': hold_id = '{inParts}'
  - the hold is of another customer | hold released: customer_id = '{visitor}'
  + a part has ended the hold | hold inParts: (closing_entry, part_entry) = (part_entry, part_entry - 1)
an entry of an operation is about its order and about all that it holds, and ends it as it ended
  - the operation is about another order | CANCEL of cancelling: order_id = '{confirmed}'
  - the operation holds less | CANCEL of cancelling: credits_held = credits_held - 1
  - a return has set credits aside | CANCEL of cancelling: kind = 'RETURN'
  - a refund has rolled back | CANCEL of cancelled: kind = 'REFUND'
  - a refused cancel has rolled back | CANCEL of cancelled: state = 'REJECTED'
  - a cancel has refunded | REFUND of refunded: kind = 'CANCEL'
  - an open refund has refunded | REFUND of refunded: state = 'OPEN'
  - a part has released | CANCEL of kept: kind = 'PART'
  - an approved cancel has released | CANCEL of kept: state = 'APPROVED'
  - the operation is of another customer | payment_operations where order_id = '{cancelling}': customer_id = '{visitor}'
  + a refused refund has released | CANCEL of kept: kind = 'REFUND'
what is set aside is set aside once and ends once
  - a hold with a reference is set aside twice | entry HOLD of hold inParts: hold_id = '{held}'
  - a hold ends twice | entry EXPIRE of hold overdue: hold_id = '{released}'
  + a hold of which parts were captured ends | entry RELEASE of hold released: hold_id = '{inParts}'
a hold is counted in budgets of its customer and of all customers
  - it names another customer with the id of a budget of its own | holds: charged = replace(charged::text, '{limited}', '{visitor}')::jsonb
  - it names a budget that there is not | budgets: budget_id = gen_random_uuid()
  + it is counted in a budget for all customers | budgets: customer_id = '{nobody}'; holds: charged = replace(charged::text, '{limited}', '{nobody}')::jsonb
a hold begins with the entry that sets its credits aside for its service
  - the entry is about an order | entry HOLD of hold held: order_id = 'ord_any'
a hold ends by one later entry, of the kind that its state says, and an active one has not ended
  - an active one has ended | hold held: closing_entry = opening_entry + 1
  - a released one has the state EXPIRED | hold released: state = 'EXPIRED'
  - it ended with the entry that began it | hold released: opening_entry = closing_entry
  - it ended before its last part | hold released: part_entry = closing_entry + 1
what is captured is part of what was held
  - nothing was held | hold held: credits = 0
  - more was captured | hold captured: captured = credits + 1
  - nothing was captured | hold captured: captured = 0
no hold is left active when its time is over
  + it was released, and its time is over | hold released: expires_at = now() - interval '1 hour'
  + the worker had nine minutes to end it | hold held: expires_at = now() - interval '9 minutes'
no more is reversed than was spent
  + all of it was reversed | adjustments where kind = 'REVERSAL': credits = 10
an adjustment above the limit of one person has the approval of a second one
  - one person has requested and approved it | adjustment_requests: decided_by = requested_by; adjustments where approved_by is not null: approved_by = actor
  - it has other credits than the request | adjustment_requests: credits = credits - 1
  - it is of another kind than the request | adjustment_requests: kind = 'CORRECTION'
  - another person has requested it | adjustment_requests: requested_by = 'park'
  - another person has approved the request | adjustment_requests: decided_by = 'park'
a PENDING or FAILED order has moved no credits
  - a FAILED one names a grant | order failed: grant_entry = 1
  - a PENDING one has an amount that was refunded | order pending: refunded_amount = 1
a CANCELLED order has its grant and one rollback of what accepted parts have left of it
  - its rollback took what an accepted part had taken | the part is of cancelled
  + its rollback took what an accepted part has left | the part is of cancelled; entry ROLLBACK of cancelled: delta = -16
a REFUNDED order has its grant, and a refund and a shortfall that make up for it
  - the shortfall is more than its credits | order whollySpent: refund_shortfall = credits + 1
  - the shortfall is negative | order refunded: refund_shortfall = -1; entry REFUND of refunded: delta = -22
amount and credits are those of the catalogue
  - it has one credit more | order pending: credits = credits + 1
  + the package is BASIC | order pending: (package_type, amount, credits) = ('BASIC', 1000, 1)
  + the package is PRO | order pending: (package_type, amount, credits) = ('PRO', 100000, 110)
confirmed_at is set when and only when the order was confirmed, and not before it was created
  - a CONFIRMED order has none | order confirmed: confirmed_at = null
  - a FAILED order has one | order failed: confirmed_at = now()
  + both have one time | order confirmed: created_at = confirmed_at
a FAILED order has a confirm that was refused or expired
  - its confirm is open | CONFIRM of failed: state = 'OPEN'
  - a cancel was refused | CONFIRM of failed: kind = 'CANCEL'
no idempotency key is on two orders of a customer
  + another customer has the same one | orders where order_id in ('{confirmed}', '{whollySpent}'): idempotency_key = 'same'
  + the orders have none | orders: idempotency_key = null
the balance a confirm was answered with is what its grant left available
  - it is more, of a CANCELLED order | CONFIRM of cancelled: total_credits = total_credits + 1
  - it is more, of a REFUNDED order | CONFIRM of refunded: total_credits = total_credits + 1
  - it is more than the balance, and the grant is from before held credits |
      entry GRANT of kept: (held_delta, held_after) = (null, null); CONFIRM of kept: total_credits = 1000
  + it is less than the balance, and the grant is from before held credits |
      entry GRANT of kept: (held_delta, held_after) = (null, null); CONFIRM of kept: total_credits = total_credits - 1
no payment key is on two orders of a customer
  + another customer has it in an open confirm | CONFIRM of confirming: payment_key = ${keyOf('whollySpent')}
  + the confirm of the other order was refused | CONFIRM of failed: payment_key = ${keyOf('confirmed')}
no payment key is approved for two customers
  + another customer has it in an open confirm | CONFIRM of confirming: payment_key = ${keyOf('whollySpent')}
  + a refund of another customer has it | REFUND of partlySpent: payment_key = ${keyOf('confirmed')}
an operation is about an order and its whole amount, a cancel about what accepted parts have left of it
  - a cancel returned what an accepted part had | the part is of cancelled
  - a confirm captured what an accepted part has left | the part is of cancelled; CONFIRM of cancelled: amount = amount - 5000
  - a refused cancel asked for less than any part has left | the part is of kept; CANCEL of kept: amount = amount - 5001
  - a refused cancel asked for more than was paid | CANCEL of kept: amount = amount + 1
  + a cancel returned what an accepted part has left | the part is of cancelled; CANCEL of cancelled: amount = amount - 5000
  + a cancel was refused before the part was accepted | the part is of kept
  + a cancel was refused after the part was accepted | the part is of kept; CANCEL of kept: amount = amount - 5000
  + a refund returned less | REFUND of refunded: amount = amount - 1000
a refund returns the full price, the share of the value of the credits that it takes, or what was cancelled at the gateway
  - it returned the price in spite of an accepted part | the part is of refunded; REFUND of refunded: credits_held = 16
  - more than was paid was cancelled at the gateway | REFUND of refunded: (amount, accepted) = (amount + 1, true)
  - nothing was cancelled at the gateway | REFUND of refunded: (amount, accepted) = (0, true)
  + it returned what an accepted part has left | the part is of refunded; REFUND of refunded: amount = amount - 5000
  + it returned the value of one credit less | REFUND of refunded: (amount, credits_held) = (amount - 1000, 20)
  + it returned the value of one credit less, after an accepted part | the part is of refunded; REFUND of refunded: (amount, credits_held) = (amount - 6000, 15)
  + one won was cancelled at the gateway | REFUND of refunded: (amount, accepted) = (1, true)
  + it was refused | REFUND of refunded: (amount, state) = (1, 'REJECTED')
  - it returned the value where the rule has a share of it | insert into refund_rules values ('-infinity', 7, 1000, 80); REFUND of refunded: (amount, credits_held) = (amount - 1000, 20)
  + it returned the share of the value | insert into refund_rules values ('-infinity', 7, 1000, 80); REFUND of refunded: (amount, credits_held) = (15200, 20)
a refund of the unused part returns what the rule of the day of the confirm allows, and keeps that rule
  - no rule is stored | REFUND of refunded: refund_rule = '-infinity'
  - it keeps another rule | insert into refund_rules values ('-infinity', 7, 1000, 100), ('2000-01-01', 7, 1000, 100); REFUND of refunded: refund_rule = '-infinity'
  - it returned more than the share | insert into refund_rules values ('-infinity', 7, 1000, 80); REFUND of refunded: (amount, credits_held, refund_rule) = (15201, 20, '-infinity')
  - it returned less than the smallest amount | insert into refund_rules values ('-infinity', 7, 15201, 80); REFUND of refunded: (amount, credits_held, refund_rule) = (15200, 20, '-infinity')
  - it returned the full price after the days | insert into refund_rules values ('-infinity', 7, 1000, 80); REFUND of refunded: (opened_at, refund_rule) = (opened_at + interval '8 days', '-infinity')
  - it returned the value of a used order within the days | insert into refund_rules values ('-infinity', 7, 1000, 80); REFUND of refunded: (amount, credits_held, refund_rule) = (19000, 20, '-infinity')
  + it returned the full price within the days | insert into refund_rules values ('-infinity', 7, 30000, 80); REFUND of refunded: refund_rule = '-infinity'
  + it returned the share | insert into refund_rules values ('-infinity', 7, 15200, 80); REFUND of refunded: (amount, credits_held, refund_rule) = (15200, 20, '-infinity')
  + it was refused | REFUND of refunded: (refund_rule, state) = ('-infinity', 'REJECTED')
accepted parts return less than the price, and leave a credit for each 1,000 won that are left
  - a part is open | PART of parted: state = 'OPEN'
  - a part was not accepted | PART of parted: accepted = false
  - a part returned nothing | PART of parted: amount = 0
  - its order was never confirmed | order parted: status = 'FAILED'
  + a credit for each 1,000 won is left | PART of parted: credits_held = 15
  + the rest of the order was cancelled | order parted: status = 'CANCELLED'
  + the rest of the order was refunded | order parted: status = 'REFUNDED'
the credits of an accepted part were taken by its entry
  - the entry is about another order | entry REFUND of parted: order_id = 'ord_any'
  + the order was refunded by another entry, too |
      insert into ledger_entries select (jsonb_populate_record(e, jsonb_build_object('entry_number', 99, 'hold_id', null))).* from ledger_entries e where customer_id = '{partCustomer}' and order_id = '{parted}' and kind = 'REFUND'
a REFUNDED order says what its refund returned
  + a refund of less is open | REFUND of stuckRefund: amount = amount - 1000
a refused operation left its order in a state that it could be in
  - the order of a refused cancel is PENDING | order kept: status = 'PENDING'
  + a return was refused | RETURN of returned: state = 'REJECTED'
  + the order was cancelled after a refused cancel | order kept: status = 'CANCELLED'
  + the order was refunded after a refused cancel | order kept: status = 'REFUNDED'
money goes back by the payment key it was captured with
  - that of a refund by another | REFUND of refunded: payment_key = 'paid_other'
  - that of an accepted part by another | PART of parted: payment_key = 'paid_other'
  - by that of another order | CANCEL of cancelled: payment_key = ${keyOf('confirmed')}
  - by one whose confirm was refused | CONFIRM of cancelled: state = 'REJECTED'
a cancel holds the credits of its order, and a refund what the order says was left of them
  - a cancel held those of an accepted part | the part is of cancelled
  - a refused cancel held less than any part has left | the part is of kept; CANCEL of kept: credits_held = 15
  - a refused cancel held more | CANCEL of kept: credits_held = 22
  - a part took more than the order has | PART of parted: credits_held = 111
  - a refund holds less than nothing | REFUND of stuckRefund: credits_held = -1
  - a refund held less than the order says | REFUND of refunded: credits_held = 20
  - a confirm holds credits | CONFIRM of confirmed: credits_held = 1
  + a cancel held what an accepted part has left | the part is of cancelled; CANCEL of cancelled: credits_held = 16
  + a cancel was refused before the part was accepted | the part is of kept
a full refund takes all that is left of the credits of its order
  - one took less than was available | REFUND of refunded: credits_held = 20
  - one took less than was available and an accepted part has left | the part is of refunded; REFUND of refunded: (amount, credits_held) = (amount - 5000, 15)
  - a refused one held less than was available | REFUND of refunded: (credits_held, state) = (20, 'REJECTED')
  + one took what an accepted part has left | the part is of refunded; REFUND of refunded: (amount, credits_held) = (amount - 5000, 16)
  + one took what was not held | ledger_entries where kind = 'SPEND' and delta = -20: (balance_after, held_after) = (2, 1)
  + one took nothing, because all was held | ledger_entries where kind = 'SPEND' and delta = -21: (balance_after, held_after) = (1, 1)
  + one that was accepted took less | REFUND of refunded: (credits_held, accepted) = (20, true)
  + one that was refused held less, and a part was accepted |
      the part is of refunded; REFUND of refunded: (amount, credits_held, state) = (amount - 5000, 15, 'REJECTED')
  + one of the unused part took less | REFUND of refunded: (amount, credits_held) = (amount - 1000, 20)
a return belongs to a FAILED order, and no payment is returned twice
  + the return was refused | RETURN of returned: state = 'REJECTED'
  + the first return was refused |
      RETURN of returnedTwice: payment_key = 'paid_twice'; update payment_operations set state = 'REJECTED' where operation_id = (
        select min(operation_id::text)::uuid from payment_operations where order_id = '{returnedTwice}' and kind = 'RETURN')
  + the confirm that expired has the key, too | CONFIRM of returned: state = 'EXPIRED'
only an approved confirm has a card slip, and a card number is masked
  - a refused confirm has one | CONFIRM of failed: approval_number = '1'
  - two digits are masked | CONFIRM of confirmed: card_number = '43301234**1234'
  - 13 digits are not masked | CONFIRM of confirmed: card_number = '43301234****12345'
  + 12 digits are not masked | CONFIRM of confirmed: card_number = '43301234****1234'
  + an approved confirm has no card number | CONFIRM of confirmed: approval_number = '1'
only an approved confirm says how it was paid, and the parts are its amount
  - a refused confirm says it | CONFIRM of failed: paid_method = 'CARD'
  - a cancel says it | CANCEL of cancelled: paid_method = 'CARD'
  - one part is missing | CONFIRM of confirmed: (paid_method, card_amount, wallet_amount) = ('CARD', amount, 0)
  + it says only the method | CONFIRM of confirmed: (paid_method, paid_provider) = ('EASY_PAY', 'a wallet')
  + a wallet charged a card and took points |
      CONFIRM of confirmed: (paid_method, card_amount, wallet_amount, points_amount) = ('EASY_PAY', amount - 100, 0, 100)
nothing is stranded: whatever is open has somebody who works on it or will soon
  + it was opened nine minutes ago | CONFIRM of confirming: ${minutesAgo(9, 6, 6)}
  + its next attempt was due four minutes ago | CONFIRM of confirming: ${minutesAgo(11, 4, 20)}
  + its lease ended four minutes ago | CONFIRM of confirming: ${minutesAgo(11, 20, 4)}
  + it is closed | CONFIRM of confirmed: ${minutesAgo(60, 60, 60)}
an event about an order tells what has become of it
  - one about credits names another customer | data of credits.low: '{"customerId":"{nobody}"}'
  - its status is not its type | data of order.confirmed: '{"status":"FAILED"}'
  - a confirmed order is FAILED | order confirmed: status = 'FAILED'
  - a failed order is CANCELLED | order failed: status = 'CANCELLED'
an event about few credits has fewer than its threshold
  - it has as many | data of credits.low: '{"credits":5,"threshold":5}'
  - credits of credits.low is a text | data of credits.low: jsonb_build_object('credits', data ->> 'credits')
  - threshold of credits.low is a text | data of credits.low: jsonb_build_object('threshold', data ->> 'threshold')
credits.empty has no credits, and what is left of a budget is its limit less its use
  - credits of budget.low is a text | data of budget.low: jsonb_build_object('credits', data ->> 'credits')
  - used of budget.low is a text | data of budget.low: jsonb_build_object('used', data ->> 'used')
  - left of budget.low is a text | data of budget.low: jsonb_build_object('left', data ->> 'left')
what is used of a budget is not negative, and is of a key or user only where each has the limit for itself
  - it is negative | budget_usage: used = -1
  - a budget of one user counts each user | budgets where scope = 'USER': value = 'ann'
  + nothing is used | budget_usage: used = 0
  + each key has the limit | budgets where scope = 'USER': scope = 'KEY'
what is used of a budget is of a period that has begun
  - the day begins in two days | budgets: period = 'DAY'; budget_usage: period_start = date_trunc('day', now() + interval '2 days', 'Asia/Seoul')
  + it is the Korean day of today | budgets: period = 'DAY'; budget_usage: period_start = date_trunc('day', now(), 'Asia/Seoul')
an action that has begun has an end or is open
  - another action is open | ${triggersFire}; ${action('a')}; ${action('b')}; delete from open_actions where action_id = '0190aaaa-0000-7000-8000-00000000000a'
  + it is open | ${triggersFire}; ${action('a')}
every change of a record began with what its last journal entry had
  + it was changed three times | ${triggersFire}; operators: role = 'admin'; operators: status = 'SUSPENDED'; operators: role = 'viewer'`)

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
const refusedAnother = `insert into operator_actions (action_id, step, happened_at, outcome, about)
  values (gen_random_uuid(), 'ENDED', '2020-01-01', 'VAL003: another one', '{}')`
const refusals = ['VAL001', 'VAL003', 'NOT000', 'BUS002', 'PAYMENT_CANCEL_FAILED']
const refused = (time: string) => `${refusals
  .map((code) => `  - the action was refused before with ${code} | ${ended(code, '-1 s', time)}`)
  .join('\n')}
  + another action was refused before | ${refusedAnother}
  + the action was refused afterwards | ${ended('VAL003', '1 s', time)}
  + the outcome of the action was not known | ${ended('SVC001', '-1 s', time)}`

/** Everything is from before the version that checks actions. */
const later = `insert into record_journal (record_number, table_name, row_key, content_hash, written_at, journal_hash)
  values (1000000, 'schema_migrations', '54', sha256(''), now() + interval '1 hour', sha256(''))`
/** The one that was requested. */
const madeLater = `adjustments where approved_by is not null: created_at = created_at + interval '3 days'; days of lee: day = day + 3`
const endedAbout = (about: string) =>
  `update operator_actions set about = '${about}' where step = 'ENDED' and action_id in (
     select action_id from operator_actions where command = 'discrepancies accept')`
/** A part of 5,000 won that took three credits, two less than they stand for, by kim, who is charged for it. */
const partBy = (name: string, charge: number, day = 0) => `PART of parted: credits_held = 3;
  action discrepancies accept: (actor, arguments) = ('Kim as root', '{--credits,3}');
  insert into adjustment_days (actor, day, credits, charges)
  select '${name}', (opened_at at time zone 'Asia/Seoul')::date + ${day}, ${charge},
         array[concat_ws('/', customer_id, operation_id, 'PART', ${charge})]
  from payment_operations where kind = 'PART'
  on conflict (actor, day) do update set charges = excluded.charges`
/** The same, requested by kim and approved by lee, who is charged, too. */
const approvedPart = `${partBy('kim', 2)}; ${partBy('lee', 2)};
  insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by, requested_at, state,
    decided_by, decided_at, discrepancy_id, order_id, amount)
  select customer_id, '${requestId}', 'PART', 3, 'agreed', 'kim', opened_at, 'APPROVED', 'lee', opened_at, operation_id,
    order_id, amount from payment_operations where kind = 'PART';
  ${endedAbout('{"requestId": "{requestId}"}')};
  insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
  select gen_random_uuid(), 'BEGUN', opened_at, 'lee', 'adjustments approve', array['${requestId}'], customer_id::text
  from payment_operations where kind = 'PART'`
const endOfApproval = (when: string) => `insert into operator_actions (action_id, step, happened_at, outcome, about)
  select action_id, 'ENDED', happened_at + interval '${when}', 'VAL003: a reason', '{}'
  from operator_actions where arguments = array['${requestId}']`
const noAction = "operator_actions where command = 'orders refund': subject = 'none'"
/** The version before refunded an order of which a part was cancelled at the gateway. */
const acceptedRefund = `${noAction}; REFUND of refunded: accepted = true;
  update payment_operations set kind = 'CANCEL' where order_id in ('{partlySpent}', '{whollySpent}', '{stuckRefund}')
    and kind = 'REFUND';
  discrepancies where kind = '${partlyCancelled}': (customer_id, order_id) = ('{customer}', '{refunded}')`

/** The rules about the actions of operators, by their names. */
export const conditionsOfActions = conditionsIn(`adjustment
${refused(timeOfAdjustments)}
  - the action is about another customer | action adjustments grant: subject = 'another'
  - the action of a goodwill corrects | action adjustments grant: command = 'adjustments correct'
  - the action of a correction grants | action adjustments correct: command = 'adjustments grant'
  - the action began 25 hours before | ${beganAt('-25 hours', timeOfAdjustments)}
  - the action began 25 hours afterwards | ${beganAt('25 hours', timeOfAdjustments)}
  - the action has other credits | action adjustments grant: arguments = '{--credits,6}'
  - the action names another adjustment | action adjustments correct: arguments = arguments || array['--adjustmentId', gen_random_uuid()::text]
  + it was approved three days after its action | ${madeLater}
  + it is from before the version that checks it | ${later}; action adjustments grant: subject = 'another'
  + the action began 23 hours before | ${beganAt('-23 hours', timeOfAdjustments)}
  + the action began 23 hours afterwards | ${beganAt('23 hours', timeOfAdjustments)}
  + the action has the credits with their sign | action adjustments grant: arguments[2] = '+' || arguments[2]
charge
  - the day of another operator is charged | days of kim: actor = 'park'
  - the day is two days off | days of kim: day = day - 2
  - the day of the one who approved it is two days off | days of lee: day = day + 2
  - the charge is for other credits | days of kim: charges[1] = charges[1] || '0'
  + it was approved three days after its request | ${madeLater}
  + the day is one day off | days of kim: day = day - 1
  + the day of the one who approved it is one day off | days of lee: day = day + 1
approval
${refused(timeOfApprovals)}
  - the action is about another customer | action adjustments approve: subject = 'another'
  - the action rejects | action adjustments approve: command = 'adjustments reject'
  - the action approves another one | action adjustments approve: arguments = array[gen_random_uuid()::text]
  - the action is of another operator | action adjustments approve: actor = 'park'
  - one that was approved has no second person | adjustments: approved_by = null
  + the id of the action is in capitals | action adjustments approve: arguments = array[upper(arguments[1])]
  + one that nobody approved was rejected | adjustments: approved_by = null; action adjustments approve: command = 'adjustments reject'
  + one that nobody approved was refused its approval | adjustments: approved_by = null; ${ended('VAL003', '-1 s', timeOfAdjustments)}
total
  - one day has less than its charges | days of kim: credits = credits - 1
  + the day is from before the version that checks it | ${later}; days of kim: credits = credits - 1
  + a charge is negative | days of kim: charges = charges || array['a/b/CORRECTION/-4'], credits = credits + 4
refund
${refused(timeOfRefunds)}
  - the action is about another order | ${noAction}
  - the action does something else | action orders refund: command = 'orders review'
  - the action began 25 hours before | ${beganAt('-25 hours', timeOfRefunds)}
  - the action began two minutes afterwards | ${beganAt('2 minutes', timeOfRefunds)}
  - the gateway alone says that it was cancelled there | ${noAction}; REFUND of refunded: gateway_code = '${cancelledAtGateway}'
  - its reason alone says that it was cancelled at the gateway | ${acceptedRefund}; REFUND of refunded: accepted = false, reason = '${cancelledElsewhere}'
  - the accepted discrepancy is of another order | ${acceptedRefund}; discrepancies where kind = '${partlyCancelled}': order_id = 'another'
  - the accepted discrepancy is of another customer | ${acceptedRefund}; discrepancies where kind = '${partlyCancelled}': customer_id = '{visitor}'
  - the discrepancy was accepted 25 hours before | ${acceptedRefund}; action discrepancies accept: happened_at = now() - interval '25 hours'
  - a discrepancy was accepted, and the refund not | ${acceptedRefund}; REFUND of refunded: accepted = false
  - the discrepancy was resolved in another way | ${acceptedRefund}; action discrepancies accept: command = 'discrepancies resolve'
  + the action began 23 hours before | ${beganAt('-23 hours', timeOfRefunds)}
  + the action began half a minute afterwards | ${beganAt('30 s', timeOfRefunds)}
  + it is from before the version that checks it | ${later}; ${noAction}
  + it was found cancelled at the gateway |
      ${acceptedRefund}; REFUND of refunded: accepted = false, reason = '${cancelledElsewhere}', gateway_code = '${cancelledAtGateway}'
  + it was found cancelled at the gateway, and is open |
      ${acceptedRefund}; REFUND of refunded: accepted = false, reason = '${cancelledElsewhere}', state = 'OPEN'
  + its discrepancy was accepted | ${acceptedRefund}
part
${refused(timeOfParts)}
  - the discrepancy has another id | discrepancies: discrepancy_id = gen_random_uuid()
  - the discrepancy is of another customer | discrepancies: customer_id = '{visitor}'
  - the discrepancy is of another order | discrepancies: order_id = 'another'
  - the discrepancy is of another kind | discrepancies: kind = 'PAYMENT_DIFFERS'
  - the action resolves | action discrepancies accept: command = 'discrepancies resolve'
  - the action is about another discrepancy | action discrepancies accept: subject = 'another'
  - the action began 25 hours before | ${beganAt('-25 hours', timeOfParts)}
  - the action began two minutes afterwards | ${beganAt('2 minutes', timeOfParts)}
  - the action has other credits | action discrepancies accept: arguments = '{--credits,4}'
  - the action names no credits, and it took others | ${partBy('kim', 2)}; action discrepancies accept: arguments = '{}'
  - the action has stored a request | ${endedAbout('{"requestId": "{requestId}"}')}
  - the action has stored another request | ${approvedPart}; ${endedAbout('{"requestId": "another"}')}
  - another operator than the one of the request has the action | ${approvedPart}; action discrepancies accept: actor = 'park'
  + the action began 23 hours before | ${beganAt('-23 hours', timeOfParts)}
  + the action began half a minute afterwards | ${beganAt('30 s', timeOfParts)}
  + the action names no credits, and it took those of its won | action discrepancies accept: arguments = '{}'
  + the action has stored the request that was approved | ${approvedPart}
  + a request of another person was rejected |
      ${approvedPart}; adjustment_requests where kind = 'PART': (state, requested_by) = ('REJECTED', 'park'); ${endedAbout('{}')}
partCharge
  - less is charged | ${partBy('kim', 1)}
  - another operator is charged | ${partBy('park', 2)}
  - the day is two days off | ${partBy('kim', 2, 2)}
  - the charge is for another part | ${partBy('kim', 2)}; days of kim: charges = array['a/b/PART/2']
  - the one who approved it is not charged | ${approvedPart}; days of lee: charges = '{}'
  - the day of the one who approved it is two days off | ${approvedPart}; days of lee: day = day - 2
  - the one who approved it is charged less | ${approvedPart}; ${partBy('lee', 1)}
  + as much is charged | ${partBy('kim', 2)}
  + more is charged | ${partBy('kim', 3)}
  + the day is one day off | ${partBy('kim', 2, 1)}
  + both are charged | ${approvedPart}
  + the day of the one who approved it is one day off | ${approvedPart}; days of lee: day = day - 1
partApproval
  - the action is about another customer | ${approvedPart}; approval of the part: subject = 'another'
  - the action rejects | ${approvedPart}; approval of the part: command = 'adjustments reject'
  - the action approves another one | ${approvedPart}; approval of the part: arguments = array[gen_random_uuid()::text]
  - the action is of another operator | ${approvedPart}; approval of the part: actor = 'kim'
  - the action was refused before | ${approvedPart}; ${endOfApproval('-1 s')}
  + the action was refused afterwards | ${approvedPart}; ${endOfApproval('1 s')}
  + another action was refused before | ${approvedPart}; ${refusedAnother}
  + the id of the action is in capitals | ${approvedPart}; approval of the part: arguments = array[upper(arguments[1])]`) as (Condition & {
  rule: keyof typeof actionRules
})[]
