// The types of verify.js, which is plain JavaScript so that the file in the package, on the page and in the repository is one.

export type LogKey = { vkey: string; signer: string; name: string; isWitness: boolean; bytes: Uint8Array }

/** `time`: when a witness has cosigned, in seconds since 1970; null for the log itself. */
export type NoteSignature = { vkey: string; isWitness: boolean; time: bigint | null }

export type Checkpoint = { origin: string; size: bigint; root: string; signed: NoteSignature[] }

export type VerifiedEntry = {
  /** The text that was hashed. */
  leaf: string
  index: bigint
  customer: string
  entry: bigint
  time: string
  kind: string
  delta: bigint
  balance: bigint
  order?: string
  reference?: string
  hold?: string
  service?: string
}

export type ReceiptSubject =
  | { order: string }
  | { customer: string; reference: string }
  | { statement: { customer: string; from: number; to: number } }

export type Verified = {
  kind: 'receipt' | 'checkpoint' | 'consistency proof'
  /** The signer is not known when no key of a log was given: then those in the receipt were used, which anyone can write there. */
  result: 'verified' | 'consistent, signer not known'
  /** Two of a consistency proof, the older first; one of the others. */
  checkpoints: Checkpoint[]
  subject?: ReceiptSubject
  entries: VerifiedEntry[]
}

/** What a file was refused for; the message is a sentence for people. */
export type VerifyCode =
  | 'format'
  | 'encoding'
  | 'key'
  | 'note'
  | 'signature'
  | 'no-key'
  | 'leaf'
  | 'proof'
  | 'subject'
  | 'balance'
  | 'history'

/** Throws for text that is no verifier key. */
export function readKey(vkey: string): Promise<LogKey>

/** Throws for a file that is not valid: an error with the name VerifyError and a code, or a SyntaxError of JSON. */
export function verify(text: string, keys?: readonly string[]): Promise<Verified>

/** Throws when the entries of the first checkpoint are not the first entries of the second. */
export function verifyConsistency(
  from: Pick<Checkpoint, 'origin' | 'size' | 'root'>,
  to: Pick<Checkpoint, 'origin' | 'size' | 'root'>,
  proof: unknown,
): Promise<void>
