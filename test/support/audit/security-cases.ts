// What SECURITY.md says the audit finds, row by row: changes by the owner of the tables without triggers, and whether the audit
// reports them. A row whose change needs other books names the test that makes it.
import type { Books } from '../database/books.ts'
import { account, holdOf, operationOf, orderOf, withoutOperation } from './damage.ts'

/** `adjusted` is the customer with adjustments. */
export type SecurityBooks = Books & { adjusted: string }
export type SecurityCase =
  | { found: boolean; change: string | ((books: SecurityBooks) => string) }
  | { file: string; title: string }

type Change = string | ((books: SecurityBooks) => string)
const yes = (...changes: Change[]): SecurityCase[] => changes.map((change) => ({ found: true, change }))
const no = (...changes: Change[]): SecurityCase[] => changes.map((change) => ({ found: false, change }))
const by = (file: string, title: string): SecurityCase => ({ file, title })

const free = 'alter table orders drop constraint orders_rules'
const freeOperations = 'alter table payment_operations drop constraint payment_operations_rules'
const freePaidWith = 'alter table payment_operations drop constraint payment_operations_paid_with'
/** The one that a second person approved, and its request. */
const approved = 'where adjustment_id = (select adjustment_id from adjustment_requests limit 1)'
const confirmedEvent = `where type = 'order.confirmed' and customer_id = (select customer_id from events
  where type = 'order.confirmed' order by customer_id limit 1)`
const ofCustomer =
  (...tables: string[]) =>
  ({ visitor }: SecurityBooks) =>
    tables.map((table) => `delete from ${table} where customer_id = '${visitor}'`).join('; ')

/** By the first column. */
export const securityCases: Record<string, SecurityCase[]> = {
  'ledger entries, balances, what is held': yes(
    `update ledger_entries set delta = delta - 1 where reference = 'first'`,
    account('balance = balance + 1'),
    account('held = held - 1'),
    `delete from ledger_entries where reference = 'second'`,
  ),
  'state, amount, refunded amount, package, credits of an order': yes(
    (books) => `${free}; ${orderOf('confirmed', `status = 'PENDING'`)(books)}`,
    (books) => `${free}; ${orderOf('confirmed', 'amount = amount + 1')(books)}`,
    (books) => `${free}; ${orderOf('refunded', 'refunded_amount = 1000')(books)}`,
    (books) => `${free}; ${orderOf('confirmed', `package_type = 'PRO'`)(books)}`,
    (books) => `${free}; ${orderOf('confirmed', 'credits = credits + 1')(books)}`,
    withoutOperation('failed', 'CONFIRM'),
  ),
  'kind, state, amount of an operation; a second return of one payment': yes(
    (books) => `${freeOperations}; ${operationOf('cancelled', 'CANCEL', `kind = 'REFUND'`)(books)}`,
    (books) => `${freeOperations}; ${operationOf('cancelled', 'CANCEL', `state = 'REJECTED'`)(books)}`,
    operationOf('confirmed', 'CONFIRM', 'amount = amount + 1'),
    (books) => `drop index payment_operations_one_success_of_kind; update payment_operations set payment_key = (
      select min(payment_key) from payment_operations where order_id = '${books.returnedTwice}' and kind = 'RETURN')
      where order_id = '${books.returnedTwice}' and kind = 'RETURN'`,
  ),
  '`total_credits` of a confirm': yes(operationOf('confirmed', 'CONFIRM', 'total_credits = total_credits + 1')),
  'the payment key of a confirm': [
    ...no(operationOf('confirmed', 'CONFIRM', `payment_key = 'another'`)),
    by('test/reconcile/evidence.test.ts', 'the payment key of another customer proves nothing'),
  ],
  '`opened_at`, `closed_at`, `transaction_key`, `answered_by`, `accepted` of an operation': [
    ...no(
      operationOf('confirmed', 'CONFIRM', `opened_at = opened_at - interval '1 hour'`),
      operationOf('confirmed', 'CONFIRM', `closed_at = closed_at + interval '1 hour'`),
      operationOf('confirmed', 'CONFIRM', `transaction_key = 'another'`),
      operationOf('cancelled', 'CANCEL', 'answered_by = gen_random_uuid()'),
      operationOf('refunded', 'REFUND', 'accepted = true'),
    ),
    ...yes(
      operationOf('whollySpent', 'REFUND', `opened_at = '2020-01-01'`),
      operationOf('refunded', 'REFUND', `opened_at = opened_at - interval '1 hour'`),
    ),
  ],
  'reason of a refund or a cancel; with which key a cancel was made (`cancel_keys`)': no(
    operationOf('refunded', 'REFUND', `reason = 'another'`),
    operationOf('cancelled', 'CANCEL', `reason = 'another'`),
    'delete from cancel_keys',
  ),
  'what a spend or hold was for (`use_details`, `use_labels`)': no(
    `update use_details set label = 'another', units = 1`,
    'delete from use_details',
    `insert into use_labels (customer_id, label, place) select customer_id, 'another', 2 from use_labels`,
  ),
  'a goodwill, a correction, a refund or an accepted part that was added with everything that belongs to it': [
    by('test/audit/actions.test.ts', 'goodwill that the serving role writes is reported'),
    by('test/audit/actions.test.ts', 'an action covers one adjustment with its credits, and no other one'),
    by('test/audit/actions.test.ts', 'an action that was refused before covers no adjustment'),
    by('test/audit/actions.test.ts', 'a refund that the serving role inserts is reported'),
    by('test/audit/actions.test.ts', 'an action that was refused before covers no refund'),
    by('test/audit/actions.test.ts', 'refunds and adjustments from before the version that checks them are left out'),
  ],
  'a goodwill, a correction, a refund or an accepted part in the place of one that an operator has begun and that was not made':
    [by('test/audit/not-found.test.ts', 'goodwill in the place of a request that was rejected')],
  'a reversal or a cancel that was added with everything that belongs to it': [
    by('test/audit/not-found.test.ts', 'a reversal that the serving role writes'),
    by('test/audit/not-found.test.ts', 'a cancel that the serving role begins'),
  ],
  'a cancel that credits without cash value covered, a reversal of credits that were refunded in money, made while a guard was replaced':
    [
      by('test/audit/not-found.test.ts', 'a cancel that credits of a refunded order covered'),
      by('test/audit/not-found.test.ts', 'a reversal of credits that were refunded in money'),
    ],
  'content of an event about an order: order, state, package, amount, credits': yes(
    ...['orderId', 'status', 'packageType', 'amount', 'credits'].map(
      (member) =>
        `update events set data = (data::jsonb || jsonb_build_object('${member}', 'another'))::json ${confirmedEvent}`,
    ),
  ),
  "balance and time of an event; two events in each other's place": [
    ...yes(
      `update events set data = (data::jsonb || '{"balance": 7777}')::json ${confirmedEvent}`,
      `update events set created_at = created_at - interval '1 microsecond' ${confirmedEvent}`,
    ),
    ...no(({ failed, returned }) => {
      const other = (one: string, two: string) =>
        `update events set data = (replace(data::text, '${one}', '${two}'))::json
         where type = 'order.failed' and data ->> 'orderId' = '${one}'`
      return [other(failed, 'swapped'), other(returned, failed), other('swapped', returned)].join('; ')
    }),
  ],
  'numbers of an event that is not about an order': [
    ...yes(`update events set data = (data::jsonb || '{"credits": 7777}')::json where type = 'credits.low'`),
    ...no(`update events set data = (data::jsonb || '{"credits": 0}')::json where type = 'credits.low'`),
  ],
  'the time of the last movement of an account (`moved_at`)': [
    ...yes(account(`moved_at = '2020-01-01'`)),
    ...no(account(`moved_at = '2099-01-01'`)),
  ],
  'what was requested of a hold (`requested`)': no('update holds set requested = requested + 1'),
  'the end of a hold': [
    ...yes(holdOf('held', `expires_at = expires_at + interval '8 days'`)),
    ...no(holdOf('held', `expires_at = expires_at + interval '1 day'`)),
  ],
  'kind, credits, time, service, operator or approval of an adjustment; a request that was approved': yes(
    `update adjustments set kind = 'CORRECTION' where kind = 'GOODWILL'`,
    `update adjustments set credits = credits + 1 where kind = 'GOODWILL'`,
    `update adjustments set created_at = created_at + interval '1 hour' where kind = 'GOODWILL'`,
    `update adjustments set service_id = 'another' where kind = 'REVERSAL'`,
    `update adjustments set actor = 'park' where kind = 'CORRECTION'`,
    `update adjustments set approved_by = 'park' ${approved}; update adjustment_requests set decided_by = 'park' ${approved}`,
    `update adjustments set actor = 'park' ${approved}; update adjustment_requests set requested_by = 'park' ${approved}`,
    `update adjustments set approved_by = null ${approved}; delete from adjustment_requests`,
    'delete from adjustment_requests',
  ),
  "what an operator's day is charged for (`charges` of `adjustment_days`), its total (`credits`)": yes(
    `update adjustment_days set charges = '{}' where actor = 'kim'`,
    'update adjustment_days set credits = credits + 1000',
    `delete from adjustment_days where actor = 'lee'`,
  ),
  'which spend a reversal gives back': [
    by('test/audit/audit.test.ts', 'every rule has a case that breaks it'),
    ...yes(`update adjustments set reversed_entry = (select entry_number from ledger_entries where reference = 'small')
      where kind = 'REVERSAL'`),
  ],
  'reason of an adjustment or of its request, when the request was decided (`decided_at`)': no(
    `update adjustments set reason = 'another'`,
    `update adjustment_requests set reason = 'another'`,
    `update adjustment_requests set decided_at = decided_at + interval '3 days'`,
  ),
  'when an adjustment was requested (`requested_at`), the `day` that it is charged to': [
    ...yes(
      `update adjustment_requests set requested_at = requested_at - interval '3 days'`,
      'update adjustment_days set day = day - 3',
    ),
    ...no(
      `update adjustment_requests set requested_at = requested_at - interval '1 hour'`,
      'update adjustment_days set day = day - 1',
    ),
  ],
  'requests that wait or were rejected': no(
    ({ adjusted }) => `insert into adjustment_requests (customer_id, adjustment_id, kind, credits, reason, requested_by)
      values ('${adjusted}', gen_random_uuid(), 'GOODWILL', 5, 'added', 'kim')`,
  ),
  'what is used of a budget (`budget_usage`), the budgets that a hold counts in': [
    ...yes(
      `update budget_usage set period_start = now() + interval '1 year'`,
      ({ counted, visitor }) => `update holds set customer_id = '${visitor}' where hold_id = '${counted}'`,
    ),
    ...no('update budget_usage set used = 0', 'update holds set charged = null'),
  ],
  'the mark of an account with budgets or of a suspended customer (`restricted_at`)': yes(
    'update accounts set restricted_at = null where restricted_at is not null',
  ),
  'the card slip of a confirm': [
    ...yes(
      (books) => `${freeOperations}; ${operationOf('cancelled', 'CANCEL', `approval_number = '1'`)(books)}`,
      (books) => `${freeOperations}; ${operationOf('confirmed', 'CONFIRM', `card_number = '4242424242424242'`)(books)}`,
    ),
    ...no(operationOf('confirmed', 'CONFIRM', `approval_number = '7777'`)),
  ],
  'how a confirm was paid': [
    ...yes(
      (books) => `${freePaidWith}; ${operationOf('cancelled', 'CANCEL', `paid_method = 'CARD'`)(books)}`,
      (books) =>
        `${freePaidWith}; ${operationOf('confirmed', 'CONFIRM', `(card_amount, wallet_amount, points_amount) = (1, 0, 0)`)(books)}`,
    ),
    ...no(operationOf('confirmed', 'CONFIRM', `paid_method = 'EASY_PAY', paid_provider = 'another'`)),
  ],
  'a refund rule of a day to come': no(`insert into refund_rules values ('9000-01-01', 1, 1, 1)`),
  'queues of events': [
    by('test/audit/audit.test.ts', 'every rule has a case that breaks it'),
    ...no('update event_queues set next_event = last_event + 1'),
  ],
  'dead events': no('delete from dead_events'),
  'customers, API keys, service tokens, budgets, operators with role, status and password, actions of operators, discrepancies, audits, endpoints of events, published checkpoints':
    yes(
      `update customers set name = 'another' where name is not null`,
      `update api_keys set key_hash = sha256(key_id::bytea)`,
      `update service_tokens set name = 'another'`,
      'update budgets set credits = credits + 1',
      'delete from budgets',
      `update operators set role = 'admin'`,
      `update operators set status = 'SUSPENDED'`,
      `update operators set password_hash = '$scrypt$another'`,
      `update operator_actions set reason = 'another' where step = 'BEGUN'`,
      `delete from discrepancies where subject = 'pay_other'`,
      `update audits set checked = '{"orders": 1}'`,
      `update event_endpoints set url = 'https://other.example'`,
      'delete from event_endpoints',
      `update log_checkpoints set note = note || '.'`,
      `update log_checkpoints set keys = 'another'`,
      'delete from log_checkpoints',
    ),
  'the id of an event (`event_id`)': no('update events set event_id = gen_random_uuid()'),
  'an event about a published checkpoint': no(
    `update events set data = (data::jsonb || '{"note": "another"}')::json where type = 'checkpoint.published'`,
  ),
  'a whole customer with everything': yes(ofCustomer('orders', 'accounts', 'api_keys', 'customers')),
  'the account, or the row of a customer alone': yes(ofCustomer('accounts'), ofCustomer('customers')),
  'a PENDING order removed': [
    by('test/audit/audit.test.ts', 'no table has fewer rows than an earlier audit counted'),
    ...no(({ pending }) => `delete from orders where order_id = '${pending}'`),
  ],
  'a PENDING order moved to another customer, its `created_at`; the idempotency key of an order': no(
    (books) => orderOf('pending', `customer_id = '${books.visitor}'`)(books),
    orderOf('pending', `created_at = created_at - interval '1 hour'`),
    orderOf('pending', `idempotency_key = 'another'`),
    orderOf('confirmed', `idempotency_key = 'another'`),
  ),
  '`created_at` of a CONFIRMED order': [
    ...yes(orderOf('confirmed', `created_at = created_at + interval '1 hour'`)),
    ...no(orderOf('confirmed', `created_at = created_at - interval '1 hour'`)),
  ],
  'sessions, notifications, movements of the gateway, reconciliations, figures': [
    ...no(
      `insert into gateway_movements (transaction_key, payment_key, order_id, direction, amount, moved_at)
       values ('added', 'pay', 'order', 'CAPTURE', 1000, now())`,
      'delete from webhook_notifications',
      'delete from operator_sessions',
      'delete from reconciliations',
      'delete from hourly_figures',
    ),
    by('test/reconcile/evidence.test.ts', 'a movement inserted into our copy of the list hides no grant'),
  ],
  'the transparency log': [
    ...yes(
      `update log_tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where level = 0`,
      `update log_head set root = sha256('another')`,
      'delete from log_runs where first_leaf = 0',
    ),
    by('test/transparency/check.test.ts', 'and the log is written again: a checkpoint that was kept finds it'),
  ],
  'signatures, name and lists of keys of its checkpoints; a published checkpoint removed': [
    by('test/transparency/signatures.test.ts', 'the audit finds a change of'),
  ],
  '`marks` and `appended_at` of `log_head`, rows of `log_restores` and `schema_migrations`': no(
    `update log_head set marks = '{}'`,
    `update log_head set appended_at = appended_at - interval '1 hour'`,
    `insert into log_restores (restore_number, restore_id, origins, size)
     values (1, gen_random_uuid(), '{example.com/log}', 0)`,
    `update schema_migrations set checksum = 'another' where version = 54`,
    'delete from schema_migrations where version = 54',
  ),
  'guards of the schema': [by('test/audit/audit.test.ts', `the schema's guards are in place`)],
}
