// The values that the C2SP specifications (signed-note, tlog-checkpoint, tlog-cosignature, tlog-tiles), Go's packages note and
// tlog, and RFC 6962 give as examples: our signer, verifier, tree and tile paths come to the same.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readKey, verify } from '../../client/src/verify/verify.js'
import { checkpointTextOf, logKeyOf, readCheckpointNote, signCheckpoint } from '../../src/transparency/note.ts'
import { readTilePath } from '../../src/transparency/routes.ts'
import { edgeOfTree, growTree, hashLeaf, rootOfEdge } from '../../src/transparency/tree.ts'
import { newSigner, rootOf } from './reference-log.ts'

const subtle = crypto.subtle
async function isSigned(vkey: string, note: string): Promise<boolean> {
  const { bytes, name } = await readKey(vkey)
  const end = note.lastIndexOf('\n\n')
  const [, encoded = ''] = new RegExp(`^— ${name} (\\S+)$`, 'm').exec(note.slice(end)) ?? []
  const key = await subtle.importKey('raw', new Uint8Array(bytes), 'Ed25519', false, ['verify'])
  const signature = new Uint8Array(Buffer.from(encoded, 'base64').subarray(4))
  return subtle.verify('Ed25519', key, signature, new TextEncoder().encode(note.slice(0, end + 1)))
}

const neumann = {
  seed: Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1),
  vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
  text: 'If you think cryptography is the answer to your problem,\n' + "then you don't know what your problem is.\n",
  line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
}
const enoch = {
  seed: Buffer.alloc(32),
  vkey: 'EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop',
  line: '— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n',
}

describe('signed-note', () => {
  test('a key of the log has the verifier key and the signatures of the example', () => {
    for (const { name, seed, vkey, line } of [
      { name: 'PeterNeumann', ...neumann },
      { name: 'EnochRoot', ...enoch },
    ]) {
      const key = logKeyOf(seed, name)
      assert.equal(key.vkey, vkey)
      assert.equal(key.signatureOf(neumann.text), line)
      assert.equal(newSigner(name, seed).line(neumann.text), line, 'the oracle of these tests')
    }
  })

  test('the verifier key of the specification is that of its note', async () => {
    const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
    const note =
      'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
    assert.equal(await isSigned(vkey, note), true)
    assert.equal(await isSigned(vkey, note.replace('This', 'That')), false)
    await assert.rejects(verify(note, [vkey]), { code: 'note' }, 'a note, and no checkpoint')
  })

  test('no part of a verifier key and no changed one is accepted', async () => {
    const accepted: string[] = []
    const tried: string[] = []
    for (let from = 0; from < neumann.vkey.length; from += 1) {
      for (let to = from + 1; to <= neumann.vkey.length; to += 1) tried.push(neumann.vkey.slice(from, to))
      const next = String.fromCharCode(neumann.vkey.charCodeAt(from) + 1)
      tried.push(neumann.vkey.slice(0, from) + next + neumann.vkey.slice(from + 1))
    }
    // Another length of key and another algorithm, each with the id that fits.
    tried.push('PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==')
    tried.push('PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW')
    for (const vkey of tried)
      await readKey(vkey)
        .then(() => accepted.push(vkey))
        .catch(() => undefined)
    assert.deepEqual(accepted, [neumann.vkey])
  })
})

const sumVkey = 'sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8'
const sumRoot = 'mb8QLQIs0Z0yP5Cstq6guj87oXWeC9gEM8oVikmm9Wk='
const sumNote = `go.sum database tree\n6476701\n${sumRoot}\n\n— sum.golang.org Az3grsLX85Gz+s1SiTbgkuqxgItqFq7gsMUEyVnrsa9LM7Us9S+1xbFIGu95949rj4nPRYfvimWEPWL+o3GeoWwOoAw=\n`
const sofa =
  'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n'
const cosignedSofa = `${sofa}— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n`

describe('tlog-checkpoint', () => {
  test('a checkpoint of a public log is read, and its signature is right', async () => {
    assert.equal(await isSigned(sumVkey, sumNote), true)
    const read = readCheckpointNote(sumNote)
    assert.deepEqual(
      [read?.origin, read?.size, read?.root.toString('base64')],
      ['go.sum database tree', 6_476_701, sumRoot],
    )
    // The specification recommends that the key is named after the origin; we require it.
    await assert.rejects(verify(sumNote, [sumVkey]), { code: 'no-key' })
  })

  test('the example of the specification is read, with the line of a witness too', async () => {
    for (const note of [sofa, cosignedSofa]) {
      assert.deepEqual(
        [readCheckpointNote(note)?.origin, readCheckpointNote(note)?.size],
        ['example.com/behind-the-sofa', 20_852_163],
      )
      await assert.rejects(verify(note, []), { code: 'no-key' }, 'well formed, and its key is not published')
    }
  })

  test('the text of a checkpoint is that of the example', () => {
    const root = hashLeaf('hello world')
    const text = 'go.sum database tree\n123456789012\nTszzRgjTG6xce+z2AG31kAXYKBgQVtCSCE40HmuwBb0=\n'
    assert.equal(checkpointTextOf({ origin: 'go.sum database tree', size: 123_456_789_012, root }), text)
  })

  for (const [problem, text] of [
    ['two lines', 'Head\n9944\n'],
    ['an empty first line', `\n9944\n${sumRoot}\n`],
    ['a size that is no number', `Log\nbananas\n${sumRoot}\n`],
    ['a negative size', `Log\n-34\n${sumRoot}\n`],
    ['a size that is too large', `Log\n3438945738945739845734895735\n${sumRoot}\n`],
    ['a root that is not base64', "Log\n123\nThisIsn'tBase64\n"],
  ] as const) {
    test(`a checkpoint with ${problem} is refused by reader and verifier`, async () => {
      const key = logKeyOf(neumann.seed, 'Log')
      const note = `${text}\n${key.signatureOf(text)}`
      assert.equal(readCheckpointNote(note), null)
      await assert.rejects(verify(note, [key.vkey]), { name: 'VerifyError' })
    })
  }

  test('while two keys are configured each of them verifies a checkpoint', async () => {
    const keys = [logKeyOf(neumann.seed, 'Log'), logKeyOf(enoch.seed, 'Log')]
    const note = signCheckpoint(keys, { origin: 'Log', size: 123, root: Buffer.from(sumRoot, 'base64') })
    for (const { vkey } of keys) {
      const [checkpoint] = (await verify(note, [vkey])).checkpoints
      assert.deepEqual([checkpoint?.size, checkpoint?.signed.map((each) => each.vkey)], [123n, [vkey]])
    }
  })
})

describe('tlog-cosignature', () => {
  test('the verifier key of a public witness is read as one', async () => {
    const { name, isWitness } = await readKey('remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2')
    assert.deepEqual([name, isWitness], ['remora.n621.de', true])
  })

  test('the message of the example is what a witness signs, with its time in the line', async () => {
    const body = sofa.slice(0, sofa.indexOf('\n\n') + 1)
    const [log, witness] = [newSigner('example.com/behind-the-sofa', neumann.seed), newSigner('w1', enoch.seed, 4)]
    const line = witness.line(body, 1_679_315_147n)
    // The time of the example, where the specification has it.
    const timeOf = (signature: string) => Buffer.from(signature, 'base64').readBigUInt64BE(4)
    assert.equal(timeOf(/w1 (\S+)/.exec(cosignedSofa)?.[1] ?? ''), 1_679_315_147n)
    assert.equal(timeOf(/w1 (\S+)/.exec(line)?.[1] ?? ''), 1_679_315_147n)
    const note = `${body}\n${log.line(body)}${line}`
    const [checkpoint] = (await verify(note, [log.vkey, witness.vkey])).checkpoints
    assert.deepEqual(checkpoint?.signed[1], { vkey: witness.vkey, isWitness: true, time: 1_679_315_147n })
  })
})

describe('tlog-tiles', () => {
  test('paths are those of the examples', () => {
    assert.deepEqual(readTilePath('0/x001/x234/067'), { level: 0, tile: 1_234_067, width: 256 })
    assert.deepEqual(readTilePath('5/x123/x456/078.p/2'), { level: 5, tile: 123_456_078, width: 2 })
    assert.deepEqual(readTilePath('0/001.p/5'), { level: 0, tile: 1, width: 5 })
    assert.deepEqual(readTilePath('63/000'), { level: 63, tile: 0, width: 256 })
    for (const path of [
      '5/123/456/078',
      '-1/123',
      '64/000',
      '00/000',
      '0/x000/001',
      '0/1',
      '0/000.p/0',
      '0/000.p/256',
      '0/000.p/01',
      '0/001/',
      'entries/000',
    ])
      assert.equal(readTilePath(path), null, path)
  })

  test('a tree of 70,000 has a partial tile of 112, one of 17 and one of 1; a tree of 256 has one of 1', () => {
    assert.deepEqual(edgeOfTree(70_000), [
      { level: 0, tile: 273, width: 112 },
      { level: 1, tile: 1, width: 17 },
      { level: 2, tile: 0, width: 1 },
    ])
    assert.deepEqual(edgeOfTree(256), [{ level: 1, tile: 0, width: 1 }])
  })
})

describe('RFC 6962', () => {
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  test('the roots of the trees of one to eight known leaves', () => {
    const hashes = leaves.map((leaf) => hashLeaf(Buffer.from(leaf, 'hex')))
    for (const [place, root] of roots.entries()) {
      const first = hashes.slice(0, place + 1)
      assert.equal(rootOfEdge(growTree({ size: 0, hashes: [] }, Buffer.concat(first)).edge).toString('hex'), root)
      assert.equal(rootOf(first).toString('hex'), root, 'the oracle of these tests')
    }
  })

  test('a tree without leaves has the hash of nothing', () => {
    assert.equal(rootOf([]).toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    assert.deepEqual(rootOfEdge({ size: 0, hashes: [] }), rootOf([]))
  })
})
