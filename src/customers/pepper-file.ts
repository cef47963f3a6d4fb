// The pepper that sandbox mode makes up for itself.
import { readOrMakeSecret } from '../core/secret-file.ts'
import type { Peppers } from './api-keys.ts'

export function readOrMakePepper(dataDir: string): Peppers {
  return [{ version: 1, secret: readOrMakeSecret(dataDir, 'key-pepper') }]
}
