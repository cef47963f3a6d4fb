-- Reads the table once; it is written meanwhile.
alter table payment_operations validate constraint payment_operations_rules;
