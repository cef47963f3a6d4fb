// The hand of an attacker who has every right over the database: changes entries of a customer, and repairs what depends on
// them, so that the rules of the books find nothing: numbers, balances, the chain of hashes, the account, orders, operations,
// holds, adjustments and events. It works inside a transaction with the triggers off. `was` of a copied entry is its number
// before the attack, `place` its place in the order of the new ones.
import type pg from 'pg'

const entryTypes = 'uuid, bigint, text, bigint, bigint, text, text, timestamptz, bigint, bigint, uuid, text, bigint'

/** A customer whose entries were changed from a number on. */
export type Changed = { customerId: string; from: number }

/** Once for a database: the copy of the entries under attack, and aggregates that go along a chain. */
export const createForgery = `
  create schema forged;
  create table forged.entries (like ledger_entries, place numeric not null, was bigint, number bigint);
  create index on forged.entries (customer_id, place);
  create index on forged.entries (customer_id, was);
  create function forged.next_hash(bytea, bytea, ${entryTypes}) returns bytea language sql as $$
    select case when $15 is null
                then ledger_entry_hash(coalesce($1, $2), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
                else ledger_entry_hash_adjusted(coalesce($1, $2), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
           end $$;
  create aggregate forged.chain_hash (bytea, ${entryTypes}) (sfunc = forged.next_hash, stype = bytea);
  create function forged.next_adjusted(bigint, bigint, bigint, bigint, boolean) returns bigint language sql as $$
    select case when $5 then greatest(0, least($4, $3 + coalesce($1, $2, 0))) else $1 end $$;
  create aggregate forged.adjusted (bigint, bigint, bigint, boolean) (sfunc = forged.next_adjusted, stype = bigint)`

const copyText = `
  insert into forged.entries
  select e.*, e.entry_number, e.entry_number, null from ledger_entries e where customer_id = $1 and entry_number >= $2`

/** Copies the entries of a customer from a number on: they are changed in the copy. */
export async function copyEntries(client: pg.ClientBase, customerId: string, from: number): Promise<void> {
  await client.query(copyText, [customerId, from])
  await client.query('analyze forged.entries')
}

const numberText = `
  update forged.entries f set number = n.number
  from (select place, $2::bigint - 1 + row_number() over (order by place) as number
        from forged.entries where customer_id = $1) n
  where f.customer_id = $1 and f.place = n.place`

const writeText = `
  insert into ledger_entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                              entry_hash, held_delta, held_after, hold_id, service_id, adjusted_after)
  select customer_id, number, kind, delta, balance, order_id, reference, created_at,
         forged.chain_hash(base_hash, customer_id, number, kind, delta, balance, order_id, reference, created_at, held_delta,
                           held, hold_id, service_id, adjusted) over (order by number),
         held_delta, held, hold_id, service_id, adjusted
  from (
    select *, case when adjusted_after is not null then
             forged.adjusted(base_adjusted,
                             case when kind in ('GOODWILL', 'CORRECTION', 'REVERSAL') then delta else 0 end, balance,
                             adjusted_after is not null) over (order by number) end as adjusted
    from (
      select f.*, coalesce(b.entry_hash, '') as base_hash, b.adjusted_after as base_adjusted,
             (coalesce(b.balance_after, 0) + sum(f.delta) over chain)::bigint as balance,
             case when f.held_delta is not null
                  then (coalesce(b.held_after, 0) + sum(coalesce(f.held_delta, 0)) over chain)::bigint end as held
      from forged.entries f
      left join ledger_entries b on b.customer_id = $1 and b.entry_number = $2::bigint - 1
      where f.customer_id = $1
      window chain as (order by f.number)) summed) adjusted`

const moved = 'm.customer_id = $1 and m.was <> m.number'
const renumber = (table: string, column: string) => `
  update ${table} t set ${column} = m.number from forged.entries m
  where ${moved} and t.customer_id = $1 and t.${column} = m.was`

/** Numbers beside all others: the entry of an adjustment is unique, and is checked row by row. */
const aside = 1_000_000_000_000

const renumberAdjustments = [
  `update adjustments set entry_number = entry_number + ${aside} where customer_id = $1`,
  `update adjustments t set reversed_entry = m.number from forged.entries m
   where ${moved} and t.customer_id = $1 and t.reversed_entry = m.was`,
  `update adjustments t
   set entry_number = coalesce((select m.number from forged.entries m
                                where m.customer_id = $1 and m.was = t.entry_number - ${aside}),
                               t.entry_number - ${aside})
   where customer_id = $1`,
]

const renumberings = [
  renumber('orders', 'grant_entry'),
  renumber('orders', 'rollback_entry'),
  renumber('orders', 'refund_entry'),
  renumber('holds', 'opening_entry'),
  renumber('holds', 'closing_entry'),
  renumber('holds', 'part_entry'),
  ...renumberAdjustments,
]

const granted = `
  from orders o join ledger_entries e on e.customer_id = $1 and e.entry_number = o.grant_entry
  where o.customer_id = $1 and o.grant_entry >= $2`

const eventEntry = `case v.type when 'order.confirmed' then o.grant_entry when 'order.cancelled' then o.rollback_entry
                               when 'order.refunded' then o.refund_entry end`

// What repeats a time or a balance of an entry.
const copies = [
  `update orders t set confirmed_at = e.created_at
   from ledger_entries e
   where t.customer_id = $1 and t.grant_entry >= $2 and e.customer_id = $1 and e.entry_number = t.grant_entry
     and t.confirmed_at <> e.created_at`,
  `update payment_operations t set total_credits = g.available
   from (select o.order_id, e.balance_after - e.held_after as available ${granted}) g
   where t.customer_id = $1 and t.order_id = g.order_id and t.kind = 'CONFIRM' and t.state = 'APPROVED'
     and t.total_credits <> g.available`,
  `update adjustments t set created_at = e.created_at
   from ledger_entries e
   where t.customer_id = $1 and t.entry_number >= $2 and e.customer_id = $1 and e.entry_number = t.entry_number
     and t.created_at <> e.created_at`,
  `update events t
   set created_at = n.created_at,
       data = regexp_replace(t.data::text, '("balance"\\s*:\\s*)-?\\d+', '\\1' || n.available)::json
   from (select v.event_number, e.created_at, e.balance_after - e.held_after as available
         from events v
         join orders o on o.customer_id = $1 and o.order_id = v.data ->> 'orderId'
         join ledger_entries e on e.customer_id = $1 and e.entry_number = ${eventEntry}
         where v.customer_id = $1 and v.type like 'order.%' and e.entry_number >= $2) n
   where t.customer_id = $1 and t.event_number = n.event_number
     and (t.created_at, t.data ->> 'balance') is distinct from (n.created_at, n.available::text)`,
]

// Events are in the order of time: one that was added, removed or moved changes the numbers of later ones.
const numberEvents = `
  with numbered as (
    select event_number as was, (select deleted_events from accounts where customer_id = $1)
             + row_number() over (order by created_at, event_number) as number
    from events where customer_id = $1
  ),
  gone as (
    delete from events v using numbered n
    where v.customer_id = $1 and v.event_number = n.was and n.number <> n.was
    returning n.number, v.event_id, v.type, v.data, v.created_at
  )
  insert into events (customer_id, event_number, event_id, type, data, created_at)
  select $1, number, event_id, type, data, created_at from gone order by number`

const repairAccount = `
  update accounts a
  set balance = coalesce(e.balance_after, 0), held = coalesce(e.held_after, 0), last_entry = coalesce(e.entry_number, 0),
      last_hash = coalesce(e.entry_hash, ''), moved_at = greatest(a.moved_at, e.created_at),
      adjusted = coalesce(e.adjusted_after, a.adjusted),
      last_event = coalesce((select max(event_number) from events where customer_id = $1), 0)
  from (select) one
  left join lateral (
    select * from ledger_entries where customer_id = $1 order by entry_number desc limit 1) e on true
  where a.customer_id = $1`

/** The number that a copied or added entry has got. */
export type NumberOf = (place: number) => Promise<number>

/** Writes the copy back, and repairs the rest. `afterEntries`: for rows that name a new entry by its number. */
export async function writeEntries(
  client: pg.ClientBase,
  customerId: string,
  from: number,
  afterEntries: (numberOf: NumberOf) => Promise<void> = async () => undefined,
): Promise<void> {
  await client.query(numberText, [customerId, from])
  await client.query('delete from ledger_entries where customer_id = $1 and entry_number >= $2', [customerId, from])
  await client.query(writeText, [customerId, from])
  for (const text of renumberings) await client.query(text, [customerId])
  await afterEntries(async (place) => {
    const { rows } = await client.query<{ number: number }>(
      'select number from forged.entries where customer_id = $1 and place = $2',
      [customerId, place],
    )
    return rows[0]?.number ?? 0
  })
  for (const text of copies) await client.query(text, [customerId, from])
  await client.query(numberEvents, [customerId])
  await client.query(repairAccount, [customerId])
}
