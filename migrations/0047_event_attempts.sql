-- Each attempt to deliver an event to an endpoint: its answer, or the error when there was none, and how long it took. Written
-- with the step of the queue that the attempt leads to. The worker deletes old ones.
create table event_attempts (
  customer_id  uuid        not null,
  endpoint_id  text        not null,
  event_number bigint      not null,
  attempted_at timestamptz not null,
  -- Null: there was no answer.
  status       int,
  -- Null: the endpoint accepted the event.
  error        text,
  took_ms      int         not null,
  primary key (customer_id, endpoint_id, event_number, attempted_at)
);

create index event_attempts_by_time on event_attempts (endpoint_id, attempted_at);

-- The dead events of one endpoint.
create index if not exists dead_events_of_endpoint on dead_events (endpoint_id, customer_id, event_number);
