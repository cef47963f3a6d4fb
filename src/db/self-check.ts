// What a service checks before it serves: that the database is durable, that all guards and rights are in place, and that the
// clocks agree. Anything that endangers money refuses the start, in production and elsewhere, with one line each: what is wrong
// and what to do.
import { type Database, type Log, statement } from './database.ts'
import { serversOf } from './groups.ts'
import { type BrokenGuard, findBrokenGuards, isSwitchedOff } from './guards.ts'
import { compareSchema } from './migrate.ts'
import { migrateAdvice } from './prepare.ts'
import { listMissingRights } from './rights.ts'

/** The oldest version that is tested. */
const leastMajorVersion = 15
const clockWarnMs = 5_000
const clockSamples = 3

type Facts = {
  version: number
  fsync: string
  synchronousCommit: string
  fullPageWrites: string
  readOnly: string
  encoding: string
  role: string
  address: string | null
}

const findFactsStatement = statement.global(
  'db.findFacts',
  `select current_setting('server_version_num')::int / 10000 as "version", current_setting('fsync') as "fsync",
    current_setting('synchronous_commit') as "synchronousCommit", current_setting('full_page_writes') as "fullPageWrites",
    current_setting('transaction_read_only') as "readOnly", current_setting('server_encoding') as "encoding",
    current_user as "role", host(inet_server_addr()) || ':' || inet_server_port() as "address"`,
)

// Every value of synchronous_commit but `off` waits for the disk of the server that answers.
type FactRule = {
  isWrong: (facts: Facts) => boolean
  message: (facts: Facts) => string
  /** A provider may guarantee it in another way, below the server. */
  byProvider?: true
}

const rules: FactRule[] = [
  {
    isWrong: ({ version }) => version < leastMajorVersion,
    message: ({ version }) => `PostgreSQL ${version} is too old: use version ${leastMajorVersion} or later.`,
  },
  {
    isWrong: ({ fsync }) => fsync !== 'on',
    message: () =>
      'fsync is off, a power cut would lose payments: set fsync = on in postgresql.conf and restart PostgreSQL.',
    byProvider: true,
  },
  {
    isWrong: ({ synchronousCommit }) => synchronousCommit === 'off',
    message: ({ role }) =>
      'synchronous_commit is off, a crash would lose payments that were answered: take it out of postgresql.conf, ' +
      `the database, the role ${role} and the URL.`,
  },
  {
    isWrong: ({ fullPageWrites }) => fullPageWrites !== 'on',
    message: () =>
      'full_page_writes is off, a power cut would tear pages: set full_page_writes = on in postgresql.conf and reload it.',
    byProvider: true,
  },
  {
    isWrong: ({ readOnly }) => readOnly === 'on',
    message: () => 'The database accepts no writes (a standby, or default_transaction_read_only): use the primary.',
  },
  {
    isWrong: ({ encoding }) => encoding !== 'UTF8',
    message: ({ encoding }) => `The database is encoded in ${encoding}: create one with encoding UTF8 and use that.`,
  },
]

export type SelfCheckOptions = {
  production?: boolean
  /** What makes a commit survive a power cut: with `provider` it is not checked. */
  durability?: 'server' | 'provider'
  log: Log
}

export async function selfCheck(database: Database, options: SelfCheckOptions): Promise<void> {
  const { production, log } = options
  const servers = serversOf(database)
  const faults = (await Promise.all(servers.map((server) => faultsOfServer(server, options)))).flat()
  faults.push(...(await faultsOfSchema(database, log)))
  for (const server of servers) await warnOfClock(server, log)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  if (production) await warnOfPrivileges(servers, log)
}

async function findFacts(server: Database): Promise<Facts> {
  const [facts] = await server.run<Facts>(findFactsStatement)
  if (!facts) throw new Error('The database returned no settings.')
  return facts
}

/** For the log: which of a cluster's workers it is. */
async function serverOf(server: Database): Promise<{ worker?: string | null }> {
  return server.anchor === undefined ? {} : { worker: (await findFacts(server)).address }
}

async function faultsOfServer(server: Database, { durability = 'server', log }: SelfCheckOptions): Promise<string[]> {
  const facts = await findFacts(server)
  const broken = rules.filter(({ isWrong }) => isWrong(facts))
  const [excused, counted] = [true, false].map((isExcused) =>
    broken.filter(({ byProvider }) => (durability === 'provider' && byProvider === true) === isExcused),
  )
  for (const { message } of excused ?? []) {
    log.error({ durability }, `DATABASE_DURABILITY=provider: started although ${message(facts)}`)
  }
  const where = server.anchor === undefined ? '' : `On the worker ${facts.address}: `
  return (counted ?? []).map(({ message }) => `${where}${message(facts)}`)
}

async function faultsOfSchema(database: Database, log: Log): Promise<string[]> {
  const { role } = await findFacts(database)
  const notFound = await whyNotFound(database, role)
  if (notFound) return [notFound]
  const lacking = await listMissingRights(database)
  if (lacking.length > 0) {
    const named = lacking.slice(0, 3).join(', ')
    const more = lacking.length > 3 ? ` and ${lacking.length - 3} more` : ''
    return [`The role ${role} may not ${named}${more}: ${migrateAdvice}, who grants the rights.`]
  }
  const { missing, isAhead } = await compareSchema(database)
  if (missing.length > 0) {
    const names = missing.join(', ')
    return [
      `The database lacks ${names}: MIGRATION_DATABASE_URL and DATABASE_URL have to be URLs of the same database.`,
    ]
  }
  const broken = await findBrokenGuards(database)
  // A newer version may have replaced them; this older one cannot tell.
  const [counted, excused] = [true, false].map((isCounted) =>
    broken.filter((guard) => (!isAhead || isSwitchedOff(guard)) === isCounted),
  )
  if (excused?.length) log.warn({ broken: excused }, 'guards of this version are missing in this newer schema')
  return (counted ?? []).map((guard) => explainGuard(guard, role))
}

const putBack = 'put it back as schema.sql has it'

/** What to do, by the faults of guards.ts. */
const remedies: Record<string, string> = {
  'is not part of the schema': 'drop it',
  'has row level security': 'disable it',
  'inherits or is inherited': 'take the table out of the inheritance',
  'is not in the view of its group': migrateAdvice,
}

function explainGuard({ kind, table, name, fault }: BrokenGuard, role: string): string {
  if (kind === 'setting') return `${name} ${fault}: take it out of postgresql.conf, the database and the role ${role}.`
  if (kind === 'right') {
    return (
      `The right of the role ${role} to ${name} on ${table} ${fault}: revoke it from the role, from public and from roles ` +
      'that it is a member of, then run the command audit.'
    )
  }
  const what = kind === 'table' ? `The table ${table}` : `The ${kind} ${name}${table === '' ? '' : ` of ${table}`}`
  return `${what} ${fault}: ${remedies[fault] ?? putBack}, then run the command audit.`
}

const findTablesStatement = statement.global(
  'db.findTables',
  `select to_regclass('ledger_entries') is not null as "found", current_setting('search_path') as "path",
    current_database() as "database",
    (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = 'ledger_entries' and c.relkind = 'r' order by has_schema_privilege(n.oid, 'usage') desc limit 1) as "schema",
    (select bool_or(has_schema_privilege(n.oid, 'usage')) from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relname = 'ledger_entries' and c.relkind = 'r') as "usable"`,
)

type Tables = { found: boolean; path: string; database: string; schema: string | null; usable: boolean | null }

/** Checked before the rights: without the tables, missing rights would be the wrong advice. */
async function whyNotFound(database: Database, role: string): Promise<string | undefined> {
  const [tables] = await database.run<Tables>(findTablesStatement)
  if (!tables || tables.found) return undefined
  const { schema, usable, path, database: name } = tables
  if (schema === null) {
    return `The database ${name} has none of our tables: MIGRATION_DATABASE_URL and DATABASE_URL have to be URLs of the same one.`
  }
  // Without rights on the schema its tables are not found either; the owner grants them.
  if (!usable) return undefined
  return `The tables are in the schema ${schema}, and the role ${role} looks in ${path}: set its search_path to ${schema}.`
}

const findTimeStatement = statement.global('db.findTime', 'select clock_timestamp() as "time"')

/** The sample with the shortest round trip is the most exact. */
async function clockDifferenceMs(database: Database): Promise<number> {
  let best = { differenceMs: 0, tookMs: Number.POSITIVE_INFINITY }
  for (let sample = 0; sample < clockSamples; sample += 1) {
    const [startedAt, startedMs] = [Date.now(), performance.now()]
    const [row] = await database.run<{ time: Date }>(findTimeStatement)
    const tookMs = performance.now() - startedMs
    const differenceMs = (row?.time.getTime() ?? 0) - (startedAt + tookMs / 2)
    if (tookMs < best.tookMs) best = { differenceMs, tookMs }
  }
  return Math.round(best.differenceMs)
}

/** Leases and expiries use the database's time, so a wrong clock here moves no money; but people see times of this clock. */
async function warnOfClock(database: Database, log: Log): Promise<void> {
  const differenceMs = await clockDifferenceMs(database)
  if (Math.abs(differenceMs) < clockWarnMs) return
  log.warn(
    { differenceMs, ...(await serverOf(database)) },
    'the clocks of the database and of this machine differ: set both by NTP',
  )
}

// A temporary table, or one in an earlier schema of the search path, would hide one of our tables from its session.
const findPrivilegesStatement = statement.global(
  'db.findMight',
  `select pg_has_role(c.relowner, 'usage') as "owns",
    has_database_privilege(current_database(), 'temporary') as "hides",
    has_schema_privilege(c.relnamespace, 'create') as "makes",
    current_user as "role", current_database() as "database", c.relnamespace::regnamespace::text as "schema"
  from pg_class c where c.oid = to_regclass('ledger_entries')`,
)

type Privileges = Record<'owns' | 'hides' | 'makes', boolean> & Record<'role' | 'database' | 'schema', string>

const serveAsAnother = `set MIGRATION_DATABASE_URL to the owner's URL, and DATABASE_URL to that of another role`

const surplusPrivileges: { has: (privileges: Privileges) => boolean; message: (privileges: Privileges) => string }[] = [
  { has: ({ owns }) => owns, message: () => `the role of DATABASE_URL owns its tables: ${serveAsAnother}` },
  {
    has: ({ owns, hides }) => hides && !owns,
    message: ({ database }) =>
      'the role of DATABASE_URL may create temporary tables, which could hide ours: in the database ' +
      `${database} revoke temporary from public`,
  },
  {
    has: ({ owns, makes }) => makes && !owns,
    message: ({ schema }) =>
      `the role of DATABASE_URL may create tables in the schema ${schema}: revoke create from public`,
  },
]

/** Warns of privileges that the role does not need. An owner can do everything, which is one warning. */
async function warnOfPrivileges(servers: Database[], log: Log): Promise<void> {
  for (const server of servers) {
    const [privileges] = await server.run<Privileges>(findPrivilegesStatement)
    if (!privileges) continue
    for (const { has, message } of surplusPrivileges) {
      if (has(privileges)) log.warn({ role: privileges.role, ...(await serverOf(server)) }, message(privileges))
    }
  }
}
