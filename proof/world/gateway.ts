// The gateway of the campaign: the sandbox as a process that can be killed and frozen, and its control endpoints. Its
// journal outlives it; the books are compared with it at the end.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Launched } from '../../harness/launch.ts'
import { journalName } from '../../sandbox/journal.ts'
import { startProgram } from './program.ts'
import { wayToPay } from './ways-to-pay.ts'

export type GatewaySettings = {
  port: number
  directory: string
  clientKey: string
  secretKey: string
  webhookUrl: string
  /** Refuses payment keys that no checkout made. */
  strict: boolean
}

export type GatewayFault = { on: string; kind: string; times: number; delayMs?: number }
export type Fired = { on: string; kind: string; times: number }

/**
 * Lookups that reported another order for a payment. `about`: payment keys, or ids of orders where the lookup named none. Not
 * complete: a sandbox was killed without an answer.
 */
export type Lies = { readonly about: ReadonlySet<string>; readonly isComplete: boolean }

const startLimitMs = 60_000
const controlTimeoutMs = 3_000

/** The control endpoints of the sandbox. */
export type GatewayControls = ReturnType<typeof createControls>

/** What the load, the faults and the checks need of the gateway, wherever it runs. */
export type Gateway = GatewayControls & {
  url: string
  busy: boolean
  secretKey: string
  journalFile: string
  start(): Promise<void>
  kill(): Promise<void>
  signal(signal: NodeJS.Signals): boolean
  /** It is not started again afterwards. */
  close(): Promise<void>
}

export function createControls(url: string) {
  /** Undefined when the gateway does not answer. */
  async function control<Data>(method: string, path: string, body?: unknown): Promise<Data | undefined> {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        signal: AbortSignal.timeout(controlTimeoutMs),
        ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      const text = await response.text()
      return response.ok ? (JSON.parse(text) as Data) : undefined
    } catch {
      return undefined
    }
  }
  return {
    control,
    /** A finished checkout; undefined when the gateway could not be reached. */
    async pay(orderId: string, amount: number, result: string): Promise<string | undefined> {
      const checkout = { orderId, amount, result, ...wayToPay(orderId, amount).chosen }
      const paid = await control<{ paymentKey: string }>('POST', '/sandbox/payments', checkout)
      return paid?.paymentKey
    },
    fired: async () => (await control<{ fired: Fired[] }>('GET', '/sandbox/faults/fired'))?.fired,
  }
}

export function createGateway(settings: GatewaySettings & { logFile: string }): Gateway {
  const url = `http://127.0.0.1:${settings.port}`
  const controls = createControls(url)
  const environment = {
    SANDBOX_PORT: `${settings.port}`,
    ...(settings.strict && { SANDBOX_STRICT: '1' }),
    SANDBOX_WEBHOOK_URL: settings.webhookUrl,
    TOSS_CLIENT_KEY: settings.clientKey,
    TOSS_SECRET_KEY: settings.secretKey,
    DATA_DIR: settings.directory,
  }
  let program: Launched | undefined
  let wanted = true

  async function kill(): Promise<void> {
    program?.child.kill('SIGKILL')
    await program?.exited
  }

  return {
    url,
    busy: false,
    secretKey: settings.secretKey,
    journalFile: join(settings.directory, 'sandbox', journalName),
    ...controls,
    async start(): Promise<void> {
      const limit = performance.now() + startLimitMs
      while (wanted && performance.now() < limit) {
        const starting = startProgram({
          args: ['sandbox/main.ts'],
          environment,
          logFile: settings.logFile,
        })
        program = starting
        while (wanted && !starting.isGone() && performance.now() < limit) {
          if (await controls.control('GET', '/sandbox/clock')) return
          await sleep(40)
        }
        await sleep(200)
      }
      if (wanted) throw new Error(`The gateway does not start: see ${settings.logFile}.`)
    },
    kill,
    async close(): Promise<void> {
      wanted = false
      await kill()
    },
    signal: (signal: NodeJS.Signals) => program?.child.kill(signal) ?? false,
  }
}
