-- What the console of the operators needs: who they are, where they are signed in, what they did and why, how each call to
-- the gateway ended, and figures by the hour that a page can be drawn from whatever the size of the books. Of the tables
-- that the version before writes it changes the trail alone, which gets two columns that it leaves out; the reference to an
-- operation, at the end, locks operations against writers for as long as it takes to commit. Indexes of tables that are
-- large are made by the files behind this one, one each, so that writers get a turn between them.

-- People who may sign in. They are suspended, never deleted: the trail speaks of them. Whatever takes the way in from one
-- (another password, a suspension) makes another version of their access.
create table operators (
  operator_id          text        not null constraint operators_pkey primary key,
  name                 text        not null constraint operators_name_key unique,
  role                 text        not null,
  password_hash        text        not null,
  must_change_password boolean     not null default true,
  status               text        not null default 'ACTIVE',
  created_at           timestamptz not null default now(),
  password_set_at      timestamptz not null default now(),
  access_version       int         not null default 1,
  constraint operators_name check (name ~ '^[a-z0-9][a-z0-9._-]{1,39}$'),
  constraint operators_role check (role in ('viewer', 'support', 'finance', 'admin')),
  constraint operators_password_is_hashed check (password_hash ~ '^\$scrypt\$'),
  constraint operators_status check (status in ('ACTIVE', 'SUSPENDED'))
);

create trigger operators_never_deleted before delete or truncate on operators
  for each statement execute function refuse_deletion();

-- A session is known by the hash of its token alone, and good for the version of the access that it was started with: one
-- that is started while a password is changed is over when both are done, whichever is done first.
create table operator_sessions (
  session_hash   bytea       not null constraint operator_sessions_pkey primary key,
  operator_id    text        not null references operators (operator_id),
  access_version int         not null,
  started_at     timestamptz not null default now(),
  last_seen_at   timestamptz not null default now(),
  constraint operator_sessions_hash_is_sha256 check (octet_length(session_hash) = 32)
);

create index operator_sessions_by_operator on operator_sessions (operator_id);
create index operator_sessions_by_time on operator_sessions (last_seen_at);

-- Wrong passwords, by the hash of whom they were tried for and from where: a name may be a password typed into the wrong
-- field.
create table sign_in_failures (
  subject        bytea       not null constraint sign_in_failures_pkey primary key,
  failures       int         not null,
  last_failed_at timestamptz not null default now(),
  constraint sign_in_failures_counted check (failures > 0),
  constraint sign_in_failures_subject_is_sha256 check (octet_length(subject) = 32)
);

create index sign_in_failures_by_time on sign_in_failures (last_failed_at);

-- Why, and about what: an order, a customer, a key.
alter table operator_actions add column reason text;
alter table operator_actions add column subject text;
alter table operator_actions add constraint operator_actions_why_and_what_with_the_beginning
  check (step = 'BEGUN' or (reason is null and subject is null)) not valid;
create index if not exists operator_actions_by_subject on operator_actions (subject, happened_at) where subject is not null;

-- What happened in each hour, added up once: hours are whole hours of Korea too. Everything before `reached` is in it. The
-- hour -infinity has the sum of all others.
create table hourly_figures (
  hour   timestamptz not null,
  figure text        not null,
  count  bigint      not null,
  total  bigint      not null,
  constraint hourly_figures_pkey primary key (hour, figure)
);

create table figures_reached (
  only_one boolean     not null default true constraint figures_reached_pkey primary key,
  reached  timestamptz not null,
  constraint figures_reached_only_one check (only_one)
);

-- Calls to the gateway whose outcome was not known; those that were answered have closed their operation. Whoever holds an
-- operation gives it back once, so a statement that is repeated finds its row.
create table payment_attempts (
  customer_id  uuid        not null,
  operation_id uuid        not null,
  holder_id    uuid        not null,
  happened_at  timestamptz not null default now(),
  gateway_code text        not null,
  constraint payment_attempts_pkey primary key (customer_id, operation_id, holder_id),
  foreign key (customer_id, operation_id) references payment_operations (customer_id, operation_id)
);

create trigger payment_attempts_append_only before delete or update or truncate on payment_attempts
  for each statement execute function refuse_change();
