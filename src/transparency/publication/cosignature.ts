// Cosignatures of witnesses (C2SP tlog-cosignature, cosignature/v1): a line of a note that says at which time a witness had seen
// the checkpoint as the newest of one history. Lines of unknown keys are ignored.
import { hash, verify } from 'node:crypto'
import { signedTextOf } from '../note.ts'
import { createRecent } from '../recent.ts'
import { keyTypes, readSignatureLine, readVerifierKey, type VerifierKey } from '../verifier-key.ts'

export type CosignedCheckpoint = { note: string; cosignatures: { vkey: string; line: string }[] }

/** A time is signed, in eight bytes. */
const latestTime = 2n ** 63n - 1n
const [timeBytes, signatureBytes] = [8, 64]
/** Two witnesses and an hourly checkpoint for three years: some megabytes. */
const rememberedAtMost = 50_000

/** Parses the verifier key of a witness; undefined: it is none, or not of this type. */
export function witnessKeyOf(vkey: string): VerifierKey | undefined {
  return readVerifierKey(vkey, keyTypes.cosignature)
}

/** The line of this witness among signature lines, when it is valid for the text of a checkpoint. */
export function findCosignature(lines: string, text: string, witness: VerifierKey): string | undefined {
  // What follows the last line feed is no line.
  const complete = lines.split('\n').slice(0, -1)
  const found = complete.find((line) => {
    const bytes = readSignatureLine(line, witness)
    if (bytes?.length !== timeBytes + signatureBytes) return false
    const time = bytes.readBigUInt64BE(0)
    const message = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`)
    return time > 0n && time <= latestTime && verify(null, message, witness.key, bytes.subarray(timeBytes))
  })
  return found === undefined ? undefined : `${found}\n`
}

type CheckCosignature = (vkey: string, line: string, text: string) => boolean

/** Checks each cosignature once, as long as it is among the last `atMost`. */
export function rememberChecked(check: CheckCosignature, atMost: number): CheckCosignature {
  const checked = createRecent<boolean>(atMost)
  return (vkey, line, text) => {
    const id = hash('sha256', JSON.stringify([vkey, line, text]), 'base64')
    return checked.getOrMake(id, () => check(vkey, line, text))
  }
}

/** Whether a line is the cosignature of a witness on a text. Anyone may ask for checkpoints, a hundred at a time. */
export const isCosignature = rememberChecked((vkey, line, text) => {
  const key = witnessKeyOf(vkey)
  return key !== undefined && findCosignature(line, text, key) === line
}, rememberedAtMost)

/** The lines of its witnesses. One that is not valid would make the whole note unreadable. */
export function validCosignatures({ note, cosignatures }: CosignedCheckpoint): string[] {
  const text = signedTextOf(note)
  return cosignatures.filter(({ vkey, line }) => isCosignature(vkey, line, text)).map(({ line }) => line)
}

/** A checkpoint with the lines of its witnesses behind the log's own. */
export function cosignedNote(checkpoint: CosignedCheckpoint): string {
  return `${checkpoint.note}${validCosignatures(checkpoint).join('')}`
}
