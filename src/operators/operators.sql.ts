// The statements on operators. Suspending one or changing a password increments `access_version`: sessions that carry another
// version are not valid.
import { type Database, statement } from '../db/database.ts'
import type { Role } from './permissions.ts'

export type OperatorStatus = 'ACTIVE' | 'SUSPENDED'
export type NewOperator = { operatorId: string; name: string; role: Role; passwordHash: string }

const insertOperatorStatement = statement.global(
  'operators.insertOperator',
  `insert into operators (operator_id, name, role, password_hash) values ($1, $2, $3, $4)
  on conflict do nothing
  returning operator_id`,
)

// A separate statement, here and for a changed password: a repeated insert waits for the commit of its first try and, in its own
// snapshot, does not see that row.
const isInsertedStatement = statement.global('operators.isInserted', 'select from operators where operator_id = $1')

/** Whether the name was free. */
export async function insertOperator(database: Database, operator: NewOperator): Promise<boolean> {
  const { operatorId, name, role, passwordHash } = operator
  const inserted = await database.run(insertOperatorStatement, [operatorId, name, role, passwordHash])
  return inserted.length > 0 || (await database.run(isInsertedStatement, [operatorId])).length > 0
}

export type FoundOperator = {
  operatorId: string
  name: string
  status: OperatorStatus
  passwordHash: string
  /** A first password that was not changed in time can no longer be used to sign in. */
  isLapsed: boolean
}

const findOperatorStatement = statement.global(
  'operators.findOperator',
  `select operator_id as "operatorId", name, status, password_hash as "passwordHash",
    must_change_password and password_set_at < now() - $2 * interval '1 hour' as "isLapsed"
  from operators where name = $1`,
)

export async function findOperator(
  database: Database,
  name: string,
  firstPasswordHours: number,
): Promise<FoundOperator | undefined> {
  const [found] = await database.run<FoundOperator>(findOperatorStatement, [name, firstPasswordHours])
  return found
}

const findRoleStatement = statement.global('operators.findRole', 'select role from operators where name = $1')

/** Undefined: there is no such operator. */
export async function findRole(database: Database, name: string): Promise<Role | undefined> {
  const [found] = await database.run<{ role: Role }>(findRoleStatement, [name])
  return found?.role
}

const updateRoleStatement = statement.global(
  'operators.updateRole',
  'update operators set role = $2 where name = $1 returning operator_id as "operatorId"',
)

type Known = { operatorId: string }

/** Undefined: there is no such operator. The same for the two below. */
export async function updateRole(database: Database, name: string, role: Role): Promise<Known | undefined> {
  const [known] = await database.run<Known>(updateRoleStatement, [name, role])
  return known
}

const updateStatusStatement = statement.global(
  'operators.updateStatus',
  `update operators set status = $2, access_version = access_version + case $2 when 'SUSPENDED' then 1 else 0 end
  where name = $1
  returning operator_id as "operatorId"`,
)

export async function updateStatus(
  database: Database,
  name: string,
  status: OperatorStatus,
): Promise<Known | undefined> {
  const [known] = await database.run<Known>(updateStatusStatement, [name, status])
  return known
}

const resetPasswordStatement = statement.global(
  'operators.resetPassword',
  `update operators set password_hash = $2, must_change_password = true, password_set_at = now(),
    access_version = access_version + 1
  where name = $1
  returning operator_id as "operatorId"`,
)

export async function resetPassword(database: Database, name: string, hash: string): Promise<Known | undefined> {
  const [known] = await database.run<Known>(resetPasswordStatement, [name, hash])
  return known
}

const changePasswordStatement = statement.global(
  'operators.changePassword',
  `with updated as (
    update operators set password_hash = $3, must_change_password = false, password_set_at = now(),
      access_version = access_version + 1
    where operator_id = $1 and password_hash = $2
    returning operator_id, access_version
  ),
  kept as (
    update operator_sessions s set access_version = u.access_version
    from updated u where s.operator_id = u.operator_id and s.session_hash = $4
  )
  select operator_id from updated`,
)

const isChangedStatement = statement.global(
  'operators.isChanged',
  'select from operators where operator_id = $1 and password_hash = $2',
)

export type PasswordChange = { operatorId: string; from: string; to: string; keptSessionHash: Buffer }

/** Returns whether the password was still `from`. Ends all sessions but one. */
export async function changePassword(database: Database, change: PasswordChange): Promise<boolean> {
  const { operatorId, from, to, keptSessionHash } = change
  const changed = await database.run(changePasswordStatement, [operatorId, from, to, keptSessionHash])
  return changed.length > 0 || (await database.run(isChangedStatement, [operatorId, to])).length > 0
}

const renewPasswordHashStatement = statement.global(
  'operators.renewPasswordHash',
  'update operators set password_hash = $3 where operator_id = $1 and password_hash = $2',
)

/** Stores the same password hashed at the current costs, unless the hash has changed meanwhile. */
export async function renewPasswordHash(
  database: Database,
  operatorId: string,
  from: string,
  to: string,
): Promise<void> {
  await database.run(renewPasswordHashStatement, [operatorId, from, to])
}

export type ListedOperator = {
  operatorId: string
  name: string
  role: Role
  status: OperatorStatus
  mustChangePassword: boolean
  createdAt: Date
  passwordSetAt: Date
  /** Null: has never signed in here. */
  lastSeenAt: Date | null
}

const listOperatorsStatement = statement.global(
  'operators.listOperators',
  `select o.operator_id as "operatorId", o.name, o.role, o.status, o.must_change_password as "mustChangePassword",
    o.created_at as "createdAt", o.password_set_at as "passwordSetAt", s.last_seen_at as "lastSeenAt"
  from operators o
  left join lateral (
    select max(last_seen_at) as last_seen_at from operator_sessions where operator_id = o.operator_id
  ) s on true
  order by o.name
  limit $1`,
)

export function listOperators(database: Database, limit: number): Promise<ListedOperator[]> {
  return database.run<ListedOperator>(listOperatorsStatement, [limit])
}

const countOperatorsStatement = statement.global(
  'operators.countOperators',
  `select count(*) as "count" from operators where status = 'ACTIVE'`,
)

/** Operators who can sign in. */
export async function countOperators(database: Database): Promise<number> {
  const [row] = await database.run<{ count: number }>(countOperatorsStatement)
  return row?.count ?? 0
}
