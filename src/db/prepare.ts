// Prepares a database as its owner: the migrations, the serving role, its rights. All transactions hold one lock, so any number
// of processes may start at once; a database that is prepared already is only read.
import type pg from 'pg'
import { isCoordinator } from './cluster/distribute.ts'
import { prepareCluster } from './cluster/prepare-cluster.ts'
import { type Connection, withClient } from './connect.ts'
import { requireFinished } from './copy/unfinished.ts'
import { provideRole } from './embedded/role.ts'
import { migrate } from './migrate.ts'
import { grantRights } from './rights.ts'

type EmbeddedConnection = Parameters<typeof provideRole>[1]

/** The connections of the owner and of the serving role, and the name of the database for people. */
export type Places = {
  place: string
  owner: Connection
  serving: Connection
  /** Only the embedded server's role is created here; one of DATABASE_URL exists. */
  embedded?: EmbeddedConnection
}

/** Returns the applied migrations. `isCopy`: it has just been filled from a copy, which is checked next. */
export async function prepare(places: Places, { isCopy = false } = {}): Promise<string[]> {
  const role = await servingRole(places)
  return withClient(places.owner, places.place, async (client) => {
    if (!isCopy) await requireFinished(client, places.embedded !== undefined, places.place)
    const applied = await migrate(client).catch((error) => explain(error, places))
    if (places.embedded) await provideRole(client, places.embedded)
    const ownsAll = role === undefined || role === (await currentUser(client)) || (await isOwner(client, role))
    const isCluster = await isCoordinator(client)
    const mayPrepare = isCluster && (await isOwner(client, await currentUser(client)))
    if (mayPrepare) await prepareCluster(client, places.owner, ownsAll ? undefined : role)
    if (!ownsAll) await grantRights(client, role, isCluster)
    return applied
  })
}

/** Undefined when one role does both. */
async function servingRole({ owner, serving, embedded, place }: Places): Promise<string | undefined> {
  if (embedded) return embedded.user
  return owner === serving ? undefined : withClient(serving, place, currentUser)
}

async function currentUser(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ role: string }>('select current_user as "role"')
  return rows[0]?.role ?? ''
}

const findOwnerText = `
  select pg_has_role($1, c.relowner, 'usage') as "owns" from pg_class c where c.oid = to_regclass('ledger_entries')`

/** The owner needs no rights; with fewer of them its foreign keys could not be checked. */
async function isOwner(client: pg.ClientBase, role: string): Promise<boolean> {
  const { rows } = await client.query<{ owns: boolean }>(findOwnerText, [role])
  return rows[0]?.owns ?? false
}

const noRight = '42501'

export const migrateAdvice =
  'run "npm run -s credits -- migrate" with MIGRATION_DATABASE_URL set to the URL of the owner'

type Denied = Error & { code?: string; cause?: Denied }

function explain(error: Denied, { owner, serving }: Places): never {
  const { code, message } = error.cause ?? error
  if (code !== noRight || owner !== serving) throw error
  throw new Error(
    `The role of DATABASE_URL lacks rights (${message}): ${migrateAdvice}, who applies the migrations and grants the rights.`,
  )
}
