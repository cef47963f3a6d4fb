-- A refund of what was cancelled at the gateway already, which a person has accepted: its amount follows from no rule.
alter table payment_operations add column accepted boolean not null default false;
