// Everything the campaign starts, in the order of dependence: a directory, a PostgreSQL, the gateway, two services, the
// consumer of their events. `stopProcesses` leaves no process behind, even if a start has failed.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCitus } from '../../harness/citus/citus.ts'
import { killAll } from '../../harness/launch.ts'
import { takeFreePorts } from '../../harness/ports.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import { type SpreadDatabase, startSpreadDatabase } from '../stages/citus.ts'
import { findPrograms } from '../stages/patroni/packages.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../stages/patroni/patroni.ts'
import { createCommands, type RunCommand } from './commands.ts'
import { type Consumer, startConsumer } from './consumer.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { type Books, type CampaignBooks, openBooks, type Postgres, type Server, startPostgres } from './postgres.ts'
import { createService, type Service } from './service.ts'
import { serviceEnvironment } from './settings.ts'

export type DatabaseChoice = { kind: 'server' } | { kind: 'citus' } | ({ kind: 'patroni' } & ClusterOptions)

/** What the load and the checks need, wherever the services run. */
export type World = {
  postgres: Pick<Postgres, 'urlFor'>
  cluster: Cluster | undefined
  spread: SpreadDatabase | undefined
  /** How far the clocks of the database may be apart, now or at two moments. */
  clockSpreadMs: number
  books: Books
  gateway: Gateway
  services: [Service, Service]
  consumer: Consumer
  peppers: Peppers
  /** The settings that the services share. */
  environment: Record<string, string>
  /** By name; none may appear in a log. */
  secrets: Record<string, string>
  /** Every request and answer as text. */
  readHistory(): string
  runCommand: RunCommand
  /** Work of a check that no simulated process may do: WebCrypto uses other threads. */
  runOutside<Value>(work: () => Promise<Value>): Promise<Value>
}

/** A world of processes. */
export type CampaignWorld = World & {
  directory: string
  postgres: Postgres
  /** The same, when it is one server. */
  server: Server | undefined
  books: CampaignBooks
  historyFile: string
  stopProcesses(): Promise<void>
  removeDirectory(): void
}

export async function startWorld(seed: number, database: DatabaseChoice = { kind: 'server' }): Promise<CampaignWorld> {
  if (database.kind === 'patroni') findPrograms(database.patroni)
  if (database.kind === 'citus') findCitus()
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'prepaid-credits-chaos-'))
  // As root the database server runs as another user, which needs access.
  chmodSync(directory, 0o755)
  const parts = new AsyncDisposableStack()
  try {
    const cluster = database.kind === 'patroni' ? await startCluster(directory, database) : undefined
    const spread = database.kind === 'citus' ? await startSpreadDatabase(directory) : undefined
    const server = database.kind === 'server' ? await startPostgres(directory) : undefined
    const postgres = (cluster ?? spread ?? server) as Postgres
    process.on('exit', postgres.endNow)
    parts.defer(async () => {
      await postgres.stop()
      process.off('exit', postgres.endNow)
    })
    await postgres.prepare()
    const books = await openBooks(postgres, spread !== undefined)
    parts.defer(() => books.close())
    const programs = await startPrograms(seed, directory, postgres, books, parts)
    return { ...programs, server, cluster, spread, clockSpreadMs: cluster?.clockSpreadMs ?? 0 }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

async function startPrograms(
  seed: number,
  directory: string,
  postgres: Postgres,
  books: CampaignBooks,
  parts: AsyncDisposableStack,
): Promise<Omit<CampaignWorld, 'server' | 'cluster' | 'spread' | 'clockSpreadMs'>> {
  const [gatewayPort = 0, consumerPort = 0, ...servicePorts] = await takeFreePorts(8)
  const pepper = randomBytes(24).toString('base64url')
  const keys = { clientKey: `test_ck_${newSecret()}`, secretKey: `test_sk_${newSecret()}` }
  const token = newSecret()
  const environment = { ...serviceEnvironment(postgres, gatewayPort, keys, pepper), WEBHOOK_TOKEN: token }
  const services = (['a', 'b'] as const).map((name, index) => {
    const [port = 0, internalPort = 0, webhookPort = 0] = servicePorts.slice(index * 3)
    const dataDir = join(directory, `service-${name}`)
    mkdirSync(dataDir)
    const own = { ...environment, DATA_DIR: dataDir }
    const logFile = join(directory, `service-${name}.log`)
    return createService({ name, port, internalPort, webhookPort, webhookToken: token, environment: own, logFile })
  }) as [Service, Service]
  const gateway = createGateway({
    ...keys,
    port: gatewayPort,
    directory: join(directory, 'gateway'),
    webhookUrl: services[0].webhookUrl,
    logFile: join(directory, 'gateway.log'),
  })
  const consumer = await startConsumer(consumerPort, seed * 53 + 11)
  parts.defer(() => consumer.close())
  parts.defer(async () => {
    await Promise.all(services.map((service) => service.close()))
    await gateway.close()
    // Commands that are still running.
    killAll()
  })
  await gateway.start()
  await Promise.all(services.map((service) => service.start()))

  const platform = { ...environment, DATA_DIR: join(directory, 'platform') }
  const historyFile = join(directory, 'history.jsonl')
  return {
    directory,
    postgres,
    books,
    gateway,
    services,
    consumer,
    peppers: [{ version: 1, secret: pepper }],
    environment: platform,
    runCommand: createCommands(directory, platform),
    runOutside: (work) => work(),
    secrets: {
      'the secret key of the gateway': keys.secretKey,
      'the secret key of the gateway in base64': Buffer.from(`${keys.secretKey}:`).toString('base64'),
      'the pepper': pepper,
      'the webhook token': token,
      'the password of the owner': postgres.ownerPassword,
      'the password of the serving role': postgres.servingPassword,
    },
    historyFile,
    readHistory: () => readFileSync(historyFile, 'utf8'),
    stopProcesses: () => parts.disposeAsync(),
    removeDirectory() {
      postgres.remove()
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

function newSecret(): string {
  return randomBytes(18).toString('hex')
}
