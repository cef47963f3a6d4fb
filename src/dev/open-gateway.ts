// The gateway a process works with: Toss Payments, or the sandbox. The service starts the sandbox; a command speaks to
// the one that runs, and where none runs starts it for as long as it needs it: what the sandbox knows is in DATA_DIR.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../../sandbox/server.ts'
import type { Config } from '../config.ts'
import { deadlineIn, sleep } from '../core/clock.ts'
import type { Log } from '../db/database.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { createTossGateway } from '../gateway/toss/adapter.ts'
import { type BreakerState, defaultBreakerSettings, withBreaker } from '../gateway/toss/breaker.ts'
import { createTossClient } from '../gateway/toss/client.ts'
import { explainListen } from '../listeners/listen.ts'

export type OpenGateway = {
  gateway: Gateway
  breakerState(): BreakerState
  /** Undefined when the gateway is the real one. */
  sandboxUrl: string | undefined
  /** Whether a payment moves money, in words: for readiness. */
  money: string
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
  const unreal = whyNoMoneyMoves(config)
  if (options.use === 'service' && config.production && unreal) {
    options.log.warn({}, `production with ${unreal}: no money moves`)
  }
  const client = createTossClient({
    apiUrl: config.gateway.kind === 'toss' ? config.gateway.apiUrl : (sandbox?.url ?? ''),
    secretKey: config.gateway.secretKey,
    connectTimeoutMs: config.gatewayConnectTimeoutMs,
    callTimeoutMs: config.gatewayTimeoutMs,
    lookupTimeoutMs: config.gatewayLookupTimeoutMs,
    listTimeoutMs: config.gatewayListTimeoutMs,
    maxConnections: 256,
  })
  const guarded = withBreaker(client, defaultBreakerSettings, options.log)
  const gateway = createTossGateway(guarded, options.log)
  return {
    gateway,
    breakerState: guarded.breakerState,
    sandboxUrl: sandbox?.url,
    money: unreal ? `no money moves: ${unreal}` : 'moves',
    async close() {
      await gateway.close()
      await sandbox?.close()
    },
  }
}

function whyNoMoneyMoves({ gateway }: Config): string | undefined {
  if (gateway.kind === 'sandbox') return 'the sandbox as the gateway'
  return gateway.secretKey.startsWith('test_') ? 'test keys of the gateway' : undefined
}

async function openSandbox(config: Config, options: OpenGatewayOptions): Promise<RunningSandbox | undefined> {
  if (config.gateway.kind !== 'sandbox') return undefined
  if (options.use === 'service')
    return announced(config, await startOwn(config, config.gateway.port, options.webhookUrl))
  const deadline = deadlineIn(turnLimitMs)
  for (;;) {
    const url = readUrl(config)
    if (url && (await answers(url))) return { url, close: async () => undefined }
    try {
      return await startOwn(config, 0, undefined)
    } catch (error) {
      // Another command has the sandbox for itself: it is done soon.
      if (!busyText.test((error as Error).message) || deadline.remainingMs() === 0) throw error
      await sleep(100)
    }
  }
}

/** How long a command waits for its turn at the sandbox. */
const turnLimitMs = 20_000
/** What the sandbox says when somebody else has its data. */
const busyText = /is in use by|is just starting/

async function startOwn(config: Config, port: number, webhookUrl: string | undefined): Promise<RunningSandbox> {
  const { gateway, internalHostnames: hostnames } = config
  if (gateway.kind !== 'sandbox') throw new Error('no sandbox with another gateway')
  const { clientKey, secretKey, strict, host } = gateway
  const dataDir = join(config.dataDir, 'sandbox')
  return startSandbox({ host, port, hostnames, clientKey, secretKey, strict, dataDir, webhookUrl }).catch((error) => {
    throw explainListen(error, 'SANDBOX_PORT', host, port)
  })
}

/** A service's sandbox is there for commands too. Its port may be any free one: they find it by a file. */
function announced(config: Config, sandbox: RunningSandbox): RunningSandbox {
  writeFileSync(urlFile(config), sandbox.url)
  return {
    url: sandbox.url,
    async close() {
      rmSync(urlFile(config), { force: true })
      await sandbox.close()
    },
  }
}

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
