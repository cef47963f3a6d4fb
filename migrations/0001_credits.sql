-- Customers, their keys, their credits, their orders, and what was attempted at the gateway.
--
-- Every table of the money path leads its keys with customer_id, so that the schema can be spread over a cluster by
-- customer: no statement of a request touches a second customer, no constraint spans two. KRW and credits are whole
-- numbers. Times are the database's own.

create table customers (
  customer_id uuid        primary key,
  name        text        unique,
  created_at  timestamptz not null default now()
);

-- Keys are found by their hash, before the customer is known: this table stays whole when the others are spread.
create table api_keys (
  key_id         text        primary key,
  customer_id    uuid        not null references customers,
  pepper_version int         not null,
  key_hash       bytea       not null,
  last_four      text        not null,
  status         text        not null default 'ACTIVE',
  created_at     timestamptz not null default now(),
  constraint api_keys_status check (status in ('ACTIVE', 'SUSPENDED')),
  constraint api_keys_hash_is_sha256 check (octet_length(key_hash) = 32),
  constraint api_keys_hash_once unique (pepper_version, key_hash)
);

create index api_keys_by_customer on api_keys (customer_id);

-- The balance is the sum of the customer's ledger entries, written by the same statement as the entry. `held` is the
-- part of it that is set aside and cannot be spent: what is available is balance - held.
create table accounts (
  customer_id uuid   primary key references customers,
  balance     bigint not null default 0,
  held        bigint not null default 0,
  last_entry  bigint not null default 0,
  constraint accounts_held_is_covered check (0 <= held and held <= balance),
  constraint accounts_balance_is_exact_in_json check (balance <= 9007199254740991)
) with (fillfactor = 70);

-- Append-only. The unique indexes make a second grant or rollback of one order, and a second spend of one reference,
-- impossible.
create table ledger_entries (
  customer_id   uuid        not null references accounts,
  entry_number  bigint      not null,
  kind          text        not null,
  delta         bigint      not null,
  balance_after bigint      not null,
  order_id      text,
  reference     text,
  created_at    timestamptz not null default now(),
  primary key (customer_id, entry_number),
  constraint ledger_entries_number_from_one check (entry_number >= 1),
  constraint ledger_entries_kind check (kind in ('GRANT', 'ROLLBACK', 'SPEND')),
  constraint ledger_entries_sign check (case kind when 'GRANT' then delta > 0 else delta < 0 end),
  constraint ledger_entries_never_negative check (balance_after >= 0),
  constraint ledger_entries_cause check (
    case kind when 'SPEND' then reference is not null and order_id is null
              else order_id is not null and reference is null end)
);

create unique index ledger_entries_once_per_order on ledger_entries (customer_id, order_id, kind)
  where order_id is not null;
create unique index ledger_entries_once_per_reference on ledger_entries (customer_id, reference)
  where reference is not null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % is refused', tg_table_name, tg_op using errcode = 'restrict_violation';
end
$$;

create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();

-- amount and credits are copied from the catalogue at purchase: a later catalogue cannot alter an order. An order that
-- was ever confirmed names its ledger entry, so a grant that got lost cannot pass unseen; a cancelled one names the
-- entry that took the credits back.
-- It refers to the customer, not to the account: a purchase that locked the account's row, be it for a key check, would
-- get in the way of the finishers that change it.
create table orders (
  customer_id     uuid        not null references customers,
  order_id        text        not null,
  package_type    text        not null,
  payment_method  text        not null,
  amount          bigint      not null,
  credits         bigint      not null,
  status          text        not null default 'PENDING',
  idempotency_key text,
  created_at      timestamptz not null default now(),
  confirmed_at    timestamptz,
  grant_entry     bigint,
  rollback_entry  bigint,
  primary key (customer_id, order_id),
  foreign key (customer_id, grant_entry) references ledger_entries,
  foreign key (customer_id, rollback_entry) references ledger_entries,
  constraint orders_status check (status in ('PENDING', 'CONFIRMED', 'FAILED', 'CANCELLED', 'REFUNDED')),
  constraint orders_package_type check (package_type in ('BASIC', 'STANDARD', 'PRO')),
  constraint orders_payment_method check (payment_method = 'CARD'),
  constraint orders_sells_something check (amount > 0 and credits > 0),
  constraint orders_confirmed_means_granted check (
    (status in ('CONFIRMED', 'CANCELLED', 'REFUNDED')) = (grant_entry is not null)
    and (grant_entry is null) = (confirmed_at is null)),
  constraint orders_cancelled_means_rolled_back check ((status = 'CANCELLED') = (rollback_entry is not null))
) with (fillfactor = 80);

create function refuse_transition() returns trigger language plpgsql as $$
begin
  raise exception 'an order does not go from % to %', old.status, new.status using errcode = 'restrict_violation';
end
$$;

-- Section 3: the pairs are in the condition, so that an allowed change calls no function.
create trigger orders_transitions before update of status on orders for each row
  when (old.status <> new.status and (old.status, new.status) not in (
    ('PENDING', 'CONFIRMED'), ('PENDING', 'FAILED'), ('CONFIRMED', 'CANCELLED'), ('CONFIRMED', 'REFUNDED')))
  execute function refuse_transition();

create unique index orders_once_per_idempotency_key on orders (customer_id, idempotency_key)
  where idempotency_key is not null;
create index orders_pending on orders (customer_id, created_at) where status = 'PENDING';

-- One row for each intent to move money at the gateway, written before the gateway is asked. OPEN means the outcome is
-- not known yet; until lease_until its holder is working on it. closed_by tells a holder whose connection died during
-- finish that the commit had happened. The key sent to the gateway is operation_id and send_number:
-- the same as long as no answer came, the next number after an answer that the gateway binds to the key.
create table payment_operations (
  customer_id     uuid        not null,
  operation_id    uuid        not null,
  order_id        text        not null,
  kind            text        not null,
  payment_key     text        not null,
  amount          bigint      not null,
  reason          text,
  credits_held    bigint      not null default 0,
  state           text        not null default 'OPEN',
  send_number     int         not null default 1,
  sent_at         timestamptz not null default now(),
  holder_id       uuid        not null,
  lease_until     timestamptz not null,
  gateway_code    text,
  transaction_key text,
  total_credits   bigint,
  opened_at       timestamptz not null default now(),
  closed_at       timestamptz,
  closed_by       uuid,
  primary key (customer_id, operation_id),
  foreign key (customer_id, order_id) references orders,
  constraint payment_operations_kind check (kind in ('CONFIRM', 'CANCEL')),
  constraint payment_operations_state check (state in ('OPEN', 'APPROVED', 'REJECTED')),
  constraint payment_operations_open_is_not_closed check (
    (state = 'OPEN') = (closed_at is null) and (closed_at is null) = (closed_by is null)),
  constraint payment_operations_cancel_holds check (
    case kind when 'CANCEL' then credits_held > 0 and reason is not null
              else credits_held = 0 and reason is null end)
);

create unique index payment_operations_one_open on payment_operations (customer_id, order_id)
  where state = 'OPEN';
create unique index payment_operations_one_success on payment_operations (customer_id, order_id, kind)
  where state <> 'REJECTED';
create unique index payment_operations_payment_key on payment_operations (customer_id, payment_key)
  where kind = 'CONFIRM' and state <> 'REJECTED';
create index payment_operations_by_payment_key on payment_operations (customer_id, payment_key)
  where kind = 'CONFIRM';

-- What a person has to look at: the gateway and our books do not agree, and no rule says which of them is right.
create table discrepancies (
  customer_id uuid        not null,
  order_id    text        not null,
  kind        text        not null,
  detail      jsonb       not null,
  found_at    timestamptz not null default now(),
  primary key (customer_id, order_id, kind),
  foreign key (customer_id, order_id) references orders
);
