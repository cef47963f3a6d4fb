-- Revenue, orders and last purchase of each customer, and the orders that expired, are added up with a mark of their own: a process
-- of an older version beside a new one moves `reached` without them. Null: not begun.
alter table figures_reached add column details_reached timestamptz;

create table customer_figures (
  customer_id uuid primary key references customers,
  -- KRW, captured less refunded.
  revenue bigint not null,
  -- Confirmed ones.
  orders bigint not null,
  last_purchase_at timestamptz
);
create index customer_figures_by_revenue on customer_figures (revenue, customer_id);
create index customer_figures_by_last_purchase on customer_figures (last_purchase_at, customer_id);
