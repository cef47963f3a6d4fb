// A secret that sandbox mode makes up for itself: in DATA_DIR, readable by its owner alone, made once by whoever comes
// first, the service or the command line. The directory is there: whoever opened the database has made it.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function readOrMakeSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  try {
    writeFileSync(file, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8').trim()
}
