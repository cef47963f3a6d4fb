// A service reduced to its database, for embedded.test.ts to kill: starts or adopts the server of the given directory,
// takes the service lock, prints one line of JSON and keeps running.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockDataDirectory } from '../../src/db/embedded/lock.ts'
import { startEmbedded } from '../../src/db/embedded/server.ts'

const [dataDir = '', lock] = process.argv.slice(2)
const server = await startEmbedded({ dataDir })
if (lock === 'lock') {
  await lockDataDirectory(server, dataDir)
  writeFileSync(join(dataDir, 'service.pid'), `${process.pid}\n`)
}
process.stdout.write(`${JSON.stringify({ adopted: server.adopted })}\n`)
setInterval(() => undefined, 60_000)
