-- The processes that share out the sweeps of a cluster, each with a lease. On one server it stays empty.
create table sweeping_processes (
  process_id uuid primary key,
  lease_until timestamptz not null
);
