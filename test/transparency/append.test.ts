// The worker's job that appends the ledger to the transparency log: every entry once, in the order of its customer, whatever
// process does it, with proofs that an independent reading confirms.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { sleep } from '../../src/core/clock.ts'
import { refuse } from '../../src/core/errors.ts'
import { leastUuid } from '../../src/core/ids.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { groupsOf } from '../../src/db/groups.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { append, findHead, findSafeTimes, markOf, replaceNote } from '../../src/transparency/append.sql.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readLogBacklog } from '../../src/transparency/backlog.sql.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { consistencyProof, receiptOfEntries } from '../../src/transparency/log.ts'
import { logKeysOf, readCheckpointNote } from '../../src/transparency/note.ts'
import { rootOfEdge } from '../../src/transparency/tree.ts'
import { bookkeeper, confirmed, newCustomer, spend, writeBooks } from '../support/database/books.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { testPeppers } from '../support/service/service.ts'
import { leafHash, leavesInOrder, naiveProof, naiveRoot, rootByInclusion } from '../support/transparency.ts'

const origin = 'example.com/log'
const signer = { keys: logKeysOf(testPeppers, origin), origin }

let own: OwnTestDatabase
let database: Database
let context: PaymentContext

before(async () => {
  own = await createTestDatabase()
  database = createDatabase(own.pool, silentLog)
  context = bookkeeper(own.pool)
})
after(() => own.drop())

async function appendAll(job = createAppendToLog(database, signer, { batch: 7, freshMs: 0 })): Promise<void> {
  while ((await job()).more);
}

test('entries from before are appended in batches, and every one has a proof under the last checkpoint', async () => {
  await writeBooks(context)
  await appendAll()
  const leaves = await leavesInOrder(own.ownerPool)
  const [{ count }] = (await own.query('select count(*) as count from ledger_entries')) as [{ count: number }]
  assert.equal(leaves.length, count)
  const checkpoint = await readCheckpoint(database)
  assert.ok(checkpoint)
  assert.equal(checkpoint.size, count)
  assert.deepEqual(checkpoint.root, naiveRoot(leaves.map(({ leaf }) => leafHash(leaf))))
  assert.deepEqual(readCheckpointNote(checkpoint.note), { origin, size: count, root: checkpoint.root })
  for (const [index, { customerId, entryNumber, leaf }] of leaves.entries()) {
    const receipt = await receiptOfEntries(database, signer, customerId, [entryNumber])
    assert.ok(receipt !== 'not logged yet')
    const [entry] = receipt.entries
    assert.ok(entry)
    assert.deepEqual([entry.leaf, entry.index], [leaf, String(index)])
    const proof = entry.proof.map((hash) => Buffer.from(hash, 'base64'))
    assert.deepEqual(rootByInclusion(leaf, index, count, proof), checkpoint.root)
  }
  for (let from = 1; from < count; from += 1) {
    assert.deepEqual(
      await consistencyProof(database, from, count),
      naiveProof(
        from,
        leaves.map(({ leaf }) => leafHash(leaf)),
      ),
    )
  }
})

test('the entries of a customer are leaves in the order of their numbers', async () => {
  const byCustomer = Map.groupBy(await leavesInOrder(own.ownerPool), ({ customerId }) => customerId)
  for (const entries of byCustomer.values()) {
    assert.deepEqual(
      entries.map(({ entryNumber }) => entryNumber),
      entries.map((_, at) => at + 1),
    )
  }
})

/** Commits later than it began: its entry has the time of the begin. */
async function spendLate(customerId: string): Promise<{ commit(): Promise<void> }> {
  const client = await own.pool.connect()
  await client.query('begin')
  const held = { query: client.query.bind(client) as never }
  await spend(bookkeeper(held), customerId, 1)
  return {
    async commit() {
      await client.query('commit')
      client.release()
    },
  }
}

async function loggedEntries(customerId: string): Promise<number> {
  const [row] = await own.query<{ last: number }>(
    'select coalesce(max(last_entry), 0) as last from log_runs where customer_id = $1',
    [customerId],
  )
  return row?.last ?? 0
}

test('an entry that commits after younger ones were appended is not skipped', async () => {
  const [late, quick] = [await newCustomer(context), await newCustomer(context)]
  await confirmed(context, late)
  await confirmed(context, quick)
  const job = createAppendToLog(database, signer, { freshMs: 0 })
  await appendAll(job)
  const open = await spendLate(late)
  await spend(context, quick, 1)
  await appendAll(job)
  await appendAll(job)
  assert.deepEqual([await loggedEntries(late), await loggedEntries(quick)], [1, 2])
  await open.commit()
  await appendAll(job)
  assert.deepEqual([await loggedEntries(late), await loggedEntries(quick)], [2, 2])
})

test('an entry that the reads of every second have missed is found by the next sweep, once the mark has passed nothing of it', async () => {
  const customerId = await newCustomer(context)
  await confirmed(context, customerId)
  const job = createAppendToLog(database, signer, { freshMs: 0, sweepEveryMs: 0 })
  await appendAll(job)
  const open = await spendLate(customerId)
  const marked = async () =>
    (
      await own.query<{ mark: Date }>(`select min(m.value::timestamptz) as mark
      from log_head h cross join jsonb_each_text(h.marks) m`)
    )[0]?.mark as Date
  const [{ began }] = (await own.query<{ began: Date }>('select now() as began')) as [{ began: Date }]
  await appendAll(job)
  await appendAll(job)
  assert.ok((await marked()) < began)
  await open.commit()
  await appendAll(job)
  assert.equal(await loggedEntries(customerId), 2)
})

test('reads of every second do not postpone the sweep, which alone moves the mark', async (t) => {
  const { database, newJob, spendOne } = await newLog(t)
  const job = newJob({ sweepEveryMs: 400 })
  const marks = async () => Object.values((await findHead(database, 0))?.marks ?? {})
  await appendAll(job)
  const first = await marks()
  assert.equal(first.length, groupsOf(database).length)
  await until(
    'the mark has moved',
    async () => {
      await appendAll(job)
      return (await marks()).every((mark) => !first.includes(mark))
    },
    10_000,
  )
  const reading = newJob({ sweepEveryMs: 600_000 })
  await appendAll(reading)
  const swept = await marks()
  await spendOne()
  await appendAll(reading)
  assert.deepEqual(await marks(), swept)
})

test('of two processes that append at once one succeeds, and the other writes nothing: the log has another tree', async () => {
  const customerId = await newCustomer(context)
  await confirmed(context, customerId)
  const jobs = [1, 2, 3].map(() => createAppendToLog(database, signer, { freshMs: 0 }))
  for (let round = 0; round < 10; round += 1) {
    await spend(context, customerId, 1)
    await Promise.all(jobs.map((job) => appendAll(job)))
  }
  await appendAll(jobs[0])
  assert.equal(await loggedEntries(customerId), 11)
  const leaves = await leavesInOrder(own.ownerPool)
  const head = (await findHead(database, 0)) ?? assert.fail('there is no log')
  assert.deepEqual(head.root, naiveRoot(leaves.map(({ leaf }) => leafHash(leaf))))
  for (const other of [{ size: head.size - 1 }, { root: Buffer.alloc(32) }]) {
    const from = { ...head, ...other }
    assert.equal(await append(database, { from, to: head, note: head.note, marks: {}, runs: [], growth: [] }), false)
  }
})

test('after a batch with many entries the next one waits, so that entries of a customer are appended together', async () => {
  const customerId = await newCustomer(context)
  await appendAll(createAppendToLog(database, signer, { freshMs: 0 }))
  await confirmed(context, customerId)
  await spend(context, customerId, 1)
  const job = createAppendToLog(database, signer, { freshMs: 0, busy: 2, restMs: 500 })
  await appendAll(job)
  await spend(context, customerId, 1)
  await job()
  assert.equal(await loggedEntries(customerId), 2)
  await sleep(500)
  await appendAll(job)
  assert.equal(await loggedEntries(customerId), 3)
  await spend(context, customerId, 1)
  await appendAll(job)
  assert.equal(await loggedEntries(customerId), 4, 'one entry is no reason to wait')
})

test('a process leaves the log to another one that has just appended, and takes over when that one is silent', async () => {
  const customerId = await newCustomer(context)
  const [first, second] = [createAppendToLog(database, signer), createAppendToLog(database, signer, { freshMs: 300 })]
  await appendAll(createAppendToLog(database, signer, { freshMs: 0 }))
  await sleep(300)
  await confirmed(context, customerId)
  await appendAll(second)
  await spend(context, customerId, 1)
  await first()
  assert.equal(await loggedEntries(customerId), 1)
  await appendAll(second)
  await appendAll(second)
  assert.equal(await loggedEntries(customerId), 2)
  await spend(context, customerId, 1)
  const third = createAppendToLog(database, signer, { freshMs: 300 })
  await third()
  assert.equal(await loggedEntries(customerId), 2)
  await sleep(300)
  await appendAll(third)
  assert.equal(await loggedEntries(customerId), 3)
})

test('a process that ends between reading and writing leaves nothing behind; one whose answer is lost has appended once', async () => {
  const customerId = await newCustomer(context)
  await confirmed(context, customerId)
  const before = await readCheckpoint(database)
  const killed = wrapDatabase(database, async ({ name }, run) => {
    if (name === 'transparency.append') throw new Error('killed')
    return run()
  })
  await assert.rejects(appendAll(createAppendToLog(killed, signer, { freshMs: 0 })), { message: 'killed' })
  assert.deepEqual(await readCheckpoint(database), before)
  const deaf = wrapDatabase(database, async ({ name }, run) => {
    const rows = await run()
    if (name === 'transparency.append') throw new Error('the answer is lost')
    return rows
  })
  const job = createAppendToLog(deaf, signer, { freshMs: 0 })
  await assert.rejects(appendAll(job), { message: 'the answer is lost' })
  await appendAll(job)
  const leaves = await leavesInOrder(own.ownerPool)
  const after = await readCheckpoint(database)
  assert.equal(after?.size, (before?.size ?? 0) + 1)
  assert.deepEqual(after?.root, naiveRoot(leaves.map(({ leaf }) => leafHash(leaf))))
})

test('a new pepper signs the last checkpoint beside the old one, although nothing is appended; it replaces the note that it has read alone', async () => {
  const peppers = [{ secret: 'a newer pepper for the tests' }, ...testPeppers]
  const newer = { keys: logKeysOf(peppers, origin), origin }
  const before = await readCheckpoint(database)
  assert.ok(before)
  await appendAll(createAppendToLog(database, newer, { freshMs: 0 }))
  const text = `${origin}\n${before.size}\n${before.root.toString('base64')}\n`
  const lines = newer.keys.map((key) => key.signatureOf(text))
  assert.equal((await readCheckpoint(database))?.note, `${text}\n${lines.join('')}`)
  // A process that has only the old one does not take the newer signature away.
  await appendAll(createAppendToLog(database, signer, { freshMs: 0 }))
  await replaceNote(database, before, before.note, signer.keys.map((key) => key.signatureOf(text)).join(''))
  assert.equal((await readCheckpoint(database))?.note, `${text}\n${lines.join('')}`)
})

/** A log of its own, with a customer of three entries, for what cannot be undone. */
async function newLog(t: TestContext) {
  const other = await createTestDatabase()
  t.after(() => other.drop())
  const database = createDatabase(other.pool, silentLog)
  const books = bookkeeper(other.pool)
  const customerId = await newCustomer(books)
  await confirmed(books, customerId)
  const spendOne = () => spend(books, customerId, 1)
  for (let count = 0; count < 2; count += 1) await spendOne()
  const newJob = (options = {}, of = database) => createAppendToLog(of, signer, { freshMs: 0, ...options })
  /** As the owner, past the triggers. */
  async function rewrite(...texts: string[]): Promise<void> {
    const client = await other.ownerPool.connect()
    await client.query(`begin; set local session_replication_role = replica; ${texts.join('; ')}; commit`)
    client.release()
  }
  const sizeOf = async () => (await readCheckpoint(database))?.size
  return { other, database, customerId, spendOne, newJob, rewrite, sizeOf }
}

test('a root that the tiles do not give is signed by no process', async (t) => {
  const { database, spendOne, newJob, rewrite } = await newLog(t)
  const job = newJob()
  await appendAll(job)
  await rewrite(`update log_head set root = sha256('another')`)
  const before = await readCheckpoint(database)
  const refused = { message: 'The transparency log of 3 entries is not signed: its root is not that of its tiles.' }
  await assert.rejects(appendAll(newJob()), refused)
  await spendOne()
  await assert.rejects(appendAll(job), refused)
  assert.deepEqual(await readCheckpoint(database), before)
})

test('a process neither signs after a tree that it knows otherwise nor begins a log again that is gone; another one continues the tree that is there', async (t) => {
  const { other, database, spendOne, newJob, rewrite } = await newLog(t)
  const job = newJob()
  await appendAll(job)
  const [tile] = await other.query<{ hashes: Buffer }>('select hashes from log_tiles')
  const hashes = Buffer.from(tile?.hashes ?? '')
  hashes[0] = (hashes[0] ?? 0) ^ 1
  const root = rootOfEdge({ size: 3, hashes: [hashes] })
  await rewrite(
    `update log_tiles set hashes = '\\x${hashes.toString('hex')}'`,
    `update log_head set root = '\\x${root.toString('hex')}'`,
  )
  await spendOne()
  await assert.rejects(
    appendAll(job),
    /of 3 entries is not signed: it does not begin with the 3 that this process knows/,
  )
  await appendAll(newJob())
  const [grown] = await other.query<{ hashes: Buffer }>('select hashes from log_tiles')
  assert.deepEqual((await readCheckpoint(database))?.root, rootOfEdge({ size: 4, hashes: [grown?.hashes ?? hashes] }))
  await rewrite('delete from log_head; delete from log_runs; delete from log_tiles')
  await assert.rejects(appendAll(job), /is gone/)
})

/** A log with entries of an hour ago: one of a customer alone, then three of another, the second at the time of a third customer. */
async function newOldLog(t: TestContext) {
  const log = await newLog(t)
  const books = bookkeeper(log.other.pool)
  const [first, last] = [await newCustomer(books), await newCustomer(books)]
  for (const customerId of [first, last]) await confirmed(books, customerId)
  await log.rewrite(`update ledger_entries set created_at = date_trunc('hour', now()) - interval '1 hour' + interval '1 s' *
    case customer_id when '${first}' then 0 when '${last}' then 2 else entry_number end`)
  return log
}

test('entries of one time are read together, however small a batch is', async (t) => {
  const { newJob, sizeOf } = await newOldLog(t)
  await appendAll(newJob({ batch: 1 }))
  assert.equal(await sizeOf(), 5)
})

test('a batch that was not appended is read again, and the mark of a sweep under way has passed nothing that was not read', async (t) => {
  const { database, newJob, sizeOf } = await newOldLog(t)
  let isLost = true
  const lossy = wrapDatabase(database, async ({ name }, send) => {
    if (name !== 'transparency.append' || !isLost) return send()
    isLost = false
    throw new Error('lost')
  })
  const job = newJob({ batch: 1 }, lossy)
  await job()
  await assert.rejects(job(), { message: 'lost' })
  await job()
  assert.equal(await sizeOf(), 1)
  await appendAll(newJob())
  assert.equal(await sizeOf(), 5)
})

test('the mark passes no open transaction that has written, whatever its age; one that only reads does not hold it up', async () => {
  // Without the half minute that every mark stays behind.
  const withoutLag: Database = {
    run: ({ name, text, about }, values) =>
      database.run({ name: `${name} without lag`, text: text.replace("'30 s'", "'0 s'"), about }, values),
  }
  const open = await own.pool.connect()
  try {
    await open.query('begin')
    const isBehind = async () => {
      const { safe } = await findSafeTimes(withoutLag, '-infinity', null)
      return (await open.query('select $1::timestamptz < now() as is', [safe])).rows[0].is
    }
    assert.equal(await isBehind(), false)
    await open.query('select pg_current_xact_id()')
    assert.equal(await isBehind(), true)
  } finally {
    open.release(true)
  }
})

test('an append of a time that is still to come keeps no process from appending', async (t) => {
  const { other, newJob, sizeOf, spendOne } = await newLog(t)
  await appendAll(newJob())
  await spendOne()
  await other.query(`update log_head set appended_at = 'infinity'`)
  await appendAll(newJob({ freshMs: 5_000 }))
  assert.equal(await sizeOf(), 4)
})

/** The times of the server, a minute later than they are. */
function aheadOf(database: Database, isAhead: () => boolean): Database {
  return wrapDatabase(database, async <Row>({ name }: { name: string }, send: () => Promise<Row[]>) => {
    const rows = await send()
    if (name !== 'transparency.findSafeTimes' || !isAhead()) return rows
    const later = (time: string) => new Date(Date.parse(time) + 60_000).toISOString()
    return rows.map((row) => {
      const { almostSafe, safe, now, ...rest } = row as Record<string, string>
      return { ...rest, almostSafe: later(`${almostSafe}`), safe: later(`${safe}`), now: later(`${now}`) } as Row
    })
  })
}

test('after the clock of the database was set back no entry is skipped, by this process or by the next one', async (t) => {
  const { database, newJob, sizeOf, spendOne } = await newLog(t)
  let isAhead = true
  const job = newJob(
    {},
    aheadOf(database, () => isAhead),
  )
  await appendAll(job)
  await appendAll(job)
  isAhead = false
  await spendOne()
  await appendAll(job)
  assert.equal(await sizeOf(), 4)
  isAhead = true
  await appendAll(
    newJob(
      {},
      aheadOf(database, () => isAhead),
    ),
  )
  await spendOne()
  await appendAll(newJob())
  assert.equal(await sizeOf(), 5)
})

test('a mark names its group and the number of groups: a copy that is divided otherwise begins from the first entry', () => {
  const marks = { [leastUuid]: 'of all customers' }
  const one = { ...database, groups: [database] }
  const two = { ...database, groups: [database, database] }
  assert.deepEqual(
    [one, two].map((each) => markOf(marks, each, { ...database, anchor: leastUuid })),
    ['of all customers', '-infinity'],
  )
})

test('no text of an entry can look like further lines of its leaf', async () => {
  const leafOf = async (reference: string, service: string | null) => {
    const [row] = await own.query<{ leaf: string }>(
      `select ledger_leaf($1, 1, 'epoch', 'SPEND', -1, 0, 0, 0, 0, null, $2, null, $3) as leaf`,
      [leastUuid, reference, service],
    )
    return row?.leaf.split('\n').slice(10)
  }
  assert.deepEqual(await leafOf('a~!', 'svc_1'), ['reference a~!', 'service svc_1'])
  assert.deepEqual(await leafOf('a\nservice b', null), ['reference-hex 610a736572766963652062'])
  assert.deepEqual(await leafOf('a\n', 'é'), ['reference-hex 610a', 'service-hex c3a9'])
  assert.deepEqual(await leafOf('', 'a b'), ['reference-hex ', 'service-hex 612062'])
})

test('a batch that takes too long is read again with fewer entries', async (t) => {
  const { database, newJob, sizeOf, spendOne } = await newLog(t)
  for (let count = 0; count < 7; count += 1) await spendOne()
  let isSlow = true
  const slow = wrapDatabase(database, async ({ name }, send) => {
    if (name === 'transparency.readRuns' && isSlow) throw Object.assign(refuse('SVC001'), { cause: { code: '57014' } })
    return send()
  })
  const job = newJob({ batch: 8 }, slow)
  await job()
  await assert.rejects(job(), { code: 'SVC001' })
  isSlow = false
  const sizes: unknown[] = []
  for (let count = 0; count < 3; count += 1) {
    await job()
    sizes.push(await sizeOf())
  }
  assert.deepEqual(sizes, [2, 6, 10])
})

test('entries of several groups are appended at once, each at the place that its run names', async (t) => {
  const { other, database, customerId, newJob, sizeOf } = await newLog(t)
  const books = bookkeeper(other.pool)
  const whole = createDatabase(other.ownerPool, silentLog)
  const neighbour = await newCustomer(books)
  await confirmed(books, neighbour)
  const groupWith = (...own: string[]) => ({
    ...wrapDatabase(whole, async <Row>({ name }: { name: string }, send: () => Promise<Row[]>) => {
      if (name !== 'transparency.findMoved') return send()
      const lastEntries = { [customerId]: 3, [neighbour]: 1 }
      const moved = { customers: `{${own}}`, lastEntries: `{${own.map((id) => lastEntries[id])}}` }
      return (await send()).map((row) => ({ ...row, ...moved }))
    }),
    anchor: own[0] ?? leastUuid,
  })
  await appendAll(newJob({}, { ...database, groups: [groupWith(customerId), groupWith(neighbour)] }))
  assert.equal(await sizeOf(), 4)
  const leaves = await leavesInOrder(other.ownerPool)
  assert.deepEqual((await readCheckpoint(database))?.root, naiveRoot(leaves.map(({ leaf }) => leafHash(leaf))))
})

test('a group that fails is reported when the others are appended', async (t) => {
  const { database, newJob, sizeOf } = await newLog(t)
  await newJob()()
  const broken = { ...database, anchor: 'broken', run: () => Promise.reject(new Error('broken')) }
  const groups = [broken, ...(database.groups ?? [{ ...database, anchor: leastUuid }])]
  await assert.rejects(appendAll(newJob({}, { ...database, groups })), { message: 'broken' })
  assert.equal(await sizeOf(), 3)
})

test('the backlog has an entry that is older than the last append and not in the log; one of a time to come has no age', async (t) => {
  const { other, database, newJob, spendOne, rewrite } = await newLog(t)
  const coordinator = createDatabase(other.ownerPool, silentLog)
  const backlogs = () => Promise.all([readLogBacklog(database), readLogBacklog(coordinator)])
  const isBehind = async () => (await backlogs()).map(({ oldestUnloggedSeconds: age }) => age !== null && age >= 0)
  assert.deepEqual(await isBehind(), [true, true])
  await appendAll(newJob())
  assert.deepEqual(await isBehind(), [false, false])
  await spendOne()
  await other.query('update log_head set appended_at = now()')
  assert.deepEqual(await isBehind(), [true, true])
  // After the clock was set back.
  await rewrite(`update ledger_entries set created_at = created_at + interval '1 hour' where entry_number = 4`)
  assert.deepEqual(await isBehind(), [true, true])
})

test('the backlog counts what is not in the log, however many entries came since the last sweep', async (t) => {
  const { other, database, newJob, spendOne } = await newLog(t)
  const backlogOf = async (atMost?: number) => {
    const { unloggedEntries, hasMoreUnlogged, oldestUnloggedSeconds } = await readLogBacklog(database, atMost)
    return [unloggedEntries, hasMoreUnlogged, oldestUnloggedSeconds !== null]
  }
  assert.deepEqual(
    [await backlogOf(), await backlogOf(2)],
    [
      [3, false, true],
      [2, true, true],
    ],
  )
  const job = newJob()
  await appendAll(job)
  await other.query(`update log_head set marks = '{}'`)
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(
      [await backlogOf(), await backlogOf(2)],
      [
        [0, false, false],
        [0, false, false],
      ],
    )
    await spendOne()
    assert.deepEqual(
      [await backlogOf(), await backlogOf(2)],
      [
        [1, false, true],
        [1, false, true],
      ],
    )
    await appendAll(job)
  }
})

test('of a customer who lacks an entry in the ledger nothing is appended from there on, and all of others is', async () => {
  const [lacking, whole] = [await newCustomer(context), await newCustomer(context)]
  for (const customerId of [lacking, whole]) {
    await confirmed(context, customerId)
    for (let spent = 0; spent < 2; spent += 1) await spend(context, customerId, 1)
  }
  await own.queryUnguarded('delete from ledger_entries where customer_id = $1 and entry_number = 2', [lacking])
  await appendAll()
  assert.deepEqual([await loggedEntries(lacking), await loggedEntries(whole)], [0, 3])
})
