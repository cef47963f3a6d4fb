// Verifies the signatures of the log for the audit: of the newest checkpoint, of published ones, and of their lists of keys. A key is
// known when a secret of KEY_PEPPER makes it, under whatever name the log had, or when a known key has signed a list with it. A key
// whose secret was replaced at once, as after a leak, is in no such list: its checkpoints are counted, and only before the first one
// of a known key. So damage is found in any of them, and a checkpoint of a key of another party among those of known keys.
import type { Database } from '../../db/database.ts'
import { type LogKey, logKeysOf, readCheckpointNote, type Secret, signedTextOf } from '../note.ts'
import { isSignedBy, keyTypes, readVerifierKey, renameKey } from '../verifier-key.ts'
import { listKeyLists, type StoredCheckpoint } from './checkpoints.sql.ts'
import { keysInList, readKeyList } from './key-list.ts'

type Fault = Record<string, unknown>

export type SignatureCheck = {
  /** Undefined: nothing is wrong. Published checkpoints come first, in the order of their sizes. */
  faultOfPublished(checkpoint: Pick<StoredCheckpoint, 'note' | 'keys'>): Fault | undefined
  faultOfHead(note: string): Fault | undefined
  /** Checkpoints whose key no known key has named. */
  unknownSigners(): number
}

export async function createSignatureCheck(database: Database, peppers: readonly Secret[]): Promise<SignatureCheck> {
  const known = await listKnownKeys(database, logKeysOf(peppers, anyName))
  const unknown = new Set<string>()
  let isAfterKnown = false
  let unknownSigners = 0

  return {
    faultOfPublished({ note, keys }) {
      const origin = originOf(note)
      const listed = keysInList(keys)
      const isKnown = readKeyList(keys, known.under(origin)).length > 0
      if (!isKnown && readKeyList(keys, listed).length === 0) return { keys }
      // The list has exactly those keys that have signed.
      const wrong = listed.find((vkey) => nameOf(vkey) !== origin || !isSignedByKey(note, vkey))
      if (wrong !== undefined) return { note, key: wrong }
      if (!isKnown && isAfterKnown) return { keys }
      isAfterKnown ||= isKnown
      if (isKnown) return undefined
      for (const vkey of listed) unknown.add(vkey)
      unknownSigners += 1
      return undefined
    },
    faultOfHead(note) {
      if (known.under(originOf(note)).some((vkey) => isSignedByKey(note, vkey))) return undefined
      if (![...unknown].some((vkey) => nameOf(vkey) === originOf(note) && isSignedByKey(note, vkey))) return { note }
      unknownSigners += 1
      return undefined
    },
    unknownSigners: () => unknownSigners,
  }
}

/** Keys are compared without the name of the log. */
const anyName = 'any'

/** The keys of the secrets, and those of lists that lead to them: the newest first, as a key is named by one that came after it. */
async function listKnownKeys(database: Database, keys: readonly LogKey[]) {
  const known = new Set(keys.map(({ vkey }) => vkey))
  const under = (name: string) => [...known].map((vkey) => renameKey(vkey, name))
  for (const list of await listKeyLists(database)) {
    const name = nameOf(keysInList(list)[0] ?? '')
    for (const vkey of readKeyList(list, under(name))) known.add(renameKey(vkey, anyName))
  }
  return { under }
}

const nameOf = (vkey: string) => vkey.slice(0, Math.max(vkey.indexOf('+'), 0))
const originOf = (note: string) => readCheckpointNote(note)?.origin ?? ''

function isSignedByKey(note: string, vkey: string): boolean {
  const key = readVerifierKey(vkey, keyTypes.ed25519)
  const text = signedTextOf(note)
  return key !== undefined && isSignedBy(note.slice(text.length + 1), text, key)
}
