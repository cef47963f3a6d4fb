// What an attacker with all rights over the database does to ledger and log, and who finds it: the audit while the log is as it
// was, and the holder of an earlier checkpoint when the log was written again from the changed ledger. Every case is rolled back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { silentLog } from '../../harness/silent-log.ts'
import { refuse } from '../../src/core/errors.ts'
import { leastUuid } from '../../src/core/ids.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { type AuditResult, audit } from '../../src/payments/audit/audit.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { checkLog } from '../../src/transparency/check.ts'
import { type KeptCheckpoint, readKeptCheckpoints } from '../../src/transparency/kept.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { receiptOfEntries } from '../../src/transparency/log.ts'
import { logKeysOf } from '../../src/transparency/note.ts'
import { createChainHash, rewriteLedgers } from '../support/audit/rewrite-ledgers.ts'
import { bookkeeper, confirmed, newCustomer, spend, writeBooks } from '../support/database/books.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'
import { appendSecondLeaf, rewriteLog } from '../support/transparency.ts'

const signer = { keys: logKeysOf(testPeppers, 'example.com/log'), origin: 'example.com/log' }

let own: OwnTestDatabase
let attacker: pg.PoolClient
let asOwner: Database
let customerId: string
let kept: KeptCheckpoint[]
let receipt: string

async function appendAll(database: Database): Promise<void> {
  const job = createAppendToLog(database, signer, { freshMs: 0 })
  while ((await job()).more);
}

before(async () => {
  own = await createTestDatabase()
  const context = bookkeeper(own.pool)
  await writeBooks(context)
  customerId = await newCustomer(context)
  await confirmed(context, customerId)
  for (const credits of [1, 2, 3]) await spend(context, customerId, credits)
  await own.query(createChainHash)
  const database = createDatabase(own.pool, silentLog)
  await appendAll(database)
  const checkpoint = await readCheckpoint(database)
  kept = readKeptCheckpoints('kept', checkpoint?.note ?? '') ?? []
  receipt = JSON.stringify(await receiptOfEntries(database, signer, customerId, [2]))
  // The log has grown since: what was kept is in the middle of it.
  for (const credits of [4, 5]) await spend(context, customerId, credits)
  await appendAll(database)
  attacker = await own.ownerPool.connect()
  asOwner = createDatabase(attacker, silentLog)
})

after(async () => {
  attacker.release()
  await own.drop()
})

async function auditAfter(damage: string, { logAgain = false } = {}): Promise<AuditResult> {
  await attacker.query('begin; set local session_replication_role = replica')
  try {
    await attacker.query(damage)
    if (logAgain) await rewriteLog(attacker, signer)
    await attacker.query('set local session_replication_role = origin')
    return await audit(asOwner, { kept: logAgain ? kept : [] })
  } finally {
    await attacker.query('rollback')
  }
}

const rulesOf = ({ violations }: AuditResult) => [...new Set(violations.map(({ rule }) => rule))].sort()
const changed = 'every entry in the transparency log is as the ledger has it'
const keptRule = 'the transparency log contains the checkpoint that was kept'

test('untouched books have no finding, also against what was kept', async () => {
  const { ok, checked, violations } = await audit(asOwner, { kept })
  assert.deepEqual([ok, violations], [true, []])
  assert.equal(checked.loggedEntries, checked.entries)
})

/** A change of the ledger after which chain, account and everything else agree again. */
const attacks: Record<string, () => string> = {
  'an entry is changed': () =>
    `update ledger_entries set reference = 'another' where customer_id = '${customerId}' and entry_number = 2`,
  'the time of an entry is changed': () =>
    `update ledger_entries set created_at = created_at - interval '1 microsecond'
     where customer_id = '${customerId}' and entry_number = 2`,
  'two entries change places': () =>
    `update ledger_entries set entry_number = entry_number + 100
     where customer_id = '${customerId}' and entry_number in (2, 3);
     update ledger_entries set entry_number = 105 - entry_number
     where customer_id = '${customerId}' and entry_number in (102, 103)`,
  'an entry is removed': () =>
    `delete from ledger_entries where customer_id = '${customerId}' and entry_number = 3;
     update ledger_entries set entry_number = entry_number - 1 where customer_id = '${customerId}' and entry_number = 4;
     update ledger_entries set entry_number = entry_number - 1 where customer_id = '${customerId}' and entry_number = 5;
     update ledger_entries set entry_number = entry_number - 1 where customer_id = '${customerId}' and entry_number = 6`,
  'an entry is inserted': () =>
    `update ledger_entries set entry_number = entry_number + 100 where customer_id = '${customerId}' and entry_number > 2;
     update ledger_entries set entry_number = entry_number - 99 where customer_id = '${customerId}' and entry_number > 100;
     insert into ledger_entries select customer_id, 3, kind, -1, balance_after, order_id, 'made up', created_at, entry_hash,
       held_delta, held_after, hold_id, service_id, adjusted_after
     from ledger_entries where customer_id = '${customerId}' and entry_number = 2`,
}

for (const [what, damage] of Object.entries(attacks)) {
  test(`${what} and the chain is repaired: the audit finds it by the log`, async () => {
    const result = await auditAfter(`${damage()}; ${rewriteLedgers}`)
    assert.ok(rulesOf(result).includes(changed), rulesOf(result).join('; '))
    const [found] = result.violations.filter(({ rule }) => rule === changed)
    assert.equal(found?.customerId, customerId)
  })

  test(`${what} and the log is written again: a checkpoint that was kept finds it`, async () => {
    const result = await auditAfter(`${damage()}; ${rewriteLedgers}`, { logAgain: true })
    assert.deepEqual(
      result.violations
        .filter(({ rule }) => rule.includes('transparency'))
        .map(({ rule, detail }) => [rule, Object.keys(detail)]),
      [[keptRule, ['checkpoint', 'size', 'root', 'rootNow']]],
    )
  })
}

/** Damages of the log itself, with a ledger as it was. */
const damages: [what: string, rule: string, damage: string][] = [
  [
    'a hash of a leaf',
    changed,
    `update log_tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where level = 0`,
  ],
  [
    'the root',
    'the checkpoint of the transparency log is that of its tree',
    `update log_head set root = sha256('another')`,
  ],
  [
    'the size of the checkpoint',
    'the checkpoint of the transparency log is that of its tree',
    `update log_head set note = replace(note, E'\\n' || size || E'\\n', E'\\n1' || size || E'\\n')`,
  ],
  [
    'the end of the leaves',
    'the tree of the transparency log is that of its leaves',
    `update log_tiles set hashes = substr(hashes, 1, octet_length(hashes) - 32) where level = 0`,
  ],
  [
    'the ledger, which lacks all entries of a run',
    changed,
    `delete from ledger_entries e using (select * from log_runs order by first_leaf desc limit 1) r
     where e.customer_id = r.customer_id and e.entry_number between r.first_entry and r.last_entry`,
  ],
  [
    'a run, which is removed',
    'every leaf of the transparency log is one entry',
    'delete from log_runs where first_leaf = (select max(first_leaf) from log_runs)',
  ],
  [
    'a run, which begins with the second entry of its customer, so that the first has no leaf',
    'every leaf of the transparency log is one entry',
    'update log_runs set first_entry = first_entry + 1, last_entry = last_entry + 1 where first_leaf = 0',
  ],
  [
    'a run, which begins with the last entry of the run before it, so that one entry has two leaves',
    'every leaf of the transparency log is one entry',
    `update log_runs set first_entry = first_entry - 1, last_entry = last_entry - 1
     where first_leaf = (select max(first_leaf) from log_runs where customer_id in (
       select customer_id from log_runs group by customer_id having count(*) > 1))`,
  ],
  [
    'the last entries, which are taken from the log',
    'the transparency log has passed over no entry',
    `delete from log_runs where first_leaf > 0; delete from log_tiles;
     update log_head set size = 0, root = sha256(''), marks = jsonb_build_object('${leastUuid}', 'infinity')`,
  ],
]

for (const [what, rule, damage] of damages) {
  test(`the audit finds a change of ${what}`, async () => {
    const result = await auditAfter(damage)
    assert.ok(rulesOf(result).includes(rule), rulesOf(result).join('; '))
  })
}

test('entries that are not logged after ten minutes are stranded work of the worker, one finding of all customers', async () => {
  const auditAfterMinutes = (minutes: number) =>
    auditAfter(`delete from log_head; delete from log_runs; delete from log_tiles;
      update ledger_entries set created_at = now() - interval '${minutes} minutes'`)
  assert.equal((await auditAfterMinutes(9)).stranded, 0)
  const { violations, stranded } = await auditAfterMinutes(11)
  const [{ customers }] = (await own.query<{ customers: number }>(
    'select count(distinct customer_id)::int as customers from ledger_entries',
  )) as [{ customers: number }]
  assert.ok(customers > 1)
  const late = violations.filter(({ rule }) => rule === 'every entry is in the transparency log within ten minutes')
  assert.deepEqual(
    late.map(({ entryNumber, detail }) => [entryNumber, detail]),
    [[1, { appendedUpTo: '-infinity', customersWaiting: customers }]],
  )
  assert.equal(stranded, 1)
})

test('a checkpoint of a log that has become smaller is found, and one in a receipt too', async () => {
  const [{ size }] = kept as [KeptCheckpoint]
  const result = await audit(asOwner, {
    kept: [{ from: 'kept', size: size + 1_000, root: Buffer.alloc(32), entries: [] }],
  })
  assert.deepEqual(rulesOf(result), [keptRule])
  assert.deepEqual(
    readKeptCheckpoints('kept', receipt)?.map((each) => ({ ...each, entries: [] })),
    kept,
  )
  assert.deepEqual(
    readKeptCheckpoints('kept', receipt)?.[0]?.entries.map((entry) => [entry.customerId, entry.entryNumber]),
    [[customerId, 2]],
  )
  assert.equal(readKeptCheckpoints('kept', '{"checkpoint": 5}'), null)
  assert.equal(readKeptCheckpoints('kept', 'no checkpoint'), null)
})

test('an entry that was changed and appended to the log a second time is found by a receipt of it, and not by its checkpoint', async () => {
  const ofReceipt = readKeptCheckpoints('receipt', receipt) ?? []
  assert.deepEqual(rulesOf(await audit(asOwner, { kept: ofReceipt })), [])
  await attacker.query('begin; set local session_replication_role = replica')
  try {
    // The tree only grows: the old leaf stays where it is.
    await attacker.query(`
      update ledger_entries set reference = 'another' where customer_id = '${customerId}' and entry_number = 2;
      ${rewriteLedgers}`)
    await appendSecondLeaf(attacker, signer, { customerId, entryNumber: 2 })
    await attacker.query('set local session_replication_role = origin')
    const rule = 'every entry of a receipt that was kept is so in ledger and transparency log, at its place'
    assert.equal(rulesOf(await audit(asOwner, { kept })).includes(keptRule), false)
    const { violations } = await audit(asOwner, { kept: ofReceipt })
    assert.deepEqual(
      violations
        .filter((each) => [rule, keptRule].includes(each.rule))
        .map((each) => [each.rule, each.customerId, each.entryNumber, (each.detail as { receipt?: string }).receipt]),
      [[rule, customerId, 2, 'receipt']],
    )
  } finally {
    await attacker.query('rollback')
  }
})

test('an entry of a kept receipt is compared with the ledger, with its leaf in the log, and with its place there', async () => {
  const place = `(select first_leaf + 1 from log_runs where customer_id = '${customerId}' and first_entry = 1)::int`
  const changes = [
    `update ledger_entries set reference = 'another' where customer_id = '${customerId}' and entry_number = 2`,
    `update log_tiles set hashes = set_byte(hashes, 32 * ${place}, get_byte(hashes, 32 * ${place}) # 1) where level = 0`,
    `update log_runs set first_leaf = first_leaf + 1000 where customer_id = '${customerId}' and first_entry = 1`,
  ]
  for (const change of [...changes, undefined]) {
    await attacker.query('begin; set local session_replication_role = replica')
    try {
      // Appended a second time as it is, at another place.
      if (change === undefined) await appendSecondLeaf(attacker, signer, { customerId, entryNumber: 2 })
      else await attacker.query(change)
      await attacker.query('set local session_replication_role = origin')
      const { violations } = await audit(asOwner, { kept: readKeptCheckpoints('receipt', receipt) ?? [] })
      const found = violations.filter(({ rule }) => rule.startsWith('every entry of a receipt that was kept'))
      assert.deepEqual(
        found.map((each) => [each.customerId, each.entryNumber]),
        [[customerId, 2]],
        change,
      )
    } finally {
      await attacker.query('rollback')
    }
  }
})

test('a kept file is refused as a whole when one of its checkpoints or entries cannot be read', () => {
  const file = JSON.parse(receipt)
  const note = file.checkpoint
  const [entry] = file.entries
  const sizesIn = (content: object) => readKeptCheckpoints('kept', JSON.stringify(content))?.map(({ size }) => size)
  const size = kept[0]?.size
  assert.deepEqual([sizesIn({ from: note, to: note }), sizesIn(file)], [[size, size], [size]])
  const unreadable = [
    { from: note, to: 'no checkpoint' },
    { checkpoint: note, entries: {} },
    ...[null, { ...entry, index: '01' }, { ...entry, index: -1 }, { ...entry, leaf: `\n${entry.leaf}` }].map(
      (each) => ({
        checkpoint: note,
        entries: [entry, each],
      }),
    ),
  ]
  for (const content of unreadable) assert.equal(sizesIn(content), undefined, JSON.stringify(content))
})

test('a piece of the log that takes too long is read again with fewer leaves, and reported when one tile takes too long', async () => {
  const tried: number[] = []
  const slowAbove = (leaves: number) =>
    wrapDatabase(asOwner, async ({ name }, send) => {
      if (name !== 'transparency.listLoggedRuns') return send()
      const runs = await send()
      tried.push(runs.length)
      if (tried.length <= leaves) throw Object.assign(refuse('SVC001'), { cause: { code: '57014' } })
      return runs
    })
  assert.deepEqual((await audit(slowAbove(2))).violations, [])
  const { violations } = await audit(slowAbove(1_000))
  assert.deepEqual(
    violations.map(({ rule }) => rule),
    ['the rows can be read in the time a statement has'],
  )
})

test('a log of several pieces is compared piece by piece: a run across two of them, and a tile above those of its leaves that is changed or missing', async (t) => {
  const large = await createTestDatabase()
  t.after(() => large.drop())
  const context = bookkeeper(large.pool)
  const holder = await newCustomer(context)
  await confirmed(context, holder, 'paid', 'PRO')
  await spend(context, holder, 1)
  const owner = createDatabase(large.ownerPool, silentLog)
  await large.queryUnguarded(
    `insert into ledger_entries select customer_id, n, kind, delta, balance_after, order_id, 'entry ' || n, created_at,
       entry_hash, held_delta, held_after, hold_id, service_id, adjusted_after
     from ledger_entries cross join generate_series(3, 600) n where customer_id = $1 and entry_number = 2`,
    [holder],
  )
  await appendAll(owner)
  // A tile at a time, as where a piece of several takes too long.
  const findings = async () => {
    let slow = 3
    const slowly = wrapDatabase(owner, async ({ name }, send) => {
      if (name !== 'transparency.listLoggedRuns' || slow-- <= 0) return send()
      throw Object.assign(refuse('SVC001'), { cause: { code: '57014' } })
    })
    const found: unknown[] = []
    const pieces: unknown[] = []
    await checkLog(slowly, {
      found: ({ rule }, detail, subject) => found.push([rule, subject?.entryNumber ?? detail]),
      onPiece: async ({ leaves }) => void (leaves && pieces.push(leaves)),
    })
    assert.deepEqual(pieces, [256, 256, 88])
    return found
  }
  assert.deepEqual(await findings(), [])
  await large.queryUnguarded(
    `update ledger_entries set reference = 'was ' || entry_number where entry_number in (256, 257, 600)`,
  )
  assert.deepEqual(
    await findings(),
    [256, 257, 600].map((entryNumber) => [changed, entryNumber]),
  )
  await large.queryUnguarded(`update ledger_entries set reference = 'entry ' || entry_number where entry_number > 2`)
  await large.queryUnguarded(
    `update log_tiles set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where level = 1`,
  )
  const wrongTile = ['the tree of the transparency log is that of its leaves', { level: 1, tile: 0 }]
  assert.deepEqual(await findings(), [wrongTile])
  await large.queryUnguarded('delete from log_tiles where level = 1')
  // By each of the two pieces that end a tile of leaves.
  assert.deepEqual(await findings(), [wrongTile, wrongTile])
})
