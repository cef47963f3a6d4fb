// Everything the campaign starts, in the order of dependence: a directory, a PostgreSQL, the gateway, two services, the
// consumer of their events. `stopProcesses` leaves no process behind, even if a start has failed.
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killAll } from '../../harness/launch.ts'
import { takeFreePorts } from '../../harness/ports.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import { type SpreadDatabase, startSpreadDatabase } from '../cluster/citus.ts'
import { type Cluster, type ClusterOptions, startCluster } from '../cluster/patroni.ts'
import { type Consumer, startConsumer } from './consumer.ts'
import { createGateway, type GatewayProcess } from './gateway.ts'
import { type Books, openBooks, type Postgres, type Server, startPostgres } from './postgres.ts'
import { createService, type Service } from './service.ts'

/** Short, so that leases end and orders expire many times within a run. */
export const limits = {
  gatewayTimeoutMs: 1_500,
  gatewayLookupTimeoutMs: 1_000,
  gatewayListTimeoutMs: 3_000,
  operationLeaseMs: 3_000,
  operationWaitMs: 2_000,
  pendingOrderLifetimeMs: 20_000,
  operationRetryMaxMs: 4_000,
  shutdownTimeoutMs: 20_000,
  eventTimeoutMs: 1_000,
  eventFirstPauseMs: 200,
  eventRetryMaxMs: 2_000,
}

export type DatabaseChoice = { kind: 'server' } | { kind: 'citus' } | ({ kind: 'patroni' } & ClusterOptions)

export type World = {
  directory: string
  postgres: Postgres
  /** The same, by what it is. */
  server: Server | undefined
  cluster: Cluster | undefined
  spread: SpreadDatabase | undefined
  books: Books
  gateway: GatewayProcess
  services: [Service, Service]
  consumer: Consumer
  peppers: Peppers
  /** The settings that the services share. */
  environment: Record<string, string>
  /** By name; none may appear in a log. */
  secrets: Record<string, string>
  historyFile: string
  stopProcesses(): Promise<void>
  removeDirectory(): void
}

export async function startWorld(seed: number, database: DatabaseChoice = { kind: 'server' }): Promise<World> {
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
    return { ...(await startPrograms(seed, directory, postgres, books, parts)), server, cluster, spread }
  } catch (error) {
    await parts.disposeAsync()
    throw error
  }
}

async function startPrograms(
  seed: number,
  directory: string,
  postgres: Postgres,
  books: Books,
  parts: AsyncDisposableStack,
): Promise<Omit<World, 'server' | 'cluster' | 'spread'>> {
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

  return {
    directory,
    postgres,
    books,
    gateway,
    services,
    consumer,
    peppers: [{ version: 1, secret: pepper }],
    environment: { ...environment, DATA_DIR: join(directory, 'platform') },
    secrets: {
      'the secret key of the gateway': keys.secretKey,
      'the secret key of the gateway in base64': Buffer.from(`${keys.secretKey}:`).toString('base64'),
      'the pepper': pepper,
      'the webhook token': token,
      'the password of the owner': postgres.ownerPassword,
      'the password of the serving role': postgres.servingPassword,
    },
    historyFile: join(directory, 'history.jsonl'),
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

function serviceEnvironment(
  postgres: Postgres,
  gatewayPort: number,
  keys: { clientKey: string; secretKey: string },
  pepper: string,
): Record<string, string> {
  return {
    NODE_ENV: 'production',
    DATABASE_URL: postgres.servingUrlFor('service'),
    DATABASE_STANDBYS: postgres.standbys,
    GATEWAY: 'toss',
    TOSS_API_URL: `http://127.0.0.1:${gatewayPort}`,
    TOSS_CLIENT_KEY: keys.clientKey,
    TOSS_SECRET_KEY: keys.secretKey,
    KEY_PEPPER: pepper,
    SUCCESS_URL: 'https://shop.example/success',
    FAIL_URL: 'https://shop.example/fail',
    GATEWAY_TIMEOUT_MS: `${limits.gatewayTimeoutMs}`,
    GATEWAY_LOOKUP_TIMEOUT_MS: `${limits.gatewayLookupTimeoutMs}`,
    GATEWAY_LIST_TIMEOUT_MS: `${limits.gatewayListTimeoutMs}`,
    OPERATION_LEASE_MS: `${limits.operationLeaseMs}`,
    OPERATION_WAIT_MS: `${limits.operationWaitMs}`,
    OPERATION_RETRY_MAX_MS: `${limits.operationRetryMaxMs}`,
    PENDING_ORDER_LIFETIME_MS: `${limits.pendingOrderLifetimeMs}`,
    PENDING_ORDERS_PER_CUSTOMER: '0',
    RATE_LIMIT_PER_SECOND: '0',
    SHUTDOWN_TIMEOUT_MS: `${limits.shutdownTimeoutMs}`,
    EVENT_PRIVATE_ADDRESSES: 'allow',
    EVENT_TIMEOUT_MS: `${limits.eventTimeoutMs}`,
    EVENT_FIRST_PAUSE_MS: `${limits.eventFirstPauseMs}`,
    EVENT_RETRY_MAX_MS: `${limits.eventRetryMaxMs}`,
  }
}
