// Publication of checkpoints, on a real database with real witnesses and consumers: what is published, in which order, once, and
// what a rotation of the keys leaves valid.
import assert from 'node:assert/strict'
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import { createTallies } from '../../src/core/tallies.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { createDatabase, type Database } from '../../src/db/database.ts'
import { addEndpoint } from '../../src/events/endpoints.ts'
import { createOutbound } from '../../src/events/outbound.ts'
import { platformCustomer } from '../../src/events/outbox.sql.ts'
import { audit } from '../../src/payments/audit/audit.ts'
import type { PaymentContext } from '../../src/payments/context.ts'
import { createAppendToLog } from '../../src/transparency/append.ts'
import { readCheckpoint } from '../../src/transparency/log.sql.ts'
import { receiptOfEntries } from '../../src/transparency/log.ts'
import { logKeysOf, signedTextOf } from '../../src/transparency/note.ts'
import {
  addCosignature,
  beginPublication,
  listPublished,
  writeCheckpointEvent,
} from '../../src/transparency/publication/checkpoints.sql.ts'
import { cosignedNote, findCosignature, validCosignatures } from '../../src/transparency/publication/cosignature.ts'
import { readKeyList, signKeyList } from '../../src/transparency/publication/key-list.ts'
import { createPublish, type PublicationContext } from '../../src/transparency/publication/publish.ts'
import { knownKeys, newestNote } from '../../src/transparency/publication/published.ts'
import { askWitness, readWitnesses, type Witness } from '../../src/transparency/publication/witnesses.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'
import { startConsumer } from '../support/events/consumer.ts'
import { deliver, slowSettings } from '../support/events/world.ts'
import { testPeppers } from '../support/service/service.ts'
import { leavesOf, memoryLog, origin, startTestWitness, vkeysOf } from '../support/transparency/memory-log.ts'

const [oldPepper] = testPeppers
const newPepper = { version: 2, secret: 'the pepper after a rotation' }

let own: OwnTestDatabase
let database: Database
let books: PaymentContext
let customerId: string
const outbound = createOutbound({ allowPrivate: true, timeoutMs: 2_000 })
before(async () => {
  own = await createTestDatabase()
  database = createDatabase(own.pool, silentLog)
  books = bookkeeper(own.pool)
  customerId = await newCustomer(books)
  await confirmed(books, customerId, 'paid', 'PRO')
})
after(async () => {
  await outbound.close()
  await own.drop()
})

const run = (publish: ReturnType<typeof createPublish>, stopping = new AbortController().signal) => publish(stopping)

const stateFile = () => join(tmpdir(), `witness-${randomUUID()}.json`)

function contextOf({
  peppers = [oldPepper],
  ...settings
}: Partial<PublicationContext['settings']> & { peppers?: { secret: string }[] } = {}): PublicationContext {
  return {
    database,
    signer: { keys: logKeysOf(peppers, origin), origin },
    settings: { witnesses: [], everySeconds: 0, file: undefined, ...settings },
    post: (url, body, giveUp) => outbound.exchange(url, { headers: {}, body }, giveUp),
    openAccount: () => findOrCreateCustomer(database, platformCustomer, null),
    tallies: createTallies(),
    log: silentLog,
  }
}

/** An entry more, in the log. */
async function grow(peppers: { secret: string }[] = [oldPepper]): Promise<number> {
  await spend(books, customerId, 1)
  const append = createAppendToLog(database, { keys: logKeysOf(peppers, origin), origin }, { freshMs: 0 })
  while ((await append()).more);
  return (await readCheckpoint(database))?.size ?? assert.fail('there is no checkpoint')
}

const events = () =>
  own.query<{ number: number; data: { size: string; root: string; note: string } }>(
    `select event_number as number, data from events where customer_id = $1 order by event_number`,
    [platformCustomer],
  )
const published = () => listPublished(database, null, 100)

function witnessesOf(...all: { url: string; vkey: string }[]): Witness[] {
  return readWitnesses(all.map(({ url, vkey }) => `${url} ${vkey}`).join()) ?? assert.fail('no witnesses')
}

/** As a verifier that has this key, without the code of the service. */
function isSignedBy(vkey: string, note: string): boolean {
  const [text = '', lines = ''] = note.split('\n\n')
  const [name = '', id = '', ...encoded] = vkey.split('+')
  const raw = Buffer.from(encoded.join('+'), 'base64').subarray(1)
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' })
  return lines.split('\n').some((line) => {
    const bytes = Buffer.from(line.split(' ')[2] ?? '', 'base64')
    const isOfKey = line.startsWith(`— ${name} `) && bytes.toString('hex', 0, 4) === id
    return isOfKey && verify(null, Buffer.from(`${text}\n`), key, bytes.subarray(4))
  })
}

test('a checkpoint is published with the cosignatures of its witnesses: rows, event, file', async () => {
  await using stack = new AsyncDisposableStack()
  const file = join(tmpdir(), `checkpoint-${randomUUID()}`)
  stack.defer(() => fs.rmSync(file, { force: true }))
  const one = await startTestWitness({ logs: vkeysOf([oldPepper]) })
  stack.defer(one.close)
  const two = await startTestWitness({ logs: vkeysOf([oldPepper]), name: 'witness.example/w2' })
  stack.defer(two.close)
  const witnesses = witnessesOf(one, two)
  const publish = createPublish(contextOf({ witnesses, file }))
  const size = await grow()
  await run(publish)
  const head = await readCheckpoint(database)
  const [row] = await published()
  assert.ok(row && head)
  assert.deepEqual([row.size, row.root, row.note], [size, head.root, head.note])
  for (const { key } of witnesses) {
    const line: string = row.cosignatures.find(({ vkey }) => vkey === key.vkey)?.line ?? ''
    assert.equal(findCosignature(line, signedTextOf(head.note), key), line)
  }
  const note = cosignedNote(row)
  assert.equal(fs.readFileSync(file, 'utf8'), note)
  assert.deepEqual(
    (await events()).map(({ number, data }) => [number, data]),
    [[1, { customerId: platformCustomer, size: String(size), root: head.root.toString('base64'), note }]],
  )
})

test('nothing is published while the log has not grown, before the time is over, or when the head is not the one that was looked at', async () => {
  const count = (await published()).length
  await run(createPublish(contextOf()))
  const { note = '' } = (await readCheckpoint(database)) ?? {}
  await grow()
  assert.equal(await beginPublication(database, { note, keys: 'a list' }, 0), false)
  await run(createPublish(contextOf({ everySeconds: 3_600 })))
  assert.equal((await published()).length, count)
  await run(createPublish(contextOf()))
  assert.equal((await published()).length, count + 1)
})

test('the first checkpoint is published as long after the first customer as the next ones after it', async () => {
  await using stack = new AsyncDisposableStack()
  const other = await createTestDatabase()
  stack.defer(() => other.drop())
  const young = createDatabase(other.pool, silentLog)
  const context = bookkeeper(other.pool)
  await confirmed(context, await newCustomer(context))
  const append = createAppendToLog(young, { keys: logKeysOf([oldPepper], origin), origin }, { freshMs: 0 })
  while ((await append()).more);
  const publish = createPublish({
    ...contextOf({ everySeconds: 3_600 }),
    database: young,
    openAccount: () => findOrCreateCustomer(young, platformCustomer, null),
  })
  await run(publish)
  assert.deepEqual(await listPublished(young, null, 100), [])
  await other.query('update customers set created_at = $1', [new Date(Date.now() - 3_600_000)])
  await run(publish)
  assert.equal((await listPublished(young, null, 100)).length, 1)
})

test('a witness that is away stops nothing, cosigns the same checkpoint when it is back, and is not asked for it again', async () => {
  await using stack = new AsyncDisposableStack()
  const state = stateFile()
  const away = await startTestWitness({ logs: vkeysOf([oldPepper]), stateFile: state })
  await away.close()
  const warned: object[] = []
  const log = { ...silentLog, warn: (fields: object) => warned.push(fields) }
  const context = contextOf({ witnesses: witnessesOf(away) })
  const publish = createPublish({ ...context, log })
  const size = await grow()
  await run(publish)
  assert.deepEqual((await published()).at(-1)?.cosignatures, [])
  assert.deepEqual(warned, [{ witness: 'witness.example/w1', size, error: 'ECONNREFUSED' }])
  assert.equal((await events()).at(-1)?.data.size, String(size))
  const back = await startTestWitness({
    logs: vkeysOf([oldPepper]),
    stateFile: state,
    port: Number(new URL(away.url).port),
  })
  stack.defer(back.close)
  await run(publish)
  const row = (await published()).at(-1)
  assert.deepEqual([row?.size, row?.cosignatures.length], [size, 1])
  await run(publish)
  assert.deepEqual(context.tallies.cosignatures, { received: 1, missing: 1, contradicted: 0 })
  assert.equal((await events()).filter(({ data }) => Number(data.size) === size).length, 1)
})

test('a witness is asked once for each checkpoint, from the newest that it has cosigned', async () => {
  await using stack = new AsyncDisposableStack()
  const witness = await startTestWitness({ logs: vkeysOf([oldPepper]) })
  stack.defer(witness.close)
  const context = contextOf({ witnesses: witnessesOf(witness) })
  const asked: (string | undefined)[] = []
  const post: typeof context.post = (url, body, giveUp) => {
    asked.push(body.split('\n')[0])
    return context.post(url, body, giveUp)
  }
  const sizes = [0]
  for (let round = 0; round < 3; round += 1) {
    sizes.push(await grow())
    await run(createPublish({ ...context, post }))
  }
  assert.deepEqual(
    asked,
    sizes.slice(0, 3).map((size) => `old ${size}`),
  )
})

test('a checkpoint that was signed again after its publication is shown with the new signature and its cosignatures', async () => {
  await using stack = new AsyncDisposableStack()
  const witness = await startTestWitness({ logs: vkeysOf([oldPepper]) })
  stack.defer(witness.close)
  await grow()
  await run(createPublish(contextOf({ witnesses: witnessesOf(witness) })))
  const row = (await published()).at(-1) ?? assert.fail('nothing was published')
  const keys = logKeysOf([newPepper, oldPepper], origin)
  const append = createAppendToLog(database, { keys, origin }, { freshMs: 0 })
  while ((await append()).more);
  const note = (await newestNote(database, { keys, origin })) ?? assert.fail('there is no checkpoint')
  assert.deepEqual(
    keys.map(({ vkey }) => isSignedBy(vkey, note)),
    [true, true],
  )
  assert.ok(row.cosignatures.length === 1 && note.endsWith(row.cosignatures[0]?.line ?? 'a line'))
})

test('a process that is stopped while it asks the witnesses leaves the event to another one', async () => {
  const size = await grow()
  const before = (await events()).length
  await run(createPublish(contextOf()), AbortSignal.abort())
  assert.deepEqual([(await published()).at(-1)?.size === size, (await events()).length], [false, before])
  await run(createPublish(contextOf(), 0))
  assert.deepEqual([(await published()).at(-1)?.size === size, (await events()).length], [true, before + 1])
})

test('a receipt is under the checkpoint with most cosignatures, also when a newer one has all its entries and fewer', async () => {
  await using stack = new AsyncDisposableStack()
  const logs = vkeysOf([oldPepper])
  const stays = await startTestWitness({ logs })
  stack.defer(stays.close)
  const leaves = await startTestWitness({ logs, name: 'witness.example/w2' })
  const publish = createPublish(contextOf({ witnesses: witnessesOf(stays, leaves) }))
  await grow()
  await run(publish)
  await leaves.close()
  await grow()
  await run(publish)
  const [both, one] = (await published()).slice(-2)
  assert.deepEqual([both?.cosignatures.length, one?.cosignatures.length], [2, 1])
  const receipt = await receiptOfEntries(database, { keys: logKeysOf([oldPepper], origin), origin }, customerId, [1])
  assert.equal(receipt !== 'not logged yet' && receipt.checkpoint, both && cosignedNote(both))
})

test('of several processes at once one begins a publication, and its event is written once', async () => {
  const size = await grow()
  await Promise.all(Array.from({ length: 6 }, () => run(createPublish(contextOf(), 0))))
  // Those that met another one at the account try again.
  await run(createPublish(contextOf(), 0))
  assert.equal((await published()).filter((row) => row.size === size).length, 1)
  const numbers = (await events()).map(({ number }) => number)
  assert.deepEqual(
    numbers,
    numbers.map((_, at) => at + 1),
  )
  assert.equal((await events()).filter(({ data }) => Number(data.size) === size).length, 1)
})

test('of two processes that wait for the account of the platform with the same checkpoint one writes its event', async () => {
  const size = await grow()
  const { root } = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  const holder = await own.ownerPool.connect()
  await holder.query('begin')
  await holder.query('update accounts set moved_at = moved_at where customer_id = $1', [platformCustomer])
  const writing = [1, 2].map(() => writeCheckpointEvent(database, { size, root, note: 'the note' }))
  await until('both wait', async () => {
    const waiting = await own.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return waiting.length === 2
  })
  await holder.query('commit')
  holder.release()
  assert.deepEqual((await Promise.all(writing)).sort(), [false, true])
  assert.equal((await events()).filter(({ data }) => Number(data.size) === size).length, 1)
  await run(createPublish(contextOf()))
})

test('a publication that its process did not complete is completed by another one, event included, and only then by the next', async () => {
  const before = (await published()).length
  for (const dies of ['before the event', 'after the event'] as const) {
    const size = await grow()
    const context = contextOf()
    const dying = createPublish({
      ...context,
      openAccount: async () => {
        if (dies === 'before the event') throw new Error('the process ended')
        await context.openAccount()
      },
      database: dies === 'before the event' ? database : failingAt('transparency.endPublication'),
    })
    await assert.rejects(run(dying), /the process ended/)
    assert.notEqual((await published()).at(-1)?.size, size)
    const newer = await grow()
    await run(createPublish(contextOf()))
    assert.notEqual((await published()).at(-1)?.size, size, 'it may still be under way')
    await run(createPublish(contextOf(), 0))
    assert.equal((await published()).at(-1)?.size, size)
    assert.equal((await events()).filter(({ data }) => Number(data.size) === size).length, 1)
    await run(createPublish(contextOf()))
    assert.equal((await published()).at(-1)?.size, newer)
  }
  assert.equal((await published()).length, before + 4)
})

test('a checkpoint whose publication is under way is in no file yet', async () => {
  await using stack = new AsyncDisposableStack()
  const file = join(tmpdir(), `checkpoint-${randomUUID()}`)
  stack.defer(() => fs.rmSync(file, { force: true }))
  const size = await grow()
  const dying = createPublish({ ...contextOf(), openAccount: () => Promise.reject(new Error('the process ended')) })
  await assert.rejects(run(dying), /the process ended/)
  await run(createPublish(contextOf({ file })))
  const isEarly = fs.existsSync(file)
  await run(createPublish(contextOf({ file }), 0))
  assert.equal(isEarly, false)
  assert.equal(fs.readFileSync(file, 'utf8').split('\n')[1], String(size))
})

/** The connection is lost for good at one statement. */
function failingAt(name: string): Database {
  return {
    ...database,
    run: (statement, values) =>
      statement.name === name ? Promise.reject(new Error('the process ended')) : database.run(statement, values),
  }
}

test('events of the platform are delivered in their order, signed, and an audit of everything finds nothing', async () => {
  await using stack = new AsyncDisposableStack()
  const consumer = await startConsumer()
  stack.defer(() => consumer.close())
  const types = ['checkpoint.published' as const]
  const { secret } = await addEndpoint(database, oldPepper, { url: consumer.url, types })
  consumer.secrets.push(secret)
  const sizes: number[] = []
  for (let round = 0; round < 3; round += 1) {
    sizes.push(await grow())
    await run(createPublish(contextOf()))
  }
  const delivery = {
    database,
    outbound,
    sealing: testPeppers,
    settings: slowSettings,
    log: silentLog,
    tallies: createTallies(),
  }
  await deliver(delivery)
  const received = consumer.received.map(({ payload }) => payload)
  assert.deepEqual(
    received.map(({ type, data }) => [type, Number((data as { size?: string }).size)]),
    sizes.map((size) => [types[0], size]),
  )
  const { violations } = await audit(database)
  assert.deepEqual(violations, [])
})

test('the audit finds a published checkpoint that is not of the log, and any cosignature that is not of it', async () => {
  const rule = 'every published checkpoint is of the transparency log, with cosignatures of its text'
  const [row] = await published()
  assert.ok(row?.cosignatures.length === 2)
  const damages = [
    `update log_checkpoints set root = sha256('another') where size = ${row.size}`,
    `update log_checkpoints set note = replace(note, E'\\n${row.size}\\n', E'\\n${row.size + 1}\\n') where size = ${row.size}`,
    `update log_cosignatures c set line = o.line from log_cosignatures o
     where c.size = ${row.size} and o.size = c.size and o.vkey <> c.vkey`,
    ...row.cosignatures.map(
      ({ vkey }) =>
        `update log_cosignatures set line = replace(line, ' ', ' A') where size = ${row.size} and vkey = '${vkey}'`,
    ),
  ]
  const attacker = await own.ownerPool.connect()
  try {
    for (const damage of damages) {
      await attacker.query('begin; set local session_replication_role = replica')
      await attacker.query(damage)
      await attacker.query('set local session_replication_role = origin')
      const { violations } = await audit(createDatabase(attacker, silentLog))
      await attacker.query('rollback')
      assert.deepEqual(
        violations
          // The journal finds a changed row, too.
          .filter(({ invariant }) => invariant !== 'J-2')
          .map((each) => [each.rule, (each.detail as { size?: number }).size]),
        [[rule, row.size]],
        damage,
      )
    }
  } finally {
    attacker.release()
  }
})

test('rotation: both signatures while both secrets are set, and what was published before stays valid under the old key', async () => {
  await using stack = new AsyncDisposableStack()
  const [oldKey = '', newKey = ''] = vkeysOf([oldPepper, newPepper])
  const knowsOld = await startTestWitness({ logs: [oldKey] })
  stack.defer(knowsOld.close)
  const state = stateFile()
  const learns = await startTestWitness({ logs: [oldKey], name: 'witness.example/w2', stateFile: state })
  const step = async (peppers: { secret: string }[], witnesses: { url: string; vkey: string }[]) => {
    await grow(peppers)
    await run(createPublish(contextOf({ peppers, witnesses: witnessesOf(...witnesses) })))
    return (await published()).at(-1) ?? assert.fail('nothing was published')
  }
  const receipt = async () => {
    const proven = await receiptOfEntries(
      database,
      { keys: logKeysOf([newPepper, oldPepper], origin), origin },
      customerId,
      [1],
    )
    return proven === 'not logged yet' ? assert.fail(proven) : proven.checkpoint
  }
  const earlier = await step([oldPepper], [knowsOld, learns])
  const ofEarlier = await receipt()
  const between = await step([newPepper, oldPepper], [knowsOld, learns])
  await learns.close()
  const learned = await startTestWitness({ logs: [newKey], name: 'witness.example/w2', stateFile: state })
  stack.defer(learned.close)
  const later = await step([newPepper], [knowsOld, learned])
  const signed = [earlier, between, later].map(({ note }) => [isSignedBy(oldKey, note), isSignedBy(newKey, note)])
  assert.deepEqual(signed, [
    [true, false],
    [true, true],
    [false, true],
  ])
  const cosigners = [earlier, between, later].map(({ cosignatures }) => cosignatures.map(({ vkey }) => vkey).sort())
  const both = [knowsOld.vkey, learned.vkey].sort()
  assert.deepEqual(cosigners, [both, both, [learned.vkey]], 'one that has not learned the new key does not cosign')
  assert.deepEqual(await knownKeys(database, logKeysOf([newPepper], origin)), [newKey, oldKey])
  for (const [note, of] of [
    [ofEarlier, earlier],
    [await receipt(), between],
  ] as const) {
    assert.equal(signedTextOf(note), signedTextOf(of.note), 'the newest that most witnesses have cosigned')
    assert.ok(isSignedBy(oldKey, note) && isSignedBy(newKey, note), 'a verifier may know either key')
    for (const { line } of of.cosignatures) assert.ok(note.includes(line))
  }
})

test('a key is listed when a known key has signed the list that names it, whatever else is in the database', async () => {
  const [newKey = '', oldKey = '', foreign = ''] = vkeysOf([newPepper, oldPepper, { secret: 'of an intruder' }])
  const intruder = logKeysOf([{ secret: 'of an intruder' }], origin)
  const planted = signKeyList(intruder, [foreign, newKey])
  const otherwise = foreign.replace(/[0-9a-f]{8}(?=\+)/, '00000000')
  assert.deepEqual(
    [foreign, otherwise, `${foreign}=`].map((vkey) => readKeyList(planted, [vkey]).length),
    [2, 0, 0],
    'a text that is not exactly a key is none',
  )
  await grow([newPepper])
  const head = (await readCheckpoint(database)) ?? assert.fail('there is no checkpoint')
  assert.ok(await beginPublication(database, { note: head.note, keys: planted }, 0))
  await run(createPublish(contextOf({ peppers: [newPepper] }), 0))
  assert.deepEqual(await knownKeys(database, logKeysOf([newPepper], origin)), [newKey, oldKey])
  assert.deepEqual(await knownKeys(database, intruder), [foreign, newKey, oldKey])
})

test('a process that has none of the keys in the note publishes nothing', async () => {
  const size = await grow([newPepper])
  await run(createPublish(contextOf({ peppers: [oldPepper] })))
  assert.notEqual((await published()).at(-1)?.size, size)
  await run(createPublish(contextOf({ peppers: [newPepper] })))
  assert.equal((await published()).at(-1)?.size, size)
})

test('a line that is no cosignature is not shown: the note would be refused as a whole', async () => {
  const row = (await published()).at(-1) ?? assert.fail('nothing was published')
  await addCosignature(database, row.size, 'witness.example/w9+00000000+BAAA', `— ${origin} AAAA\n`)
  const now = (await published()).at(-1)
  assert.deepEqual([now?.cosignatures.length, now && cosignedNote(now)], [1, row.note])
  for (const pepper of [oldPepper, newPepper]) {
    const keys = logKeysOf([pepper], origin)
    const isUsable = (note: string) => keys.some(({ vkey }) => isSignedBy(vkey, note))
    const usable = (await published()).filter((each) => isUsable(each.note)).reverse()
    const [used] = usable.toSorted((one, other) => validCosignatures(other).length - validCosignatures(one).length)
    const receipt = await receiptOfEntries(database, { keys, origin }, customerId, [1])
    assert.ok(used && receipt !== 'not logged yet')
    assert.equal(receipt.checkpoint, cosignedNote(used), 'the newest with most cosignatures and a key of the log')
  }
  // For the audits of other tests: as the owner, past the guards.
  const owner = await own.ownerPool.connect()
  await owner.query(`set session_replication_role = replica; delete from log_cosignatures where vkey like '%w9%'`)
  owner.release(true)
})

test('a witness that has cosigned a larger or another log is an error with a counter, not a warning', async () => {
  await using stack = new AsyncDisposableStack()
  const witness = await startTestWitness({ logs: vkeysOf([newPepper]) })
  stack.defer(witness.close)
  // What the witness has seen is gone from this database, as after a restore.
  const other = memoryLog(leavesOf(1_000), [newPepper])
  const [key] = witnessesOf(witness)
  const seen = await askWitness(
    (url, body) => outbound.exchange(url, { headers: {}, body }, new AbortController().signal),
    key ?? assert.fail('no witness'),
    { size: 1_000, note: other.note(), proofFrom: async (from) => other.proof(from, 1_000) },
    0,
  )
  assert.ok('line' in seen)
  const [errors, warned]: object[][] = [[], []]
  const context = contextOf({ peppers: [newPepper], witnesses: witnessesOf(witness) })
  const log = { warn: (fields: object) => warned?.push(fields), error: (fields: object) => errors?.push(fields) }
  const size = await grow([newPepper])
  await run(createPublish({ ...context, log }))
  const error = 'the witness has cosigned a larger tree, of 1000 leaves'
  assert.deepEqual([errors, warned], [[{ witness: 'witness.example/w1', size, error }], []])
  assert.deepEqual(context.tallies.cosignatures, { received: 0, missing: 0, contradicted: 1 })
})

test('under another name, as after a restore, the log goes on: it is published and the audit finds nothing', async () => {
  const name = 'log.example/credits-2'
  const keys = logKeysOf([newPepper], name)
  await spend(books, customerId, 1)
  const append = createAppendToLog(database, { keys, origin: name }, { freshMs: 0 })
  while ((await append()).more);
  await run(createPublish({ ...contextOf(), signer: { keys, origin: name } }))
  const row = (await published()).at(-1)
  assert.ok(row?.note.startsWith(`${name}\n${row.size}\n`) && isSignedBy(keys[0]?.vkey ?? '', row.note))
  assert.deepEqual(await knownKeys(database, keys), [keys[0]?.vkey], 'keys of the old name are not of this log')
  assert.deepEqual((await audit(database)).violations, [])
})
