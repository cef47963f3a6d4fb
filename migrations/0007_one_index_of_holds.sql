-- The one in the order of time does its work. Alone, because it has to wait for everybody who reads holds, and nobody
-- should wait for it meanwhile.
drop index holds_active;
