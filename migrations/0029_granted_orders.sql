-- The lots of a customer, newest first, without reading the orders that are used up. Writers of orders wait while it is made; with
-- many orders it is created beforehand, concurrently.
create index if not exists orders_granted on orders (customer_id, grant_entry) where grant_entry is not null;
