// The statements on sessions of operators and on failed sign-ins. All time limits use the clock of the database, so that they are
// the same for every process.
import { type Database, statement } from '../../db/database.ts'
import type { Role } from '../../operators/permissions.ts'
import { sessionIdleMs, sessionMaxMs } from './times.ts'

/** `last_seen_at` is updated this often at most, so that most requests write nothing. */
const seenEveryMs = 60_000
/** Expired rows that one statement removes in passing. */
const maxSwept = 100

export type SessionRow = {
  operatorId: string
  name: string
  role: Role
  mustChangePassword: boolean
  endsAt: Date
  idleEndsAt: Date
}

const findSessionStatement = statement.global(
  'console.findSession',
  `with found as (
    select s.session_hash, o.operator_id, o.name, o.role, o.must_change_password, s.started_at,
      case when s.last_seen_at < now() - $4 * interval '1 ms' then now() else s.last_seen_at end as seen_at
    from operator_sessions s
    join operators o using (operator_id)
    where s.session_hash = $1 and o.status = 'ACTIVE' and s.access_version = o.access_version
      and s.last_seen_at > now() - $2 * interval '1 ms'
      and s.started_at > now() - $3 * interval '1 ms'
  ),
  seen as (
    update operator_sessions s set last_seen_at = f.seen_at
    from found f where s.session_hash = f.session_hash and s.last_seen_at < f.seen_at
  )
  select operator_id as "operatorId", name, role, must_change_password as "mustChangePassword",
    started_at + $3 * interval '1 ms' as "endsAt",
    least(seen_at + $2 * interval '1 ms', started_at + $3 * interval '1 ms') as "idleEndsAt"
  from found`,
)

/**
 * Undefined: unknown, ended, or its operator was suspended or changed the password since. With `isUse` false the lookup does not
 * extend the session.
 */
export async function findSession(
  database: Database,
  sessionHash: Buffer,
  isUse = true,
): Promise<SessionRow | undefined> {
  const values = [sessionHash, sessionIdleMs, sessionMaxMs, isUse ? seenEveryMs : sessionIdleMs]
  const [found] = await database.run<SessionRow>(findSessionStatement, values)
  return found
}

const startSessionStatement = statement.global(
  'console.startSession',
  `with swept as (
    delete from operator_sessions where session_hash in (
      select session_hash from operator_sessions s
      where last_seen_at < now() - $4 * interval '1 ms' and exists (
        select from operator_sessions n
        where n.operator_id = s.operator_id
          and (n.last_seen_at, n.session_hash) > (s.last_seen_at, s.session_hash))
      order by last_seen_at limit $5)
  )
  insert into operator_sessions (session_hash, operator_id, access_version)
  select $1, operator_id, access_version from operators where operator_id = $2 and status = 'ACTIVE' and password_hash = $3
  on conflict do nothing`,
)

/** Starts none when the password has changed meanwhile. */
export async function startSession(
  database: Database,
  session: { sessionHash: Buffer; operatorId: string; passwordHash: string },
): Promise<void> {
  const { sessionHash, operatorId, passwordHash } = session
  await database.run(startSessionStatement, [sessionHash, operatorId, passwordHash, sessionIdleMs, maxSwept])
}

// No operator has this version. The row stays: the newest one of an operator says when that one was last seen.
const endSessionStatement = statement.global(
  'console.endSession',
  'update operator_sessions set access_version = 0 where session_hash = $1',
)

export async function endSession(database: Database, sessionHash: Buffer): Promise<void> {
  await database.run(endSessionStatement, [sessionHash])
}

/** What a failed sign-in counts against, and how many are free of a pause. */
export type SignInCounter = { subject: Buffer; free: number }

/** The first pause doubles with each further failure up to the longest. */
const firstPauseMs = 1_000
const longestPauseMs = 15 * 60_000
/** Older failures no longer count: the free tries of an hour are about as many as the longest pauses allow. */
const forgottenMs = 3_600_000

// A statement that waits for the row lock sees the count of the one before: a last free try is given once. An exponent of 10
// exceeds the longest pause, and no power overflows.
const countTryStatement = statement.global(
  'console.countTry',
  `with asked as (
    select * from unnest($1::bytea[], $2::int[]) as a (subject, free)
  ),
  swept as (
    delete from sign_in_failures where subject in (
      select subject from sign_in_failures where last_failed_at < now() - $5 * interval '1 ms'
      order by last_failed_at limit $6)
      and subject not in (select subject from asked)
  ),
  known as materialized (
    select f.subject, f.failures, f.last_failed_at
    from sign_in_failures f
    where f.subject in (select subject from asked) and f.last_failed_at > now() - $5 * interval '1 ms'
    order by f.subject
    for update
  ),
  paused as (
    select max(k.last_failed_at + least($3 * power(2, least(k.failures - a.free, 10)), $4) * interval '1 ms') as until
    from known k
    join asked a using (subject)
    where k.failures >= a.free
  ),
  counted as (
    insert into sign_in_failures as f (subject, failures)
    select subject, 1 from asked where not exists (select from paused where until > now())
    on conflict (subject) do update set last_failed_at = now(),
      failures = case when f.last_failed_at > now() - $5 * interval '1 ms' then f.failures + 1 else 1 end
  )
  select ceil(extract(epoch from until - now()))::int as "waitSeconds" from paused where until > now()`,
)

/**
 * Counts a sign-in as failed before the password is checked, so that concurrent tries gain nothing; a successful one is
 * uncounted. Returns zero when it may go on. Otherwise nothing is counted, and it returns the seconds until the next try.
 */
export async function countSignIn(database: Database, counters: SignInCounter[]): Promise<number> {
  const [paused] = await database.run<{ waitSeconds: number }>(countTryStatement, [
    counters.map(({ subject }) => subject),
    counters.map(({ free }) => free),
    firstPauseMs,
    longestPauseMs,
    forgottenMs,
    maxSwept,
  ])
  return paused?.waitSeconds ?? 0
}

const uncountTryStatement = statement.global(
  'console.uncountTry',
  `with cleared as (
    delete from sign_in_failures where subject = any ($1::bytea[]) and failures = 1
  )
  update sign_in_failures set failures = failures - 1 where subject = any ($1::bytea[]) and failures > 1`,
)

/** For a sign-in that was refused for lack of a slot: its password was not checked. */
export async function uncountSignIn(database: Database, subjects: Buffer[]): Promise<void> {
  await database.run(uncountTryStatement, [subjects])
}

const takeBackTryStatement = statement.global(
  'console.takeBackTry',
  `with cleared as (
    delete from sign_in_failures where subject = $1 or (subject = $2 and failures <= 2)
  )
  update sign_in_failures set failures = failures - 2 where subject = $2 and failures > 2`,
)

/**
 * After a correct password: clears the failures of this name from this network, and removes two of the network's, this one and one
 * more. In an office people sign in and mistype all day, and those failures must not add up.
 */
export async function forgiveSignIns(database: Database, ofName: Buffer, ofNetwork: Buffer): Promise<void> {
  await database.run(takeBackTryStatement, [ofName, ofNetwork])
}
