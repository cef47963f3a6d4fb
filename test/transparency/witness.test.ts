// The client of witnesses against the witness of examples/witness, over HTTP: what is cosigned, what is refused, and that two
// histories of one log are found.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { isConsistent } from '../../examples/witness/checkpoint.ts'
import type { RunningWitness } from '../../examples/witness/witness.ts'
import { createOutbound } from '../../src/events/outbound.ts'
import { signedTextOf } from '../../src/transparency/note.ts'
import { findCosignature, isCosignature, rememberChecked } from '../../src/transparency/publication/cosignature.ts'
import { askWitness, readWitnesses, type Witness } from '../../src/transparency/publication/witnesses.ts'
import {
  leavesOf,
  type MemoryLog,
  memoryLog,
  origin,
  startTestWitness,
  vkeysOf,
} from '../support/transparency/memory-log.ts'
import { cosign, testWitness } from '../support/transparency/test-witness.ts'

const outbound = createOutbound({ allowPrivate: true, timeoutMs: 2_000 })
after(() => outbound.close())
const post = (url: string, body: string) => outbound.exchange(url, { headers: {}, body }, new AbortController().signal)

function witnessOf({ url, vkey }: RunningWitness): Witness {
  return readWitnesses(`${url} ${vkey}`)?.[0] ?? assert.fail('not the setting of a witness')
}

const otherHistory = { error: 'the witness has cosigned another tree of that size', isContradiction: true }

const toSign = (log: MemoryLog, size: number) => ({
  size,
  note: log.note(size),
  proofFrom: async (from: number) => (from > size ? null : log.proof(from, size)),
})

test('every tree of up to 40 leaves is shown to continue every smaller one, and no other', () => {
  const log = memoryLog(leavesOf(40))
  const other = memoryLog(leavesOf(40, 'other'))
  for (let to = 1; to <= 40; to += 1) {
    for (let from = 0; from <= to; from += 1) {
      const proof = log.proof(from, to)
      const check = (older: MemoryLog, hashes: Buffer[]) =>
        isConsistent(BigInt(from), BigInt(to), older.rootAt(from), log.rootAt(to), hashes)
      assert.ok(check(log, proof), `${from} to ${to}`)
      if (from > 0) assert.ok(!check(other, proof), `other ${from} to ${to}`)
      assert.ok(!check(log, [...proof, Buffer.alloc(32)]), `${from} to ${to} and a hash more`)
      if (proof.length > 0) assert.ok(!check(log, proof.slice(1)), `${from} to ${to} and a hash less`)
    }
  }
})

test('a witness cosigns each checkpoint that continues the one before, and the cosignature is of that text and key', async () => {
  await using stack = new AsyncDisposableStack()
  const running = await startTestWitness()
  stack.defer(running.close)
  const witness = witnessOf(running)
  const log = memoryLog(leavesOf(300))
  for (const [known, size] of [
    [0, 7],
    [7, 7],
    [7, 256],
    [256, 300],
  ] as const) {
    const answer = await askWitness(post, witness, toSign(log, size), known)
    assert.ok('line' in answer, JSON.stringify(answer))
    const text = signedTextOf(log.note(size))
    assert.equal(findCosignature(answer.line, text, witness.key), answer.line)
    assert.equal(findCosignature(answer.line, signedTextOf(log.note(1)), witness.key), undefined)
    const other = await startTestWitness()
    stack.defer(other.close)
    assert.equal(findCosignature(answer.line, text, witnessOf(other).key), undefined)
    const seconds = Buffer.from(answer.line.trimEnd().split(' ').at(-1) ?? '', 'base64').readBigUInt64BE(4)
    assert.ok(Math.abs(Number(seconds) * 1_000 - Date.now()) < 5_000)
  }
})

test('a cosignature of the time zero, or of one that takes 64 bits, is none, although its signature is right', () => {
  const note = memoryLog(leavesOf(3)).note(3)
  const found = (line: string) => findCosignature(line, signedTextOf(note), testWitness.key)
  assert.equal(found(cosign(note, 1)), cosign(note, 1))
  assert.equal(found(cosign(note, 0)), undefined)
  assert.equal(found(cosign(note, 2n ** 63n)), undefined)
})

test('a stored cosignature is one line and nothing else: no line of another before it or after it', () => {
  const note = memoryLog(leavesOf(3)).note(3)
  const [line, other] = [cosign(note), '— unknown.example/w2 AAAA\n']
  const isOne = (stored: string) => isCosignature(testWitness.key.vkey, stored, signedTextOf(note))
  assert.deepEqual([line, other + line, line + other, line + line].map(isOne), [true, false, false, false])
})

test('a cosignature is checked once for each text, line and key, up to a number of them', () => {
  const checked: string[] = []
  const check = (vkey: string, line: string, text: string) => {
    checked.push(`${vkey} ${line} ${text}`)
    return vkey === 'valid'
  }
  const isValid = rememberChecked(check, 3)
  for (let round = 0; round < 2; round += 1) {
    assert.ok(isValid('valid', 'line', 'text'))
    assert.ok(!isValid('other', 'line', 'text'))
    assert.ok(isValid('valid', 'line', 'another text'))
  }
  assert.equal(checked.length, 3)
  isValid('valid', 'another line', 'text')
  isValid('other', 'line', 'text')
  assert.equal(checked.length, 4)
  isValid('valid', 'line', 'text')
  assert.equal(checked.length, 5, 'the oldest was forgotten')
})

test('a witness that has cosigned another size than expected is asked once more, from that size', async () => {
  await using stack = new AsyncDisposableStack()
  const running = await startTestWitness()
  stack.defer(running.close)
  const log = memoryLog(leavesOf(20))
  const bodies: string[] = []
  const recorded = (url: string, body: string) => {
    bodies.push(body)
    return post(url, body)
  }
  for (const [known, size, sent] of [
    [0, 5, ['old 0']],
    [0, 12, ['old 0', 'old 5']],
    [3, 20, ['old 3', 'old 12']],
  ] as const) {
    bodies.length = 0
    assert.ok('line' in (await askWitness(recorded, witnessOf(running), toSign(log, size), known)))
    assert.deepEqual(
      bodies.map((body) => body.split('\n')[0]),
      sent,
    )
  }
  assert.deepEqual(await askWitness(recorded, witnessOf(running), toSign(log, 15), 3), {
    error: 'the witness has cosigned a larger tree, of 20 leaves',
    isContradiction: true,
  })
})

test('a witness answers each wrong request with the status of the protocol, and forgets nothing by it', async () => {
  await using stack = new AsyncDisposableStack()
  const running = await startTestWitness()
  stack.defer(running.close)
  const { url } = running
  const log = memoryLog(leavesOf(10))
  const other = memoryLog(leavesOf(10, 'other'))
  const stranger = memoryLog(leavesOf(10), [{ secret: 'another pepper entirely' }])
  const body = (old: number | string, proof: Buffer[], note: string) =>
    `old ${old}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`
  assert.ok('line' in (await askWitness(post, witnessOf(running), toSign(log, 6), 0)))
  const proof = log.proof(6, 10)
  const [signature = ''] = /— .*\n$/.exec(other.note()) ?? []
  const cases: [string, string, number, string?][] = [
    ['no request at all', 'hello', 400],
    ['a leading zero', body('06', proof, log.note()), 400],
    ['a hash that is none', `old 6\nabc\n\n${log.note()}`, 400],
    [
      '64 hashes',
      body(
        6,
        Array.from({ length: 64 }, () => Buffer.alloc(32)),
        log.note(),
      ),
      400,
    ],
    ['an old size beyond the checkpoint', body(7, [], log.note(6)), 400],
    ['an unknown log', body(6, proof, log.note().replaceAll(origin, 'log.example/other')), 404],
    ['an unknown key', body(6, proof, stranger.note()), 403],
    ['a wrong signature of a known key', body(6, proof, log.note().replace(/— .*\n$/, signature)), 403],
    ['a wrong signature beside a right one', body(6, proof, `${log.note()}${signature}`), 403],
    ['another old size', body(5, log.proof(5, 10), log.note()), 409, '6\n'],
    ['no old size', body(0, [], log.note()), 409, '6\n'],
    ['a proof that does not verify', body(6, other.proof(6, 10), other.note()), 422],
    ['no proof', body(6, [], log.note()), 422],
    ['the same size with another root', body(6, [], other.note(6)), 422],
    ['a smaller checkpoint', body(6, [], log.note(5)), 400],
    ['too much', body(6, proof, `${log.note()}${'x'.repeat(20_000)}`), 413],
  ]
  for (const [what, text, status, answered] of cases) {
    const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body: text })
    assert.equal(answer.status, status, what)
    if (answered !== undefined) {
      assert.equal(await answer.text(), answered, what)
      assert.equal(answer.headers.get('content-type'), 'text/x.tlog.size', what)
    }
  }
  assert.ok('line' in (await askWitness(post, witnessOf(running), toSign(log, 10), 6)), 'it goes on where it was')
})

test('a witness that was restarted has its key and its last checkpoint, and shows it', async () => {
  await using stack = new AsyncDisposableStack()
  const stateFile = join(tmpdir(), `witness-${randomUUID()}.json`)
  const log = memoryLog(leavesOf(9))
  const first = await startTestWitness({ stateFile })
  const { line = '' } = (await askWitness(post, witnessOf(first), toSign(log, 4), 0)) as { line?: string }
  await first.close()
  const second = await startTestWitness({ stateFile })
  stack.defer(second.close)
  assert.equal(second.vkey, first.vkey)
  const path = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(origin))).toString('hex')
  assert.equal(await (await fetch(`${second.url}/${path}/checkpoint`)).text(), `${log.note(4)}${line}`)
  const forked = memoryLog(leavesOf(9, 'other'))
  assert.deepEqual(await askWitness(post, witnessOf(second), toSign(forked, 9), 0), otherHistory)
  assert.ok('line' in (await askWitness(post, witnessOf(second), toSign(log, 9), 0)))
  assert.equal(fs.statSync(stateFile).mode & 0o777, 0o600)
})

test('the file of a witness and its name are on the disk before a cosignature is sent', async (t) => {
  await using stack = new AsyncDisposableStack()
  const stateFile = join(fs.mkdtempSync(join(tmpdir(), 'witness-')), 'witness.json')
  stack.defer(() => fs.rmSync(dirname(stateFile), { recursive: true }))
  const running = await startTestWitness({ stateFile })
  stack.defer(running.close)
  const steps: string[] = []
  const { renameSync, fsyncSync } = fs
  t.mock.method(fs, 'renameSync', (from: string, to: string) => {
    steps.push(`rename to ${basename(to)}`)
    renameSync(from, to)
  })
  t.mock.method(fs, 'fsyncSync', (descriptor: number) => {
    const isDirectory = fs.fstatSync(descriptor).ino === fs.statSync(dirname(stateFile)).ino
    if (isDirectory) steps.push('synchronise the directory')
    fsyncSync(descriptor)
  })
  const answer = await askWitness(post, witnessOf(running), toSign(memoryLog(leavesOf(3)), 3), 0)
  assert.ok('line' in answer)
  assert.deepEqual(steps, ['rename to witness.json', 'synchronise the directory'])
})

test('two histories shown to two holders are found by comparing checkpoints, and no witness cosigns both', async () => {
  await using stack = new AsyncDisposableStack()
  const splits: string[][] = []
  const running = await startTestWitness({ onSplit: (...notes) => splits.push(notes) })
  stack.defer(running.close)
  // One of the entries is different for the second holder, and everything after it is repaired.
  const leaves = leavesOf(50)
  const shown = memoryLog(leaves)
  const alsoShown = memoryLog(leaves.with(17, 'leaf 17, changed'))
  for (const size of [18, 50]) assert.notDeepEqual(shown.rootAt(size), alsoShown.rootAt(size), 'one size and two roots')
  for (let from = 18; from < 50; from += 1) {
    const proofs = [shown.proof(from, 50), alsoShown.proof(from, 50)]
    const isProven = proofs.some((proof) =>
      isConsistent(BigInt(from), 50n, shown.rootAt(from), alsoShown.rootAt(50), proof),
    )
    assert.ok(!isProven, `no proof of the log leads from ${from} of the one to 50 of the other`)
  }
  assert.ok('line' in (await askWitness(post, witnessOf(running), toSign(shown, 30), 0)))
  for (const size of [30, 50]) {
    assert.deepEqual(await askWitness(post, witnessOf(running), toSign(alsoShown, size), 30), otherHistory)
  }
  // A wrong proof beside a right checkpoint is no evidence: anyone can send one.
  const damaged = { ...toSign(shown, 50), proofFrom: async () => alsoShown.proof(30, 50) }
  assert.ok('error' in (await askWitness(post, witnessOf(running), damaged, 30)))
  assert.deepEqual(
    splits.map(([, refused]) => refused),
    [alsoShown.note(30)],
  )
  assert.ok(splits.every(([cosigned]) => cosigned?.startsWith(shown.note(30))))
})

test('an answer of a witness that is not its cosignature is not taken', async () => {
  await using stack = new AsyncDisposableStack()
  const running = await startTestWitness()
  stack.defer(running.close)
  const log = memoryLog(leavesOf(3))
  const { key } = witnessOf(running)
  const { line = '' } = (await askWitness(post, witnessOf(running), toSign(log, 2), 0)) as { line?: string }
  const without = { error: 'no valid cosignature of its key' }
  // The last bits before the padding are not part of the bytes: a lenient reader decodes both to the same.
  const [, head = '', encoded = ''] = /^(— \S+ )(\S+)\n$/.exec(line) ?? []
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = encoded.search(/.=*$/)
  const otherBits = digits[digits.indexOf(encoded[last] ?? '') + 1]
  const otherwise = `${encoded.slice(0, last)}${otherBits}${encoded.slice(last + 1)}`
  assert.deepEqual(Buffer.from(otherwise, 'base64'), Buffer.from(encoded, 'base64'))
  const answers: [number, string, { line: string } | { error: string }][] = [
    [200, `${head}${otherwise}\n`, without],
    [200, line.replace('\n', '=\n'), without],
    [200, `— unknown.example/w2 AAAA\n${line}`, { line }],
    [200, line.trimEnd(), without],
    [200, '', without],
    [200, log.note(2), without],
    [409, '2\n', { error: 'HTTP 409' }],
    [409, 'two', { error: 'HTTP 409 without a size' }],
    [302, '', { error: 'HTTP 302' }],
    [500, line, { error: 'HTTP 500' }],
    [200, 'x'.repeat(5_000), { error: 'ANSWER_TOO_LONG' }],
  ]
  let answered = 0
  const server = createServer((request, response) => {
    const [status, text] = answers[answered] ?? [500, '']
    request.resume().on('end', () => response.writeHead(status).end(text))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const [index, [status, , expected]] of answers.entries()) {
    answered = index
    assert.deepEqual(await askWitness(post, { url, key }, toSign(log, 2), 0), expected, `${index}: ${status}`)
  }
})

test('a witness at a private address is not asked, unless events may go there too', async () => {
  await using stack = new AsyncDisposableStack()
  const strict = createOutbound({ allowPrivate: false, timeoutMs: 2_000 })
  stack.defer(() => strict.close())
  const answer = await strict.exchange(
    'https://127.0.0.1:8443/add-checkpoint',
    { headers: {}, body: 'old 0' },
    AbortSignal.timeout(2_000),
  )
  assert.deepEqual(answer, { error: '127.0.0.1 is not a public address' })
})

test('LOG_WITNESSES is a list of URLs with verifier keys of cosignatures', async () => {
  await using stack = new AsyncDisposableStack()
  const one = await startTestWitness()
  stack.defer(one.close)
  const two = await startTestWitness({ name: 'witness.example/w2' })
  stack.defer(two.close)
  const read = readWitnesses(` https://w1.example/log/ ${one.vkey} , ${two.url} ${two.vkey},`)
  assert.deepEqual(
    read?.map(({ url, key }) => [url, key.vkey]),
    [
      ['https://w1.example/log', one.vkey],
      [two.url, two.vkey],
    ],
  )
  assert.deepEqual(readWitnesses(''), [])
  const [logKey] = vkeysOf([{ secret: 'of a log' }])
  const wrong = [
    one.url,
    one.vkey,
    `ftp://w1.example ${one.vkey}`,
    `${one.url}?a=b ${one.vkey}`,
    `${one.url}#a ${one.vkey}`,
    `${one.url} ${one.vkey} more`,
    `${one.url} ${logKey}`,
    `${one.url} ${one.vkey.replace('w1', 'w3')}`,
    `${one.url} ${one.vkey}=`,
  ]
  for (const text of wrong) assert.equal(readWitnesses(text), undefined, text)
})

test('LOG_WITNESSES names each witness once, whatever its URL', async () => {
  await using stack = new AsyncDisposableStack()
  const { url, vkey, close } = await startTestWitness()
  stack.defer(close)
  assert.equal(readWitnesses(`${url} ${vkey}`)?.length, 1)
  for (const again of [url, 'https://w2.example'])
    assert.equal(readWitnesses(`${url} ${vkey}, ${again} ${vkey}`), undefined, again)
})
