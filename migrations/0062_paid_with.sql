-- How a payment was paid: with a card or with a wallet of the payment window, and which parts of the amount came from the card,
-- from the money of the wallet and from points. Null where the gateway did not say it, and for every confirm of before. The
-- version before neither writes nor reads them. No row is read or changed by this file; the table is locked for a moment.
alter table payment_operations add column paid_method text;
alter table payment_operations add column paid_provider text;
alter table payment_operations add column card_amount bigint;
alter table payment_operations add column wallet_amount bigint;
alter table payment_operations add column points_amount bigint;
alter table payment_operations add constraint payment_operations_paid_with check (
  num_nonnulls(paid_method, paid_provider, card_amount, wallet_amount, points_amount) = 0
  or coalesce(
    kind = 'CONFIRM' and state = 'APPROVED' and paid_method in ('CARD', 'EASY_PAY', 'OTHER')
    and (paid_provider is null or length(paid_provider) between 1 and 50 and paid_provider !~ '[[:cntrl:]]')
    and case num_nonnulls(card_amount, wallet_amount, points_amount)
          when 0 then true
          when 3 then least(card_amount, wallet_amount, points_amount) >= 0
            and card_amount + wallet_amount + points_amount = amount
          else false end,
    false)
) not valid;

create or replace trigger payment_operations_stay_closed before update on payment_operations for each row
  when (old.state <> 'OPEN'
        and ((old.state, old.closed_at, old.closed_by, old.gateway_code, old.transaction_key, old.total_credits,
              old.receipt_url, old.card_number, old.approval_number, old.paid_method, old.paid_provider, old.card_amount,
              old.wallet_amount, old.points_amount)
             is distinct from
               (new.state, new.closed_at, new.closed_by, new.gateway_code, new.transaction_key, new.total_credits,
                new.receipt_url, new.card_number, new.approval_number, new.paid_method, new.paid_provider, new.card_amount,
                new.wallet_amount, new.points_amount)
             or old.answered_by is not null and old.answered_by is distinct from new.answered_by))
  execute function refuse_write('an operation that is closed stays closed');
