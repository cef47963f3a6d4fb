// The internal listener in a process of its own, over the database it is told: as the service builds it, or with spends
// one by one. Says where it listens, and how much processor time it has used, to whoever started it.
import { pino } from 'pino'
import { createCredits } from '../../src/credits/credits.ts'
import { createAuthenticateService } from '../../src/customers/service-tokens.ts'
import { createDatabase, createPool } from '../../src/db/database.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { buildInternalListener } from '../../src/internal-listener.ts'
import { listen } from '../../src/listen.ts'
import { spendOneByOne } from './one-by-one.ts'

export type ServerInput = {
  way: 'shared' | 'one by one'
  connection: { host: string; port: number; user: string; password: string; database: string }
  pepper: string
}

const { way, connection, pepper } = JSON.parse(process.argv[2] ?? '') as ServerInput
const log = pino({ level: 'silent' })
const pool = createPool({ connection, maxConnections: 16, log })
const database = createDatabase(pool, log)
const shared = createCredits(database)
const credits =
  way === 'shared'
    ? shared
    : { ...shared, spend: (input: Parameters<typeof shared.spend>[0]) => spendOneByOne(database, input) }
const app = buildInternalListener({
  ...{ database, credits, log, bodyLimitBytes: 16_384 },
  gateway: { state: () => 'not used' } as unknown as Gateway,
  authenticateService: createAuthenticateService(database, [{ version: 1, secret: pepper }]),
})
const url = await listen(app, 'INTERNAL_PORT', '127.0.0.1', 0)
process.send?.({ url })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicroseconds: user + system, residentBytes: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))
