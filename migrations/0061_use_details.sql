-- What a spend or a hold was for, in the words of the service that made it: a row beside its entry, where it said anything. The
-- entries of a hold and of a reversal have that of the entry they belong to.

-- The labels of a customer, with a place for each: there are at most a hundred, also when two are first used at once.
create table use_labels (
  customer_id uuid not null,
  label       text not null,
  place       int  not null,
  constraint use_labels_pkey primary key (customer_id, label),
  constraint use_labels_one_of_a_place unique (customer_id, place),
  constraint use_labels_at_most_a_hundred check (place between 1 and 100),
  constraint use_labels_visible check (label collate "C" ~ '^[!-~]{1,200}$')
);
alter table use_labels
  add constraint use_labels_customer_id_fkey foreign key (customer_id) references accounts (customer_id);
create trigger use_labels_append_only before update or delete or truncate on use_labels
  for each statement execute function refuse_change();

create table use_details (
  customer_id  uuid   not null,
  entry_number bigint not null,
  key_id       text,
  user_id      text,
  label        text,
  units        bigint,
  constraint use_details_pkey primary key (customer_id, entry_number),
  constraint use_details_something check (num_nonnulls(key_id, user_id, label, units) > 0),
  constraint use_details_visible check (key_id collate "C" ~ '^[!-~]{1,200}$' and user_id collate "C" ~ '^[!-~]{1,200}$'),
  constraint use_details_units check (units between 0 and 1000000000000)
);
alter table use_details
  add constraint use_details_customer_id_entry_number_fkey
    foreign key (customer_id, entry_number) references ledger_entries (customer_id, entry_number);
alter table use_details
  add constraint use_details_customer_id_label_fkey foreign key (customer_id, label) references use_labels (customer_id, label);
create trigger use_details_append_only before update or delete or truncate on use_details
  for each statement execute function refuse_change();

-- For each row: a movement without details runs it not even once.
create function require_use() returns trigger language plpgsql as $$
begin
  if not exists (
    select from ledger_entries e
    where e.customer_id = new.customer_id and e.entry_number = new.entry_number and e.kind in ('SPEND', 'HOLD')
      and e.service_id is not null
  ) then
    raise exception 'the entry % is no spend or hold of a service', new.entry_number
      using errcode = 'restrict_violation', table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;
create trigger use_details_of_a_use after insert on use_details for each row execute function require_use();
