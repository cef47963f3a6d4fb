// What the service role has the rights to write, and the schema still refuses: statements on books written by the service,
// and the constraint or trigger that refuses each.
import type { Books } from '../database/books.ts'

export type RoleCase = [what: string, refusedBy: string, sql: (books: Books) => string]

type Forged = { kind: string; delta?: number; heldDelta?: number; order?: string; reference?: string; holdId?: string }

const quoted = (text: string | undefined) => (text === undefined ? 'null' : `'${text}'`)

/** An entry with the right hash, and the account updated to it: only the subject of the case is wrong. */
const forge = (
  { customer }: Books,
  { kind, delta = 0, heldDelta = 0, order, reference, holdId }: Forged,
  { moves = true, balance = 'balance' } = {},
) => `
  with before as (
    select *, last_entry + 1 as entry_number, ${balance} + ${delta} as balance_after, held + ${heldDelta} as held_after
    from accounts where customer_id = '${customer}'
  ),
  entry as (
    insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                                held_delta, held_after, hold_id, service_id, entry_hash)
    select customer_id, entry_number, '${kind}', ${delta}, balance_after, ${quoted(order)}, ${quoted(reference)}, now(),
           ${heldDelta}, held_after, ${quoted(holdId)}, ${order ? 'null' : `'svc_test'`},
           ledger_entry_hash(last_hash, customer_id, entry_number, '${kind}', ${delta}, balance_after, ${quoted(order)},
                             ${quoted(reference)}, now(), ${heldDelta}, held_after, ${quoted(holdId)},
                             ${order ? 'null' : `'svc_test'`})
    from before
    returning *
  )
  update accounts a
  set balance = e.balance_after, held = e.held_after, last_entry = e.entry_number, last_hash = e.entry_hash
  from entry e where a.customer_id = e.customer_id and ${moves}`

/** A reversal of the spend of 3 credits, whole but for what is given back. */
const forgeReversal = ({ customer }: Books, credits: number, reference = 'back') => `
  with before as (
    select *, last_entry + 1 as entry_number from accounts where customer_id = '${customer}'
  ),
  entry as (
    insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, reference, created_at, held_delta,
                                held_after, service_id, adjusted_after, entry_hash)
    select customer_id, entry_number, 'REVERSAL', ${credits}, balance + ${credits}, '${reference}', now(), 0, held,
           'svc_test', adjusted + ${credits}, ledger_entry_hash_adjusted(last_hash, customer_id, entry_number, 'REVERSAL', ${credits}, balance + ${credits},
                                           null, '${reference}', now(), 0, held, null, 'svc_test',
                                           adjusted + ${credits})
    from before
    returning *
  ),
  moved as (
    update accounts a set balance = e.balance_after, adjusted = e.adjusted_after, last_entry = e.entry_number,
      last_hash = e.entry_hash
    from entry e where a.customer_id = e.customer_id
  )
  insert into adjustments (customer_id, adjustment_id, kind, credits, entry_number, reversed_entry, service_id, reason,
                           created_at)
  select e.customer_id, gen_random_uuid(), e.kind, e.delta, e.entry_number, s.entry_number, e.service_id, 'none', e.created_at
  from entry e join ledger_entries s on s.customer_id = e.customer_id and s.reference = 'first'`

const forgedId = '00000000-0000-4000-8000-0000000000d1'
const forgedRequest = ({ customer }: Books, state = 'PENDING') => `
  insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by, state)
  values ('${customer}', '${forgedId}', 'GOODWILL', 1, 'none', 'kim', '${state}')`
const forgeAdjustmentOfId = (books: Books) => forgeReversal(books, 1).replace('gen_random_uuid()', `'${forgedId}'`)
const decideRequests = (state: string) =>
  `update adjustment_requests set state = '${state}', decided_by = 'lee', decided_at = now()`

const newAccount = (members: string, values: string) => `
  with customer as (insert into customers (customer_id) values (gen_random_uuid()) returning customer_id)
  insert into accounts (customer_id, ${members}) select customer_id, ${values} from customer`

const order = ({ customer }: Books, members: Record<string, string>) => {
  const row = {
    customer_id: `'${customer}'`,
    order_id: `'ord_forged'`,
    package_type: `'BASIC'`,
    payment_method: `'CARD'`,
    amount: '1000',
    credits: '1',
    ...members,
  }
  return `insert into orders (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

const operation = ({ customer }: Books, members: Record<string, string>) => {
  const row = {
    customer_id: `'${customer}'`,
    operation_id: 'gen_random_uuid()',
    kind: `'CONFIRM'`,
    payment_key: `'pay_forged'`,
    holder_id: 'gen_random_uuid()',
    lease_until: 'now()',
    ...members,
  }
  return `insert into payment_operations (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`
}

const ofCustomer = ({ customer }: Books) => `where customer_id = '${customer}'`
const ofOrder = (orderId: string, kind: string) => `where order_id = '${orderId}' and kind = '${kind}'`
const setOrder = (orderId: string, set: string) => `update orders set ${set} where order_id = '${orderId}'`
const setOperation = (orderId: string, kind: string, set: string) =>
  `update payment_operations set ${set} ${ofOrder(orderId, kind)}`
const approved = `state = 'APPROVED', closed_at = now(), closed_by = gen_random_uuid()`

export const queuedEndpoint = 'ep_of_the_queue'
/** Added to the books by the owner: an endpoint whose queue has all events of the customer still to deliver. */
export const addQueue = (books: Books) => `
  insert into event_endpoints (endpoint_id, url, types, secrets)
  values ('${queuedEndpoint}', 'http://127.0.0.1:1', '{}', '[{}]');
  insert into event_queues (customer_id, endpoint_id, next_event, last_event)
  select customer_id, '${queuedEndpoint}', 1, last_event from accounts ${ofCustomer(books)}`

const budgetOf = ({ customer }: Books) => `
  insert into budgets (customer_id, budget_id, scope, period, credits, warn_at)
  values ('${customer}', gen_random_uuid(), 'CUSTOMER', 'DAY', 5, 5)`

const useOf = (used: number) => `
  insert into budget_usage (customer_id, budget_id, period_start, used)
  select customer_id, budget_id, now(), ${used} from budgets where credits = 5`

export const roleCases: RoleCase[] = [
  ['a reversal of more than was spent', 'adjustments_are_allowed', (books) => forgeReversal(books, 4)],
  [
    'a second reversal of what was spent, beyond it',
    'adjustments_are_allowed',
    (books) => `${forgeReversal(books, 2)}; ${forgeReversal(books, 2, 'again')}`,
  ],
  [
    'goodwill without its record',
    'ledger_entries_have_a_cause',
    (books) => forgeReversal(books, 1).replace(/insert into adjustments[\s\S]*$/, 'select 1'),
  ],
  [
    'an adjustment with the id of a request',
    'adjustments_have_an_own_id',
    (books) => `${forgedRequest(books)}; ${forgeAdjustmentOfId(books)}`,
  ],
  [
    'a request with the id of an adjustment',
    'adjustment_requests_have_an_own_id',
    (books) => `${forgeAdjustmentOfId(books)}; ${forgedRequest(books)}`,
  ],
  ['a request that begins approved', 'adjustment_requests_begin_pending', (books) => forgedRequest(books, 'APPROVED')],
  [
    'an approval without its adjustment',
    'adjustment_requests_approved_with_adjustment',
    (books) => `${forgedRequest(books)}; ${decideRequests('APPROVED')}`,
  ],
  [
    'a rejected request that is approved',
    'adjustment_requests_stay_decided',
    (books) => `${forgedRequest(books)}; ${decideRequests('REJECTED')}; ${decideRequests('APPROVED')}`,
  ],
  [
    'less adjusted on a day than there was',
    'adjustment_days_only_grow',
    () => `insert into adjustment_days values ('kim', '2026-01-01', 2); update adjustment_days set credits = 1`,
  ],
  [
    'a new account with credits',
    'accounts_begin_empty',
    () => newAccount('balance, last_entry, last_hash', `5, 1, sha256('')`),
  ],
  [
    'credits without an entry',
    'accounts_are_at_their_last_entry',
    (books) =>
      `update accounts set balance = balance + 1000, last_entry = last_entry + 1, last_hash = sha256('') ${ofCustomer(books)}`,
  ],
  [
    'another hash than that of the last entry',
    'accounts_are_at_their_last_entry',
    (books) => `update accounts set last_hash = sha256('') ${ofCustomer(books)}`,
  ],
  [
    'an account that returns to the previous entry',
    'accounts_are_at_their_last_entry',
    (books) => `update accounts set last_entry = last_entry - 1 ${ofCustomer(books)}`,
  ],
  [
    'a grant for an order that does not exist',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'GRANT', delta: 1000, order: 'ord_missing' }),
  ],
  [
    'a grant for an order that was not confirmed by it',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'GRANT', delta: 21, order: books.pending }),
  ],
  [
    'an entry that its account does not have',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'SPEND', delta: -1, reference: 'forged' }, { moves: false }),
  ],
  [
    'an entry that does not continue the balance of the previous one',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'SPEND', delta: -1, reference: 'forged' }, { balance: '1000 + balance' }),
  ],
  [
    'credits held by no hold',
    'ledger_entries_have_a_cause',
    (books) =>
      forge(books, { kind: 'HOLD', heldDelta: 1, reference: 'forged', holdId: '00000000-0000-4000-8000-000000000099' }),
  ],
  [
    'credits of a hold that is not ended by it',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'RELEASE', heldDelta: -2, holdId: books.held }),
  ],
  [
    'credits held for an order by no operation of it',
    'ledger_entries_have_a_cause',
    (books) =>
      forge(books, {
        kind: 'HOLD',
        heldDelta: 1,
        order: books.confirmed,
        holdId: '00000000-0000-4000-8000-000000000099',
      }),
  ],
  [
    'an order that is inserted as CONFIRMED',
    'orders_begin_pending',
    (books) => order(books, { status: `'CONFIRMED'`, grant_entry: '1', confirmed_at: 'now()' }),
  ],
  [
    'a package at a price outside the catalogue',
    'orders_sold_by_the_catalogue',
    (books) => order(books, { amount: '1', credits: '500' }),
  ],
  [
    'the price of another package',
    'orders_sold_by_the_catalogue',
    (books) => order(books, { package_type: `'PRO'`, amount: '1000' }),
  ],
  ['another grant of an order', 'orders_keep_what_was_done', ({ confirmed }) => setOrder(confirmed, 'grant_entry = 2')],
  [
    'another time of a confirmed order',
    'orders_keep_what_was_done',
    ({ confirmed }) => setOrder(confirmed, `confirmed_at = now() + interval '1 day'`),
  ],
  [
    'another shortfall of a refunded order',
    'orders_keep_what_was_done',
    ({ partlySpent }) => setOrder(partlySpent, 'refund_shortfall = refund_shortfall - 1'),
  ],
  [
    'another amount of a refunded order',
    'orders_keep_what_was_done',
    ({ partlySpent }) => setOrder(partlySpent, 'refunded_amount = refunded_amount - 1000'),
  ],
  ['FAILED without an operation', 'orders_follow_an_outcome', ({ pending }) => setOrder(pending, `status = 'FAILED'`)],
  [
    'FAILED while the confirm is open',
    'orders_follow_an_outcome',
    ({ confirming }) => setOrder(confirming, `status = 'FAILED'`),
  ],
  [
    'CONFIRMED by the grant of another order',
    'orders_follow_an_outcome',
    ({ pending }) => setOrder(pending, `status = 'CONFIRMED', grant_entry = 1, confirmed_at = now()`),
  ],
  [
    'CANCELLED by the rollback of another order',
    'orders_follow_an_outcome',
    ({ confirmed, cancelled }) =>
      setOrder(
        confirmed,
        `status = 'CANCELLED', rollback_entry = (select rollback_entry from orders where order_id = '${cancelled}')`,
      ),
  ],
  [
    'REFUNDED without a refund',
    'orders_follow_an_outcome',
    ({ confirmed }) => setOrder(confirmed, `status = 'REFUNDED', refund_shortfall = credits`),
  ],
  [
    'a confirm that is inserted as APPROVED',
    'payment_operations_begin_open',
    (books) =>
      operation(books, {
        order_id: `'${books.pending}'`,
        amount: '1',
        state: `'APPROVED'`,
        closed_at: 'now()',
        closed_by: 'gen_random_uuid()',
      }),
  ],
  ...(
    [
      ['REFUND', 20_000, 0, 'a full refund that takes no credits'],
      ['REFUND', 20_000, 21, 'a full refund whose credits are not set aside'],
      ['REFUND', 19_000, 0, 'a refund of a part that takes no credits'],
      ['CANCEL', 20_000, 1, 'a cancel that takes one credit'],
      ['CANCEL', 20_000, 21, 'a cancel whose credits are not set aside'],
    ] as const
  ).map(
    ([kind, amount, credits, what]): RoleCase => [
      what,
      'payment_operations_take_credits',
      (books) =>
        operation(books, {
          order_id: `'${books.kept}'`,
          kind: `'${kind}'`,
          amount: `${amount}`,
          credits_held: `${credits}`,
          reason: `'forged'`,
        }),
    ],
  ),
  [
    'an accepted part that returns the whole price',
    'payment_operations_accept_part',
    (books) =>
      operation(books, {
        order_id: `'${books.kept}'`,
        kind: `'PART'`,
        amount: '20000',
        reason: `'forged'`,
        state: `'APPROVED'`,
        closed_at: 'now()',
        closed_by: 'gen_random_uuid()',
      }),
  ],
  [
    'a request of a part that was accepted',
    'adjustment_requests_of_open_parts',
    ({ parted }) => `insert into adjustment_requests
        (customer_id, adjustment_id, kind, credits, reason, requested_by, discrepancy_id, order_id, amount)
      select customer_id, gen_random_uuid(), 'PART', 0, 'forged', 'kim', operation_id, order_id, 1
      from payment_operations where order_id = '${parted}' and kind = 'PART'`,
  ],
  [
    'an APPROVED confirm of an order that stays PENDING',
    'payment_operations_approved_with_order',
    ({ confirming }) => setOperation(confirming, 'CONFIRM', approved),
  ],
  [
    'an APPROVED cancel of an order that stays CONFIRMED',
    'payment_operations_approved_with_order',
    ({ cancelling }) => setOperation(cancelling, 'CANCEL', approved),
  ],
  [
    'a closed cancel that is reopened',
    'payment_operations_stay_closed',
    ({ cancelled }) => setOperation(cancelled, 'CANCEL', `state = 'OPEN', closed_at = null, closed_by = null`),
  ],
  [
    'a refused confirm that is approved later',
    'payment_operations_stay_closed',
    ({ failed }) => setOperation(failed, 'CONFIRM', `state = 'APPROVED'`),
  ],
  [
    'another transaction of a closed operation',
    'payment_operations_stay_closed',
    ({ confirmed }) => setOperation(confirmed, 'CONFIRM', `transaction_key = 'T2'`),
  ],
  [
    'another card of a closed confirm',
    'payment_operations_stay_closed',
    ({ confirmed }) => setOperation(confirmed, 'CONFIRM', `card_number = '************1234'`),
  ],
  [
    'another approval number of a closed confirm',
    'payment_operations_stay_closed',
    ({ confirmed }) => setOperation(confirmed, 'CONFIRM', `approval_number = '2'`),
  ],
  [
    'another receipt of a closed confirm',
    'payment_operations_stay_closed',
    ({ confirmed }) => setOperation(confirmed, 'CONFIRM', `receipt_url = 'https://pay.example/2'`),
  ],
  [
    'a cancel that is answered twice',
    'payment_operations_stay_closed',
    ({ cancelled }) => setOperation(cancelled, 'CANCEL', 'answered_by = gen_random_uuid()'),
  ],
  [
    'a hold that is inserted as ended',
    'holds_begin_active',
    ({ customer }) =>
      `insert into holds (customer_id, hold_id, credits, service_id, state, expires_at, opening_entry, closing_entry)
      values ('${customer}', gen_random_uuid(), 1, 'svc_test', 'RELEASED', now(), 1, 1)`,
  ],
  [
    'a captured hold that is active again',
    'holds_stay_ended',
    ({ captured }) =>
      `update holds set state = 'ACTIVE', captured = null, closing_entry = null where hold_id = '${captured}'`,
  ],
  [
    'another expiry of a captured hold',
    'holds_stay_ended',
    ({ captured }) =>
      `update holds set expires_at = expires_at + interval '1 h', extended_at = now() where hold_id = '${captured}'`,
  ],
  [
    'a hold that is inserted with parts',
    'holds_begin_whole',
    ({ customer }) =>
      `insert into holds (customer_id, hold_id, credits, service_id, captured_in_parts, part_entry, expires_at, opening_entry)
      values ('${customer}', gen_random_uuid(), 1, 'svc_test', 1, 1, now(), 1)`,
  ],
  [
    'a hold that is made larger',
    'holds_keep_their_sum',
    ({ held }) => `update holds set credits = credits + 1 where hold_id = '${held}'`,
  ],
  [
    'a part of a hold that has no entry',
    'holds_parts_are_entries',
    ({ held }) =>
      `update holds set credits = credits - 1, captured_in_parts = captured_in_parts + 1, part_entry = opening_entry
      where hold_id = '${held}'`,
  ],
  [
    'a hold that returns its parts',
    'holds_parts_are_entries',
    ({ inParts }) =>
      `update holds set credits = credits + captured_in_parts, captured_in_parts = 0, part_entry = null
      where hold_id = '${inParts}'`,
  ],
  [
    'a part that its hold does not know',
    'ledger_entries_have_a_cause',
    (books) => forge(books, { kind: 'CAPTURE', delta: -1, heldDelta: -1, reference: 'forged', holdId: books.held }),
  ],
  [
    'a hold that expires earlier',
    'holds_are_only_extended',
    ({ held }) => `update holds set expires_at = expires_at - interval '1 s' where hold_id = '${held}'`,
  ],
  [
    'a hold that expires later without an extension',
    'holds_are_only_extended',
    ({ held }) => `update holds set expires_at = expires_at + interval '1 s' where hold_id = '${held}'`,
  ],
  [
    'a queue that skips its events',
    'event_queues_go_forward',
    () => `update event_queues set next_event = last_event + 1`,
  ],
  ['a queue whose last event is set back', 'event_queues_go_forward', () => `update event_queues set last_event = 1`],
  [
    'a queue that goes past its end',
    'event_queues_next_is_within',
    () => `update event_queues set holder_id = gen_random_uuid();
      update event_queues set next_event = last_event + 2`,
  ],
  [
    'a queue that ends with an event that does not exist',
    'event_queues_end_with_an_event',
    () => `update event_queues set last_event = last_event + 1`,
  ],
  [
    'the end of a queue whose endpoint is not removed',
    'event_queues_deleted_with_endpoint',
    () => 'delete from event_queues',
  ],
  [
    'an event that was deleted on its day',
    'events_deleted_after_delivery',
    (books) => `update event_queues set holder_id = gen_random_uuid();
      update event_queues set next_event = last_event + 1;
      update accounts set deleted_events = 1 ${ofCustomer(books)};
      delete from events ${ofCustomer(books)} and event_number = 1`,
  ],
  [
    'a last event that was deleted',
    'accounts_keep_the_last_event',
    (books) => `update accounts set deleted_events = last_event ${ofCustomer(books)}`,
  ],
  [
    'deleted events that come back',
    'accounts_deleted_events_go_forward',
    (books) => `update accounts set deleted_events = 1 ${ofCustomer(books)};
      update accounts set deleted_events = 0 ${ofCustomer(books)}`,
  ],
  [
    'a budget of no customer',
    'budgets_mark_the_account',
    () => `insert into budgets (customer_id, budget_id, scope, period, credits, warn_at)
      values (gen_random_uuid(), gen_random_uuid(), 'CUSTOMER', 'DAY', 5, 5)`,
  ],
  [
    'a removed budget that comes back',
    'budgets_keep_their_subject',
    (books) => `${budgetOf(books)}; update budgets set removed_at = now(); update budgets set removed_at = null`,
  ],
  ['a first use beyond the budget', 'budget_usage_begins_within_limit', (books) => `${budgetOf(books)}; ${useOf(6)}`],
  [
    'a further use beyond the budget',
    'budget_usage_stays_within_limit',
    (books) => `${budgetOf(books)}; ${useOf(5)}; update budget_usage set used = 6`,
  ],
  [
    'a use in a new period beyond a budget that was lowered',
    'budget_usage_stays_within_limit',
    (books) => `${budgetOf(books)}; ${useOf(5)}; update budgets set credits = 4, warn_at = 4;
      update budget_usage set period_start = period_start + interval '1 day'`,
  ],
  [
    'a period that begins earlier than it did',
    'budget_usage_goes_forward',
    (books) =>
      `${budgetOf(books)}; ${useOf(5)}; update budget_usage set period_start = period_start - interval '1 day'`,
  ],
]
