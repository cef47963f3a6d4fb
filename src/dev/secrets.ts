// Secrets that are generated where none are configured (never in production with the real gateway): kept in DATA_DIR,
// readable by their owner alone, generated once by the first process that needs one, the service or a command. A file is
// written under another name first and linked into place, so no process reads half a secret. DATA_DIR exists: opening the
// database creates it. A file that others can read, because it came from a copy, is closed to them before it is used.
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, linkSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Peppers } from '../customers/api-keys.ts'

const pepperFile = 'key-pepper'

export function readOrMakePepper(dataDir: string): Peppers {
  return [{ version: 1, secret: readOrMakeSecret(dataDir, pepperFile) }]
}

export function readPepper(dataDir: string): Peppers | undefined {
  return existsSync(join(dataDir, pepperFile)) ? readOrMakePepper(dataDir) : undefined
}

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
