// Calls of the commands that copy a whole database, in this process: between databases of the test server, or into a data
// directory. A test of the real command line runs it as a process instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { formCluster } from '../../../harness/citus/citus.ts'
import { type Cleaner, databaseUrl, defer, newDirectory } from '../../../harness/processes.ts'
import { silentLog } from '../../../harness/silent-log.ts'
import type { StandaloneCall, Values } from '../../../src/commands/command.ts'
import { testLogOrigin, testPeppers } from '../service/service.ts'
import { clusterOwner, createTestDatabase, testServers } from './database.ts'
import type { ServerConnection } from './places.ts'

export type CallOptions = {
  to: ServerConnection | undefined
  dataDir: string
  values: Values
  peppers?: ReturnType<StandaloneCall['knownPeppers']>
  logOrigin?: string
  signal?: AbortSignal
  onProgress?: StandaloneCall['onProgress']
}

export function bareCall({ to, dataDir, values, ...options }: CallOptions): StandaloneCall {
  return {
    positionals: [],
    values,
    databaseOptions: { databaseUrl: to && databaseUrl(to), dataDir, databaseConnections: 4, log: silentLog },
    resolvePath: (typed) => typed,
    logName: () => ({ origin: options.logOrigin ?? testLogOrigin }),
    knownPeppers: () => ('peppers' in options ? options.peppers : testPeppers),
    print: () => undefined,
    onProgress: options.onProgress ?? (() => undefined),
    signal: options.signal ?? new AbortController().signal,
  }
}

/** A database with nothing in it, on the test server. */
export async function emptyDatabase(t: Cleaner) {
  const database = await createTestDatabase({ template: 'template0' })
  defer(t, () => database.drop())
  return database
}

/** The same on every server of a cluster, whose coordinator knows the workers. Its owner is no superuser. */
export async function emptyCluster(t: Cleaner) {
  const database = await emptyDatabase(t)
  await formCluster(testServers(), database.connection.database, clusterOwner)
  return { ...database, connection: { ...database.connection, user: clusterOwner } }
}

/** As if that much time had passed without a worker: open holds and operations are overdue. Past the guards of holds. */
export const pastItsTime = (passed: string) => `
  begin;
  set local session_replication_role = replica;
  update holds set expires_at = expires_at - interval '${passed}' where state = 'ACTIVE';
  update payment_operations set opened_at = opened_at - interval '${passed}', sent_at = sent_at - interval '${passed}',
    settle_at = settle_at - interval '${passed}', lease_until = lease_until - interval '${passed}' where state = 'OPEN';
  commit`

/** A copy of a backup with a changed text in an otherwise valid file. */
export function rewritten(t: Cleaner, file: string, change: (text: string) => string): string {
  const copy = `${newDirectory(t)}/rewritten.backup`
  writeFileSync(copy, gzipSync(change(gunzipSync(readFileSync(file)).toString('utf8'))))
  return copy
}
