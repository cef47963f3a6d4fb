// DATA_DIR/service.pid, the process to send a signal to. It identifies the service that answers, so it is written when the
// listeners are up, and removed only by that process.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export function writeProcessId(dataDir: string): () => void {
  const file = join(dataDir, 'service.pid')
  const text = `${process.pid}\n`
  writeFileSync(file, text)
  return () => {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) rmSync(file, { force: true })
  }
}
