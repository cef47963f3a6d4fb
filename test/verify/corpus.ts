// Good and broken files, each with what a verifier has to say about it. Two programs in two languages read them: they must agree
// on every one.
import {
  customers,
  hashLeaf,
  type LeafFields,
  leafOf,
  newLog,
  newSigner,
  orderOf,
  type Receipt,
  type ReferenceLog,
  sampleLeaves,
  seedOf,
  sha256,
} from './reference-log.ts'

export const origin = 'prepaid-credits/log'
export const logSigner = newSigner(origin, seedOf('log'))
export const olderSigner = newSigner(origin, seedOf('older'))
export const strangerSigner = newSigner(origin, seedOf('stranger'))
export const witness = newSigner('witness.example/w1', seedOf('witness'), 4)
export const witnessTime = 1_763_204_745n

const leaves = sampleLeaves(41)
export const log = newLog(origin, leaves, [logSigner])
/** The same until index 20; there one spend is missing. */
export const forked = newLog(origin, [...leaves.slice(0, 20), ...leaves.slice(22)], [logSigner])
const [alice] = customers
const order = orderOf(0)

/** `problem`: null where the file is verified, otherwise the code of the refusal. */
export type Case = { name: string; files: (string | Uint8Array)[]; keys?: string[]; problem: string | null }

const text = (file: object) => JSON.stringify(file)
const orderReceipt = log.receipt({ order }, [0])
const statementSubject = { statement: { customer: alice, from: 1, to: 10 } }
const statementIndexes = Array.from({ length: 10 }, (_, place) => place * 2)
const statement = log.receipt(statementSubject, statementIndexes)
const referenceReceipt = log.receipt({ customer: alice, reference: 'use-2' }, [2])
const cosigned = log.checkpoint(41, [witness.line(log.bodyOf(41), witnessTime)])
const pinned = [logSigner.vkey]

/**
 * A hold that is captured in part and ends: one reference, three entries; then another hold and a spend, and a second hold with
 * the reference of the first, which the service refuses; at last the hold of a cancellation, which has no reference.
 */
const holdId = '7d1f0a52-6f0e-4b8e-9a57-0d8f3c1b2a10'
const otherHoldId = '7d1f0a52-6f0e-4b8e-9a57-0d8f3c1b2a11'
const heldLeaves = [
  { kind: 'GRANT', delta: 21, balance: 21, order },
  { kind: 'HOLD', delta: 0, balance: 21, reference: 'job-1', hold: holdId },
  { kind: 'CAPTURE', delta: -3, balance: 18, reference: 'job-1-part', hold: holdId },
  { kind: 'HOLD', delta: 0, balance: 18, reference: 'job-2', hold: otherHoldId },
  { kind: 'CAPTURE', delta: -2, balance: 16, hold: holdId },
  { kind: 'SPEND', delta: -1, balance: 15, reference: 'job-3' },
  { kind: 'HOLD', delta: 0, balance: 15, reference: 'job-1', hold: otherHoldId },
  { kind: 'HOLD', delta: 0, balance: 15, order, hold: otherHoldId },
].map((fields, place) => leafOf({ customer: alice, entry: place + 1, ...fields }))
const heldLog = newLog(origin, heldLeaves, [logSigner])
const receiptOfHold = (reference: string, indexes: number[]) =>
  text(heldLog.receipt({ customer: alice, reference }, indexes))

/** The log after its owner has changed entry 3, left the leaf of before, and appended another: it has only grown. */
const changedLeaf = (leaves[4] ?? '').replace('delta -3\nbalance 15', 'delta -2\nbalance 16')
const appendedAgain = newLog(origin, [...leaves, changedLeaf], [logSigner])
/** The leaf as it was, a second time. */
const repeatedLog = newLog(origin, [...leaves, leaves[4] ?? ''], [logSigner])
const ofEntryThree = { customer: alice, reference: 'use-3' }
const contradicting = (later: ReferenceLog) => [
  text(later.receipt(ofEntryThree, [4], 41)),
  text(later.receipt(ofEntryThree, [41])),
  text(later.consistency(41)),
]
/** Entries up to 30 are under the eyes of the witness. */
const cosignedAt30 = log.checkpoint(30, [witness.line(log.bodyOf(30), witnessTime)])
const withWitness = [...pinned, witness.vkey]

/** The last one counts, whatever the others are. */
const doubled = [
  ['another text', '"prepaid-credits/receipt/v2"'],
  ['an object', '{"order":"other"}'],
  ['a number of many digits', '9'.repeat(5_000)],
  ['a number beyond all', '-1e999'],
] as const

const good: Case[] = [
  {
    name: 'two receipts of one entry, and a third of the entries around it',
    files: [
      text(log.receipt(ofEntryThree, [4], 30)),
      text(log.receipt(ofEntryThree, [4])),
      text(statement),
      text(log.consistency(30)),
    ],
    keys: pinned,
    problem: null,
  },
  {
    name: 'a receipt below a checkpoint that the given witness has cosigned',
    files: [text(orderReceipt), cosignedAt30, text(log.consistency(30))],
    keys: withWitness,
    problem: null,
  },
  { name: 'an order, by the key in the receipt', files: [text(orderReceipt)], problem: null },
  { name: 'an order, by a given key', files: [text(orderReceipt)], keys: pinned, problem: null },
  { name: 'a reference', files: [text(referenceReceipt)], keys: pinned, problem: null },
  {
    name: 'a hold with all that became of it',
    files: [receiptOfHold('job-1', [1, 2, 4])],
    keys: pinned,
    problem: null,
  },
  { name: 'a part of a hold', files: [receiptOfHold('job-1-part', [2])], keys: pinned, problem: null },
  { name: 'a statement', files: [text(statement)], keys: pinned, problem: null },
  ...doubled.map(([name, first]) => ({
    name: `a receipt with a member twice: ${name} comes first`,
    files: [text(orderReceipt).replace('{', `{"format":${first},"subject":${first},`)],
    keys: pinned,
    problem: null,
  })),
  {
    name: 'a statement with members twice',
    files: [text(statement).replace('"from":1', '"from":2,"from":1').replace('"index":"0"', '"index":"1","index":"0"')],
    keys: pinned,
    problem: null,
  },
  { name: 'a receipt with blanks between its members', files: [JSON.stringify(statement, null, 2)], problem: null },
  ...[1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 41].map((size) => ({
    name: `a tree of ${size}`,
    files: [text(log.receipt({ order }, [0], size))],
    keys: pinned,
    problem: null,
  })),
  ...leaves.map((leaf, index) => {
    const subject = leaf.includes('\norder ')
      ? { order: /order (\S+)/.exec(leaf)?.[1] }
      : { customer: customers[(index % 2) as 0 | 1], reference: /reference (\S+)/.exec(leaf)?.[1] }
    return {
      name: `the entry at index ${index}`,
      files: [text(log.receipt(subject, [index]))],
      keys: pinned,
      problem: null,
    }
  }),
  { name: 'a checkpoint', files: [log.checkpoint()], keys: pinned, problem: null },
  { name: 'a checkpoint of an empty log', files: [log.checkpoint(0)], keys: pinned, problem: null },
  { name: 'a checkpoint with a line more', files: [withExtension()], keys: pinned, problem: null },
  { name: 'a cosigned checkpoint, the witness unknown', files: [cosigned], keys: pinned, problem: null },
  { name: 'a cosigned checkpoint', files: [cosigned], keys: [...pinned, witness.vkey], problem: null },
  {
    name: 'a receipt whose witness is given, by its own key',
    files: [text({ ...orderReceipt, checkpoint: cosigned })],
    keys: [witness.vkey],
    problem: null,
  },
  {
    name: 'a checkpoint signed by two keys, one known',
    files: [newLog(origin, leaves, [logSigner, olderSigner]).checkpoint()],
    keys: [olderSigner.vkey],
    problem: null,
  },
  ...[0, 1, 2, 3, 4, 7, 8, 20, 31, 32, 33, 40, 41].map((from) => ({
    name: `a consistency proof from ${from}`,
    files: [text(from === 0 ? { ...log.consistency(1), from: log.checkpoint(0), proof: [] } : log.consistency(from))],
    keys: pinned,
    problem: null,
  })),
  { name: 'two checkpoints of one size', files: [log.checkpoint(), cosigned], keys: pinned, problem: null },
  {
    name: 'two checkpoints with the proof between them',
    files: [log.checkpoint(20), text(log.consistency(20)), text(orderReceipt)],
    keys: pinned,
    problem: null,
  },
  {
    name: 'three checkpoints by two proofs',
    files: [log.checkpoint(5), text(log.consistency(20)), text(log.consistency(5, 20))],
    keys: pinned,
    problem: null,
  },
]

function withExtension(line = 'an extension'): string {
  const body = `${log.bodyOf(41)}${line}\n`
  return `${body}\n${logSigner.line(body)}`
}

/** The receipt of other entries: everything is right but what they say. */
function receiptOf(change: (leaf: string, index: number) => string, subject: object = statementSubject): string {
  const other = newLog(origin, leaves.map(change), [logSigner])
  return text(other.receipt(subject as Receipt['subject'], statementIndexes))
}

const note = log.checkpoint()
const body = log.bodyOf(41)
const signature = (/— \S+ (\S+)/.exec(note) ?? [])[1] ?? ''
const flip = (base64: string, place = 0) => {
  const bytes = Buffer.from(base64, 'base64')
  bytes[place] = (bytes[place] ?? 0) ^ 1
  return bytes.toString('base64')
}
/** Between the id of the key and the signature. */
const withByte = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64')
  return Buffer.concat([bytes.subarray(0, 4), Buffer.of(0), bytes.subarray(4)]).toString('base64')
}
const hash = Buffer.alloc(32, 7).toString('base64')

/** Broken copies of the receipt of an order, and what is wrong with them. */
const entryOfOrder = orderReceipt.entries[0] as Receipt['entries'][number]
const withEntry = (change: object) => ({ ...orderReceipt, entries: [{ ...entryOfOrder, ...change }] })
const withHash = (first: unknown) => withEntry({ proof: [first, ...entryOfOrder.proof.slice(1)] })
const brokenOrders: [name: string, problem: string, file: object][] = [
  ['one credit more', 'proof', withEntry({ leaf: entryOfOrder.leaf.replace('delta 21', 'delta 22') })],
  ['another index', 'proof', withEntry({ index: '2' })],
  ['an index of the size', 'proof', withEntry({ index: '41' })],
  ['an index far above the size', 'proof', withEntry({ index: '64' })],
  ['an index with a leading zero', 'format', withEntry({ index: '00' })],
  ['an index with a sign', 'format', withEntry({ index: '-0' })],
  ['an index as a number', 'format', withEntry({ index: 0 })],
  ['an index in other digits', 'format', withEntry({ index: '٠' })],
  ['no proof', 'proof', withEntry({ proof: [] })],
  ['a proof that is a text', 'format', withEntry({ proof: hash })],
  ['a proof without its last hash', 'proof', withEntry({ proof: entryOfOrder.proof.slice(0, -1) })],
  ['a proof without its first hash', 'proof', withEntry({ proof: entryOfOrder.proof.slice(1) })],
  ['a proof with a hash more', 'proof', withEntry({ proof: [...entryOfOrder.proof, hash] })],
  ['a proof in reverse', 'proof', withEntry({ proof: entryOfOrder.proof.toReversed() })],
  ['a hash of 31 bytes', 'encoding', withHash(Buffer.alloc(31).toString('base64'))],
  ['a hash of 33 bytes', 'encoding', withHash(Buffer.alloc(33).toString('base64'))],
  ['a hash without its padding', 'encoding', withHash(hash.slice(0, -1))],
  ['a hash with other last bits', 'encoding', withHash(`${hash.slice(0, -2)}d=`)],
  ['a hash with a newline', 'encoding', withHash(`${hash}\n`)],
  ['a hash of the other alphabet', 'encoding', withHash(`-_${hash.slice(2)}`)],
  ['a hash that is null', 'encoding', withHash(null)],
  ['an entry with a member more', 'format', withEntry({ more: 1 })],
  ['an entry without an index', 'format', withEntry({ index: undefined })],
  ['an entry that is null', 'format', { ...orderReceipt, entries: [null] }],
  ['no entries', 'subject', { ...orderReceipt, entries: [] }],
  ['entries that are no list', 'format', { ...orderReceipt, entries: {} }],
  ['the same entry twice', 'subject', { ...orderReceipt, entries: [entryOfOrder, entryOfOrder] }],
  ['a leaf that is a list', 'leaf', withEntry({ leaf: [entryOfOrder.leaf] })],
  ['another order', 'subject', { ...orderReceipt, subject: { order: orderOf(1) } }],
  ['an order and a customer', 'subject', { ...orderReceipt, subject: { order, customer: alice } }],
  ['no subject', 'subject', { ...orderReceipt, subject: {} }],
  ['an empty order', 'subject', { ...orderReceipt, subject: { order: '' } }],
  ['an empty order, of a spend', 'subject', log.receipt({ order: '' }, [2])],
  ['an order that is null', 'subject', { ...orderReceipt, subject: { order: null } }],
  ['an empty reference', 'subject', { ...orderReceipt, subject: { customer: alice, reference: '' } }],
  ['a subject that is null', 'subject', { ...orderReceipt, subject: null }],
  ['a subject that is a text', 'subject', { ...orderReceipt, subject: order }],
  ['a subject that is a list', 'subject', { ...orderReceipt, subject: [order] }],
  ['a reference that the entry lacks', 'subject', { ...orderReceipt, subject: { customer: alice, reference: null } }],
  ['another format', 'format', { ...orderReceipt, format: 'prepaid-credits/receipt/v2' }],
  ['a member more', 'format', { ...orderReceipt, refunded: true }],
  ['no keys', 'no-key', { ...orderReceipt, keys: [] }],
  ['keys that are no list', 'format', { ...orderReceipt, keys: logSigner.vkey }],
  ['keys without that of the log', 'no-key', { ...orderReceipt, keys: [strangerSigner.vkey] }],
  ['the key of a witness only', 'no-key', { ...orderReceipt, keys: [witness.vkey] }],
  ['a key with another id', 'key', { ...orderReceipt, keys: [logSigner.vkey.replace(/\+[0-9a-f]{8}/, '+00000000')] }],
  ['a key that is a list', 'key', { ...orderReceipt, keys: [[logSigner.vkey]] }],
  ['a key with a control character in its name', 'key', { ...orderReceipt, keys: [strangeKey('a\u001cb')] }],
  ['a key with half a character in its name', 'key', { ...orderReceipt, keys: [strangeKey('a\ud800b')] }],
  ['a key of an unknown type', 'key', { ...orderReceipt, keys: [keyOfType(2)] }],
  ['a key of 31 bytes', 'encoding', { ...orderReceipt, keys: [logSigner.vkey.slice(0, -4)] }],
  ['a checkpoint of another size', 'signature', { ...orderReceipt, checkpoint: note.replace('\n41\n', '\n42\n') }],
  [
    'a checkpoint of another origin',
    'no-key',
    { ...orderReceipt, checkpoint: note.replace(origin, 'prepaid-credits/lag') },
  ],
  ['a checkpoint that is null', 'note', { ...orderReceipt, checkpoint: null }],
  ['a checkpoint in a list', 'note', { ...orderReceipt, checkpoint: [note] }],
  ['a checkpoint of another tree', 'proof', { ...orderReceipt, checkpoint: forked.checkpoint() }],
]

/** Beside the right one. */
function strangeKey(name: string): string {
  return newSigner(name, seedOf('strange')).vkey
}

function keyOfType(type: number): string {
  return newSigner(origin, seedOf('log'), type as 1).vkey
}

const brokenNotes: [name: string, problem: string, note: string | Uint8Array, keys?: string[]][] = [
  ['nothing', 'note', ''],
  ['a blank', 'note', ' '],
  ['bytes that are no text', 'bytes', Uint8Array.of(0xff, 0xfe, 0x00)],
  ['a byte order mark', 'no-key', `\ufeff${note}`],
  ['the end of lines of Windows', 'note', note.replaceAll('\n', '\r\n')],
  ['no newline at the end', 'note', note.slice(0, -1)],
  ['a newline more at the end', 'note', `${note}\n`],
  ['a blank line more', 'note', note.replace('\n\n', '\n\n\n')],
  ['no blank line', 'note', note.replace('\n\n', '\n')],
  ['no signature', 'note', `${body}\n`],
  ['no key given', 'no-key', note, []],
  ['a key of another log', 'no-key', note, [strangerSigner.vkey]],
  ['a key of a witness only', 'no-key', cosigned, [witness.vkey]],
  ['a signature with a changed bit', 'signature', note.replace(signature, flip(signature, 40))],
  ['a signature with a changed id', 'no-key', note.replace(signature, flip(signature, 0))],
  ['the same signature twice', 'note', `${note}${logSigner.line(body)}`],
  ['a second, wrong signature of the same key', 'note', `${note}${logSigner.line('other\n')}`],
  ['a signature line with two blanks', 'note', note.replace('— ', '—  ')],
  ['a signature line with a hyphen', 'note', note.replace('— ', '- ')],
  ['a signature line with a word more', 'note', note.replace(signature, `${signature} more`)],
  ['a signature of three bytes', 'encoding', note.replace(signature, 'AAAA')],
  [
    'a signature of 63 bytes',
    'signature',
    note.replace(signature, Buffer.from(signature, 'base64').subarray(0, 67).toString('base64')),
  ],
  [
    'a signature of 65 bytes',
    'signature',
    note.replace(signature, Buffer.concat([Buffer.from(signature, 'base64'), Buffer.of(0)]).toString('base64')),
  ],
  ['a signature behind another byte', 'signature', note.replace(signature, withByte(signature))],
  [
    'a signature with other last bits',
    'encoding',
    note.replace(signature, `${signature.slice(0, -2)}${signature.at(-2) === 'x' ? 'y' : 'x'}=`),
  ],
  ['an unknown signature in wrong base64', 'encoding', `${note}— other.example AAAA=\n`],
  ['a size with a leading zero', 'note', noteOf(`${origin}\n041\n${hash}\n`)],
  ['a size with a sign', 'note', noteOf(`${origin}\n+41\n${hash}\n`)],
  ['a size in hexadecimal', 'note', noteOf(`${origin}\n0x29\n${hash}\n`)],
  ['a size in other digits', 'note', noteOf(`${origin}\n٤١\n${hash}\n`)],
  ['a size of twenty digits', 'note', noteOf(`${origin}\n12345678901234567890\n${hash}\n`)],
  ['a negative size', 'note', noteOf(`${origin}\n-1\n${hash}\n`)],
  ['an empty origin', 'note', noteOf(`\n41\n${hash}\n`)],
  ['a root of 31 bytes', 'encoding', noteOf(`${origin}\n41\n${Buffer.alloc(31).toString('base64')}\n`)],
  ['a root with a blank', 'encoding', noteOf(`${origin}\n41\n${hash} \n`)],
  ['a root of the empty tree that is another', 'note', noteOf(`${origin}\n0\n${hash}\n`)],
  ['two lines only', 'note', noteOf(`${origin}\n41\n`)],
  ['a control character in a signed line', 'note', withExtension('an\u0007extension')],
  ['a tab in a signed line', 'note', withExtension('an\textension')],
  [
    'a cosignature of another checkpoint',
    'signature',
    log.checkpoint(41, [witness.line(log.bodyOf(40), witnessTime)]),
    [...pinned, witness.vkey],
  ],
  ['a cosignature without its time', 'signature', log.checkpoint(41, [witness.line(body)]), [...pinned, witness.vkey]],
  [
    'a cosignature with another time',
    'signature',
    cosigned.replace(/(— witness\S+ )(\S+)/, (_, head, line) => head + flip(line, 11)),
    [...pinned, witness.vkey],
  ],
  [
    'a cosignature of a time that is too large',
    'signature',
    log.checkpoint(41, [witness.line(body, 2n ** 63n)]),
    [...pinned, witness.vkey],
  ],
  [
    'a cosignature behind another byte',
    'signature',
    cosigned.replace(/(— witness\S+ )(\S+)/, (_, head, line) => head + withByte(line)),
    [...pinned, witness.vkey],
  ],
  [
    'a cosignature of a time before 1970',
    'signature',
    log.checkpoint(41, [witness.line(body, 2n ** 64n - 1n, '-1')]),
    [...pinned, witness.vkey],
  ],
  [
    'a cosignature of the time zero',
    'signature',
    log.checkpoint(41, [witness.line(body, 0n)]),
    [...pinned, witness.vkey],
  ],
  ['a key that is no key', 'key', note, ['prepaid-credits/log']],
  ['a key with a blank in its name', 'key', note, [`a ${logSigner.vkey}`]],
]

function noteOf(signed: string): string {
  return `${signed}\n${logSigner.line(signed)}`
}

const proof = log.consistency(20)
const brokenProofs: [name: string, problem: string, file: object][] = [
  ['of another history', 'history', { ...proof, to: forked.checkpoint() }],
  ['from another history', 'history', { ...log.consistency(30), from: forked.checkpoint(30) }],
  ['without its last hash', 'history', { ...proof, proof: proof.proof.slice(0, -1) }],
  ['without its first hash', 'history', { ...proof, proof: proof.proof.slice(1) }],
  ['with a hash more', 'history', { ...proof, proof: [...proof.proof, hash] }],
  ['with no hashes', 'history', { ...proof, proof: [] }],
  [
    'of two logs, one unknown',
    'no-key',
    { ...proof, to: newLog('other.example/log', leaves, [otherLog()]).checkpoint() },
  ],
  ['backwards', 'history', { ...proof, from: proof.to, to: proof.from }],
  ['from an empty log with hashes', 'history', { ...proof, from: log.checkpoint(0) }],
  ['of one size with hashes', 'history', { ...proof, from: proof.to }],
  [
    'of one size and two roots',
    'history',
    { ...proof, from: forked.checkpoint(39), to: log.checkpoint(39), proof: [] },
  ],
  ['that is null', 'format', { ...proof, proof: null }],
  ['that is a text', 'format', { ...proof, proof: '' }],
  ['with a member more', 'format', { ...proof, keys: pinned }],
]

function otherLog() {
  return newSigner('other.example/log', seedOf('other'))
}

const asTheyAre = (leaf: string) => leaf
const brokenStatements: [name: string, problem: string, file: string][] = [
  [
    'a balance that does not follow',
    'balance',
    receiptOf((leaf) => leaf.replace('delta -3\nbalance 15', 'delta -3\nbalance 14')),
  ],
  [
    'a first entry that does not begin at zero',
    'balance',
    receiptOf((leaf, index) => (index === 0 ? leaf.replace('balance 21', 'balance 22') : leaf)),
  ],
  ['a kind in small letters', 'leaf', receiptOf((leaf) => leaf.replace('kind SPEND', 'kind spend'))],
  ['a line more', 'leaf', receiptOf((leaf) => `${leaf}\nnote gift`)],
  ['a newline at the end', 'leaf', receiptOf((leaf) => `${leaf}\n`)],
  ['lines in another order', 'leaf', receiptOf((leaf) => leaf.replace(/(delta \S+)\n(balance \S+)/, '$2\n$1'))],
  ['a line twice', 'leaf', receiptOf((leaf) => leaf.replace(/(delta \S+)/, '$1\n$1'))],
  ['a number with a leading zero', 'leaf', receiptOf((leaf) => leaf.replace('delta 21', 'delta 021'))],
  ['a number in other digits', 'leaf', receiptOf((leaf) => leaf.replace('delta 21', 'delta ٢١'))],
  ['minus zero', 'leaf', receiptOf((leaf) => leaf.replace('held 0', 'held -0'))],
  ['a time of three digits', 'leaf', receiptOf((leaf) => leaf.replace('.863123Z', '.863Z'))],
  ['a time with a zone', 'leaf', receiptOf((leaf) => leaf.replace('.863123Z', '.863123+09:00'))],
  ['another version', 'leaf', receiptOf((leaf) => leaf.replace('entry/v1', 'entry/v2'))],
  ['a customer in capitals', 'leaf', receiptOf((leaf) => leaf.replace(alice, alice.toUpperCase()))],
  ['a reference with a blank', 'leaf', receiptOf((leaf) => leaf.replace('reference use-2', 'reference use 2'))],
  [
    'a reference with a lone surrogate',
    'leaf',
    receiptOf((leaf) => leaf.replace('reference use-2', 'reference use\ud800')),
  ],
  [
    'the entries of another customer',
    'subject',
    receiptOf(asTheyAre, { statement: { customer: customers[1], from: 1, to: 10 } }),
  ],
  [
    'one entry fewer than it names',
    'subject',
    receiptOf(asTheyAre, { statement: { customer: alice, from: 1, to: 11 } }),
  ],
  ['one entry more than it names', 'subject', receiptOf(asTheyAre, { statement: { customer: alice, from: 1, to: 9 } })],
  ['another first entry', 'subject', receiptOf(asTheyAre, { statement: { customer: alice, from: 2, to: 11 } })],
  ['numbers in texts', 'subject', receiptOf(asTheyAre, { statement: { customer: alice, from: '1', to: '10' } })],
  ['numbers that are true', 'subject', receiptOf(asTheyAre, { statement: { customer: alice, from: true, to: 10 } })],
  ['numbers that not every reader has exactly', 'subject', farStatement(9_007_199_254_740_993n)],
  ['a span without an end', 'subject', receiptOf(asTheyAre, { statement: { customer: alice, from: 1 } })],
  ['a span that is null', 'subject', receiptOf(asTheyAre, { statement: null })],
  ['an entry left out', 'subject', text({ ...statement, entries: statement.entries.toSpliced(4, 1) })],
  [
    'two entries exchanged',
    'subject',
    text({ ...statement, entries: statement.entries.toSpliced(4, 2, ...statement.entries.slice(4, 6).reverse()) }),
  ],
  [
    'an end far beyond memory',
    'subject',
    text({ ...statement, subject: { statement: { customer: alice, from: 1, to: 1e15 } } }),
  ],
]

/** A statement of one entry, whose number would lose its last digits as a JavaScript number. */
function farStatement(entry: bigint): string {
  const leaf = (leaves[0] ?? '').replace('entry 1', `entry ${entry}`)
  const subject = { statement: { customer: alice, from: 'N', to: 'N' } }
  return text(newLog(origin, [leaf], [logSigner]).receipt(subject, [0])).replaceAll('"N"', `${entry}`)
}

/** What only a log can make that signs what is not so: sizes that are not those of its trees, and entries in any order. */
const longLeaf = hashLeaf(leaves[0] ?? '')
const nodeOf = (left: Buffer, right: Buffer) => sha256(Buffer.of(1), left, right).toString('base64')
const signedAs = (size: number, root: string) => noteOf(`${origin}\n${size}\n${root}\n`)
const proven = (index: number, size: number, root: string, proof: string[]) => ({
  ...withEntry({ index: String(index), proof }),
  checkpoint: signedAs(size, root),
})
const consistent = (from: string, to: string, hashes: string[]) => ({ ...proof, from, to, proof: hashes })
const oddLeaf = (fields: Partial<LeafFields>) =>
  leafOf({ customer: alice, entry: 1, kind: 'GRANT', delta: 21, balance: 21, order, ...fields })
const oddReceipt = (oddLeaves: Partial<LeafFields>[], indexes: number[]) =>
  newLog(origin, oddLeaves.map(oddLeaf), [logSigner]).receipt({ order }, indexes)
const other = Buffer.from(hash, 'base64')
const dishonest: [name: string, problem: string, file: object][] = [
  ['a proof longer than the size allows', 'proof', proven(0, 1, nodeOf(other, longLeaf), [hash])],
  ['a proof shorter than the size requires', 'proof', proven(0, 4, nodeOf(longLeaf, other), [hash])],
  ['an index beyond the size', 'proof', proven(1, 1, nodeOf(other, longLeaf), [hash])],
  ['a log that shrinks and keeps its root', 'history', consistent(signedAs(2, hash), signedAs(1, hash), [])],
  ['a log that was empty and had a root', 'note', consistent(signedAs(0, hash), signedAs(1, hash), [hash])],
  ['an order of two customers', 'subject', oddReceipt([{}, { customer: customers[1], entry: 2, balance: 42 }], [0, 1])],
  ['numbers that fall', 'subject', oddReceipt([{ entry: 7 }, { entry: 5 }], [0, 1])],
  ['indexes that fall', 'subject', oddReceipt([{ entry: 7 }, { entry: 5 }], [1, 0])],
  [
    'an order with the rest of its hold',
    'subject',
    oddReceipt(
      [
        { kind: 'HOLD', delta: 0, balance: 0, hold: holdId },
        { entry: 5, hold: holdId, order: undefined },
      ],
      [0, 1],
    ),
  ],
]

const strange: [name: string, file: string | Uint8Array][] = [
  ['an open brace', '{'],
  ['an empty object', '{}'],
  ['a list', '[]'],
  ['a null', 'null'],
  ['a number that is none', '{"format":NaN}'],
  ['a deep nest', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['a prototype', '{"__proto__":{"format":"prepaid-credits/receipt/v1"}}'],
  ['two documents', `${text(orderReceipt)}${text(orderReceipt)}`],
  ['a member with a comma', '{"checkpoint,entries":1,"format":"prepaid-credits/receipt/v1","keys":[],"subject":{}}'],
  [
    'a brace and bytes that are no text',
    Buffer.concat([Buffer.from('{"format":"'), Buffer.of(0xc3, 0x28), Buffer.from('"}')]),
  ],
  ['a zero byte', `${text(orderReceipt)}\0`],
  ['the right order first, another last', text(orderReceipt).replace(/\}$/, `,"subject":{"order":"${orderOf(1)}"}}`)],
]

export const corpus: Case[] = [
  ...good,
  ...brokenOrders.map(([name, problem, file]) => ({ name: `an order with ${name}`, files: [text(file)], problem })),
  ...brokenNotes.map(([name, problem, file, keys = pinned]) => ({
    name: `a checkpoint: ${name}`,
    files: [file],
    keys,
    problem,
  })),
  ...brokenProofs.map(([name, problem, file]) => ({
    name: `a proof ${name}`,
    files: [text(file)],
    keys: pinned,
    problem,
  })),
  ...brokenStatements.map(([name, problem, file]) => ({
    name: `a statement with ${name}`,
    files: [file],
    keys: pinned,
    problem,
  })),
  ...dishonest.map(([name, problem, file]) => ({ name, files: [text(file)], keys: pinned, problem })),
  ...strange.map(([name, file]) => ({ name, files: [file], keys: pinned, problem: 'any' })),
  {
    name: 'a receipt by another given key',
    files: [text(orderReceipt)],
    keys: [strangerSigner.vkey],
    problem: 'no-key',
  },
  {
    name: 'a hold with a spend',
    files: [receiptOfHold('job-1', [1, 2, 5])],
    keys: pinned,
    problem: 'subject',
  },
  {
    name: 'two holds with one reference',
    files: [receiptOfHold('job-1', [1, 6])],
    keys: pinned,
    problem: 'subject',
  },
  { name: 'a hold without a reference', files: [receiptOfHold('', [7])], keys: pinned, problem: 'subject' },
  { name: 'a hold with another hold', files: [receiptOfHold('job-1', [1, 3])], keys: pinned, problem: 'subject' },
  {
    name: 'a part of a hold with its end',
    files: [receiptOfHold('job-1-part', [2, 4])],
    keys: pinned,
    problem: 'subject',
  },
  {
    name: 'a spend with entries without a hold',
    files: [receiptOfHold('job-3', [0, 5])],
    keys: pinned,
    problem: 'subject',
  },
  {
    name: 'two histories of one size',
    files: [log.checkpoint(39), forked.checkpoint(39)],
    keys: pinned,
    problem: 'history',
  },
  {
    name: 'an entry that was changed and appended again',
    files: contradicting(appendedAgain),
    keys: pinned,
    problem: 'entries',
  },
  { name: 'an entry that was appended twice', files: contradicting(repeatedLog), keys: pinned, problem: 'entries' },
  {
    name: 'a receipt without the witness that is given',
    files: [text(orderReceipt)],
    keys: withWitness,
    problem: 'witness',
  },
  { name: 'a checkpoint without the witness that is given', files: [note], keys: withWitness, problem: 'witness' },
  {
    name: 'a receipt of a newer entry than the given witness has seen',
    files: [text(log.receipt({ customer: alice, reference: 'use-16' }, [30])), cosignedAt30, text(log.consistency(30))],
    keys: withWitness,
    problem: 'witness',
  },
  { name: 'two sizes without a proof', files: [log.checkpoint(20), note], keys: pinned, problem: 'unproven' },
  {
    name: 'a proof that leads elsewhere',
    files: [forked.checkpoint(30), text(log.consistency(20)), note],
    keys: pinned,
    problem: 'unproven',
  },
  {
    name: 'two logs',
    files: [note, newLog('other.example/log', leaves, [otherLog()]).checkpoint()],
    keys: [...pinned, otherLog().vkey],
    problem: 'history',
  },
]
