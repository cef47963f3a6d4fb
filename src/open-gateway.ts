// The gateway a process works with: Toss Payments, or the sandbox. The service starts the sandbox; a command speaks to
// the one that runs, and where none runs starts it for as long as it needs it: what the sandbox knows is in DATA_DIR.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../sandbox/server.ts'
import type { Config } from './config.ts'
import type { Log } from './db/database.ts'
import type { Gateway } from './gateway/gateway.ts'
import { createTossGateway } from './gateway/toss/adapter.ts'
import { defaultBreakerSettings, withBreaker } from './gateway/toss/breaker.ts'
import { createTossClient } from './gateway/toss/client.ts'
import { explainListen } from './listen.ts'

export type OpenGateway = {
  gateway: Gateway
  /** Undefined when the gateway is the real one. */
  sandboxUrl: string | undefined
  close(): Promise<void>
}

export type OpenGatewayOptions = {
  use: 'service' | 'command'
  /** Where the sandbox sends its notifications. */
  webhookUrl?: string | undefined
  log: Log
}

type RunningSandbox = { url: string; close(): Promise<void> }

export async function openGateway(config: Config, options: OpenGatewayOptions): Promise<OpenGateway> {
  const sandbox = await openSandbox(config, options)
  const client = createTossClient({
    apiUrl: config.gateway.kind === 'toss' ? config.gateway.apiUrl : (sandbox?.url ?? ''),
    secretKey: config.gateway.secretKey,
    connectTimeoutMs: config.gatewayConnectTimeoutMs,
    callTimeoutMs: config.gatewayTimeoutMs,
    lookupTimeoutMs: config.gatewayLookupTimeoutMs,
    listTimeoutMs: config.gatewayListTimeoutMs,
    maxConnections: 256,
  })
  const gateway = createTossGateway(withBreaker(client, defaultBreakerSettings, options.log), options.log)
  return {
    gateway,
    sandboxUrl: sandbox?.url,
    async close() {
      await gateway.close()
      await sandbox?.close()
    },
  }
}

async function openSandbox(config: Config, options: OpenGatewayOptions): Promise<RunningSandbox | undefined> {
  if (config.gateway.kind !== 'sandbox') return undefined
  if (options.use === 'service') return startOwn(config, config.gateway.port, options.webhookUrl)
  const url = readUrl(config)
  if (url && (await answers(url))) return { url, close: async () => undefined }
  return startOwn(config, 0, undefined)
}

async function startOwn(config: Config, port: number, webhookUrl: string | undefined): Promise<RunningSandbox> {
  const { gateway, internalHost: host } = config
  if (gateway.kind !== 'sandbox') throw new Error('no sandbox with another gateway')
  const { clientKey, secretKey, strict } = gateway
  const dataDir = join(config.dataDir, 'sandbox')
  const sandbox = await startSandbox({ host, port, clientKey, secretKey, strict, dataDir, webhookUrl }).catch(
    (error) => {
      throw explainListen(error, 'SANDBOX_PORT', host, port)
    },
  )
  writeFileSync(urlFile(config), sandbox.url)
  return {
    url: sandbox.url,
    async close() {
      rmSync(urlFile(config), { force: true })
      await sandbox.close()
    },
  }
}

/** Its port may be any free one: commands find it by this file. */
function urlFile({ dataDir }: Config): string {
  return join(dataDir, 'sandbox.url')
}

function readUrl(config: Config): string | undefined {
  try {
    return readFileSync(urlFile(config), 'utf8').trim()
  } catch {
    return undefined
  }
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/sandbox/clock`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  return response?.ok ?? false
}
