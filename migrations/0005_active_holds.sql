-- The statement names the holds that expire first: found in that order, however many a customer has.
create index holds_active_in_time on holds (customer_id, expires_at) where state = 'ACTIVE';
