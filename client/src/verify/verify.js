// Verifies receipts, checkpoints and consistency proofs (docs/receipts.md) by WebCrypto alone, in Node 20 or later and in browsers.
// It opens no file and no connection. What is not exactly as the format says is refused, with a code and a sentence.

function refuse(code, message) {
  throw Object.assign(new Error(message), { name: 'VerifyError', code })
}
const toBytes = (text) => new TextEncoder().encode(text)
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes))
const match = (pattern, text) => (typeof text === 'string' ? pattern.exec(text) : null)
const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)))
const hashNode = (left, right) => sha256([1, ...left, ...right])
const hasExactly = (object, names) => Object.keys(Object(object)).sort().join() === names

/** Accepts one of the texts that a lenient reader decodes to the same bytes. */
function fromBase64(text, isLength) {
  const binary = match(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[A-Za-z0-9+/=]=)?$/, text) ? atob(text) : ''
  if (btoa(binary) !== text || !isLength(binary.length)) refuse('encoding', 'a hash or signature is malformed')
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
const readHash = (text) => fromBase64(text, (length) => length === 32)
const readHashes = (list) => (Array.isArray(list) ? list.map(readHash) : refuse('format', 'a proof is no list'))

/** A C2SP verifier key: of a log (type 1) or of a witness (type 4). */
export async function readKey(vkey) {
  const [, name, id, encoded] =
    match(/^([^\s+\p{Cc}\p{Cs}]+)\+([0-9a-f]{8})\+(\S+)$/u, vkey) ?? refuse('key', 'not a verifier key')
  const bytes = fromBase64(encoded, (length) => length === 33)
  const hash = await sha256([...toBytes(`${name}\n`), ...bytes])
  if (![1, 4].includes(bytes[0]) || toHex(hash.slice(0, 4)) !== id) refuse('key', `the id of the key ${name} is wrong`)
  return { vkey, signer: `${name}+${id}`, name, isWitness: bytes[0] === 4, bytes: bytes.slice(1) }
}

/** A checkpoint in a signed note. Signatures of other keys are ignored; a wrong one of a known key refuses the note. */
async function openNote(note, keys) {
  const parts = match(/^(([^\n]+)\n(0|[1-9]\d{0,17})\n([^\n]+)\n(?:[^\n]+\n)*)\n((?:— [^\s+]+ \S+\n)+)$/u, note)
  if (!parts || /[^\n\P{Cc}]|\p{Cs}/u.test(note)) refuse('note', 'not a checkpoint in a signed note')
  const [, text, origin, size, root, lines] = parts
  if (size === '0' && root !== toBase64(await sha256([]))) refuse('note', 'an empty log has another root')
  const signatures = new Map()
  for (const [, name, encoded] of lines.matchAll(/— (\S+) (\S+)\n/gu)) {
    const bytes = fromBase64(encoded, (length) => length > 4)
    const signer = `${name}+${toHex(bytes.slice(0, 4))}`
    if (signatures.has(signer)) refuse('note', `two signatures of ${signer}`)
    signatures.set(signer, bytes.slice(4))
  }
  const signed = []
  for (const { vkey, signer, name, isWitness, bytes } of keys) {
    const signature = signatures.get(signer)
    if (!signature || (!isWitness && name !== origin)) continue
    const time = isWitness && signature.length === 72 ? new DataView(signature.buffer).getBigInt64(0) : null
    const isComplete = isWitness ? time > 0n : signature.length === 64
    const message = toBytes(isWitness ? `cosignature/v1\ntime ${time}\n${text}` : text)
    const key = await crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify'])
    if (!isComplete || !(await crypto.subtle.verify('Ed25519', key, signature.slice(-64), message)))
      refuse('signature', `the signature of ${signer} is wrong`)
    signed.push({ vkey, isWitness, time })
  }
  if (signed.every(({ isWitness }) => isWitness)) refuse('no-key', `no known key of ${origin} signed the checkpoint`)
  return { origin, size: BigInt(size), root: toBase64(readHash(root)), signed }
}

/** RFC 9162, 2.1.3.2 and 2.1.4.2: the root of the tree above the node at `place`, and of the tree that once ended there. */
async function climb(place, last, start, proof) {
  let [old, now] = [start, start]
  for (const sibling of proof) {
    if (last === 0n) return {}
    const isRight = place % 2n === 1n || place === last
    if (isRight) old = await hashNode(sibling, old)
    now = await (isRight ? hashNode(sibling, now) : hashNode(now, sibling))
    while (isRight && place !== 0n && place % 2n === 0n) [place, last] = [place / 2n, last / 2n]
    ;[place, last] = [place / 2n, last / 2n]
  }
  return last === 0n ? { old: toBase64(old), now: toBase64(now) } : {}
}

/** The entries of the first checkpoint are the first entries of the second. */
export async function verifyConsistency(from, to, proof) {
  const hashes = readHashes(proof)
  if (from.origin !== to.origin) refuse('history', `two logs: ${from.origin} and ${to.origin}`)
  if (from.size === 0n && hashes.length === 0) return
  let [place, last] = from.size === to.size ? [0n, 0n] : [from.size - 1n, to.size - 1n]
  while (place % 2n === 1n) [place, last] = [place / 2n, last / 2n]
  const start = place === 0n ? readHash(from.root) : hashes.shift()
  const { old, now } = start ? await climb(place, last, start, hashes) : {}
  if (from.size === 0n || from.size > to.size || old !== from.root || now !== to.root)
    refuse('history', `two histories: the ${to.size} entries do not begin with the earlier ${from.size}`)
}

const [uuid, number, word] = ['[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', '(?:0|-?[1-9]\\d{0,17})', '[!-~]+']
const leafPattern = new RegExp(
  `^prepaid-credits/entry/v1\ncustomer (?<customer>${uuid})\nentry (?<entry>[1-9]\\d{0,17})` +
    `\ntime (?<time>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z)\nkind (?<kind>[A-Z_]+)` +
    `\ndelta (?<delta>${number})\nbalance (?<balance>${number})(?:\nheld-delta ${number})?(?:\nheld ${number})?` +
    `(?:\nadjusted ${number})?(?:\norder (?<order>${word}))?(?:\nreference (?<reference>${word}))?` +
    `(?:\nhold (?<hold>${uuid}))?(?:\nservice (?<service>${word}))?$`,
)

async function readEntry(member, { size, root }) {
  const { leaf, index, proof } = hasExactly(member, 'index,leaf,proof') ? member : refuse('format', 'not an entry')
  const { groups } = match(leafPattern, leaf) ?? refuse('leaf', 'an entry is not as the format says')
  const place = BigInt(match(/^(?:0|[1-9]\d{0,17})$/, index)?.[0] ?? refuse('format', 'an index is not a number'))
  const { now } = await climb(place, size - 1n, await sha256([0, ...toBytes(leaf)]), readHashes(proof))
  if (place >= size || now !== root) refuse('proof', `entry ${groups.entry} is not at index ${index} of the checkpoint`)
  const [entry, delta, balance] = [groups.entry, groups.delta, groups.balance].map(BigInt)
  return { ...groups, leaf, index: place, entry, delta, balance }
}

/** All belong to the subject (a hold's reference: all of that one hold), in order; each balance follows from the one before. */
function checkSubject(subject, entries) {
  const isStatement = hasExactly(subject, 'statement') && hasExactly(subject.statement, 'customer,from,to')
  const isKnown = isStatement || hasExactly(subject, 'order') || hasExactly(subject, 'customer,reference')
  const { from, to, ...wanted } = isStatement ? subject.statement : Object(subject)
  const isWhole = !isStatement || ([from, to].every(Number.isSafeInteger) && to === from + entries.length - 1)
  if (!isKnown || !isWhole || entries.length === 0) refuse('subject', 'not an order, a reference or a whole statement')
  const isOpening = ({ kind, reference }) => kind === 'HOLD' && reference && reference === wanted.reference
  const [{ hold = null } = {}, second] = entries.filter(isOpening)
  const has = (entry, name) => entry[name] === wanted[name] || (name === 'reference' && entry.hold === hold)
  let before = { customer: entries[0].customer, entry: 0n, index: -1n, balance: 0n }
  for (const [place, entry] of entries.entries()) {
    const isOwn = entry !== second && Object.keys(wanted).every((name) => has(entry, name))
    const isInPlace = !isStatement || `${entry.entry}` === `${from + place}`
    const isNext = entry.customer === before.customer && entry.entry > before.entry && entry.index > before.index
    if (!isOwn || !isInPlace || !isNext) refuse('subject', `entry ${entry.entry} does not belong there`)
    if (entry.entry === before.entry + 1n && entry.balance !== before.balance + entry.delta)
      refuse('balance', `the balance of entry ${entry.entry} does not follow from the one before`)
    before = entry
  }
}

/** `keys` are those that the caller trusts. If none is of a log, those in the receipt are used: the signer is not known. */
export async function verify(text, keys = []) {
  const given = await Promise.all(keys.map(readKey))
  const result = given.some(({ isWitness }) => !isWitness) ? 'verified' : 'consistent, signer not known'
  if (text[0] !== '{') return { kind: 'checkpoint', result, checkpoints: [await openNote(text, given)], entries: [] }
  const content = JSON.parse(text)
  const isFile = (format, members) => content.format === `prepaid-credits/${format}/v1` && hasExactly(content, members)
  if (isFile('consistency', 'format,from,proof,to')) {
    const [from, to] = [await openNote(content.from, given), await openNote(content.to, given)]
    await verifyConsistency(from, to, content.proof)
    return { kind: 'consistency proof', result, checkpoints: [from, to], entries: [] }
  }
  const isReceipt = isFile('receipt', 'checkpoint,entries,format,keys,subject') && Array.isArray(content.entries)
  if (!isReceipt || !Array.isArray(content.keys)) refuse('format', 'not a receipt, checkpoint or consistency proof')
  const own = (await Promise.all(content.keys.map(readKey))).filter(({ isWitness }) => !isWitness)
  const checkpoint = await openNote(content.checkpoint, result === 'verified' ? given : [...given, ...own])
  const entries = await Promise.all(content.entries.map((member) => readEntry(member, checkpoint)))
  checkSubject(content.subject, entries)
  return { kind: 'receipt', result, checkpoints: [checkpoint], subject: content.subject, entries }
}
