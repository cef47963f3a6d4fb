// Marks a data directory whose database was moved to a server, so that it is not served by mistake: payments would go into
// abandoned books. People can read the file, and remove it to go back.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { publish, readIfThere } from './files.ts'

const nameOf = (dataDir: string) => join(dataDir, 'postgres.moved')

export function noteMoved(dataDir: string, place: string): string {
  const file = nameOf(dataDir)
  rmSync(file, { force: true })
  publish(file, `The database of this directory has moved to ${place}, on ${new Date().toISOString()}.\n`)
  return file
}

export function requireNotMoved(dataDir: string): void {
  const text = readIfThere(nameOf(dataDir))
  if (text === null) return
  throw new Error(
    `${text} Set DATABASE_URL to it. To go back to the one in ${dataDir} remove ${nameOf(dataDir)}: ` +
      'what the server has stored since is not there.',
  )
}
