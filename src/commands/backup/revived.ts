// What a restore brings back to life: keys, tokens, operators and endpoints that were suspended or removed after the backup
// was taken. The backup cannot know; the database that it replaces does, where it can still be read. Nothing in either is
// changed: each finding comes with the command that withdraws it again.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { placeOf, reach } from '../../db/open.ts'
import { withClient } from '../../db/prepare.ts'
import type { BareCall } from '../command.ts'
import { program } from '../line/help.ts'

/** As it stands in one of the two databases; `secrets` is of endpoints, the three before it of operators. */
type Standing = { id: string; status: string; name?: string; role?: string; passwordSetAt?: Date; secrets?: string }

type Difference = { since: string; command: string }

export type Revived = { what: string; id: string; since: string; command: string }

type Kind = {
  what: string
  table: string
  /** With $1 null those that are not in force, or may have changed otherwise; else those with the ids of $1. */
  text: string
  /** What was done in the old database and is not in the copy, and the command that does it again. */
  compare(old: Standing, copy: Standing): Difference[]
}

/** One that is not ACTIVE there, and here is. */
const ifWithdrawn =
  (commandOf: (old: Standing) => string) =>
  (old: Standing, copy: Standing): Difference[] =>
    old.status === 'ACTIVE' || old.status === copy.status
      ? []
      : [{ since: old.status.toLowerCase(), command: commandOf(old) }]

/** By the name that the copy has: the command is for the copy. */
function compareOperators(old: Standing, copy: Standing): Difference[] {
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

const ifEndpointWithdrawn = ifWithdrawn(
  ({ id, status }) => `endpoints ${status === 'REMOVED' ? 'remove' : 'disable'} ${id}`,
)

/** A signing secret that was replaced signs again in the copy. */
function compareEndpoints(old: Standing, copy: Standing): Difference[] {
  const withdrawn = ifEndpointWithdrawn(old, copy)
  if (withdrawn.length > 0 || copy.status === 'REMOVED' || old.secrets === copy.secrets) return withdrawn
  return [{ since: 'another secret', command: `endpoints rotate ${old.id}` }]
}

const kinds: Kind[] = [
  {
    what: 'API key',
    table: 'api_keys',
    text: `select key_id as "id", status from api_keys
      where case when $1::text[] is null then status <> 'ACTIVE' else key_id = any ($1) end order by 1`,
    compare: ifWithdrawn(({ id }) => `keys suspend ${id}`),
  },
  {
    what: 'service token',
    table: 'service_tokens',
    text: `select service_id as "id", status from service_tokens
      where case when $1::text[] is null then status <> 'ACTIVE' else service_id = any ($1) end order by 1`,
    compare: ifWithdrawn(({ id }) => `services suspend ${id}`),
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

/** What the old database has, and what people call it: without a password. */
export type Withdrawn = { place: string; standings: { kind: Kind; standings: Standing[] }[] }

const isUrl = (text: string) => /^postgres(ql)?:\/\//.test(text)

/** Before anything is filled: an old database that cannot be read after all refuses the restore. */
export async function readWithdrawn(call: BareCall, old: string): Promise<Withdrawn> {
  const { databaseUrl, dataDir, place } = isUrl(old)
    ? { databaseUrl: old, dataDir: call.place.dataDir, place: placeOf(old) }
    : { databaseUrl: undefined, dataDir: existing(call.pathOf(old)), place: old }
  const options = { ...call.place, databaseUrl, migrationDatabaseUrl: undefined, dataDir, use: 'command' as const }
  const { places, leave } = await reach(options)
  try {
    return await withClient(places.owner, places.place, async (client) => ({ place, standings: await read(client) }))
  } finally {
    await leave()
  }
}

/** One without a database would be given an empty one. */
function existing(directory: string): string {
  if (['postgres', 'postgres.location'].some((name) => existsSync(join(directory, name)))) return directory
  throw new Error(`${directory} has no embedded database: name the DATA_DIR of the old one, or its URL.`)
}

async function read(client: pg.ClientBase): Promise<Withdrawn['standings']> {
  const read: Withdrawn['standings'] = []
  for (const kind of kinds) {
    // An earlier version may not have had it.
    const { rowCount } = await client.query('select where to_regclass($1) is not null', [kind.table])
    if (rowCount === 0) continue
    read.push({ kind, standings: (await client.query<Standing>(kind.text, [null])).rows })
  }
  return read
}

export async function listRevived(client: pg.ClientBase, { standings }: Withdrawn): Promise<Revived[]> {
  const revived: Revived[] = []
  for (const { kind, standings: old } of standings) {
    const copies = await client.query<Standing>(kind.text, [old.map(({ id }) => id)])
    const byId = new Map(copies.rows.map((copy) => [copy.id, copy]))
    for (const each of old) {
      const copy = byId.get(each.id)
      for (const { since, command } of copy ? kind.compare(each, copy) : []) {
        revived.push({ what: kind.what, id: each.id, since, command: `${program} ${command}` })
      }
    }
  }
  return revived
}
