// `credits verify`, most of it without a database and without settings: what it prints, its exit codes, and the comparison with a log.
import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newDirectory } from '../../harness/processes.ts'
import { callCli } from '../support/service/cli-call.ts'
import { forked, log, logSigner, origin, witness, witnessTime } from './corpus.ts'
import { customers, newLog, newSigner, orderOf, type ReferenceLog, seedOf } from './reference-log.ts'

const directory = newDirectory({ after })
const key = ['--key', logSigner.vkey]

function write(name: string, content: string | object): string {
  const file = join(directory, name)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

/** Settings that no other command would start with. */
const broken = { DATABASE_URL: 'not-a-url', KEY_PEPPER: 'short', PORT: 'no port' }
const run = (...args: string[]) => callCli({ after }, directory, ['verify', ...args], broken)

async function report(...args: string[]) {
  const { code, stdout } = await run(...args, '--json')
  return { code, ...JSON.parse(stdout) }
}

/** The sizes of the checkpoints that the witness has cosigned. */
let published: number[] = []
let shown: { log: ReferenceLog; size: number } = { log, size: 41 }
let server: Server
let url: string
before(async () => {
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://log')
    const [from, to] = [Number(searchParams.get('from')), Number(searchParams.get('to') ?? shown.size)]
    if (pathname === '/log/checkpoint') response.end(shown.log.checkpoint(shown.size))
    else if (pathname === '/log/checkpoints') {
      const notes = published.map((size) =>
        shown.log.checkpoint(size, [witness.line(shown.log.bodyOf(size), witnessTime)]),
      )
      response.end(JSON.stringify({ checkpoints: notes.map((note) => ({ note })) }))
    } else if (pathname === '/log/keys') response.end(`${logSigner.vkey}\n`)
    else if (pathname === '/log/consistency' && to <= shown.size) {
      response.end(JSON.stringify({ from: String(from), to: String(to), proof: shown.log.proof(from, to) }))
    } else response.writeHead(404).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/log`
})
after(() => server.close())

const statement = { statement: { customer: customers[0], from: 1, to: 10 } }
const receipt = write(
  'receipt.json',
  log.receipt(
    statement,
    Array.from({ length: 10 }, (_, place) => place * 2),
  ),
)
const cosigned = {
  ...log.receipt({ order: orderOf(0) }, [0]),
  checkpoint: log.checkpoint(41, [witness.line(log.bodyOf(41), witnessTime)]),
}
const older = write('older', log.checkpoint(20))

test('a receipt by a given key: exit code 0, with entries, sums, size and key', async () => {
  const { code, stdout, stderr } = await run(receipt, ...key)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^ok: +true\nresult: +verified\nkey: +given\n/)
  for (const cell of [
    'receipt.json',
    `entries 1 to 10 of customer ${customers[0]}`,
    logSigner.vkey,
    ' 10   18       18 ',
    ' 41 ',
  ])
    assert.ok(stdout.includes(cell), `${cell} in ${stdout}`)
})

test('without a key it is consistent and the signer is not known: exit code 3', async () => {
  const { code, ok, result, files } = await report(receipt)
  assert.deepEqual([code, ok, result], [3, false, 'consistent, signer not known'])
  assert.equal(files[0].result, 'consistent receipt, signer not known')
  const ofWitness = await report(write('cosigned.json', cosigned), '--key', witness.vkey)
  assert.deepEqual([ofWitness.code, ofWitness.result], [3, 'consistent, signer not known'])
})

test('the key of a witness alone does not make the signer known, even where the witness has signed: exit code 3', async () => {
  const file = write('of-witness.json', cosigned)
  const { code, ok, result, key: source, files } = await report(file, '--key', witness.vkey)
  assert.deepEqual([code, ok, result], [3, false, 'consistent, signer not known'])
  assert.deepEqual([source.startsWith('not given'), files[0].result], [true, 'consistent receipt, signer not known'])
  assert.ok(files[0].cosignedBy.startsWith(witness.vkey))
})

const own = { KEY_PEPPER: 'the pepper of this service', LOG_ORIGIN: 'example.com/own' }
const ownSeed = Buffer.from(hkdfSync('sha256', own.KEY_PEPPER, '', 'prepaid-credits transparency log', 32))
const ownSigner = newSigner(own.LOG_ORIGIN, ownSeed)

test('with the environment of a service the key of its log is used, which --key replaces', async () => {
  const ask = async (file: string, ...args: string[]) => {
    const { code, stdout } = await callCli({ after }, directory, ['verify', file, ...args, '--json'], own)
    const { result, key } = JSON.parse(stdout)
    return [code, result, key]
  }
  const ofService = newLog(own.LOG_ORIGIN, log.leaves, [ownSigner]).receipt({ order: orderOf(0) }, [0])
  const file = write('own.json', ofService)
  assert.deepEqual(await ask(file), [0, 'verified', 'of this service'])
  assert.deepEqual((await ask(file, '--key', logSigner.vkey)).slice(0, 2), [1, 'not verified'])
  // Anyone can sign under the name of a log.
  const stranger = newSigner(own.LOG_ORIGIN, seedOf('stranger'))
  const forgery = write(
    'forged.json',
    newLog(own.LOG_ORIGIN, log.leaves, [stranger]).receipt({ order: orderOf(0) }, [0]),
  )
  assert.deepEqual((await ask(forgery)).slice(0, 2), [1, 'not verified'])
  assert.deepEqual(await ask(receipt, ...key), [0, 'verified', 'given'])
})

test('with the environment of a service the key of a witness is used beside the key of its log', async () => {
  const ofService = newLog(own.LOG_ORIGIN, log.leaves, [ownSigner])
  const ask = async (name: string, lines: string[]) => {
    const content = { ...ofService.receipt({ order: orderOf(0) }, [0]), checkpoint: ofService.checkpoint(41, lines) }
    const args = ['verify', write(name, content), '--key', witness.vkey, '--json']
    const { code, stdout } = await callCli({ after }, directory, args, own)
    const { result, key: source } = JSON.parse(stdout)
    return [code, result, source]
  }
  const line = witness.line(ofService.bodyOf(41), witnessTime)
  assert.deepEqual(await ask('own-cosigned.json', [line]), [0, 'verified', 'of this service'])
  assert.deepEqual((await ask('own-alone.json', [])).slice(0, 2), [1, 'not verified'])
})

test('a broken receipt: exit code 1, and no more than a sentence', async () => {
  const [entry, ...others] = log.receipt({ order: orderOf(0) }, [0]).entries
  const leaf = entry?.leaf.replace('delta 21', 'delta 22')
  const file = write('broken.json', {
    ...log.receipt({ order: orderOf(0) }, [0]),
    entries: [{ ...entry, leaf }, ...others],
  })
  const { code, stdout, stderr } = await run(file, ...key)
  assert.deepEqual([code, stderr], [1, ''])
  assert.match(stdout, /NOT VERIFIED: entry 1 is not at index 0/)
  assert.doesNotMatch(stdout, / at .*verify\.js/)
})

test('no file, a key that is none and an address that is none: exit code 2; a file that is not there: 1', async () => {
  for (const args of [[], [receipt, '--key', 'my key'], [receipt, '--log', 'somewhere']])
    assert.equal((await run(...args)).code, 2, args.join(' '))
  const missing = await run(join(directory, 'missing.json'))
  assert.deepEqual([missing.code, /ENOENT/.test(missing.stderr)], [1, true])
  const wrongId = await run(receipt, '--key', logSigner.vkey.replace(/\+[0-9a-f]{8}/, '+00000000'))
  assert.deepEqual([wrongId.code, wrongId.stdout], [1, ''])
})

test('the line of a witness is verified when its key is given', async () => {
  const file = write('cosigned', log.checkpoint(41, [witness.line(log.bodyOf(41), witnessTime)]))
  const { code, files } = await report(file, ...key, '--key', witness.vkey)
  assert.deepEqual([code, files[0].cosignedBy], [0, `${witness.vkey} at 2025-11-15T11:05:45.000Z`])
})

test('two files of two sizes need the log, which proves that they are of one history', async () => {
  const alone = await report(receipt, older, ...key)
  assert.deepEqual(
    [alone.code, alone.history],
    [1, 'not proven to be one history: checkpoints of 20 and 41 entries; give --log'],
  )
  const compared = await report(receipt, older, ...key, '--log', url)
  assert.deepEqual([compared.code, compared.history], [0, 'one history: 3 checkpoints, the largest of 41 entries'])
  assert.equal(compared.files[0].signedBy, logSigner.vkey)
})

test('beside a given key those that the files and the log name are not used', async () => {
  const other = newSigner(origin, seedOf('stranger'))
  const { code, result, files } = await report(receipt, older, '--key', other.vkey, '--log', url)
  assert.deepEqual([code, result], [1, 'not verified'])
  for (const file of files) assert.match(file.result, /^NOT VERIFIED: no known key/)
})

test('a given witness must have cosigned the entries, in a file or in a checkpoint that the log has published', async () => {
  const ask = () => report(receipt, ...key, '--key', witness.vkey, '--log', url)
  const unsigned = await ask()
  assert.deepEqual(
    [unsigned.code, unsigned.history],
    [1, `the witness ${witness.vkey} has cosigned none of the checkpoints`],
  )
  // The first index is 0: the checkpoint of 16 entries does not have the entry at index 16.
  for (const size of [15, 16]) {
    published = [5, size]
    const early = await ask()
    assert.equal(early.code, 1)
    assert.match(early.history, /has not cosigned a checkpoint with the entry at index 16 yet$/)
  }
  published = [5, 15, 30]
  const seen = await ask()
  assert.deepEqual([seen.code, seen.files.at(-1).file], [0, `${url}/checkpoints of 30 entries`])
})

test('two receipts of one entry that say different things are refused, although the log has only grown', async () => {
  const subject = { customer: customers[0], reference: 'use-3' }
  const leaf = (log.leaves[4] ?? '').replace('delta -3\nbalance 15', 'delta -2\nbalance 16')
  shown = { log: newLog(origin, [...log.leaves, leaf], [logSigner]), size: 42 }
  const before = write('before-change.json', shown.log.receipt(subject, [4], 41))
  const now = write('after-change.json', shown.log.receipt(subject, [41]))
  const { code, history } = await report(before, now, ...key, '--log', url)
  assert.deepEqual([code, history], [1, `two versions of entry 3 of customer ${customers[0]}: at index 4 and 41`])
})

test('a log that shows another history is found by an older receipt', async () => {
  shown = { log: forked, size: 39 }
  const file = write('before.json', log.receipt({ order: orderOf(0) }, [0], 30))
  const { code, history } = await report(file, ...key, '--log', url)
  assert.deepEqual([code, history], [1, 'two histories: the 39 entries do not begin with the earlier 30'])
})

test('a log that was cut is found by a newer receipt', async () => {
  shown = { log, size: 40 }
  const { code, history } = await report(receipt, ...key, '--log', url)
  assert.equal(code, 1)
  assert.match(history, /^the log proves no history of 40 and 41 entries/)
})

test('a log that does not answer is no proof: exit code 1', async () => {
  const { code, history } = await report(receipt, ...key, '--log', 'http://127.0.0.1:1/log')
  assert.equal(code, 1)
  assert.match(history, /^the log did not answer/)
})
