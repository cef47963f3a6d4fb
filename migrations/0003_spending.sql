-- Spending: services of the platform that spend, credits they set aside for a while, a ledger that says who spent, and
-- events that tell the platform's endpoints what happened.

-- A token of a service of the platform. Its name is what people read; a second token of the same name rotates the first.
create table service_tokens (
  service_id     text        primary key,
  name           text        not null,
  pepper_version int         not null,
  token_hash     bytea       not null,
  last_four      text        not null,
  status         text        not null default 'ACTIVE',
  created_at     timestamptz not null default now(),
  constraint service_tokens_status check (status in ('ACTIVE', 'SUSPENDED')),
  constraint service_tokens_hash_is_sha256 check (octet_length(token_hash) = 32),
  constraint service_tokens_hash_once unique (pepper_version, token_hash)
);

-- Every movement is an entry now, those that only set credits aside or give them back too: held_delta and held_after are
-- for what is set aside as delta and balance_after are for the balance. What is set aside is set aside by something, a
-- hold of a service or the operation of a cancel or refund: hold_id is its id, and it begins once and ends once.
--   HOLD     sets credits aside          CAPTURE  spends credits of a hold, and gives the rest back
--   RELEASE  gives them back             EXPIRE   gives them back because nobody did
-- Entries of before have none of this, and their hash is what it was.
alter table ledger_entries
  add column held_delta bigint,
  add column held_after bigint,
  add column hold_id    uuid,
  add column service_id text,
  drop constraint ledger_entries_kind,
  add constraint ledger_entries_kind check (
    kind in ('GRANT', 'ROLLBACK', 'REFUND', 'SPEND', 'HOLD', 'CAPTURE', 'RELEASE', 'EXPIRE')),
  drop constraint ledger_entries_sign,
  add constraint ledger_entries_sign check (
    case kind when 'GRANT' then delta > 0 and coalesce(held_delta = 0, true)
              when 'ROLLBACK' then delta < 0 and coalesce(held_delta = delta, true)
              when 'REFUND' then delta < 0 and coalesce(held_delta = delta, true)
              when 'SPEND' then delta < 0 and coalesce(held_delta = 0, true)
              when 'HOLD' then delta = 0 and coalesce(held_delta > 0, false)
              when 'CAPTURE' then delta < 0 and coalesce(held_delta <= delta, false)
              else delta = 0 and coalesce(held_delta < 0, false) end),
  drop constraint ledger_entries_cause,
  add constraint ledger_entries_cause check (
    case kind when 'GRANT' then order_id is not null and reference is null and hold_id is null
              when 'ROLLBACK' then order_id is not null and reference is null
              when 'REFUND' then order_id is not null and reference is null
              when 'SPEND' then order_id is null and reference is not null and hold_id is null
                and (service_id is not null or held_after is null)
              when 'HOLD' then num_nonnulls(order_id, reference) = 1 and hold_id is not null
                and (reference is null) = (service_id is null)
              when 'CAPTURE' then order_id is null and reference is null and hold_id is not null
                and service_id is not null
              when 'RELEASE' then reference is null and hold_id is not null
              else order_id is null and reference is null and hold_id is not null end),
  add constraint ledger_entries_held_is_covered check (
    (held_delta is null) = (held_after is null) and coalesce(held_after between 0 and balance_after, true)
    and (held_after is not null or num_nonnulls(hold_id, service_id) = 0));

drop index ledger_entries_once_per_order;
create unique index ledger_entries_once_per_order on ledger_entries (customer_id, order_id, kind)
  where order_id is not null and delta <> 0;
create unique index ledger_entries_held_once_and_ended_once on ledger_entries (customer_id, hold_id, (kind = 'HOLD'))
  where hold_id is not null;

-- Dropped and not kept beside the new one: a version of the service that knows only the old one would set credits aside
-- without an entry.
drop function ledger_entry_hash(bytea, uuid, bigint, text, bigint, bigint, text, text, timestamptz);
create function ledger_entry_hash(
  previous bytea, customer_id uuid, entry_number bigint, kind text, delta bigint, balance_after bigint, order_id text,
  reference text, created_at timestamptz, held_delta bigint, held_after bigint, hold_id uuid, service_id text
) returns bytea language sql stable parallel safe as $$
  select sha256(previous || convert_to((
    jsonb_build_array(customer_id, entry_number, kind, delta, balance_after, order_id, reference,
                      extract(epoch from created_at))
    || case when held_after is null then '[]' else jsonb_build_array(held_delta, held_after, hold_id, service_id) end
  )::text, 'UTF8'))
$$;

-- Credits that a service has set aside, until it captures what was used, releases them, or they expire. The reference and
-- the balances are those of its entries.
create table holds (
  customer_id   uuid        not null references customers,
  hold_id       uuid        not null,
  credits       bigint      not null,
  service_id    text        not null,
  state         text        not null default 'ACTIVE',
  captured      bigint,
  expires_at    timestamptz not null,
  opening_entry bigint      not null,
  closing_entry bigint,
  primary key (customer_id, hold_id),
  foreign key (customer_id, opening_entry) references ledger_entries,
  foreign key (customer_id, closing_entry) references ledger_entries,
  constraint holds_something check (credits > 0),
  constraint holds_state check (state in ('ACTIVE', 'CAPTURED', 'RELEASED', 'EXPIRED')),
  constraint holds_ended_means_entered check ((state = 'ACTIVE') = (closing_entry is null)),
  constraint holds_captured_within check (
    (state = 'CAPTURED') = (captured is not null) and captured between 1 and credits)
) with (fillfactor = 80);

create index holds_to_expire on holds (expires_at) where state = 'ACTIVE';
create index holds_active on holds (customer_id) where state = 'ACTIVE';

-- The time of the last movement: entries are in the order of time, whatever the clock does, so that a time can be found
-- among them. Events are numbered per customer without a gap, by the account: whoever changes it knows the next number.
-- Below low_credits the customer has few left, and is told so once each time the balance falls past it.
alter table accounts
  add column moved_at    timestamptz not null default '-infinity',
  add column last_event  bigint      not null default 0,
  add column low_credits bigint,
  add constraint accounts_low_credits check (low_credits > 0);

update accounts a set moved_at = e.moved_at
from (select customer_id, max(created_at) as moved_at from ledger_entries group by customer_id) e
where e.customer_id = a.customer_id;

create function refuse_unentered() returns trigger language plpgsql as $$
begin
  raise exception 'credits of % move without an entry', new.customer_id using errcode = 'restrict_violation';
end
$$;

-- Credits move by an entry, and an entry is a movement. In the condition, so that what is allowed calls no function.
create trigger accounts_move_by_entry before update on accounts for each row
  when ((old.balance, old.held) is distinct from (new.balance, new.held)
        and (new.last_entry <= old.last_entry or new.last_hash = old.last_hash))
  execute function refuse_unentered();

-- json, not jsonb: the members of data keep their order. created_at is the time of the movement that caused it.
create table events (
  customer_id  uuid        not null references customers,
  event_number bigint      not null,
  event_id     uuid        not null default gen_random_uuid(),
  type         text        not null,
  data         json        not null,
  created_at   timestamptz not null,
  primary key (customer_id, event_number),
  constraint events_type check (
    type in ('order.confirmed', 'order.failed', 'order.cancelled', 'order.refunded', 'credits.low'))
);

-- Where events go. Secrets are sealed under a key that is not in the database; several can be valid. A removed one
-- stays as a mark: who writes an event at that moment still has its row to point at.
create table event_endpoints (
  endpoint_id text        primary key,
  url         text        not null,
  types       text[]      not null,
  status      text        not null default 'ACTIVE',
  secrets     jsonb       not null,
  created_at  timestamptz not null default now(),
  constraint event_endpoints_status check (status in ('ACTIVE', 'DISABLED', 'REMOVED')),
  constraint event_endpoints_removed_has_no_secret check ((status = 'REMOVED') = (secrets = '[]'))
);

-- How far an endpoint has come with a customer's events: they are delivered in their order, so one row is the whole
-- state of it. The statement that writes an event moves last_event on; when next_event has passed it all are delivered.
-- not_before is what the endpoint has asked for; attempts are the failures since it last took something.
create table event_queues (
  customer_id  uuid        not null references customers,
  endpoint_id  text        not null references event_endpoints,
  next_event   bigint      not null,
  last_event   bigint      not null,
  attempts     int         not null default 0,
  first_failed timestamptz,
  last_error   text,
  due_at       timestamptz not null default now(),
  not_before   timestamptz not null default '-infinity',
  lease_until  timestamptz not null default '-infinity',
  holder_id    uuid,
  primary key (customer_id, endpoint_id)
) with (fillfactor = 80);

create index event_queues_due on event_queues (endpoint_id, due_at) where next_event <= last_event;

-- What could not be delivered within days. It can be looked at and sent again.
create table dead_events (
  customer_id  uuid        not null,
  endpoint_id  text        not null references event_endpoints,
  event_number bigint      not null,
  attempts     int         not null,
  last_error   text        not null,
  died_at      timestamptz not null default now(),
  primary key (customer_id, endpoint_id, event_number),
  foreign key (customer_id, event_number) references events
);
