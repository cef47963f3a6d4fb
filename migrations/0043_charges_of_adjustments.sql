-- The day of an operator is charged before the adjustment is made, which may be on another server. What was charged is kept, so
-- that a repeat counts once: customer, id, kind and credits of each adjustment.
alter table adjustment_days add column charges text[] not null default '{}';
