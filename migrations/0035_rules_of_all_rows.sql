-- A card number is masked, however few digits it has. Then the rows that are there are checked by the functions: each table is read
-- once, and written meanwhile. So this function could be replaced; from now on a rule that changes gets a new one.
create or replace function check_payment_operation(
  kind text, state text, attempts int, closed_at timestamptz, closed_by uuid, payment_key text, credits_held bigint,
  reason text, receipt_url text, card_number text, approval_number text
) returns boolean language plpgsql immutable parallel safe as $$
declare
  broken constant text := case
    when not (kind in ('CONFIRM', 'CANCEL', 'REFUND', 'RETURN')) then 'kind'
    when not (state in ('OPEN', 'APPROVED', 'REJECTED', 'EXPIRED')) then 'state'
    when not (attempts >= 0) then 'attempts_counted'
    when not ((state = 'OPEN') = (closed_at is null) and (closed_at is null) = (closed_by is null))
      then 'open_is_not_closed'
    when not ((state = 'EXPIRED') = (payment_key is null) and (state <> 'EXPIRED' or kind = 'CONFIRM'))
      then 'expired_without_payment'
    when not (case kind when 'CONFIRM' then credits_held = 0 and reason is null
                        when 'CANCEL' then credits_held > 0 and reason is not null
                        when 'REFUND' then credits_held >= 0 and reason is not null
                        else credits_held = 0 and reason is not null end) then 'holds_by_kind'
    when num_nonnulls(receipt_url, card_number, approval_number) = 0 then null
    when not (kind = 'CONFIRM' and state = 'APPROVED') then 'slip_of_approved_confirm'
    when not (length(card_number) <= 20 and card_number like '%***%' and length(replace(card_number, '*', '')) <= 12
              and length(approval_number) between 1 and 8
              and receipt_url like 'http%://%' and length(receipt_url) <= 500) then 'slip_is_safe'
    end;
begin
  if broken is null then return true; end if;
  raise check_violation using table = 'payment_operations', constraint = 'payment_operations_' || broken,
    message = format('new row for relation "payment_operations" violates check constraint "payment_operations_%s"', broken);
end
$$;

alter table orders validate constraint orders_rules;
alter table payment_operations validate constraint payment_operations_rules;
alter table ledger_entries validate constraint ledger_entries_rules;
