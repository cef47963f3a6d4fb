// The verifier that ships with the client, and its twin in Python: what they accept, what they refuse, and that they agree.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyFiles } from '../../client/src/verify/files.ts'
import { verify } from '../../client/src/verify/verify.js'
import { newDirectory, repository } from '../../harness/processes.ts'
import { type Case, corpus, log, logSigner, origin, strangerSigner, witness, witnessTime } from './corpus.ts'
import { customers, newLog, newSigner, orderOf, seedOf } from './reference-log.ts'

const bytesOf = (file: string | Uint8Array) => (typeof file === 'string' ? new TextEncoder().encode(file) : file)

async function report({ files, keys = [] }: Case) {
  const named = files.map((file, place) => ({ name: `file ${place + 1}`, content: bytesOf(file) }))
  try {
    return await verifyFiles(named, { keys })
  } catch (error) {
    const key = String((error as { code?: string }).code)
    return { ok: false, result: 'not verified', files: [], history: '', key }
  }
}

/** A key of a witness has the type 4. */
const isOfLog = (vkey: string) => Buffer.from(vkey.split('+').slice(2).join('+'), 'base64')[0] === 1

/** What every verifier has to say of a case. */
function resultOf({ problem, keys = [] }: Case): string {
  if (problem !== null) return 'not verified'
  return keys.some(isOfLog) ? 'verified' : 'consistent, signer not known'
}

test('every good file is verified, every broken one refused for what is wrong with it', async (t) => {
  for (const each of corpus) {
    await t.test(each.name, async () => {
      const found = await report(each)
      assert.equal(found.result, resultOf(each), JSON.stringify(found))
      assert.equal(found.ok, found.result === 'verified')
      // What is about several files, or about keys that must have signed, is no refusal of one file.
      const isOfFiles = ['any', 'bytes', 'witness'].includes(each.problem ?? '')
      if (each.files.length > 1 || each.problem === null || isOfFiles) return
      const refused = await verify(Buffer.from(bytesOf(each.files[0] ?? '')).toString(), each.keys).catch(
        (error) => error,
      )
      assert.equal(refused.code, each.problem, refused.message)
    })
  }
})

const driver = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
import verify
for case in json.load(sys.stdin):
    try:
        files = [verify.verify(base64.b64decode(each).decode(), case["keys"]) for each in case["files"]]
        verify.check_together(files, case["keys"])
        print(files[0]["result"])
    except (verify.Refused, UnicodeDecodeError) as error:
        print("not verified")
`
const python = spawnSync('python3', ['--version']).status === 0

test('the program in Python agrees on every file', { skip: python ? false : 'no python3 on this machine' }, () => {
  const input = corpus.map(({ files, keys = [] }) => ({
    files: files.map((file) => Buffer.from(bytesOf(file)).toString('base64')),
    keys,
  }))
  const folder = join(repository, 'examples/verify')
  const ran = spawnSync('python3', ['-B', '-c', driver, folder], { input: JSON.stringify(input), encoding: 'utf8' })
  assert.equal(ran.status, 0, ran.stderr)
  const answers = ran.stdout.trimEnd().split('\n')
  assert.deepEqual(
    corpus.flatMap((each, place) => (answers[place] === resultOf(each) ? [] : [`${each.name}: ${answers[place]}`])),
    [],
  )
  assert.equal(answers.length, corpus.length)
})

test('nothing of a hostile file reaches the terminal of the program in Python', {
  skip: python ? false : 'no python3 on this machine',
}, (t) => {
  const directory = newDirectory(t)
  // By the name of the file, and by an origin that turns the direction of the text.
  const hostile = newLog('log\u202e.example', [], [newSigner('log\u202e.example', seedOf('hostile'))])
  const files = [join(directory, 'name\u001b[2J'), join(directory, 'origin')]
  writeFileSync(files[0] ?? '', log.checkpoint())
  writeFileSync(files[1] ?? '', hostile.checkpoint())
  const program = join(repository, 'examples/verify/verify.py')
  const run = (...args: string[]) => spawnSync('python3', ['-B', program, ...args], { encoding: 'utf8' })
  const [named, signed] = [run(files[0] ?? '', '--key', logSigner.vkey), run(files[1] ?? '')]
  assert.deepEqual([named.status, signed.status], [0, 1])
  assert.match(signed.stderr, /no known key of log\\u202e\.example/)
  for (const { stdout, stderr } of [named, signed]) assert.doesNotMatch(`${stdout}${stderr}`, /[^\n\x20-\x7e]/)
})

test('the program in Python ends with another code when the signer is not known', {
  skip: python ? false : 'no python3 on this machine',
}, (t) => {
  const file = join(newDirectory(t), 'receipt.json')
  writeFileSync(file, JSON.stringify(log.receipt({ order: orderOf(0) }, [0])))
  const program = join(repository, 'examples/verify/verify.py')
  const run = (...args: string[]) => spawnSync('python3', ['-B', program, file, ...args], { encoding: 'utf8' })
  const [known, unknown, foreign] = [run('--key', logSigner.vkey), run(), run('--key', strangerSigner.vkey)]
  assert.deepEqual([known.status, unknown.status, foreign.status], [0, 3, 1])
  assert.match(unknown.stdout, /consistent receipt, signer not known/)
  assert.doesNotMatch(unknown.stdout, /verified/)
})

test('a verified receipt has its entries, its checkpoint, its key and its witnesses', async () => {
  const checkpoint = log.checkpoint(41, [witness.line(log.bodyOf(41), witnessTime)])
  const receipt = JSON.stringify({ ...log.receipt({ order: orderOf(0) }, [0]), checkpoint })
  const found = await verify(receipt, [logSigner.vkey, witness.vkey])
  const [entry] = found.entries
  assert.deepEqual([found.kind, found.result, found.subject], ['receipt', 'verified', { order: orderOf(0) }])
  assert.deepEqual(
    [entry?.customer, entry?.entry, entry?.delta, entry?.balance, entry?.index],
    [customers[0], 1n, 21n, 21n, 0n],
  )
  assert.deepEqual(found.checkpoints[0]?.signed, [
    { vkey: logSigner.vkey, isWitness: false, time: null },
    { vkey: witness.vkey, isWitness: true, time: witnessTime },
  ])
  assert.equal((await verify(receipt, [witness.vkey])).result, 'consistent, signer not known')
  // A receipt that brings a witness of its own is not witnessed.
  const withKeys = JSON.stringify({ ...JSON.parse(receipt), keys: [logSigner.vkey, witness.vkey] })
  assert.deepEqual(
    (await verify(withKeys)).checkpoints[0]?.signed.map(({ vkey }) => vkey),
    [logSigner.vkey],
  )
})

test('the verifier has at most 150 lines and imports nothing', () => {
  const text = readFileSync(join(repository, 'client/src/verify/verify.js'), 'utf8')
  assert.ok(text.trimEnd().split('\n').length <= 150)
  assert.doesNotMatch(text, /\bimport\b|\brequire\b/)
})

test('the examples of the document are what the verifier accepts', async () => {
  const document = readFileSync(join(repository, 'docs/receipts.md'), 'utf8')
  const blocks = [...document.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
  const [leaf = '', note = ''] = blocks
  const [, vkey = ''] = /`(prepaid-credits\/log\+[^`]+=?)` verifies the example/.exec(document) ?? []
  assert.equal((await verify(note, [vkey])).checkpoints[0]?.size, 3n)
  const [, reference] = /reference (\S+)/.exec(leaf) ?? []
  const ofExample = newLog(origin, [leaf.trimEnd()], [logSigner])
  const found = await verify(JSON.stringify(ofExample.receipt({ customer: customers[0], reference }, [0])))
  assert.equal(found.entries[0]?.balance, 18n)
})
