// The statements on sessions of operators and on wrong passwords. All limits are of the database's clock, so that they are the
// same for every process.
import { type Database, statement } from '../../db/database.ts'
import type { Role } from '../../operators/permissions.ts'
import { idleMs, wholeMs } from './times.ts'

/** That somebody is there is written down this often at most: reading stays reading. */
const seenEveryMs = 60_000
/** A statement that has other things to do removes so many of what is past its time. */
const sweptAtOnce = 100

export type SessionRow = {
  operatorId: string
  name: string
  role: Role
  mustChangePassword: boolean
  endsAt: Date
  idleEndsAt: Date
}

const findSessionStatement = statement(
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
 * Undefined: unknown, ended, or of somebody who is suspended or has another password since. One that is not used, but only
 * asked about, ends no later for it.
 */
export async function findSession(
  database: Database,
  sessionHash: Buffer,
  isUse = true,
): Promise<SessionRow | undefined> {
  const values = [sessionHash, idleMs, wholeMs, isUse ? seenEveryMs : idleMs]
  const [found] = await database.run<SessionRow>(findSessionStatement, values)
  return found
}

const startSessionStatement = statement(
  'console.startSession',
  `with swept as (
    delete from operator_sessions where session_hash in (
      select session_hash from operator_sessions where last_seen_at < now() - $4 * interval '1 ms'
      order by last_seen_at limit $5)
  )
  insert into operator_sessions (session_hash, operator_id, access_version)
  select $1, operator_id, access_version from operators where operator_id = $2 and status = 'ACTIVE' and password_hash = $3
  on conflict do nothing`,
)

/** For whoever still has the password that was shown. */
export async function startSession(
  database: Database,
  session: { sessionHash: Buffer; operatorId: string; passwordHash: string },
): Promise<void> {
  const { sessionHash, operatorId, passwordHash } = session
  await database.run(startSessionStatement, [sessionHash, operatorId, passwordHash, idleMs, sweptAtOnce])
}

const endSessionStatement = statement('console.endSession', 'delete from operator_sessions where session_hash = $1')

export async function endSession(database: Database, sessionHash: Buffer): Promise<void> {
  await database.run(endSessionStatement, [sessionHash])
}

/** Whom a wrong password counts against, and how many they may have before they have to wait. */
export type Counted = { subject: Buffer; free: number }

/** The first pause, which doubles with each further wrong password, and the longest. */
const firstPauseMs = 1_000
const longestPauseMs = 15 * 60_000
/** In the time in which as many could be tried as with the longest pauses, those before are forgotten. */
const forgottenMs = 3_600_000

// Whoever waits for the lock sees what the one before has counted: no two are let in for the one try that is left. An exponent
// of 10 is past the longest pause, and no power overflows.
const countTryStatement = statement(
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
 * Counts a try as a wrong one before anybody has looked at the password, so that many at once are no more than one after the
 * other; a right one is taken back. Zero: it may be made. Else nothing is counted, and it may be made in so many seconds.
 */
export async function countTry(database: Database, counted: Counted[]): Promise<number> {
  const [paused] = await database.run<{ waitSeconds: number }>(countTryStatement, [
    counted.map(({ subject }) => subject),
    counted.map(({ free }) => free),
    firstPauseMs,
    longestPauseMs,
    forgottenMs,
    sweptAtOnce,
  ])
  return paused?.waitSeconds ?? 0
}

const uncountTryStatement = statement(
  'console.uncountTry',
  `with cleared as (
    delete from sign_in_failures where subject = any ($1::bytea[]) and failures = 1
  )
  update sign_in_failures set failures = failures - 1 where subject = any ($1::bytea[]) and failures > 1`,
)

/** Nobody has looked at the password: there was no place for whoever has typed it. */
export async function uncountTry(database: Database, subjects: Buffer[]): Promise<void> {
  await database.run(uncountTryStatement, [subjects])
}

const takeBackTryStatement = statement(
  'console.takeBackTry',
  `with cleared as (
    delete from sign_in_failures where subject = $1 or (subject = $2 and failures <= 2)
  )
  update sign_in_failures set failures = failures - 2 where subject = $2 and failures > 2`,
)

/**
 * The password was right. Of those for this name from this network none counts any more. Of the network's it is this one and
 * one more: where people sign in all day somebody mistypes, too, and what they mistype must not add up.
 */
export async function takeBackTry(database: Database, ofName: Buffer, ofNetwork: Buffer): Promise<void> {
  await database.run(takeBackTryStatement, [ofName, ofNetwork])
}
