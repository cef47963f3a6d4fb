// A secret that sandbox mode generates: in DATA_DIR, readable by its owner only, created once by the first process, service or
// command. It is never visible half written: keys hashed under the first half would be lost. Opening the database has created
// the directory. A file that other users can read, because it was copied, is closed to them before it is used.
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
    throw new Error(`${file} can be read by other users, and this user cannot change that: chmod 600 it`)
  }
}
