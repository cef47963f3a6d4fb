// A secret that sandbox mode makes up for itself: in DATA_DIR, readable by its owner alone, made once by whoever comes
// first, the service or the command line. Nobody sees it half written: keys hashed under the first half would be lost. The
// directory is there: whoever opened the database has made it. A file that others can read, since it came from a copy, is
// closed to them before it is used.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function readOrMakeSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  if (!existsSync(file)) makeSecret(file)
  closeToOthers(file)
  return readFileSync(file, 'utf8').trim()
}

function makeSecret(file: string): void {
  const unfinished = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`
  writeFileSync(unfinished, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(unfinished, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(unfinished)
  }
}

function closeToOthers(file: string): void {
  if ((statSync(file).mode & 0o077) === 0) return
  try {
    chmodSync(file, 0o600)
  } catch {
    throw new Error(`${file} can be read by others and is not ours to close: chmod 600 it`)
  }
}
