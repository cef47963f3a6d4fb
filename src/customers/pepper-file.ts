// The pepper that sandbox mode generates.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readOrMakeSecret } from '../core/secret-file.ts'
import type { Peppers } from './api-keys.ts'

const fileName = 'key-pepper'

export function readOrMakePepper(dataDir: string): Peppers {
  return [{ version: 1, secret: readOrMakeSecret(dataDir, fileName) }]
}

export function readPepper(dataDir: string): Peppers | undefined {
  return existsSync(join(dataDir, fileName)) ? readOrMakePepper(dataDir) : undefined
}
