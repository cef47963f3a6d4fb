// The list of the log's verifier keys that is kept with a published checkpoint, signed by the keys of its time. After a rotation it
// leads from a key that signs now to the one before: the database alone cannot name a key that no known key has named.
import { type LogKey, signedTextOf } from '../note.ts'
import { isSignedBy, keyTypes, readVerifierKey } from '../verifier-key.ts'

/** The first line of what is signed. A checkpoint has a number in its second line, and never a key. */
const heading = 'prepaid-credits/keys/v1'

export function signKeyList(keys: readonly LogKey[], listed: readonly string[]): string {
  const text = [heading, ...listed].map((line) => `${line}\n`).join('')
  return `${text}\n${keys.map((key) => key.signatureOf(text)).join('')}`
}

/** The keys of a list, whatever key has signed it; none of what is no list. */
export function keysInList(list: string): string[] {
  const [first, ...listed] = signedTextOf(list).trimEnd().split('\n')
  return first === heading ? listed : []
}

/** The keys of a list that a known key has signed; none of any other. */
export function readKeyList(list: string, known: readonly string[]): string[] {
  const text = signedTextOf(list)
  const keys = known.flatMap((vkey) => readVerifierKey(vkey, keyTypes.ed25519) ?? [])
  return keys.some((key) => isSignedBy(list.slice(text.length + 1), text, key)) ? keysInList(list) : []
}
