// Whether the secrets that keys were hashed under are present where a backup is restored. A backup has one sealed text for
// each secret, never a secret itself: a secret is present if it opens the text.
import { seal, unseal } from '../../core/seal.ts'
import type { Peppers } from '../../customers/api-keys.ts'
import type { Header, SecretChecks } from '../../db/copy/backup-file.ts'

const secretText = 'the secrets of this service'
const secretAbout = 'backup'

export const secretChecksOf = (peppers: Peppers | undefined): SecretChecks =>
  peppers?.map((pepper) => seal(secretText, secretAbout, pepper)) ?? 'not known'

export const uncheckedSecretsText =
  'not known: where the backup was taken there was neither KEY_PEPPER nor the file key-pepper in DATA_DIR, so a restore ' +
  'cannot check whether it has the secret that keys were hashed under. Without that secret no key of the backup is valid.'

/** The versions of the missing secrets: keys hashed under them would not be recognised. */
function missingVersions(secretChecks: string[], peppers: Peppers | undefined): string[] {
  return secretChecks.flatMap((check) => {
    try {
      unseal(check, secretAbout, peppers ?? [])
      return []
    } catch {
      return [check.split('.')[0] ?? '']
    }
  })
}

const missingText = (versions: string[]) =>
  `The secret that keys were hashed under there (version ${versions.join(', ')}) is missing here: no API key, no service ` +
  'token and no signing secret of the backup is valid without it. Set KEY_PEPPER, or copy the file key-pepper into DATA_DIR.'

/** The part of a result that is about missing secrets; empty if none is missing. */
export function secretFindings(
  { secretChecks }: Header,
  peppers: Peppers | undefined,
): { lacks?: string; secrets?: string } {
  // An earlier version wrote an empty list instead of 'not known'.
  if (secretChecks === 'not known' || secretChecks.length === 0) return { secrets: uncheckedSecretsText }
  const missing = missingVersions(secretChecks, peppers)
  return missing.length > 0 ? { lacks: missingText(missing) } : {}
}
