-- The one with the id behind the time does its work. Alone, as the one before.
drop index if exists customers_by_time;
