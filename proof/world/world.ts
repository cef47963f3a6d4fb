// Everything a run starts, in the order of dependence: a directory, a PostgreSQL, the gateway, the services, the consumer of
// their events. `stopProcesses` leaves no process behind, even if a start has failed.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killAll } from '../../harness/launch.ts'
import { takeFreePorts } from '../../harness/ports.ts'
import type { Peppers } from '../../src/customers/api-keys.ts'
import type { ServiceName } from '../model/history.ts'
import { createCommands, type RunCommand } from './commands.ts'
import { type Consumer, startConsumer } from './consumer.ts'
import { createGateway, type Gateway, type GatewaySettings } from './gateway.ts'
import { type Books, type CampaignBooks, isReplicated, openBooks, type Postgres, type Replicated } from './postgres.ts'
import { createService, type Service, type ServiceProcess, type ServiceSettings } from './service.ts'
import { busySettings, newSecret, serviceEnvironment } from './settings.ts'

/** What the load and the checks need, wherever the services run. */
export type World = {
  postgres: Pick<Postgres, 'urlFor'>
  /** The database, where it survives the loss of its primary. */
  cluster: Replicated | undefined
  /** Customers are on several servers. */
  isSpread: boolean
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

type ProgramSettings = {
  names: readonly ServiceName[]
  directory: string
  postgres: Pick<Postgres, 'servingUrlFor' | 'standbys'>
  ports: { gateway: number; consumer: number; services: number[] }
  keys: { clientKey: string; secretKey: string; pepper: string; webhookToken: string }
  /** Settings of the services, besides the common ones. */
  settings: Record<string, string>
  strict: boolean
  seed: number
  parts: AsyncDisposableStack
}

/** Makes the programs on this machine, or in the simulation. */
type Makers<Made extends Service> = {
  service(settings: ServiceSettings): Made
  gateway(settings: GatewaySettings): Gateway
  consumer(start: () => Promise<Consumer>): Promise<Consumer>
}

/** Starts the services, the gateway and the consumer; all of them end with `parts`. */
export async function startPrograms<Made extends Service>(
  { names, directory, postgres, ports, keys, settings, strict, seed, parts }: ProgramSettings,
  make: Makers<Made>,
) {
  const { clientKey, secretKey, pepper, webhookToken } = keys
  const environment = {
    ...serviceEnvironment(postgres, ports.gateway, keys, pepper),
    WEBHOOK_TOKEN: webhookToken,
    ...settings,
  }
  // A run with one service sends nothing to a second one.
  const services = names.map((name, index) => {
    const dataDir = join(directory, `service-${name}`)
    mkdirSync(dataDir, { recursive: true })
    const [port = 0, internalPort = 0, webhookPort = 0] = ports.services.slice(index * 3)
    const own = { ...environment, DATA_DIR: dataDir }
    return make.service({ name, port, internalPort, webhookPort, webhookToken, environment: own })
  }) as [Made, Made]
  const gateway = make.gateway({
    clientKey,
    secretKey,
    strict,
    port: ports.gateway,
    directory: join(directory, 'gateway'),
    webhookUrl: services[0].webhookUrl,
  })
  const consumer = await make.consumer(() => startConsumer(ports.consumer, seed * 53 + 11))
  parts.defer(() => consumer.close())
  parts.defer(async () => {
    await Promise.all(services.map((service) => service.close()))
    await gateway.close()
  })
  await gateway.start()
  await Promise.all(services.map((service) => service.start()))
  return {
    gateway,
    services,
    consumer,
    peppers: [{ version: 1, secret: pepper }] as const,
    environment: { ...environment, DATA_DIR: join(directory, 'platform') },
    secrets: {
      'the secret key of the gateway': secretKey,
      'the secret key of the gateway in base64': Buffer.from(`${secretKey}:`).toString('base64'),
      'the pepper': pepper,
      'the webhook token': webhookToken,
    },
  }
}

/** A world of processes. */
export type ProcessWorld<Database extends Postgres = Postgres> = World & {
  directory: string
  postgres: Database
  books: CampaignBooks
  services: [ServiceProcess, ServiceProcess]
  historyFile: string
  stopProcesses(): Promise<void>
  removeDirectory(): void
}

export type WorldOptions<Database extends Postgres> = {
  seed: number
  startDatabase(directory: string): Promise<Database>
} & Partial<Pick<ProgramSettings, 'names' | 'settings' | 'strict'>>

export async function startWorld<Database extends Postgres>({
  seed,
  startDatabase,
  names = ['a', 'b'],
  settings = busySettings,
  strict = true,
}: WorldOptions<Database>): Promise<ProcessWorld<Database>> {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), 'prepaid-credits-proof-'))
  // As root the database server runs as another user, which needs access.
  chmodSync(directory, 0o755)
  const parts = new AsyncDisposableStack()
  try {
    const postgres = await startDatabase(directory)
    process.on('exit', postgres.endNow)
    parts.defer(async () => {
      await postgres.stop()
      process.off('exit', postgres.endNow)
    })
    await postgres.prepare()
    const books = await openBooks(postgres)
    parts.defer(() => books.close())
    // Commands that are still running.
    parts.defer(() => killAll())
    const [gateway = 0, consumer = 0, ...services] = await takeFreePorts(2 + names.length * 3)
    const ports = { gateway, consumer, services }
    const [clientKey, secretKey, webhookToken] = [`test_ck_${newSecret()}`, `test_sk_${newSecret()}`, newSecret()]
    const keys = { clientKey, secretKey, webhookToken, pepper: newSecret() }
    const logFile = (name: string) => join(directory, `${name}.log`)
    const programs = await startPrograms(
      // Notes by which commands find a service are of this run only.
      { names, directory, postgres, ports, keys, settings: { TMPDIR: directory, ...settings }, strict, seed, parts },
      {
        service: (own) =>
          createService({
            ...own,
            logFile: logFile(`service-${own.name}`),
            errorFile: logFile(`service-${own.name}-errors`),
          }),
        gateway: (own) => createGateway({ ...own, logFile: logFile('gateway') }),
        consumer: (start) => start(),
      },
    )
    const cluster = isReplicated(postgres) ? postgres : undefined
    const historyFile = join(directory, 'history.jsonl')
    return {
      ...programs,
      secrets: {
        ...programs.secrets,
        'the password of the owner': postgres.ownerPassword,
        'the password of the serving role': postgres.servingPassword,
      },
      directory,
      postgres,
      cluster,
      isSpread: postgres.isSpread,
      clockSpreadMs: cluster?.clockSpreadMs ?? 0,
      books,
      runCommand: createCommands(directory, programs.environment),
      runOutside: (work) => work(),
      historyFile,
      readHistory: () => readFileSync(historyFile, 'utf8'),
      stopProcesses: () => parts.disposeAsync(),
      removeDirectory() {
        postgres.remove()
        rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
      },
    }
  } catch (error) {
    await parts.disposeAsync()
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    throw error
  }
}
