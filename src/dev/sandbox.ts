// The sandbox as the gateway. The service starts one and writes its address to a file. A command uses the running one; where
// none runs, it starts one for as long as it needs it: the sandbox keeps its state in DATA_DIR.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '../../sandbox/server.ts'
import type { Config, GatewayConfig } from '../config.ts'
import { deadlineIn, sleep } from '../core/clock.ts'
import { explainListen, onThisMachine } from '../listeners/listen.ts'

export type RunningSandbox = { url: string; close(): Promise<void> }

type SandboxConfig = Pick<Config, 'dataDir' | 'internalHostnames' | 'shopTexts'> & { gateway: GatewayConfig }

/** How long a command waits while another one has the sandbox. */
const busyLimitMs = 20_000
/** The sandbox's error when another process has its data directory. */
const busyText = /is in use by|is just starting/

/** For the service. `webhookUrl` is where the sandbox sends its notifications. */
export async function startServiceSandbox(config: SandboxConfig, webhookUrl: string): Promise<RunningSandbox> {
  const { port } = sandboxOf(config)
  const sandbox = await start(config, port, localAddress(webhookUrl))
  writeFileSync(urlFile(config), sandbox.url)
  return {
    url: sandbox.url,
    async close() {
      rmSync(urlFile(config), { force: true })
      await sandbox.close()
    },
  }
}

/** For a command. */
export async function openCommandSandbox(config: SandboxConfig): Promise<RunningSandbox> {
  const deadline = deadlineIn(busyLimitMs)
  for (;;) {
    const url = readUrl(config)
    if (url && (await answers(url))) return { url, close: async () => undefined }
    try {
      return await start(config, 0, undefined)
    } catch (error) {
      if (!busyText.test((error as Error).message) || deadline.remainingMs() === 0) throw error
      await sleep(100)
    }
  }
}

function sandboxOf({ gateway }: SandboxConfig) {
  if (gateway.kind !== 'sandbox') throw new Error('no sandbox with another gateway')
  return gateway
}

async function start(config: SandboxConfig, port: number, webhookUrl: string | undefined): Promise<RunningSandbox> {
  const { clientKey, secretKey, strict, host } = sandboxOf(config)
  const dataDir = join(config.dataDir, 'sandbox')
  const hostnames = config.internalHostnames
  const shopName = config.shopTexts.name ?? undefined
  const options = { host, port, hostnames, clientKey, secretKey, shopName, strict, dataDir, webhookUrl }
  return startSandbox(options).catch((error) => {
    throw explainListen(error, 'SANDBOX_PORT', host, port)
  })
}

/** The sandbox sends notifications to this machine only. */
function localAddress(url: string): string | undefined {
  const local = onThisMachine(url)
  return /^http:\/\/(127\.[\d.]+|\[::1\]):/.test(local) ? local : undefined
}

/** The sandbox of the service may listen on any free port: commands find it by this file. */
function urlFile({ dataDir }: SandboxConfig): string {
  return join(dataDir, 'sandbox.url')
}

function readUrl(config: SandboxConfig): string | undefined {
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
