// The service role of the embedded server: created by the first start, added to a cluster of an earlier version, repaired
// after a change by hand; and a service on a database of DATABASE_URL that another role owns.
import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import pg from 'pg'
import {
  assertNothingRuns,
  copyDataDir,
  databaseUrl,
  defer,
  isRoot,
  newDataDir,
  openBooks,
  runCommand,
} from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { statement } from '../../src/db/database.ts'
import { startEmbedded } from '../../src/db/embedded/server.ts'
import { listMigrations, migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createTestDatabase } from '../support/database/database.ts'
import { callCli } from '../support/service/cli-call.ts'
import { clientOf } from '../support/service/clients.ts'
import { startInProcess } from '../support/service/in-process.ts'

const wholeFile = { after }
/** A directory as of version 0.4.0: no role, no rights, five migrations. */
const old = newDataDir(wholeFile)
const customerId = crypto.randomUUID()
before(async () => {
  const server = await startEmbedded({ dataDir: old })
  const client = new pg.Client(server.connection)
  await client.connect()
  await migrate(client, listMigrations().slice(0, 5))
  await client.query(`insert into customers (customer_id, name) values ($1, 'of old')`, [customerId])
  await client.query('insert into accounts (customer_id) values ($1)', [customerId])
  await client.end()
  await server.stop()
})

const passwordOf = (dataDir: string) => join(dataDir, 'postgres.service.password')
const roleStatement = statement.global('test.role', `select current_user as "role", session_user as "session"`)

/** The roles of the connections of a process. */
async function rolesOfConnections(dataDir: string): Promise<unknown[]> {
  const opened = await openDatabase({
    dataDir,
    databaseUrl: undefined,
    databaseConnections: 2,
    use: 'service',
    log: silentLog,
  })
  try {
    return (await Promise.all([opened.database, opened.requestDatabase].map((each) => each.run(roleStatement)))).flat()
  } finally {
    await opened.close()
  }
}

const serviceRole = { role: 'credits_service', session: 'credits_service' }

test('a service on a cluster of an earlier version creates the service role, serves with it, and uses the owner only for the locks', async (t) => {
  const dataDir = copyDataDir(t, old)
  assert.equal(fs.existsSync(passwordOf(dataDir)), false)
  const service = await startInProcess(t, dataDir)
  const client = clientOf(service.publicUrl, service.demoKey)
  await client.cancel(await client.buy('STANDARD'))
  assert.equal((fs.statSync(passwordOf(dataDir)).mode & 0o777).toString(8), '600')

  const books = await openBooks(t, dataDir)
  const sessions = await books.query<{ role: string; name: string }>(
    `select distinct usename as role, application_name as name from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and usename is not null order by 1`,
  )
  assert.deepEqual(
    sessions.filter(({ name }) => name === 'prepaid-credits').map(({ role }) => role),
    ['credits_service'],
  )
  assert.deepEqual(await books.query('select name from customers where customer_id = $1', [customerId]), [
    { name: 'of old' },
  ])
  const { password } = books.connection
  const serving = fs.readFileSync(passwordOf(dataDir), 'utf8')
  assert.notEqual(serving, password)
  await assertDamageRefused({ ...books.connection, user: 'credits_service', password: serving })
  await books.drop()
  await service.close()
  assertNothingRuns(dataDir)
})

const needsRoot = isRoot ? false : 'only root starts the server for another user'
test('a password file that root writes belongs to the owner of the data directory, and only that user reads it', {
  skip: needsRoot,
}, async (t) => {
  const dataDir = copyDataDir(t, old)
  const ownerId = 12_345
  fs.chownSync(dataDir, ownerId, fs.statSync(dataDir).gid)
  assert.deepEqual(await rolesOfConnections(dataDir), [serviceRole, serviceRole])
  const { uid, mode } = fs.statSync(passwordOf(dataDir))
  assert.deepEqual([uid, (mode & 0o777).toString(8)], [ownerId, '600'])
})

async function assertDamageRefused(connection: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  for (const sql of [
    'update ledger_entries set delta = 1',
    'delete from ledger_entries',
    'truncate ledger_entries',
    'update events set event_number = 1',
    'create table another (id int)',
    'create temporary table orders (id int)',
    'alter table ledger_entries disable trigger all',
    'set session_replication_role = replica',
  ]) {
    await assert.rejects(client.query(sql), { code: '42501' }, sql)
  }
  await client.end()
}

test('commands at once on a cluster of an earlier version create the role too, whichever is first', async (t) => {
  const dataDir = copyDataDir(t, old)
  const ends = await Promise.all(
    ['one', 'two', 'three'].map((name) => runCommand(t, dataDir, ['keys', 'issue', '--customer', name])),
  )
  assert.deepEqual(
    ends.map(({ code, stderr }) => [code, stderr]),
    [
      [0, ''],
      [0, ''],
      [0, ''],
    ],
  )
  assert.deepEqual(await rolesOfConnections(dataDir), [serviceRole, serviceRole])
})

test('the next start repairs a lost password file, a password changed by hand and a role with extra rights', async (t) => {
  const dataDir = copyDataDir(t, old)
  assert.deepEqual(await rolesOfConnections(dataDir), [serviceRole, serviceRole])
  const first = fs.readFileSync(passwordOf(dataDir), 'utf8')
  fs.rmSync(passwordOf(dataDir))
  assert.deepEqual(await rolesOfConnections(dataDir), [serviceRole, serviceRole])
  assert.notEqual(fs.readFileSync(passwordOf(dataDir), 'utf8'), first)

  const server = await startEmbedded({ dataDir })
  const client = new pg.Client(server.connection)
  await client.connect()
  await client.query(`alter role credits_service superuser createdb password 'changed'`)
  await client.query('grant all on ledger_entries to credits_service')
  await client.end()
  await server.stop()
  assert.deepEqual(await rolesOfConnections(dataDir), [serviceRole, serviceRole])
  const books = await openBooks(t, dataDir)
  await assertDamageRefused({
    ...books.connection,
    user: 'credits_service',
    password: fs.readFileSync(passwordOf(dataDir), 'utf8'),
  })
})

test('a password file lost while a service runs, and written again by a command, is read for new connections', async (t) => {
  const dataDir = copyDataDir(t, old)
  const service = await startInProcess(t, dataDir)
  const client = clientOf(service.publicUrl, service.demoKey)
  const first = fs.readFileSync(passwordOf(dataDir), 'utf8')
  fs.rmSync(passwordOf(dataDir))
  assert.equal((await callCli(t, dataDir, ['keys', 'list'])).code, 0)
  assert.notEqual(fs.readFileSync(passwordOf(dataDir), 'utf8'), first)
  const books = await openBooks(t, dataDir)
  const ended = await books.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'credits_service' and pid <> pg_backend_pid()`,
  )
  assert.ok(ended.length > 0)
  await client.purchaseCredits({ packageType: 'STANDARD' })
  await books.drop()
  await service.close()
})

async function emptyDatabase(t: TestContext) {
  const database = await createTestDatabase({ template: 'template0' })
  const role = `role_of_${database.connection.database}`
  defer(t, async () => {
    await database.query(`drop owned by ${role}; drop role ${role}`)
    await database.drop()
  })
  await database.query(`create role ${role} login password 'for tests'`)
  return { database, serving: databaseUrl({ ...database.connection, user: role, password: 'for tests' }) }
}

test('the command migrate applies the migrations as the owner; before it a service refuses with the command to run, after it the service role is enough, and a run that applies nothing is in no action log', async (t) => {
  const { database, serving } = await emptyDatabase(t)
  const dataDir = newDataDir(t)
  await assert.rejects(startInProcess(t, dataDir, { DATABASE_URL: serving }), {
    message: /^[^\n]*run "npm run -s credits -- migrate" with MIGRATION_DATABASE_URL[^\n]*$/,
  })
  // No other setting is needed, in production neither.
  const owner = {
    NODE_ENV: 'production',
    DATABASE_URL: serving,
    MIGRATION_DATABASE_URL: databaseUrl(database.connection),
  }
  const runs = await Promise.all([1, 2].map(() => runCommand(t, dataDir, ['migrate', '--json'], owner)))
  // A slow run reports that it is still running.
  for (const { code, stderr } of runs) {
    assert.deepEqual([code, stderr.replace(/^(\{"progress":"[^"]*"\}\n)*/, '')], [0, ''])
  }
  const applied = runs.flatMap(({ stdout }) => JSON.parse(stdout).applied.map((each: object) => Object.values(each)[0]))
  assert.deepEqual(
    applied.sort(),
    listMigrations().map(({ name }) => name),
  )
  const actions = () => database.query(`select action_id from operator_actions where command = 'migrate'`)
  const logged = await actions()
  assert.ok(logged.length > 0)
  const again = await callCli(t, dataDir, ['migrate', '--json'], owner)
  assert.deepEqual(JSON.parse(again.stdout).applied, [])
  assert.deepEqual(await actions(), logged)
  const service = await startInProcess(t, dataDir, { DATABASE_URL: serving })
  await service.close()
})

test('MIGRATION_DATABASE_URL migrates and DATABASE_URL serves, commands included; after the migration DATABASE_URL alone is enough', async (t) => {
  const { database, serving } = await emptyDatabase(t)
  const dataDir = newDataDir(t)
  const both = { DATABASE_URL: serving, MIGRATION_DATABASE_URL: databaseUrl(database.connection) }
  const production = { NODE_ENV: 'production', GATEWAY: 'sandbox', SANDBOX_STRICT: '0' }
  for (const settings of [both, { DATABASE_URL: serving }]) {
    const issued = await callCli(t, dataDir, ['keys', 'issue', '--customer', 'acme', '--json'], settings)
    assert.deepEqual([issued.code, issued.stderr], [0, ''])
    const service = await startInProcess(t, dataDir, { ...production, ...settings })
    await clientOf(service.publicUrl, JSON.parse(issued.stdout).apiKey).buy('BASIC')
    await service.close()
    assert.doesNotMatch(service.lines.map(({ msg }) => msg).join(), /owns its tables/)
  }
  const service = await startInProcess(t, dataDir, { ...production, DATABASE_URL: databaseUrl(database.connection) })
  await service.close()
  const warning = service.lines.find(({ msg }) => msg.includes('the role of DATABASE_URL owns its tables'))
  assert.deepEqual([warning?.level, warning?.msg.includes(': set MIGRATION_DATABASE_URL')], [40, true])
})
