-- When a key or a token was suspended, so that a process which remembers it asks once for all that were suspended lately,
-- instead of once a second for each. Set here, whoever changes the status.
create function note_suspension() returns trigger language plpgsql as $$
begin
  new.suspended_at := case new.status when 'SUSPENDED' then clock_timestamp() end;
  return new;
end
$$;

alter table api_keys add column suspended_at timestamptz;
alter table service_tokens add column suspended_at timestamptz;

create trigger api_keys_note_suspension before insert or update of status on api_keys
  for each row execute function note_suspension();
create trigger service_tokens_note_suspension before insert or update of status on service_tokens
  for each row execute function note_suspension();

create index api_keys_suspended on api_keys (suspended_at) where status = 'SUSPENDED';
create index service_tokens_suspended on service_tokens (suspended_at) where status = 'SUSPENDED';
