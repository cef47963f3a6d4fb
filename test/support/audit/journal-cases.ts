// Records outside the ledger (customers, keys, tokens, operators, their actions, discrepancies, audits) changed past
// every trigger, as an attacker with all rights over the database could, and the rule of the audit that finds each change.

import { updateKeyStatus } from '../../../src/customers/customers.sql.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import type { Database } from '../../../src/db/database.ts'
import { insertEndpoint } from '../../../src/events/endpoints.sql.ts'
import { beginAction, endAction } from '../../../src/operators/action-log.sql.ts'
import { insertOperator, updateRole } from '../../../src/operators/operators.sql.ts'
import { insertAudit } from '../../../src/payments/audit/record.sql.ts'
import type { CheckedName } from '../../../src/payments/audit/scans.sql.ts'
import { saveDiscrepancy } from '../../../src/payments/recovery/discrepancies.sql.ts'
import { testPeppers } from '../service/service.ts'
import type { BrokenRule } from './damage.ts'

const actionId = '0190aaaa-0000-7000-8000-000000000001'
const viewer = 'opr_viewer'

/** A record of every kind, each written by the function that writes it in the service. */
export async function writeRecords(database: Database, keyId: string): Promise<void> {
  await issueToken(database, testPeppers, 'analyses')
  await insertOperator(database, { operatorId: viewer, name: 'viewer', role: 'support', passwordHash: '$scrypt$1' })
  await updateRole(database, 'viewer', 'viewer')
  const action = { actionId, actor: 'viewer', command: 'keys suspend', arguments: [], subject: keyId }
  await beginAction(database, { ...action, reason: 'it leaked' })
  await updateKeyStatus(database, keyId, 'SUSPENDED')
  await endAction(database, actionId, { outcome: 'ok', about: { keyId } })
  const secrets = [{ sealed: 'a secret', until: null }]
  const endpoint = { endpointId: 'end_of_the_books', url: 'https://a.example', types: ['order.failed'], secrets }
  await insertEndpoint(database, endpoint)
  const discrepancy = { kind: 'PAYMENT_DIFFERS', subject: 'pay_other', order: null, detail: { amount: 1 } }
  await saveDiscrepancy(database, discrepancy)
  await saveDiscrepancy(database, discrepancy)
  const nothing = { rules: 1, tookMs: 1, checked: {} as Record<CheckedName, number>, violationCount: 0, findings: [] }
  await insertAudit(database, { auditId: crypto.randomUUID(), cause: 'DAILY', ...nothing })
}

const removed = 'no record of the journal has been removed'
const continued = 'every change of a record began with what its last journal entry had'
const chained = 'no journal entry has been changed: its hash is that of the entry and of the hash before it'
const headIsLast = 'the head of the journal is its last entry'
const gapless = 'the entries of the journal are numbered from one without a gap'
const ended = 'an action that has begun has an end or is open'
const asNoted = (name: string) => `${name} is as its last journal entry has it`
const [anOperator, aKey, aCustomer] = [asNoted('an operator'), asNoted('an API key'), asNoted('a customer')]

const broken = (
  rule: string,
  when: string,
  damage: string | BrokenRule['damage'],
  also: string[] = [],
  invariant = 'J-2',
): BrokenRule => ({
  invariant,
  rule,
  when,
  damage: typeof damage === 'string' ? () => damage : damage,
  also,
})

/** The entry of the journal that the viewer was added with. */
const entryOfViewer = `(select min(record_number) from record_journal where row_key = '${viewer}')`
const triggersFire = 'set local session_replication_role = origin'

const changedRecords = [
  broken(
    aCustomer,
    'a customer was renamed',
    ({ visitor }) => `update customers set name = 'another' where customer_id = '${visitor}'`,
  ),
  broken(
    aKey,
    'a key was moved to another customer',
    ({ customer, visitor }) => `update api_keys set customer_id = '${customer}' where customer_id = '${visitor}'`,
  ),
  broken(aKey, 'a suspended key works again', `update api_keys set status = 'ACTIVE' where status = 'SUSPENDED'`),
  broken(
    aKey,
    'the hash of a key is that of another secret',
    ({ visitor }) => `update api_keys set key_hash = sha256('known') where customer_id = '${visitor}'`,
  ),
  broken(
    aKey,
    'a key was added',
    ({ customer }) => `
    insert into api_keys (key_id, customer_id, pepper_version, key_hash, last_four)
    values ('key_added', '${customer}', 1, sha256('known'), 'abcd')`,
  ),
  broken(
    asNoted('a service token'),
    'the hash of a token is that of another secret',
    `update service_tokens set token_hash = sha256('known')
     where service_id = (select min(service_id) from service_tokens)`,
  ),
  broken(anOperator, 'a role was raised', `update operators set role = 'admin'`),
  broken(anOperator, 'a password was replaced', `update operators set password_hash = '$scrypt$known'`),
  broken(
    asNoted('an operator action'),
    'the reason of an action was changed',
    `update operator_actions set reason = 'another' where step = 'BEGUN'`,
  ),
  broken(
    asNoted('a discrepancy'),
    'a discrepancy was resolved by hand',
    `update discrepancies set (resolved_at, resolution) = (now(), 'agreed') where subject = 'pay_other'`,
  ),
  broken(
    asNoted('an audit'),
    'the findings of an audit were changed',
    `update audits set checked = '{"orders": "none"}'`,
  ),
  broken(
    ended,
    'an open action was taken from the open ones',
    `${triggersFire};
     insert into operator_actions (action_id, step, actor, command, arguments)
     values (gen_random_uuid(), 'BEGUN', 'viewer', 'keys issue', '{}');
     delete from open_actions`,
    [],
    'J-3',
  ),
  broken(asNoted('a budget'), 'a budget was raised', 'update budgets set credits = credits + 1'),
  broken(
    asNoted('an endpoint of events'),
    'an endpoint has another address',
    `update event_endpoints set url = 'https://other.example'`,
  ),
  broken(
    asNoted('a published checkpoint'),
    'a checkpoint was added',
    `insert into log_checkpoints (size, previous_size, root, note, keys, published_at)
     values (1, 0, sha256(''), 'a note', 'a key', now())`,
    ['L-5 every published checkpoint is of the transparency log, with cosignatures of its text'],
  ),
]

const removals = [
  ['a key', 'api_keys', `status = 'SUSPENDED'`],
  ['a token', 'service_tokens', 'true'],
  ['an operator', 'operators', 'true'],
  ['the beginning of an action', 'operator_actions', `step = 'BEGUN' and actor = 'viewer'`],
  ['a discrepancy', 'discrepancies', `subject = 'pay_other'`],
  ['an audit', 'audits', 'true'],
  ['an endpoint', 'event_endpoints', 'true'],
].map(([what, table, which]) => broken(removed, `${what} was removed`, `delete from ${table} where ${which}`))

const removedEnd = broken(
  removed,
  'the end of an action was removed',
  `delete from operator_actions where step = 'ENDED'`,
  [`J-3 ${ended}`],
)

const removedCustomer = broken(removed, 'a customer was removed with everything', ({ visitor }) =>
  ['orders', 'accounts', 'api_keys', 'customers']
    .map((table) => `delete from ${table} where customer_id = '${visitor}'`)
    .join('; '),
)

const changedJournal = [
  broken(
    continued,
    'a change past the trigger was followed by one that was journalled',
    `update operators set role = 'admin'; ${triggersFire}; update operators set status = 'SUSPENDED'`,
  ),
  broken(
    continued,
    'a record was replaced by another of the same key',
    `delete from operators; ${triggersFire};
    insert into operators (operator_id, name, role, password_hash) values ('${viewer}', 'viewer', 'admin', '$scrypt$2')`,
  ),
  broken(
    chained,
    'the entry of a changed record was changed with it',
    `update operators set role = 'admin';
    update record_journal set content_hash = (select record_hash(o) from operators o)
    where record_number = (select max(record_number) from record_journal where row_key = '${viewer}')`,
    [],
    'J-1',
  ),
  broken(
    chained,
    'the time of an entry was changed',
    `update record_journal set written_at = written_at - interval '1 day' where record_number = ${entryOfViewer}`,
    [],
    'J-1',
  ),
  broken(
    gapless,
    'an entry was removed, and after the gap no hash',
    `delete from record_journal where record_number = ${entryOfViewer}`,
    [`J-2 ${continued}`],
    'J-1',
  ),
  broken(
    headIsLast,
    'the last entry was removed with its record',
    `delete from audits;
    delete from record_journal where record_number = (select last_number from record_journal_head)`,
    [],
    'J-1',
  ),
  broken(headIsLast, 'the head was set back', 'update record_journal_head set last_number = 1', [], 'J-1'),
  broken(headIsLast, 'the head was removed', 'delete from record_journal_head', [], 'J-1'),
  broken(
    removed,
    'an entry has an impossible key',
    `update record_journal set row_key = 'nothing' where table_name = 'audits'`,
    [`J-1 ${chained}`, `J-2 ${asNoted('an audit')}`],
  ),
]

export const brokenRecords: BrokenRule[] = [
  ...changedRecords,
  ...removals,
  removedEnd,
  removedCustomer,
  ...changedJournal,
]
