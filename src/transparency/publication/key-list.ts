// The list of the log's verifier keys that is kept with a published checkpoint, signed by the keys of its time. After a rotation it
// leads from a key that signs now to the one before: the database alone cannot name a key that no known key has named.
import { verify } from 'node:crypto'
import { type LogKey, signedTextOf } from '../note.ts'
import { keyTypes, readSignatureLine, readVerifierKey, type VerifierKey } from '../verifier-key.ts'

/** The first line of what is signed. A checkpoint has a number in its second line, and never a key. */
const heading = 'prepaid-credits/keys/v1'

export function signKeyList(keys: readonly LogKey[], listed: readonly string[]): string {
  const text = [heading, ...listed].map((line) => `${line}\n`).join('')
  return `${text}\n${keys.map((key) => key.signatureOf(text)).join('')}`
}

/** The keys of a list that a known key has signed; none of any other. */
export function readKeyList(list: string, known: readonly string[]): string[] {
  const text = signedTextOf(list)
  const lines = list.slice(text.length + 1).split('\n')
  const [first, ...listed] = text.trimEnd().split('\n')
  const keys = known.flatMap((vkey) => readVerifierKey(vkey, keyTypes.ed25519) ?? [])
  const isKnown = first === heading && lines.some((line) => keys.some((key) => isSignature(line, text, key)))
  return isKnown ? listed : []
}

function isSignature(line: string, text: string, key: VerifierKey): boolean {
  const signature = readSignatureLine(line, key)
  return signature !== undefined && verify(null, Buffer.from(text), key.key, signature)
}
