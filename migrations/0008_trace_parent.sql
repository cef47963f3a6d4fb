-- The trace that a payment began in, as W3C writes it (traceparent), so that whoever settles the payment later, in another
-- process, goes on in the same trace. Null when nobody traces. The version before neither writes nor reads it.
alter table payment_operations add column trace_parent text;
