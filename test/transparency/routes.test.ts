// The log over HTTP: on the internal listener without a key, on the public one by a setting, and by the audit with a checkpoint
// that was kept.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fastify } from 'fastify'
import { databaseUrl, defer, newDirectory } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { until } from '../../harness/until.ts'
import type { Refusal } from '../../src/core/errors.ts'
import { createDatabase } from '../../src/db/database.ts'
import { logKeysOf, readCheckpointNote, signCheckpoint } from '../../src/transparency/note.ts'
import { logRoutes } from '../../src/transparency/routes.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { wrapDatabase } from '../support/database/connections.ts'
import { callCli } from '../support/service/cli-call.ts'
import { testPeppers } from '../support/service/service.ts'
import { startWholeService } from '../support/service/whole-service.ts'
import { naiveProof, naiveRoot } from '../support/transparency.ts'

const origin = 'example.com/log'
const keys = logKeysOf(testPeppers, origin)
const service = await startWholeService({ after }, { PUBLIC_LOG: 'on', LOG_ORIGIN: origin })
const context = bookkeeper(service.database.pool)
const customerId = await newCustomer(context)
await confirmed(context, customerId)
for (let credits = 1; credits <= 3; credits += 1) await spend(context, customerId, credits)

const read = (path: string, base = service.internalUrl) => fetch(`${base}/log/${path}`)
async function sizeIs(size: number): Promise<string> {
  let note = ''
  await until(`the log has ${size} entries`, async () => {
    note = await (await read('checkpoint')).text()
    return readCheckpointNote(note)?.size === size
  })
  return note
}
const leaves = async () => {
  const hashes = Buffer.from(await (await read('tile/0/000.p/4')).arrayBuffer())
  return [0, 1, 2, 3].map((at) => hashes.subarray(at * 32, (at + 1) * 32))
}

test('the worker logs a movement within seconds, and the log is served without a key', async () => {
  const note = await sizeIs(4)
  assert.equal(readCheckpointNote(note)?.origin, 'example.com/log')
  assert.deepEqual(readCheckpointNote(note)?.root, naiveRoot(await leaves()))
  const keys = await read('keys')
  assert.match(await keys.text(), /^example\.com\/log\+[0-9a-f]{8}\+AR?[A-Za-z0-9+/=]+\n$/)
  assert.equal(keys.headers.get('content-type'), 'text/plain; charset=utf-8')
  const { from, to, proof } = (await (await read('consistency?from=3')).json()) as Record<string, string[]>
  assert.deepEqual([from, to], ['3', '4'])
  assert.deepEqual(
    proof,
    naiveProof(3, await leaves()).map((hash) => hash.toString('base64')),
  )
})

test('a tile has as many hashes as its address says, and may be kept for minutes: after a restore another log has its address; one that the log does not have is not found', async () => {
  const partial = await read('tile/0/000.p/2')
  assert.deepEqual(Buffer.from(await partial.arrayBuffer()), Buffer.concat((await leaves()).slice(0, 2)))
  assert.deepEqual(
    [partial.headers.get('cache-control'), partial.headers.get('content-type')],
    ['public, max-age=300', 'application/octet-stream'],
  )
  const missing = [
    'tile/0/000',
    'tile/0/000.p/5',
    'tile/1/000.p/1',
    'tile/0/0',
    'consistency?from=5',
    'consistency',
    'x',
  ]
  for (const path of missing) assert.equal((await read(path)).status === 200, false, path)
  for (const path of ['tile/0/000', 'consistency?from=3&to=2', 'consistency?from=1&to=9'])
    assert.equal((await read(path)).status, 404, path)
})

test('checkpoints after something that is no size of a log are not found', async () => {
  assert.equal((await read('checkpoints?after=1')).status, 200)
  for (const after of ['', 'x', '-1', '+1', '01', '1.5', '0x1', '1e1', '1'.repeat(16), '1&after=2'])
    assert.equal((await read(`checkpoints?after=${after}`)).status, 404, after)
})

test('PUBLIC_LOG serves the same on the public listener', async (t) => {
  assert.equal(await (await read('checkpoint', service.publicUrl)).text(), await (await read('checkpoint')).text())
  const without = await startWholeService(t, { WORKER: 'off' })
  assert.equal((await read('checkpoint', without.publicUrl)).status, 401)
  // No worker has begun a log there.
  assert.equal((await read('checkpoint', without.internalUrl)).status, 404)
})

test('what everyone asks for is read once a second at most, and a network that asks too often is refused', async (t) => {
  let statements = 0
  const database = wrapDatabase(createDatabase(service.database.pool, silentLog), (_statement, send) => {
    statements += 1
    return send()
  })
  const app = fastify()
  app.setErrorHandler(({ code, retryAfterSeconds }: Refusal, _request, reply) => reply.send([code, retryAfterSeconds]))
  logRoutes(app, { database, signer: { keys, origin } })
  defer(t, () => app.close())
  const ask = async (path: string, remoteAddress = '198.51.100.1') =>
    (await app.inject({ url: `/log/${path}`, remoteAddress })).body
  const busy = '["SVC001",1]'
  for (let asked = 0; asked < 100; asked += 1)
    for (const path of ['checkpoint', 'checkpoints', 'keys']) assert.notEqual(await ask(path), busy)
  assert.ok(statements < 40, `${statements} statements`)
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => ask('keys')))
  assert.ok(answers.includes(busy))
  assert.match(await ask('keys', '198.51.100.2'), /^example\.com/)
})

test('a read of the log that failed is not kept: the next request reads again', async (t) => {
  let isBroken = true
  const database = wrapDatabase(createDatabase(service.database.pool, silentLog), (_statement, send) =>
    isBroken ? Promise.reject(new Error('broken')) : send(),
  )
  const app = fastify()
  logRoutes(app, { database, signer: { keys, origin } })
  defer(t, () => app.close())
  const statuses = () =>
    Promise.all(
      ['checkpoint', 'checkpoints', 'keys'].map(async (path) => (await app.inject(`/log/${path}`)).statusCode),
    )
  assert.deepEqual(await statuses(), [500, 500, 500])
  isBroken = false
  assert.deepEqual(await statuses(), [200, 200, 200])
})

test('while the database does not answer, reads of the log that waited for a second are refused', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const database = wrapDatabase(createDatabase(service.database.pool, silentLog), async (_statement, send) => {
    await promise
    return send()
  })
  const app = fastify()
  app.setErrorHandler(({ code, retryAfterSeconds }: Refusal, _request, reply) => reply.send([code, retryAfterSeconds]))
  logRoutes(app, { database, signer: { keys, origin } })
  defer(t, () => app.close())
  const sizes = ['1', '2', '3', '4', '5', '6']
  const answers = sizes.map(async (size) => (await app.inject(`/log/consistency?from=${size}&to=${size}`)).body)
  assert.deepEqual(await Promise.all(answers.slice(4)), ['["SVC001",1]', '["SVC001",1]'])
  resolve()
  await Promise.all(answers)
})

test('audit --checkpoint passes with a checkpoint of before and fails with another; the metrics have the size', async (t) => {
  const directory = newDirectory(t)
  const kept = join(directory, 'kept.checkpoint')
  writeFileSync(kept, await (await read('checkpoint')).text())
  await spend(context, customerId, 1)
  await sizeIs(5)
  const settings = {
    DATABASE_URL: databaseUrl(service.database.connection),
    KEY_PEPPER: testPeppers[0].secret,
    LOG_ORIGIN: origin,
  }
  const call = (...files: string[]) =>
    callCli(t, service.dataDir, ['audit', ...files.flatMap((file) => ['--checkpoint', file]), '--json'], settings)
  const passed = await call(kept)
  assert.deepEqual([passed.code, JSON.parse(passed.stdout).checked.loggedEntries], [0, 5], passed.stderr)
  const forged = join(directory, 'forged.checkpoint')
  writeFileSync(forged, signCheckpoint(keys, { origin, size: 5, root: Buffer.alloc(32) }))
  const failed = await call(kept, forged)
  assert.equal(failed.code, 1)
  const { violations } = JSON.parse(failed.stdout)
  assert.deepEqual(
    violations.map(({ rule, detail }: { rule: string; detail: { checkpoint: string } }) => [rule, detail.checkpoint]),
    [['the transparency log contains the checkpoint that was kept', forged]],
  )
  const none = join(directory, 'none')
  writeFileSync(none, 'hello')
  assert.match((await call(none)).stderr, /is no checkpoint, receipt or consistency proof/)
  // Text alone proves nothing: a checkpoint of another log, and one with another root under the signature of this one.
  const unsigned = join(directory, 'unsigned.checkpoint')
  for (const note of [
    signCheckpoint(logKeysOf([{ secret: 'of another' }], origin), { origin, size: 5, root: Buffer.alloc(32) }),
    (await (await read('checkpoint')).text()).replace(/\n5\n.{5}/, '\n5\nAAAAA'),
  ]) {
    writeFileSync(unsigned, note)
    const { code, stderr } = await call(kept, unsigned)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /unsigned\.checkpoint is no checkpoint, .* of this log: NOT VERIFIED: (no known key|the signature)/,
    )
  }
  const metrics = await service.scrape()
  assert.match(metrics, /^credits_transparency_log_size 5$/m)
  assert.match(metrics, /^credits_transparency_log_oldest_missing_seconds 0$/m)
})
