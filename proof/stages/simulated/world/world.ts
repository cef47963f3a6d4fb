// The world of a simulated run: two services, the gateway, the consumer of events and the books, each in a simulated process
// of one program. Secrets and ports are the same in every run, and no path or id of the machine reaches a message.
import { silentLog } from '../../../../harness/silent-log.ts'
import { createDatabase, type Database } from '../../../../src/db/database.ts'
import type { Line } from '../../../report/edn.ts'
import type { Books } from '../../../world/postgres.ts'
import { busySettings } from '../../../world/settings.ts'
import { startPrograms, type World } from '../../../world/world.ts'
import type { Simulation } from '../core/simulation.ts'
import { createSimulatedCommands } from './commands.ts'
import { createSimulatedGateway } from './gateway.ts'
import { createSimulatedService } from './service.ts'

export const consumerName = 'consumer'

/** The database's clock jumps by half of it at most, to either side. */
export const clockSpreadMs = 1_400

const ports = { gateway: 8_082, consumer: 8_090, services: [8_100, 8_101, 8_102, 8_110, 8_111, 8_112] }
const keys = {
  clientKey: 'test_ck_simulation',
  secretKey: 'test_sk_simulation',
  pepper: 'the pepper of the simulation',
  webhookToken: 'the-webhook-token-of-the-simulation',
}

export type SimulatedWorld = World & {
  /** Reads the books between two events, for the rules of the audit. */
  outside: Database
  lines: Line[]
  /** The rows of all texts, at one moment. */
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
  const settings = { ...busySettings, LOG_LEVEL: 'warn' }
  const names = ['a', 'b'] as const
  // Whatever it has open ends with the simulation.
  const parts = new AsyncDisposableStack()
  const programs = await startPrograms(
    { names, directory, postgres, ports, keys, settings, strict: true, seed, parts },
    {
      service: (own) => createSimulatedService(simulation, own),
      gateway: (own) => createSimulatedGateway(simulation, own),
      async consumer(start) {
        const process = simulation.process(consumerName)
        process.isPunctual = true
        const consumer = await process.run(start, 'starts')
        const { beUnavailable } = consumer
        // It closes and opens its own listener.
        consumer.beUnavailable = (how, forMs) => process.run(() => beUnavailable(how, forMs), how)
        return consumer
      },
    },
  )
  const books = readBetweenEvents(simulation)
  return {
    ...programs,
    postgres,
    cluster: undefined,
    isSpread: false,
    clockSpreadMs,
    books,
    outside: createDatabase(
      { query: async ({ text, values }) => ({ rows: await books.query(text, values) }) },
      silentLog,
    ),
    readHistory: () => lines.map((line) => JSON.stringify(line)).join('\n'),
    runCommand: createSimulatedCommands(simulation, {
      environment: programs.environment,
      databaseUrl: database.url,
    }),
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
