-- The card slip of an approved confirm: the receipt, the masked card number and the approval number, by which a buyer finds the
-- payment on the card statement. Null where the gateway sent none, and for every confirm of before. The version before neither
-- writes nor reads them. No row is read or changed by this file; the table is locked for a moment.
alter table payment_operations
  add column receipt_url text,
  add column card_number text,
  add column approval_number text,
  add constraint payment_operations_slip_of_approved_confirm check (
    kind = 'CONFIRM' and state = 'APPROVED' or num_nonnulls(receipt_url, card_number, approval_number) = 0) not valid,
  -- The first eight and the last four digits of a card at most. All of it may be sent in a header.
  add constraint payment_operations_slip_well_formed check (
    card_number ~ '^[0-9]{0,8}\*{3,16}[0-9]{0,4}\*{0,4}$' and length(card_number) <= 20
    and approval_number ~ '^[A-Za-z0-9]{1,8}$'
    and receipt_url ~ '^https?://[!-~]+$' and length(receipt_url) <= 500) not valid;

create or replace trigger payment_operations_stay_closed before update on payment_operations for each row
  when (old.state <> 'OPEN'
        and ((old.state, old.closed_at, old.closed_by, old.gateway_code, old.transaction_key, old.total_credits,
              old.receipt_url, old.card_number, old.approval_number)
             is distinct from
               (new.state, new.closed_at, new.closed_by, new.gateway_code, new.transaction_key, new.total_credits,
                new.receipt_url, new.card_number, new.approval_number)
             or old.answered_by is not null and old.answered_by is distinct from new.answered_by))
  execute function refuse_write('an operation that is closed stays closed');
