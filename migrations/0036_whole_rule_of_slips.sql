-- The whole form of a card slip is checked again, as before 0034: values of a slip are sent as response headers.
create function check_operation_and_slip(
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
    when not (card_number ~ '^[0-9]{0,8}\*{3,16}[0-9]{0,4}\*{0,4}$' and length(card_number) <= 20
              and approval_number ~ '^[A-Za-z0-9]{1,8}$'
              and receipt_url ~ '^https?://[!-~]+$' and length(receipt_url) <= 500) then 'slip_well_formed'
    end;
begin
  if broken is null then return true; end if;
  raise check_violation using table = 'payment_operations', constraint = 'payment_operations_' || broken,
    message = format('new row for relation "payment_operations" violates check constraint "payment_operations_%s"', broken);
end
$$;

alter table payment_operations
  drop constraint payment_operations_rules,
  add constraint payment_operations_rules check (check_operation_and_slip(
    kind, state, attempts, closed_at, closed_by, payment_key, credits_held, reason, receipt_url, card_number,
    approval_number)
  ) not valid;
drop function check_payment_operation;
