// The role that everything but the migrations uses in the embedded server: created by the owner of the cluster, with its own
// password in DATA_DIR. In a cluster of an earlier version the role is missing, and after the loss of the password file its
// password differs: both are repaired here, under the lock of the migrations.
import { randomBytes } from 'node:crypto'
import { lchownSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { inLockedTransaction } from '../migrate.ts'
import { publish, readIfThere } from './files.ts'
import { connect, disconnect, type EmbeddedServer } from './server.ts'

type Connection = EmbeddedServer['connection']

export const serviceRole = 'credits_service'

const passwordFile = (dataDir: string) => join(dataDir, 'postgres.service.password')

/**
 * For connections that are opened while the service runs: a command may have found the file missing and set another password.
 */
export function currentPassword(dataDir: string, first: string): () => string {
  return () => readIfThere(passwordFile(dataDir)) ?? first
}

/** The login of the service; the role may not exist yet. */
export function serviceLogin(dataDir: string): Pick<Connection, 'user' | 'password'> {
  const file = passwordFile(dataDir)
  const password = publish(file, randomBytes(24).toString('base64url'))
  // It gets the owner of the directory: root may only be the first to start it.
  if (process.getuid?.() === 0) {
    const { uid, gid } = statSync(dataDir)
    lchownSync(file, uid, gid)
  }
  return { user: serviceRole, password }
}

const attributes = 'login nosuperuser nocreatedb nocreaterole noreplication nobypassrls'

const findRoleText = `
  select rolcanlogin and not (rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls) as "plain"
  from pg_roles where rolname = $1`

/** As the owner of the cluster. */
export async function provideRole(client: pg.ClientBase, serving: Connection): Promise<void> {
  const quotedRole = client.escapeIdentifier(serving.user)
  const quotedPassword = client.escapeLiteral(serving.password)
  await inLockedTransaction(client, async () => {
    const { rows } = await client.query<{ plain: boolean }>(findRoleText, [serving.user])
    if (!rows[0]) await client.query(`create role ${quotedRole} ${attributes} password ${quotedPassword}`)
    else if (!rows[0].plain) await client.query(`alter role ${quotedRole} ${attributes}`)
    await closeDatabase(client, serving)
  })
  if (await isTaken(serving)) return
  await inLockedTransaction(client, () => client.query(`alter role ${quotedRole} password ${quotedPassword}`))
}

const isClosedText = `
  select has_database_privilege($1::name, $2::text, 'connect')
    and not has_database_privilege($1::name, $2::text, 'temporary') as "closed"`

/** By default every role may create temporary tables, and one of those would hide our table from its session. */
async function closeDatabase(client: pg.ClientBase, { user, database }: Connection): Promise<void> {
  const { rows } = await client.query<{ closed: boolean }>(isClosedText, [user, database])
  if (rows[0]?.closed) return
  const [quotedDatabase, quotedRole] = [client.escapeIdentifier(database), client.escapeIdentifier(user)]
  await client.query(`revoke all on database ${quotedDatabase} from public`)
  await client.query(`grant connect on database ${quotedDatabase} to ${quotedRole}`)
}

const wrongPassword = '28P01'

async function isTaken(serving: Connection): Promise<boolean> {
  const client = connect(serving)
  try {
    await client.connect()
    return true
  } catch (error) {
    if ((error as { code?: string }).code !== wrongPassword) throw error
    return false
  } finally {
    await disconnect(client)
  }
}
