// The system that is fuzzed: the service as a process, as in production, with its embedded PostgreSQL in a temporary
// directory and the sandbox as a second process; some customers with keys, one of them suspended, and a service's
// token. Nothing is left running, even if a start fails.
import { randomBytes } from 'node:crypto'
import * as processes from '../../../harness/processes.ts'
import { until } from '../../../harness/until.ts'
import { type IssuedKey, issueKey, type Peppers } from '../../../src/customers/api-keys.ts'
import { updateKeyStatus } from '../../../src/customers/customers.sql.ts'
import { updateTokenStatus } from '../../../src/customers/service-tokens.sql.ts'
import { issueToken } from '../../../src/customers/service-tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { findPostmaster } from '../../../src/db/embedded/postmaster.ts'
import { silentLog } from '../../../test/support/database/database.ts'
import type { ListenerName } from './cases/routes.ts'
import type { Values } from './cases/stand-ins.ts'
import type { Secrets } from './trial/oracles.ts'
import { collectOnSignal } from './watch.ts'

export type World = {
  service: processes.RunningService
  ports: Record<ListenerName, number>
  /** The values for the stand-ins at the start. */
  values: Values
  secrets: Secrets
  /** A customer's program that sends valid requests. */
  caller: processes.Caller
  /** A command of the CLI, beside the running service. */
  runCommand(args: string[]): Promise<processes.Ended>
}

/** Everything it starts ends with `parts`. */
export async function startWorld(parts: AsyncDisposableStack): Promise<World> {
  const cleaner = { after: (cleanUp: () => unknown) => parts.defer(async () => void (await cleanUp())) }
  const dataDir = processes.newDataDir(cleaner)
  const secrets = { pepper: newSecret(), secretKey: `test_sk_${newSecret()}`, webhookToken: newSecret().slice(0, 32) }
  const keys = { TOSS_CLIENT_KEY: `test_ck_${newSecret()}`, TOSS_SECRET_KEY: secrets.secretKey }
  const gatewayUrl = await startGateway(cleaner, keys)
  const settings = {
    NODE_ENV: 'production',
    GATEWAY: 'toss',
    TOSS_API_URL: gatewayUrl,
    ...keys,
    KEY_PEPPER: secrets.pepper,
    WEBHOOK_TOKEN: secrets.webhookToken,
    SUCCESS_URL: 'https://shop.example/success',
    FAIL_URL: 'https://shop.example/fail',
    // Thousands of orders are created and never paid.
    PENDING_ORDERS_PER_CUSTOMER: '0',
  }
  const service = await processes.startService(cleaner, dataDir, { ...settings, NODE_OPTIONS: collectOnSignal })
  endOnExit(parts, dataDir, service.pid)
  const { values, password } = await issueAll(cleaner, dataDir, [{ version: 1, secret: secrets.pepper }])
  const caller = processes.callerOf(service.publicUrl, values.apiKey)
  await fillAccount(caller)
  return {
    service,
    ports: {
      public: portOf(service.publicUrl),
      internal: portOf(service.internalUrl),
      webhook: portOf(webhookUrlIn(service.output.stdout)),
    },
    values: { ...values, webhookToken: secrets.webhookToken },
    secrets: {
      'the API key': values.apiKey,
      'the API key of another customer': values.otherApiKey,
      'the suspended API key': values.suspendedApiKey,
      'the token of a service': values.token,
      'the suspended token': values.suspendedToken,
      'the webhook token': secrets.webhookToken,
      'the pepper': secrets.pepper,
      'the secret key of the gateway': secrets.secretKey,
      'the secret key of the gateway in base64': Buffer.from(`${secrets.secretKey}:`).toString('base64'),
      ...(password && { 'the password of the database': password }),
    },
    caller,
    runCommand: (args) => processes.runCommand(cleaner, dataDir, args, settings),
  }
}

function newSecret(): string {
  return randomBytes(18).toString('hex')
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** From the log line `ready`. */
function webhookUrlIn(stdout: string): string {
  const [, url] = /"webhookUrl":"([^"]+)"/.exec(stdout) ?? []
  if (!url) throw new Error(`The service has not logged its webhook URL: ${stdout}`)
  return url
}

const gatewayLimitMs = 30_000

/** Not within the service: the sandbox's memory of payments would count as memory of the service. */
async function startGateway(cleaner: processes.Cleaner, keys: Record<string, string>): Promise<string> {
  const env = processes.bareEnvironment({ ...keys, SANDBOX_PORT: '0', DATA_DIR: processes.newDirectory(cleaner) })
  const options = { cwd: processes.repository, env }
  const { output, isGone } = processes.launch(cleaner, process.execPath, ['sandbox/main.ts'], options)
  const address = () => /^ {2}address +(http:\S+)/m.exec(output.stdout)?.[1]
  await until('the gateway has started', () => address() !== undefined || isGone(), gatewayLimitMs)
  const url = address()
  if (!url) throw new Error(`The gateway does not start: ${output.stderr}`)
  return url
}

async function issueAll(cleaner: processes.Cleaner, dataDir: string, peppers: Peppers) {
  const books = await processes.openBooks(cleaner, dataDir)
  const database = createDatabase(books.pool, silentLog)
  const issue = (name: string): Promise<IssuedKey> => issueKey(database, peppers, name)
  const [own, other, suspended] = [await issue('one'), await issue('another'), await issue('suspended')]
  const [sibling, former] = [await issueToken(database, peppers, 'one'), await issueToken(database, peppers, 'former')]
  await updateKeyStatus(database, suspended.keyId, 'SUSPENDED')
  await updateTokenStatus(database, former.serviceId, 'SUSPENDED')
  await books.drop()
  const values: Values = {
    apiKey: own.apiKey,
    otherApiKey: other.apiKey,
    suspendedApiKey: suspended.apiKey,
    token: sibling.token,
    suspendedToken: former.token,
    webhookToken: '',
    customerId: own.customerId,
    otherCustomerId: other.customerId,
    // None exist before the first purchase and hold.
    orderId: `ord_${'9'.repeat(36)}`,
    holdId: '00000000-0000-4000-8000-00000000dead',
  }
  return { values, password: books.connection.password }
}

/** So that credits can be spent from the start. */
async function fillAccount(caller: processes.Caller): Promise<void> {
  const { body } = await caller.purchase('PRO')
  const { status } = await caller.confirm(body.data.orderId, body.data.amount)
  if (status !== 200) throw new Error(`The first payment was answered with ${status}`)
}

/** For a process that exits without disposing `parts`: kills what it has started, by its id. */
function endOnExit(parts: AsyncDisposableStack, dataDir: string, pid: number): void {
  function endNow(): void {
    for (const [id, signal] of [
      [pid, 'SIGKILL'],
      [findPostmaster(processes.clusterOf(dataDir))?.pid, 'SIGQUIT'],
    ] as const) {
      try {
        if (id !== undefined) process.kill(id, signal)
      } catch {
        // It has ended.
      }
    }
  }
  process.on('exit', endNow)
  parts.defer(async () => void process.off('exit', endNow))
}
