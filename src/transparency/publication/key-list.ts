// The list of the log's verifier keys that is kept with a published checkpoint, signed by the keys of its time. After a rotation it
// leads from a key that signs now to the one before: the database alone cannot name a key that no known key has named.
import { createPublicKey, verify } from 'node:crypto'
import type { LogKey } from '../note.ts'

/** The first line of what is signed. A checkpoint has a number in its second line, and never a key. */
const heading = 'prepaid-credits/keys/v1'

export function signKeyList(keys: readonly LogKey[], listed: readonly string[]): string {
  const text = [heading, ...listed].map((line) => `${line}\n`).join('')
  return `${text}\n${keys.map((key) => key.signatureOf(text)).join('')}`
}

/** The keys of a list that a known key has signed; none of any other. */
export function readKeyList(list: string, known: readonly string[]): string[] {
  const end = list.indexOf('\n\n') + 1
  const [text, lines] = [list.slice(0, end), list.slice(end + 1).split('\n')]
  const [first, ...listed] = text.trimEnd().split('\n')
  const isKnown = first === heading && lines.some((line) => known.some((vkey) => isSignature(line, text, vkey)))
  return isKnown ? listed : []
}

function isSignature(line: string, text: string, vkey: string): boolean {
  const [name = '', id = '', ...encoded] = vkey.split('+')
  const bytes = Buffer.from(line.slice(`— ${name} `.length), 'base64')
  if (!line.startsWith(`— ${name} `) || bytes.toString('hex', 0, 4) !== id) return false
  const x = Buffer.from(encoded.join('+'), 'base64').subarray(1).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(text), key, bytes.subarray(4))
}
