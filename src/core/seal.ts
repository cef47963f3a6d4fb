// Encrypts (seals) short secrets that are stored and read again, such as the signing secrets of event endpoints: AES-256-GCM
// under a key derived from a secret that is not in the database. A sealed text names the version of that secret, so that the
// secret can be rotated.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type SealingSecret = { version: number; secret: string }

const algorithm = 'aes-256-gcm'
/** Explicit: by default Node accepts shorter tags. */
const tag = { authTagLength: 16 }

function keyOf({ secret }: SealingSecret): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'prepaid-credits sealed secrets', 32))
}

/** `about` is what the secret belongs to: copied to another owner, it cannot be unsealed. */
export function seal(text: string, about: string, under: SealingSecret): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv(algorithm, keyOf(under), nonce, tag).setAAD(Buffer.from(about))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${under.version}.${sealed.toString('base64url')}`
}

/** Throws when none of the secrets fits, or when the text was changed. */
export function unseal(sealed: string, about: string, secrets: readonly SealingSecret[]): string {
  const [version = '', body = ''] = sealed.split('.')
  const under = secrets.find((each) => `${each.version}` === version)
  if (!under) throw new Error(`sealed under secret ${version}, which is not among KEY_PEPPER`)
  const bytes = Buffer.from(body, 'base64url')
  const decipher = createDecipheriv(algorithm, keyOf(under), bytes.subarray(0, 12), tag)
  decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
}
