// A small simulated world for the tests of the scheduler: the gateway, two services, a customer's program and a sibling
// service, with the settings of production.
import '../../../proof/stages/simulated/core/patches.ts'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  createSimulation,
  type Simulation,
  type SimulationOptions,
} from '../../../proof/stages/simulated/core/simulation.ts'
import { makeDirectory } from '../../../proof/stages/simulated/core/temporary.ts'
import { lockName } from '../../../sandbox/lock.ts'
import { type RunningSandbox, type SandboxOptions, startSandbox } from '../../../sandbox/server.ts'
import { readConfig } from '../../../src/config.ts'
import type { Peppers } from '../../../src/customers/api-keys.ts'
import { issueKey } from '../../../src/customers/api-keys.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase, createPool } from '../../../src/db/database.ts'
import { createLog } from '../../../src/log.ts'
import { type Service, startService } from '../../../src/service.ts'
import { silentLog } from '../database/database.ts'

const gatewayUrl = 'http://127.0.0.1:9000'
const keys = { clientKey: 'test_ck_simulated', secretKey: 'test_sk_simulated' }
const webhookToken = 'a-token-of-the-simulation'
const pepper = 'pepper-of-the-simulation'
const peppers: Peppers = [{ version: 1, secret: pepper }]

const settings = {
  NODE_ENV: 'production',
  WEBHOOK_TOKEN: webhookToken,
  GATEWAY: 'toss',
  TOSS_API_URL: gatewayUrl,
  TOSS_CLIENT_KEY: keys.clientKey,
  TOSS_SECRET_KEY: keys.secretKey,
  KEY_PEPPER: pepper,
  SUCCESS_URL: 'https://shop.example/success',
  FAIL_URL: 'https://shop.example/fail',
}

export type Answer = { status: number; code: string; data: Record<string, unknown> }
export type SmallWorld = Awaited<ReturnType<typeof startSmallWorld>>

export async function startSmallWorld(options: SimulationOptions) {
  const { directory, remove } = makeDirectory(options.template)
  await using opening = new AsyncDisposableStack()
  opening.defer(remove)
  const simulation = await createSimulation(options)
  opening.defer(() => simulation.close())
  const gateway = sandboxProgram(simulation, 'gateway', {
    ...keys,
    host: '127.0.0.1',
    port: 9_000,
    dataDir: join(directory, 'gateway'),
    strict: true,
    webhookUrl: `http://127.0.0.1:8103/webhooks/toss/${webhookToken}`,
  })
  const [first, second] = [0, 1].map((index) =>
    serviceProgram(simulation, `service-${index}`, {
      ...settings,
      DATA_DIR: join(directory, `service-${index}`),
      PORT: `${8_101 + index * 10}`,
      INTERNAL_PORT: `${8_102 + index * 10}`,
      WEBHOOK_PORT: `${8_103 + index * 10}`,
    }),
  ) as [ReturnType<typeof serviceProgram>, ReturnType<typeof serviceProgram>]
  await simulation.until(Promise.all([gateway.start(), first.start(), second.start()]))
  const { apiKey, customerId, token } = await simulation.until(
    simulation.process('platform').run(async () => {
      const connection = { connectionString: simulation.database.ownerUrl }
      const pool = createPool({ connection, maxConnections: 1, log: silentLog })
      const database = createDatabase(pool, silentLog)
      const key = await issueKey(database, peppers, 'a customer')
      const issued = await issueToken(database, peppers, 'usage')
      await pool.end()
      return { ...key, token: issued.token }
    }),
  )
  const customer = simulation.process('customer')
  customer.isPunctual = true

  /** Has to be called in a process. */
  async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'service-api-key': apiKey, ...headers },
      body: JSON.stringify(body),
    })
    const { code, data, ...others } = (await answer.json()) as { code: string; data?: Record<string, unknown> }
    return { status: answer.status, code, data: data ?? others }
  }
  const publicUrl = (service: 0 | 1, path: string) =>
    `http://127.0.0.1:${8_101 + service * 10}/public/v1/payments/${path}`
  const parts = opening.move()
  return {
    simulation,
    gateway,
    services: [first, second] as const,
    customer,
    customerId,
    post,
    purchase: (service: 0 | 1, idempotencyKey: string) =>
      post(publicUrl(service, 'purchase'), { packageType: 'BASIC' }, { 'x-idempotency-key': idempotencyKey }),
    pay: async ({ orderId, amount }: Record<string, unknown>) =>
      (await post(`${gatewayUrl}/sandbox/payments`, { orderId, amount })).data.paymentKey,
    confirm: (service: 0 | 1, { orderId, amount }: Record<string, unknown>, paymentKey: unknown) =>
      post(publicUrl(service, 'confirm'), { orderId, amount, paymentKey }),
    spend: (service: 0 | 1, reference: string) =>
      post(
        `http://127.0.0.1:${8_102 + service * 10}/internal/v1/credits/spend`,
        { customerId, credits: 1, reference },
        { authorization: `Bearer ${token}` },
      ),
    close: () => parts.disposeAsync(),
  }
}

/** A service that can be killed and started again; `start` and `stop` return when it is ready or closed. */
function serviceProgram(simulation: Simulation, name: string, environment: Record<string, string>) {
  const process = simulation.process(name)
  let running: Service | undefined
  return {
    process,
    start(): Promise<Service> {
      return process.run(async () => {
        const config = readConfig({ ...environment, DATABASE_URL: simulation.database.url })
        mkdirSync(config.dataDir, { recursive: true })
        running = await startService(config, createLog('silent'))
        return running
      }, 'starts')
    },
    stop: () => process.run(async () => running?.close(), 'stops'),
    kill(): void {
      running = undefined
      process.kill()
    },
  }
}

function sandboxProgram(simulation: Simulation, name: string, options: SandboxOptions) {
  const process = simulation.process(name)
  let running: RunningSandbox | undefined
  return {
    process,
    start(): Promise<RunningSandbox> {
      return process.run(async () => {
        running = await startSandbox(options)
        return running
      }, 'starts')
    },
    stop: () => process.run(async () => running?.close(), 'stops'),
    kill(): void {
      process.kill()
      // Its lock names the holder by the id of the process, which here is that of the whole run.
      rmSync(join(options.dataDir, lockName), { force: true })
    },
  }
}
