-- Where customers are spread over several servers, each group of them adds up its own figures. `customer_id` is no customer, but
-- an id whose rows are in the group; on one server there is one group, and the least id.
alter table figures_reached add column customer_id uuid not null default '00000000-0000-0000-0000-000000000000';
create unique index if not exists figures_reached_of_groups on figures_reached (customer_id);
alter table hourly_figures add column customer_id uuid not null default '00000000-0000-0000-0000-000000000000';
create unique index if not exists hourly_figures_of_groups on hourly_figures (customer_id, hour, figure);
