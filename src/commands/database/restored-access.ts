// Access that a restore gives back: keys, customers, tokens, operators and endpoints that were suspended or removed after
// the backup was taken. Only the database that is replaced knows them, if it can still be read. Both databases are only
// read: each finding has the command that withdraws the access again.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { placeOf, withClient } from '../../db/connect.ts'
import { reach } from '../../db/open.ts'
import { listSignedOrigins } from '../../transparency/restored/mark.sql.ts'
import type { StandaloneCall } from '../command.ts'
import { program } from '../line/help.ts'

type AccessRow = {
  id: string
  status: string
  /** Only an operator has one. */
  name?: string
  role?: string
  passwordSetAt?: Date
  /** Only an endpoint has them. */
  secrets?: string
}

type Difference = { since: string; command: string }

export type RestoredAccess = { what: string; id: string; since: string; command: string }

type AccessKind = {
  what: string
  table: string
  /** With $1 null the rows that may have lost access; else the rows with the ids of $1. */
  text: string
  /** The changes of the old database that the copy lacks, each with the command that repeats it. */
  compare(old: AccessRow, copy: AccessRow): Difference[]
}

/** Not ACTIVE in the old database, and of another status in the copy. */
const compareStatus =
  (commandOf: (old: AccessRow) => string) =>
  (old: AccessRow, copy: AccessRow): Difference[] =>
    old.status === 'ACTIVE' || old.status === copy.status
      ? []
      : [{ since: old.status.toLowerCase(), command: commandOf(old) }]

/** The command names the operator as the copy does, since it will run there. */
function compareOperators(old: AccessRow, copy: AccessRow): Difference[] {
  if (copy.status !== 'ACTIVE') return []
  if (old.status !== 'ACTIVE') return [{ since: 'suspended', command: `operators suspend ${copy.name}` }]
  const found: Difference[] = []
  if (old.role !== copy.role) {
    found.push({ since: `role ${old.role}`, command: `operators role ${copy.name} --role ${old.role}` })
  }
  if (Number(old.passwordSetAt) > Number(copy.passwordSetAt)) {
    found.push({ since: 'another password', command: `operators reset ${copy.name}` })
  }
  return found
}

const compareEndpointStatus = compareStatus(
  ({ id, status }) => `endpoints ${status === 'REMOVED' ? 'remove' : 'disable'} ${id}`,
)

/** The copy signs with a secret that was replaced since. */
function compareEndpoints(old: AccessRow, copy: AccessRow): Difference[] {
  const withdrawn = compareEndpointStatus(old, copy)
  if (withdrawn.length > 0 || copy.status === 'REMOVED' || old.secrets === copy.secrets) return withdrawn
  return [{ since: 'another secret', command: `endpoints rotate ${old.id}` }]
}

const accessKinds: AccessKind[] = [
  {
    what: 'API key',
    table: 'api_keys',
    text: `select key_id as "id", status from api_keys
      where case when $1::text[] is null then status <> 'ACTIVE' else key_id = any ($1) end order by 1`,
    compare: compareStatus(({ id }) => `keys suspend ${id}`),
  },
  // A version before 0.10.0 has no column for it.
  {
    what: 'customer',
    table: 'customers',
    text: `select c.customer_id::text as "id",
        case when to_jsonb(c) ->> 'suspended_at' is null then 'ACTIVE' else 'SUSPENDED' end as "status"
      from customers c
      where case when $1::text[] is null then to_jsonb(c) ->> 'suspended_at' is not null
                 else c.customer_id::text = any ($1) end order by 1`,
    compare: compareStatus(({ id }) => `customers suspend ${id} --reason "suspended before the restore"`),
  },
  {
    what: 'service token',
    table: 'service_tokens',
    text: `select service_id as "id", status from service_tokens
      where case when $1::text[] is null then status <> 'ACTIVE' else service_id = any ($1) end order by 1`,
    compare: compareStatus(({ id }) => `services suspend ${id}`),
  },
  {
    what: 'operator',
    table: 'operators',
    text: `select operator_id as "id", status, name, role, password_set_at as "passwordSetAt" from operators
      where $1::text[] is null or operator_id = any ($1) order by 1`,
    compare: compareOperators,
  },
  {
    what: 'endpoint',
    table: 'event_endpoints',
    text: `select endpoint_id as "id", status, secrets::text as "secrets" from event_endpoints
      where $1::text[] is null or endpoint_id = any ($1) order by 1`,
    compare: compareEndpoints,
  },
]

/** `place` names the old database, without a password; `logOrigins`: the names under which its log was signed. */
export type OldAccess = { place: string; logOrigins: string[]; kinds: { kind: AccessKind; rows: AccessRow[] }[] }

const isUrl = (text: string) => /^postgres(ql)?:\/\//.test(text)

export async function readOldAccess(call: StandaloneCall, old: string): Promise<OldAccess> {
  const read = async (client: pg.ClientBase) => ({
    place: isUrl(old) ? placeOf(old) : old,
    logOrigins: await listSignedOrigins(client),
    kinds: await readAccess(client),
  })
  if (isUrl(old)) return withClient({ connectionString: old }, placeOf(old), read)
  const { places, leave } = await reach({
    ...call.databaseOptions,
    databaseUrl: undefined,
    migrationDatabaseUrl: undefined,
    dataDir: requireEmbedded(call.resolvePath(old)),
    use: 'command',
  })
  try {
    return await withClient(places.owner, places.place, read)
  } finally {
    await leave()
  }
}

/** Opening a directory without an embedded database would create an empty one. */
function requireEmbedded(directory: string): string {
  if (['postgres', 'postgres.location'].some((name) => existsSync(join(directory, name)))) return directory
  throw new Error(`${directory} has no embedded database: name the DATA_DIR of the old one, or its URL.`)
}

async function readAccess(client: pg.ClientBase): Promise<OldAccess['kinds']> {
  const read: OldAccess['kinds'] = []
  for (const kind of accessKinds) {
    // The old database may be of a version without this table.
    const { rowCount } = await client.query('select where to_regclass($1) is not null', [kind.table])
    if (rowCount === 0) continue
    read.push({ kind, rows: (await client.query<AccessRow>(kind.text, [null])).rows })
  }
  return read
}

/** Compares the copy, through `client`, with the old database. */
export async function listRestoredAccess(client: pg.ClientBase, { kinds }: OldAccess): Promise<RestoredAccess[]> {
  const restored: RestoredAccess[] = []
  for (const { kind, rows } of kinds) {
    const copies = await client.query<AccessRow>(kind.text, [rows.map(({ id }) => id)])
    const copyById = new Map(copies.rows.map((copy) => [copy.id, copy]))
    for (const old of rows) {
      const copy = copyById.get(old.id)
      for (const { since, command } of copy ? kind.compare(old, copy) : []) {
        restored.push({ what: kind.what, id: old.id, since, command: `${program} ${command}` })
      }
    }
  }
  return restored
}
