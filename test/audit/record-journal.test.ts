// Writing the journal of records: one chain for all writers, no entry without a change, one for every row that is older than
// the journal, and hashes that do not depend on a session. audit.test.ts covers the violations it detects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { replaceKey, updateKeyStatus } from '../../src/customers/customers.sql.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { listMigrations, migrate } from '../../src/db/migrate.ts'
import { beginAction, endAction } from '../../src/operators/action-log.sql.ts'
import { insertOperator, updateRole } from '../../src/operators/operators.sql.ts'
import { audit, recordedAudit } from '../../src/payments/audit/audit.ts'
import { journalled } from '../../src/payments/audit/scans.sql.ts'
import {
  listOpenDiscrepancies,
  resolveDiscrepancies,
  saveDiscrepancy,
} from '../../src/payments/recovery/discrepancies.sql.ts'
import { createTestDatabase, type OwnTestDatabase, openTestPool } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'

let database: OwnTestDatabase
let service: Database
before(async () => {
  database = await createTestDatabase()
  service = createDatabase(database.pool, silentLog)
})
after(() => database.drop())

async function entriesOf(table: string): Promise<number> {
  const [row] = await database.query<{ entries: number }>(
    'select count(*) as entries from record_journal where table_name = $1',
    [table],
  )
  return row?.entries ?? 0
}

async function writeEverything(context: Database, round: string): Promise<void> {
  const { keyId } = await issueKey(context, testPeppers, `customer ${round}`)
  const action = { actionId: crypto.randomUUID(), actor: 'operator', command: 'keys rotate', arguments: [] }
  await Promise.all([
    beginAction(context, { ...action, subject: keyId, reason: round }),
    saveDiscrepancy(context, { kind: 'PAYMENT_DIFFERS', subject: round, order: null, detail: { round } }),
    // The same row for all writers: they wait for it, then for the head of the journal.
    saveDiscrepancy(context, { kind: 'PAYMENT_DIFFERS', subject: 'all', order: null, detail: { round } }),
    issueToken(context, testPeppers, round),
    insertOperator(context, { operatorId: `opr_${round}`, name: round, role: 'viewer', passwordHash: '$scrypt$' }),
  ])
  await Promise.all([
    replaceKey(context, keyId, {
      keyId: `key_${round}`,
      pepperVersion: 1,
      lastFour: 'abcd',
      keyHash: Buffer.from(round.padEnd(32)),
    }),
    updateRole(context, round, 'support'),
    endAction(context, action.actionId, { outcome: 'ok', about: { keyId } }),
    recordedAudit(context, 'COMMAND', { onUnwritten: assert.fail }),
  ])
  const open = await listOpenDiscrepancies(context, 100)
  await resolveDiscrepancies(
    context,
    open.filter(({ subject }) => subject === round).map(({ discrepancyId }) => discrepancyId),
    'agreed',
  )
}

test('writers of all tables, on two services at once, make one chain, and none of them causes a deadlock', async () => {
  const pools = await Promise.all(
    [0, 1].map(() => openTestPool(database.connection, { maxConnections: 8, plans: 'once' })),
  )
  let deadlocks = 0
  const counting = (pool: pg.Pool) =>
    createDatabase(pool, {
      ...silentLog,
      warn: (fields: object) => {
        if (JSON.stringify(fields).includes('40P01')) deadlocks += 1
      },
    })
  const contexts = pools.map(counting)
  const rounds = Array.from({ length: 12 }, (_, round) => `round${round}`)
  await Promise.all(rounds.map((round, index) => writeEverything(contexts[index % 2] as Database, round)))
  await Promise.all(pools.map((pool) => pool.end()))
  const { violations, checked } = await audit(service)
  assert.deepEqual(violations, [])
  assert.equal(deadlocks, 0)
  assert.equal(checked.apiKeys, 2 * rounds.length)
  // The key issued, the key suspended, and its replacement issued.
  assert.equal(await entriesOf('api_keys'), 3 * rounds.length)
})

test('a discrepancy seen again without a change adds no entry, and a resolved one adds one', async () => {
  const entries = await entriesOf('discrepancies')
  const discrepancy = { kind: 'PAYMENT_DIFFERS', subject: 'seen again', order: null, detail: { amount: 1 } }
  for (let time = 0; time < 3; time += 1) await saveDiscrepancy(service, discrepancy)
  assert.equal(await entriesOf('discrepancies'), entries + 1)
  const [row] = await database.query<{ id: string }>(
    `select discrepancy_id as id from discrepancies where subject = 'seen again' and last_seen_at > found_at`,
  )
  await resolveDiscrepancies(service, [row?.id ?? ''], 'agreed')
  assert.equal(await entriesOf('discrepancies'), entries + 2)
})

test('setting a status to its current value adds no entry', async () => {
  const { keyId } = await issueKey(service, testPeppers, 'active')
  const entries = await entriesOf('api_keys')
  await updateKeyStatus(service, keyId, 'ACTIVE')
  assert.equal(await entriesOf('api_keys'), entries)
})

test('the hash of a row is the same in every session, whatever its time zone and formats are', async () => {
  const client = await database.ownerPool.connect()
  try {
    await client.query(`set timezone = 'Asia/Seoul'; set bytea_output = 'escape'; set datestyle = 'German, DMY'`)
    await client.query(`update api_keys set status = 'SUSPENDED' where key_id = 'key_round1'`)
    assert.deepEqual((await audit(createDatabase(client, silentLog))).violations, [])
  } finally {
    await client.query('reset all')
    client.release()
  }
  assert.deepEqual((await audit(service)).violations, [])
})

const olderRows = `
  insert into customers (customer_id, name) values ('11111111-1111-4111-8111-111111111111', 'of before');
  insert into accounts (customer_id) values ('11111111-1111-4111-8111-111111111111');
  insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four, status)
  values ('key_1', '11111111-1111-4111-8111-111111111111', 1, sha256('1'), 'abcd', 'SUSPENDED');
  insert into service_tokens (service_id, name, pepper_version, token_hash, last_four)
  values ('svc_1', 'analyses', 1, sha256('1'), 'abcd');
  insert into operators (operator_id, name, role, password_hash) values ('opr_1', 'kim', 'admin', '$scrypt$');
  insert into operator_actions (action_id, step, actor, command, arguments)
  values (gen_random_uuid(), 'BEGUN', 'kim', 'keys list', '{}');
  insert into event_endpoints (endpoint_id, url, types, secrets) values ('end_1', 'https://a.example', '{}', '[{}]');
  insert into discrepancies (kind, subject, detail) values ('PAYMENT_DIFFERS', 'pay_1', '{"amount": null}');
  insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
  values (gen_random_uuid(), 'DAILY', now(), 1, '{"accounts": 1}', 0, '[]')`

test('the migration enters rows that are older than the journal, and later changes follow them', async () => {
  const old = await createTestDatabase({ template: 'template0' })
  const client = new pg.Client(old.connection)
  await client.connect()
  try {
    await migrate(
      client,
      listMigrations().filter(({ version }) => version < 19),
    )
    await client.query(olderRows)
    await migrate(
      client,
      listMigrations().filter(({ version }) => version < 54),
    )
    await client.query(`
      set session_replication_role = replica;
      insert into log_checkpoints (size, previous_size, root, note, keys) values (1, 0, sha256(''), 'a note', 'a key');
      set session_replication_role = origin`)
    await migrate(client)
    const { rows } = await client.query<{ table: string }>(
      'select table_name as "table" from record_journal order by record_number',
    )
    assert.deepEqual(
      rows.map(({ table }) => table),
      // Budgets are journalled from their first row on. The last entry is the migration of the last two.
      [...Object.values(journalled).flatMap(({ table }) => (table === 'budgets' ? [] : [table])), 'schema_migrations'],
    )
    await client.query(`update operators set role = 'viewer'; update api_keys set status = 'ACTIVE'`)
    const { violations, checked } = await audit(createDatabase(old.pool, silentLog))
    // The checkpoint is of no log.
    const ofJournal = violations.filter(({ invariant }) => !invariant.startsWith('L-'))
    assert.deepEqual([ofJournal, checked.journalEntries], [[], rows.length + 2])
  } finally {
    await client.end()
    await old.drop()
  }
})
