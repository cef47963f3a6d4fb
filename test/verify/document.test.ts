// What docs/receipts.md and docs/operations.md tell people to run, run as it stands there against a service: a consistency proof
// as a file, and the comparison of earlier files with a log that was renamed.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { databaseUrl, newDirectory, repository } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { logKeysOf, readCheckpointNote, signCheckpoint } from '../../src/transparency/note.ts'
import { bookkeeper, confirmed, newCustomer, spend } from '../support/database/books.ts'
import { callCli } from '../support/service/cli-call.ts'
import { testPeppers } from '../support/service/service.ts'
import { startWholeService } from '../support/service/whole-service.ts'

const execute = promisify(execFile)
const directory = newDirectory({ after })
const inDirectory = (name: string) => join(directory, name)
const [oldName, newName] = ['example.com/log', 'example.com/log-2']
const [oldKeys, newKeys] = [logKeysOf(testPeppers, oldName), logKeysOf(testPeppers, newName)]
const [oldKey = '', newKey = ''] = [...oldKeys, ...newKeys].map(({ vkey }) => vkey)

const before = await startWholeService({ after }, { LOG_ORIGIN: oldName })
const books = bookkeeper(before.database.pool)
const customerId = await newCustomer(books)
await confirmed(books, customerId)
await spend(books, customerId, 1)

let url = `${before.internalUrl}/log`
async function readCheckpoint(origin: string, size: number): Promise<string> {
  let note = ''
  await until(`${origin} has ${size} entries`, async () => {
    note = await (await fetch(`${url}/checkpoint`)).text()
    const read = readCheckpointNote(note)
    return read?.origin === origin && read.size === size
  })
  return note
}
const settings = { DATABASE_URL: databaseUrl(before.database.connection), KEY_PEPPER: testPeppers[0].secret }
const call = (origin: string, ...line: string[]) =>
  callCli({ after }, before.dataDir, line, { ...settings, LOG_ORIGIN: origin })
async function saveReceipt(origin: string, to: number, file: string): Promise<void> {
  const { code, stdout, stderr } = await call(
    origin,
    'receipt',
    '--customer',
    customerId,
    '--from',
    '1',
    '--to',
    `${to}`,
  )
  assert.equal(code, 0, stderr)
  writeFileSync(inDirectory(file), stdout)
}
const ofOldName = await readCheckpoint(oldName, 2)
writeFileSync(inDirectory('last.checkpoint'), ofOldName)
await saveReceipt(oldName, 2, 'old.json')
await before.close()
const service = await startWholeService({ after }, { LOG_ORIGIN: newName }, before)
url = `${service.internalUrl}/log`
await spend(books, customerId, 2)
await readCheckpoint(newName, 3)

/** The first block of commands below a heading. */
function blockBelow(heading: string): string {
  const document = readFileSync(join(repository, 'docs/receipts.md'), 'utf8')
  const [, below = ''] = document.split(`\n### ${heading}\n`)
  return /^```sh\n([\s\S]*?)^```$/m.exec(below)?.[1] ?? assert.fail(heading)
}

const hasTools = ['curl', 'jq', 'python3'].every((tool) => spawnSync(tool, ['--version']).status === 0)

test('the documented commands make a consistency proof that connects a receipt with the current log', {
  skip: hasTools ? false : 'no curl, jq or python3 on this machine',
}, async () => {
  await saveReceipt(newName, 3, 'kept.json')
  await spend(books, customerId, 3)
  await readCheckpoint(newName, 4)
  const verifier = join(repository, 'examples/verify/verify.py')
  const script = blockBelow('A consistency proof as a file').replace('examples/verify/verify.py', verifier)
  const env = { ...process.env, URL: url, VKEY: newKey, PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await execute('sh', ['-euc', script], { cwd: directory, env })
  assert.match(stdout, /verified receipt[\s\S]*verified consistency proof[\s\S]*checkpoint of 4 entries/)
  const { code } = await call(newName, 'verify', inDirectory('kept.json'), inDirectory('proof.json'), '--key', newKey)
  assert.equal(code, 0)
})

test('the documented program shows that a renamed log begins with an earlier receipt, and that another one does not', async () => {
  const program = join(repository, 'examples/verify/compare.mjs')
  const env = { ...process.env, URL: url, OLD_VKEY: oldKey, NEW_VKEY: newKey }
  const compare = (kept: string) => {
    writeFileSync(inDirectory('kept.json'), kept)
    return execute(process.execPath, [program, 'kept.json'], { cwd: directory, env })
  }
  const contained = await compare(readFileSync(inDirectory('old.json'), 'utf8'))
  assert.match(contained.stdout, /begins with the 2 entries of your file/)
  for (const size of [2, 9]) {
    const lost = signCheckpoint(oldKeys, { origin: oldName, size, root: Buffer.alloc(32) })
    await assert.rejects(compare(lost), /two histories|not found|is no list/)
  }
})

test('the audit compares files of a renamed log under the old name, and refuses them under the new one', async () => {
  const audit = (origin: string, file: string) => call(origin, 'audit', '--checkpoint', inDirectory(file), '--json')
  for (const file of ['last.checkpoint', 'old.json']) {
    const found = await audit(oldName, file)
    assert.equal(found.code, 0, found.stdout + found.stderr)
    const refused = await audit(newName, file)
    assert.deepEqual([refused.code, /of this log: NOT VERIFIED: no known key/.test(refused.stderr)], [1, true])
  }
  const lost = signCheckpoint(oldKeys, { origin: oldName, size: 9, root: Buffer.alloc(32) })
  writeFileSync(inDirectory('lost.checkpoint'), lost)
  const { code, stdout } = await audit(oldName, 'lost.checkpoint')
  const [violation] = JSON.parse(stdout).violations
  assert.deepEqual([code, violation.rule], [1, 'the transparency log contains the checkpoint that was kept'])
  await readCheckpoint(newName, violation.detail.sizeNow)
})
