// Fills an empty, migrated database with books as years of traffic would leave them, by a handful of statements: orders
// in every state with their operations and events, holds and how they ended, ledgers whose hashes are right, one
// customer who has a tenth of everything. And, in a schema of its own, what the gateway did: the same movements, but
// for a few dozen that differ.
import type pg from 'pg'
import { packages } from '../../src/payments/packages.ts'
import { inBulk, withoutIndexes } from './bulk.ts'

/** The orders are spread over that many days, ending an hour ago: none is recent enough to be under way. */
export const days = 30
const ordersPerCustomer = 20

/** How many differences of each kind reconciliation has to find. */
export const planted = { missing: 12, unknownOrder: 6, capturedWhilePending: 6, cancelledAtGateway: 12 }

const catalogue = packages
  .map(({ packageType, price, credits }) => `('${packageType}', ${price}, ${credits})`)
  .join(', ')

// A draw of 100 decides the state, another the package, both by the order's number, so that two runs are alike. What is
// spent or held of an order is of its own credits, so that no balance can fall below zero; some refunds come after
// that. It comes to about four entries in the ledger for each order.
const draftOrders = `
  create unlogged table draft as
  select d.number, d.customer_id, d.order_id, d.payment_key, d.status, d.expired, d.created_at, c.package_type, c.amount,
         c.credits, least(c.credits, case when d.status = 'CONFIRMED' or d.status = 'REFUNDED' and d.number % 2 = 0
                                          then case c.package_type when 'PRO' then 6 else 3 end else 0 end) as spends,
         case when d.status = 'CONFIRMED' and c.package_type <> 'BASIC' and d.number % 7 = 0
              then case when d.number % 140 = 0 and d.created_at > now() - interval '5 days' then 'ACTIVE'
                        else (array['CAPTURED', 'RELEASED', 'EXPIRED'])[1 + d.number / 7 % 3] end end as hold_state
  from (
    select number,
           md5('customer ' || case when number % $4 = 0 then 0 else 1 + (hashint8(number) & 2147483647) % $2 end)::uuid
             as customer_id,
           'ord_' || upper(lpad(to_hex(number), 10, '0') || left(md5('order ' || number), 26)) as order_id,
           'pay_' || md5('payment ' || number) as payment_key,
           case when draw < 2 then 'PENDING' when draw < 6 then 'FAILED' when draw < 8 then 'CANCELLED'
                when draw < 9 then 'REFUNDED' else 'CONFIRMED' end as status,
           draw = 5 as expired,
           case when draw between 10 and 29 then 'BASIC' when draw % 5 = 0 then 'PRO' else 'STANDARD' end as package_type,
           date_trunc('second', now()) - interval '1 hour' - (($1 - number) * $3::float8 / $1) * interval '1 day'
             as created_at
    from (select number, (hashint8(number + 7) & 2147483647) % 100 as draw from generate_series(1, $1) as number) n
  ) d
  join (values ${catalogue}) as c (package_type, amount, credits) using (package_type)`

const held = 3
const captured = 2

// What happened to the credits of each order, in the order of time, as the service would have moved them: a row without
// a kind moves nothing and is about an order only.
const draftSteps = `
  create unlogged table draft_step as
  select *, sum((kind is not null)::int) over chain as entry_number, sum(delta) over chain as balance_after,
         sum(held_delta) over chain as held_after, sum((event_status is not null)::int) over chain as event_number
  from (
    select customer_id, number, 0 as position, case when status <> 'FAILED' then 'GRANT' end as kind,
           case when status <> 'FAILED' then credits else 0 end as delta, 0 as held_delta,
           case when status <> 'FAILED' then order_id end as order_id, null as reference, null::uuid as hold_id,
           null as service_id, case when status = 'FAILED' then status else 'CONFIRMED' end as event_status,
           created_at + interval '1 minute' as created_at
    from draft where status <> 'PENDING'
    union all
    select customer_id, number, position, 'SPEND', -1, 0, null, 'use_' || number || '_' || position, null, 'svc_use', null,
           created_at + interval '1 minute' + position * interval '1 second'
    from draft cross join generate_series(1, spends) as position
    union all
    select customer_id, number, 8, 'HOLD', 0, credits - spends, order_id, null, md5('cancel ' || number)::uuid, null, null,
           created_at + interval '110 seconds'
    from draft where status in ('CANCELLED', 'REFUNDED') and spends < credits
    union all
    select customer_id, number, 9,
           case when spends < credits then case status when 'CANCELLED' then 'ROLLBACK' else 'REFUND' end end,
           spends - credits, spends - credits, order_id, null,
           case when spends < credits then md5('cancel ' || number)::uuid end, null, status,
           created_at + interval '2 minutes'
    from draft where status in ('CANCELLED', 'REFUNDED')
    union all
    select customer_id, number, 10, 'HOLD', 0, ${held}, null, 'job_' || number, md5('hold ' || number)::uuid, 'svc_job',
           null, created_at + interval '3 minutes'
    from draft where hold_state is not null
    union all
    select customer_id, number, 11, left(hold_state, -1), case hold_state when 'CAPTURED' then -${captured} else 0 end,
           -${held}, null, null, md5('hold ' || number)::uuid, case when hold_state <> 'EXPIRED' then 'svc_job' end, null,
           created_at + interval '5 minutes'
    from draft where hold_state <> 'ACTIVE'
  ) movement
  window chain as (partition by customer_id order by created_at, number, position)`

// ledger_entry_hash has the shape of an aggregate's step: hash before, entry, hash after.
const chainArguments = 'uuid, bigint, text, bigint, bigint, text, text, timestamptz, bigint, bigint, uuid, text'
const chainAggregate = `
  create aggregate chain_hash (${chainArguments}) (sfunc = ledger_entry_hash, stype = bytea, initcond = '')`

const entryColumns = `customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at, held_delta,
  held_after, hold_id, service_id`

const insertEntries = `
  insert into ledger_entries (${entryColumns}, entry_hash)
  select ${entryColumns}, chain_hash(${entryColumns}) over (partition by customer_id order by entry_number)
  from draft_step where kind is not null
  order by created_at`

const insertEvents = `
  insert into events (customer_id, event_number, type, data, created_at)
  select s.customer_id, s.event_number, 'order.' || lower(s.event_status),
         json_build_object('customerId', d.customer_id, 'orderId', d.order_id, 'status', s.event_status,
           'packageType', d.package_type, 'amount', d.amount, 'credits', d.credits,
           'balance', s.balance_after - s.held_after), s.created_at
  from draft_step s
  join draft d using (number)
  where s.event_status is not null
  order by s.created_at`

const insertHolds = `
  insert into holds (customer_id, hold_id, credits, service_id, state, captured, expires_at, opening_entry, closing_entry)
  select d.customer_id, o.hold_id, ${held}, o.service_id, d.hold_state,
         case d.hold_state when 'CAPTURED' then ${captured} end,
         case d.hold_state when 'ACTIVE' then now() + interval '1 day' else d.created_at + interval '4 minutes' end,
         o.entry_number, c.entry_number
  from draft d
  join draft_step o on o.number = d.number and o.position = 10
  left join draft_step c on c.number = d.number and c.position = 11
  order by d.number`

const insertAccounts = `
  insert into accounts (customer_id, balance, held, last_entry, last_hash, moved_at, last_event)
  select c.customer_id, coalesce(e.balance_after, 0), coalesce(e.held_after, 0), coalesce(e.entry_number, 0),
         coalesce(e.entry_hash, ''), coalesce(e.created_at, '-infinity'), coalesce(v.event_number, 0)
  from customers c
  left join lateral (select * from ledger_entries e where e.customer_id = c.customer_id
                     order by entry_number desc limit 1) e on true
  left join lateral (select event_number from events v where v.customer_id = c.customer_id
                     order by event_number desc limit 1) v on true`

const insertOrders = `
  insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status, idempotency_key,
                      created_at, confirmed_at, grant_entry, rollback_entry, refund_entry, refund_shortfall)
  select d.customer_id, d.order_id, d.package_type, 'CARD', d.amount, d.credits, d.status, 'key_' || d.number,
         d.created_at, min(e.created_at) filter (where e.kind = 'GRANT'),
         min(e.entry_number) filter (where e.kind = 'GRANT'), min(e.entry_number) filter (where e.kind = 'ROLLBACK'),
         min(e.entry_number) filter (where e.kind = 'REFUND'), case d.status when 'REFUNDED' then d.spends end
  from draft d
  left join ledger_entries e on e.customer_id = d.customer_id and e.order_id = d.order_id
  group by d.customer_id, d.order_id, d.package_type, d.amount, d.credits, d.status, d.number, d.created_at, d.spends
  order by d.number`

// Refunds are those that were accepted as they were found at the gateway: no operator has an action about them.
const insertOperations = `
  insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, reason, credits_held,
                                  state, gateway_code, transaction_key, total_credits, holder_id, lease_until, settle_at,
                                  sent_at, opened_at, closed_at, closed_by, accepted)
  select customer_id, id, order_id, kind, payment_key, amount, reason, credits_held, state, gateway_code,
         transaction_key, total_credits, id, at, at, at, at, at, id, kind = 'REFUND'
  from (
    select d.customer_id, md5('confirm ' || d.number)::uuid as id, d.order_id, 'CONFIRM' as kind,
           case when not d.expired then d.payment_key end as payment_key, d.amount, null as reason, 0 as credits_held,
           case when d.expired then 'EXPIRED' when d.status = 'FAILED' then 'REJECTED' else 'APPROVED' end as state,
           case when d.status = 'FAILED' and not d.expired then 'REJECT_CARD_PAYMENT' end as gateway_code,
           case when d.status <> 'FAILED' then 'txc_' || md5('capture ' || d.number) end as transaction_key,
           e.balance_after - e.held_after as total_credits, d.created_at + interval '1 minute' as at
    from draft d
    left join ledger_entries e on e.customer_id = d.customer_id and e.order_id = d.order_id and e.kind = 'GRANT'
    where d.status <> 'PENDING'
    union all
    select customer_id, md5('cancel ' || number)::uuid, order_id,
           case status when 'CANCELLED' then 'CANCEL' else 'REFUND' end, payment_key, amount, 'as generated',
           credits - spends, 'APPROVED', case status when 'REFUNDED' then 'CANCELLED_AT_GATEWAY' end, 'txr_' || md5('cancel ' || number), null,
           created_at + interval '2 minutes'
    from draft where status in ('CANCELLED', 'REFUNDED')
  ) operation
  order by at`

// A payment is the sum of its movements.
const insertMovements = `
  create table standin.movements as
  select transaction_key, payment_key, order_id, amount, closed_at as moved_at,
         case kind when 'CONFIRM' then 'DONE' else 'CANCELED' end as status
  from payment_operations where state = 'APPROVED';
  delete from standin.movements m using (
    select payment_key from draft where status = 'CONFIRMED' order by md5('missing ' || number)
    limit ${planted.missing}) d where d.payment_key = m.payment_key;
  insert into standin.movements
  select 'txx_' || number, 'pay_unknown_' || number, 'ord_unknown_' || number, 1000,
         now() - number * interval '3 hours', 'DONE' from generate_series(1, ${planted.unknownOrder}) as number;
  insert into standin.movements
  select 'txp_' || number, payment_key, order_id, amount, created_at + interval '90 seconds', 'DONE'
  from draft where status = 'PENDING' order by md5('captured ' || number) limit ${planted.capturedWhilePending};
  insert into standin.movements
  select 'txg_' || number, payment_key, order_id, amount, created_at + interval '5 minutes', 'CANCELED'
  from draft where status = 'CONFIRMED' order by md5('cancelled ' || number) limit ${planted.cancelledAtGateway};
  alter table standin.movements add primary key (transaction_key);
  create index on standin.movements (moved_at, transaction_key);
  create index on standin.movements (payment_key);
  analyze standin.movements`

/** `onStep` is called after each step; every order of a number that `busiest` divides is of one customer. */
export type GenerateOptions = { onStep?: (step: string) => void; busiest?: number }

/** A little less than there are: a number of orders computed with it has at least the wanted entries. */
export const entriesPerOrder = 3.9

/** With indexes and keys built afterwards, foreign keys checked. */
export async function generate(client: pg.Client, orders: number, options: GenerateOptions = {}): Promise<void> {
  await inBulk(client, () => generateRows(client, orders, options))
}

async function generateRows(
  client: pg.Client,
  orders: number,
  { onStep = () => undefined, busiest = 10 }: GenerateOptions,
): Promise<void> {
  const customers = Math.ceil(orders / ordersPerCustomer)
  await client.query(
    draftOrders
      .replaceAll('$1', `${orders}`)
      .replaceAll('$2', `${customers}`)
      .replaceAll('$3', `${days}`)
      .replaceAll('$4', `${busiest}`),
  )
  await client.query(draftSteps)
  await client.query('analyze draft, draft_step')
  onStep('drafted')
  // With the triggers that write the journal of records: the audit expects every customer there. The accounts come at the end.
  await client.query('set session_replication_role = origin')
  await client.query('alter table customers disable trigger customers_have_an_account')
  await client.query('insert into customers (customer_id) select distinct customer_id from draft')
  await client.query('alter table customers enable trigger customers_have_an_account')
  await client.query('set session_replication_role = replica')
  await withoutIndexes(client, async (build) => {
    await client.query(chainAggregate)
    await client.query(insertEntries)
    await build('ledger_entries')
    await client.query(
      'create index draft_entries on ledger_entries (customer_id, order_id) where order_id is not null',
    )
    await client.query('analyze ledger_entries')
    onStep('ledger entries')
    await client.query(insertEvents)
    await build('events')
    onStep('events')
    for (const text of [insertHolds, insertAccounts, insertOrders]) await client.query(text)
    onStep('holds, accounts, orders')
    await client.query(insertOperations)
    onStep('operations')
    await client.query('drop index draft_entries')
  })
  onStep('indexes and keys')
  await client.query('create schema standin')
  await client.query(insertMovements)
  onStep('movements at the gateway')
  await client.query(`drop aggregate chain_hash (${chainArguments})`)
  await client.query('drop table draft, draft_step')
  for (const table of ['customers', 'accounts', 'ledger_entries', 'orders', 'payment_operations', 'holds', 'events']) {
    await client.query(`vacuum analyze ${table}`)
  }
}

export type Counts = Record<
  'customers' | 'orders' | 'entries' | 'operations' | 'holds' | 'events' | 'movements',
  number
>

export async function countRows(client: pg.Client): Promise<Counts> {
  const { rows } = await client.query<Record<keyof Counts, string>>(
    `select (select count(*) from customers) as customers, (select count(*) from orders) as orders,
            (select count(*) from ledger_entries) as entries, (select count(*) from payment_operations) as operations,
            (select count(*) from holds) as holds, (select count(*) from events) as events,
            (select count(*) from standin.movements) as movements`,
  )
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)])) as Counts
}
