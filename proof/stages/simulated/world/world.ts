// The world of a simulated run: two services, the gateway, the consumer of events and the books, each in a simulated process
// of one program. Secrets and ports are the same in every run, and no path or id of the machine reaches a message.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, type Database } from '../../../../src/db/database.ts'
import { silentLog } from '../../../../test/support/database/database.ts'
import type { Line } from '../../../report/edn.ts'
import { startConsumer } from '../../../world/consumer.ts'
import type { Books } from '../../../world/postgres.ts'
import type { Service } from '../../../world/service.ts'
import { serviceEnvironment } from '../../../world/settings.ts'
import type { World } from '../../../world/world.ts'
import type { Simulation } from '../core/simulation.ts'
import { createSimulatedCommands } from './commands.ts'
import { createSimulatedGateway } from './gateway.ts'
import { createSimulatedService } from './service.ts'

export const consumerName = 'consumer'

/** The database's clock jumps by half of it at most, to either side. */
export const clockSpreadMs = 1_400

const ports = { gateway: 8_082, consumer: 8_090, a: 8_100, b: 8_110 }
const pepper = 'the pepper of the simulation'
const keys = { clientKey: 'test_ck_simulation', secretKey: 'test_sk_simulation' }
const webhookToken = 'the-webhook-token-of-the-simulation'

export type SimulatedWorld = World & {
  /** Reads the books between two events, for the rules of the audit. */
  outside: Database
  lines: Line[]
  /** Of all texts, at one moment. */
  readAll(texts: string[]): Promise<object[][]>
}

/** `directory`: for the gateway's journal. Called in the process of the load. */
export async function startSimulatedWorld(
  simulation: Simulation,
  directory: string,
  seed: number,
): Promise<SimulatedWorld> {
  const { database } = simulation
  const postgres = {
    urlFor: () => database.ownerUrl,
    servingUrlFor: () => database.url,
    standbys: 'optional' as const,
  }
  const lines: Line[] = []
  const environment = {
    ...serviceEnvironment(postgres, ports.gateway, keys, pepper),
    WEBHOOK_TOKEN: webhookToken,
    LOG_LEVEL: 'warn',
  }
  const services = (['a', 'b'] as const).map((name) => {
    const dataDir = join(directory, name)
    mkdirSync(dataDir, { recursive: true })
    const [port, internalPort, webhookPort] = [ports[name], ports[name] + 1, ports[name] + 2]
    const own = { ...environment, DATA_DIR: dataDir }
    return createSimulatedService(simulation, { name, port, internalPort, webhookPort, webhookToken, environment: own })
  }) as [Service, Service]
  const gateway = createSimulatedGateway(simulation, {
    ...keys,
    port: ports.gateway,
    directory: join(directory, 'gateway'),
    webhookUrl: services[0].webhookUrl,
  })
  const consumerProcess = simulation.process(consumerName)
  consumerProcess.isPunctual = true
  const consumer = await consumerProcess.run(() => startConsumer(ports.consumer, seed * 53 + 11), 'starts')
  const { beUnavailable } = consumer
  // It closes and opens its own listener.
  consumer.beUnavailable = (how, forMs) => consumerProcess.run(() => beUnavailable(how, forMs), how)
  await gateway.start()
  await Promise.all(services.map((service) => service.start()))
  const books = readBetweenEvents(simulation)
  const platform = { ...environment, DATA_DIR: join(directory, 'platform') }
  return {
    postgres,
    cluster: undefined,
    spread: undefined,
    clockSpreadMs,
    books,
    outside: createDatabase(
      { query: async ({ text, values }) => ({ rows: await books.query(text, values) }) },
      silentLog,
    ),
    gateway,
    services,
    consumer,
    peppers: [{ version: 1, secret: pepper }],
    environment: platform,
    secrets: {
      'the secret key of the gateway': keys.secretKey,
      'the secret key of the gateway in base64': Buffer.from(`${keys.secretKey}:`).toString('base64'),
      'the pepper': pepper,
      'the webhook token': webhookToken,
    },
    readHistory: () => lines.map((line) => JSON.stringify(line)).join('\n'),
    runCommand: createSimulatedCommands(simulation, { environment: platform, databaseUrl: database.url }),
    runOutside: (work) => betweenEvents(simulation, work, 'verifies'),
    lines,
    readAll: (texts) => betweenEvents(simulation, () => database.queryAll(texts)),
  }
}

function betweenEvents<Value>(
  simulation: Simulation,
  read: () => Promise<Value>,
  what = 'reads the books',
): Promise<Value> {
  return new Promise<Value>((resolve, reject) => {
    simulation.at(simulation.now(), () => read().then(resolve, reject), what)
  })
}

/** Takes no simulated time, and no fault reaches it. */
function readBetweenEvents(simulation: Simulation): Books {
  const query = <Row extends object>(text: string, values: unknown[] = []) =>
    betweenEvents(simulation, () => simulation.database.query<Row>(text, values))
  return { query, queryEach: (text) => query(text) }
}
