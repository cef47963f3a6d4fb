-- What it takes to find the end of every order without a person: operations that a worker takes up again, orders that
-- the clock fails, refunds by the platform, what the gateway told us, and what our books are compared with. And a chain
-- of hashes over each customer's ledger, so that a row changed or removed behind our back is found.

-- Each entry's hash covers the entry and the hash before it. The account keeps the last one: a chain that was cut off
-- at its end does not reach it. A JSON array, so that no text in it can be taken for a border between two values.
create function ledger_entry_hash(
  previous bytea, customer_id uuid, entry_number bigint, kind text, delta bigint, balance_after bigint, order_id text,
  reference text, created_at timestamptz
) returns bytea language sql stable parallel safe as $$
  select sha256(previous || convert_to(jsonb_build_array(
    customer_id, entry_number, kind, delta, balance_after, order_id, reference, extract(epoch from created_at)
  )::text, 'UTF8'))
$$;

alter table accounts add column last_hash bytea not null default ''::bytea;
alter table ledger_entries add column entry_hash bytea;

-- The entries that are there already, in their order.
alter table ledger_entries disable trigger ledger_entries_append_only;
do $$
declare
  entry   ledger_entries;
  chained bytea;
  owner   uuid;
begin
  for entry in select * from ledger_entries order by customer_id, entry_number loop
    if owner is distinct from entry.customer_id then
      chained := ''::bytea;
      owner := entry.customer_id;
    end if;
    chained := ledger_entry_hash(chained, entry.customer_id, entry.entry_number, entry.kind, entry.delta,
                                 entry.balance_after, entry.order_id, entry.reference, entry.created_at);
    update ledger_entries set entry_hash = chained
    where customer_id = entry.customer_id and entry_number = entry.entry_number;
    update accounts set last_hash = chained where customer_id = entry.customer_id;
  end loop;
end
$$;
alter table ledger_entries enable trigger ledger_entries_append_only;

-- REFUND takes back what is left of the credits of an order that the platform refunded.
alter table ledger_entries
  alter column entry_hash set not null,
  add constraint ledger_entries_hash_is_sha256 check (octet_length(entry_hash) = 32),
  drop constraint ledger_entries_kind,
  add constraint ledger_entries_kind check (kind in ('GRANT', 'ROLLBACK', 'REFUND', 'SPEND'));

-- A refund takes back min(available, credits) and says what it could not take back. Orders are found by their id alone
-- when somebody from outside names one: the gateway, an operator.
alter table orders
  add column refund_entry bigint,
  add column refund_shortfall bigint,
  add foreign key (customer_id, refund_entry) references ledger_entries,
  add constraint orders_refunded_means_accounted_for check (
    (status = 'REFUNDED') = (refund_shortfall is not null)
    and (refund_shortfall is null or refund_shortfall between 0 and credits)
    and (refund_entry is null) = coalesce(refund_shortfall = credits, true));

create index orders_by_id on orders (order_id);

-- REFUND: the platform, or somebody in the gateway's dashboard, gives the money back. RETURN: money that was captured
-- for a FAILED order goes back to the buyer. EXPIRED: the clock failed the order before anybody confirmed it; it takes
-- the one place that a confirm of the order has, so of an expiry and a confirm at the same moment one is refused.
--
-- settle_at is when the worker takes an open operation up if nobody has finished it by then, attempts how often it has.
-- answered_by is the request that was told of an approved cancel.
alter table payment_operations
  alter column payment_key drop not null,
  add column attempts int not null default 0,
  add column settle_at timestamptz not null default now(),
  add column answered_by uuid,
  drop constraint payment_operations_kind,
  add constraint payment_operations_kind check (kind in ('CONFIRM', 'CANCEL', 'REFUND', 'RETURN')),
  drop constraint payment_operations_state,
  add constraint payment_operations_state check (state in ('OPEN', 'APPROVED', 'REJECTED', 'EXPIRED')),
  add constraint payment_operations_expired_without_payment check (
    (state = 'EXPIRED') = (payment_key is null) and (state <> 'EXPIRED' or kind = 'CONFIRM')),
  drop constraint payment_operations_cancel_holds,
  add constraint payment_operations_holds_by_kind check (
    case kind when 'CONFIRM' then credits_held = 0 and reason is null
              when 'CANCEL' then credits_held > 0 and reason is not null
              when 'REFUND' then credits_held >= 0 and reason is not null
              else credits_held = 0 and reason is not null end),
  add constraint payment_operations_attempts_counted check (attempts >= 0);

-- Those that were not refused are found by the unique index of an order's operations.
create index payment_operations_refused on payment_operations (customer_id, order_id) where state = 'REJECTED';
-- Several payments of a FAILED order may have to go back, each once.
drop index payment_operations_one_success;
create unique index payment_operations_one_success on payment_operations
  (customer_id, order_id, kind, (case kind when 'RETURN' then payment_key else '' end)) where state <> 'REJECTED';
create index payment_operations_to_settle on payment_operations (settle_at) where state = 'OPEN';
create index payment_operations_opened on payment_operations using brin (opened_at) with (autosummarize = on);

-- A discrepancy may concern a payment that belongs to none of our orders: what it is about is its subject, an order id
-- or a payment key. It stays open until it is settled, and is open once.
alter table discrepancies
  drop constraint discrepancies_pkey,
  alter column customer_id drop not null,
  alter column order_id drop not null,
  add column discrepancy_id uuid primary key default gen_random_uuid(),
  add column subject text,
  add column last_seen_at timestamptz not null default now(),
  add column resolved_at timestamptz,
  add column resolution text;
update discrepancies set subject = order_id;
alter table discrepancies
  alter column subject set not null,
  add constraint discrepancies_resolved_means_explained check ((resolved_at is null) = (resolution is null));

create unique index discrepancies_open_once on discrepancies (kind, subject) where resolved_at is null;
create index discrepancies_by_order on discrepancies (customer_id, order_id);

-- What the gateway sent to the webhook listener: hints, kept until the gateway has been asked. Keyed by the gateway's
-- number of the transmission, so that a repeated one is one row. Nothing of the body but what says whom to ask about.
create table webhook_notifications (
  transmission_id text        primary key,
  order_id        text        not null,
  payment_key     text,
  event_type      text        not null,
  status          text,
  received_at     timestamptz not null default now(),
  attempts        int         not null default 0,
  process_at      timestamptz not null default now(),
  processed_at    timestamptz,
  outcome         text,
  constraint webhook_notifications_processed_means_outcome check ((processed_at is null) = (outcome is null))
);

create index webhook_notifications_to_process on webhook_notifications (process_at) where processed_at is null;
create index webhook_notifications_by_order on webhook_notifications (order_id);
create index webhook_notifications_processed on webhook_notifications (processed_at) where processed_at is not null;

-- The gateway's own list of the money it moved, as reconciliation has read it.
create table gateway_movements (
  transaction_key text        primary key,
  payment_key     text        not null,
  order_id        text        not null,
  direction       text        not null,
  amount          bigint      not null,
  moved_at        timestamptz not null,
  constraint gateway_movements_direction check (direction in ('CAPTURE', 'CANCEL')),
  constraint gateway_movements_amount check (amount >= 0)
);

create index gateway_movements_by_time on gateway_movements (moved_at, transaction_key);
create index gateway_movements_by_payment on gateway_movements (payment_key);

-- One row for each reconciliation. A daily one is there once for its day; whoever holds the lease works on it.
create table reconciliations (
  reconciliation_id uuid        primary key,
  cause             text        not null,
  from_time         timestamptz not null,
  to_time           timestamptz not null,
  started_at        timestamptz not null default now(),
  holder_id         uuid        not null,
  lease_until       timestamptz not null,
  finished_at       timestamptz,
  result            jsonb,
  constraint reconciliations_cause check (cause in ('DAILY', 'COMMAND')),
  constraint reconciliations_span check (from_time < to_time),
  constraint reconciliations_finished_means_result check ((finished_at is null) = (result is null))
);

create index customers_by_time on customers (created_at);
create unique index reconciliations_daily_once on reconciliations (from_time, to_time) where cause = 'DAILY';
