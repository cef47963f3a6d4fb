// A whole service with a witness beside it: what it publishes by itself, and what others get from it over HTTP.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isConsistent } from '../../examples/witness/checkpoint.ts'
import { defer, usedDataDir } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { logKeysOf, readCheckpointNote, signedTextOf } from '../../src/transparency/note.ts'
import { findCosignature, witnessKeyOf } from '../../src/transparency/publication/cosignature.ts'
import type { PublishedCheckpoint } from '../../src/transparency/publication/published.ts'
import { callCli } from '../support/service/cli-call.ts'
import { clientOf } from '../support/service/clients.ts'
import { startInProcess } from '../support/service/in-process.ts'
import { startTestWitness } from '../support/transparency/memory-log.ts'

const wholeFile = { after }
const dataDir = await usedDataDir(wholeFile)
const logOrigin = 'credits.example/log'

test('a service publishes what it sells: checkpoints with cosignatures over HTTP and in the file, under the keys it lists', async () => {
  const [oldPepper, newPepper] = ['the first pepper of them', 'the second pepper of them']
  const logs = logKeysOf([{ secret: newPepper }, { secret: oldPepper }], logOrigin).map(({ vkey }) => vkey)
  const witness = await startTestWitness({ logs })
  defer(wholeFile, witness.close)
  const file = join(dataDir, 'checkpoint')
  const settings = {
    KEY_PEPPER: oldPepper,
    LOG_ORIGIN: logOrigin,
    CHECKPOINT_SECONDS: '1',
    CHECKPOINT_FILE: file,
    LOG_WITNESSES: `${witness.url} ${witness.vkey}`,
    EVENT_PRIVATE_ADDRESSES: 'allow',
  }
  const issued = await callCli(wholeFile, dataDir, ['keys', 'issue', '--customer', 'published', '--json'], settings)
  const { apiKey } = JSON.parse(issued.stdout)
  let service = await startInProcess(wholeFile, dataDir, settings)
  const get = async (path: string) => (await fetch(`${service.internalUrl}/log/${path}`)).text()
  const published = async (query = '') =>
    JSON.parse(await get(`checkpoints${query}`)).checkpoints as PublishedCheckpoint[]

  await clientOf(service.publicUrl, apiKey).buy('BASIC')
  await until('a checkpoint is published', async () => (await published()).length > 0)
  const [first = assert.fail('there is none')] = await published()
  await until('the file is written', () => fs.existsSync(file) && fs.readFileSync(file, 'utf8') === first.note)
  assert.equal(await get('checkpoint'), first.note, 'the newest is the published one while nothing was sold since')
  const key = witnessKeyOf(witness.vkey) ?? assert.fail('no key')
  assert.ok(findCosignature(`${first.note.split('\n\n')[1]}`, signedTextOf(first.note), key))
  assert.equal(await get('keys'), `${logs[1]}\n`)

  await service.close()
  service = await startInProcess(wholeFile, dataDir, { ...settings, KEY_PEPPER: `2:${newPepper},1:${oldPepper}` })
  await clientOf(service.publicUrl, apiKey).buy('BASIC')
  await until('another is published', async () => (await published(`?after=${first.size}`)).length > 0)
  const [second = assert.fail('there is none')] = await published(`?after=${first.size}`)
  assert.deepEqual(await published(), [first, second])
  assert.equal(await get('keys'), `${logs.join('\n')}\n`)
  const proof = JSON.parse(await get(`consistency?from=${first.size}&to=${second.size}`)).proof as string[]
  const rootOf = ({ note }: PublishedCheckpoint) => readCheckpointNote(note)?.root ?? Buffer.alloc(0)
  const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
  assert.ok(isConsistent(BigInt(first.size), BigInt(second.size), rootOf(first), rootOf(second), hashes))
})
