// The shop under test, as far as the scenarios may touch it: commands or addresses that its developer gives. A command gets
// ORDER_ID, PAYMENT_KEY and AMOUNT in its environment, an address has {orderId}, {paymentKey} and {amount}.

import { exec } from 'node:child_process'
import { isLoopback } from '../host-names.ts'
import type { ShopStatus } from './rules.ts'

/** The options, the sandbox or the shop are not as they have to be: nothing can be checked. */
export class SetupProblem extends Error {}

/** The shop does not do what a scenario needs. Once a scenario has been played, this is a finding. */
export class ShopProblem extends SetupProblem {}

export type ShopOrder = { orderId: string; amount: number; successUrl: string }

export type ShopOptions = {
  /** A command, or an http address. */
  order: string
  status?: string | undefined
  cancel?: string | undefined
  returnUrl?: string | undefined
  /** Whether the buyer may come back to another machine. */
  isRemoteAllowed: boolean
  environment: Record<string, string | undefined>
  timeoutMs: number
}

type Values = { orderId?: string; paymentKey?: string; amount?: number }

/** The words with which a shop may say it. */
const words: Record<ShopStatus, readonly string[]> = {
  paid: ['paid', 'done', 'confirmed', 'complete', 'completed', 'captured', 'success'],
  failed: ['failed', 'refused', 'declined', 'rejected', 'expired', 'aborted'],
  cancelled: ['cancelled', 'canceled', 'refunded'],
  pending: ['pending', 'open', 'created', 'ready', 'waiting', 'processing', 'in_progress', 'unknown'],
}

export type Shop = ReturnType<typeof createShop>

export function createShop(options: ShopOptions) {
  const { order, status, cancel, returnUrl, isRemoteAllowed, timeoutMs, environment } = options
  const ask = (what: string, method: 'GET' | 'POST', values: Values) =>
    isAddress(what) ? request(what, method, values, timeoutMs) : run(what, values, environment, timeoutMs)

  return {
    canTellStatus: status !== undefined,
    canCancel: cancel !== undefined,
    async newOrder(): Promise<ShopOrder> {
      const answer = asJson('--order', await ask(order, 'POST', {})) as Partial<ShopOrder> | null
      const { orderId, amount, successUrl = returnUrl } = answer ?? {}
      if (typeof orderId !== 'string' || !Number.isSafeInteger(amount)) {
        throw new ShopProblem('--order: expected JSON { "orderId": "...", "amount": 1000, "successUrl"?: "..." }.')
      }
      if (!successUrl || !isAddress(successUrl) || !URL.canParse(successUrl)) {
        throw new ShopProblem('Where the buyer comes back: --return URL, or successUrl in the answer of --order.')
      }
      if (!isRemoteAllowed) refuseRemote('successUrl', successUrl)
      return { orderId, amount: amount as number, successUrl }
    },
    /** Null when the shop cannot be asked. */
    async statusOf(values: Values): Promise<ShopStatus | null> {
      if (status === undefined) return null
      const answer = (await ask(status, 'GET', values)).trim()
      const said = answer.startsWith('{') ? (asJson('--status', answer) as { status?: unknown }).status : answer
      const word = String(said).toLowerCase()
      for (const [meaning, names] of Object.entries(words)) if (names.includes(word)) return meaning as ShopStatus
      const known = Object.values(words).flat().join(', ')
      throw new ShopProblem(`--status: "${word.slice(0, 100)}" is none of ${known}.`)
    },
    /** A failed request is ignored: whether the order is cancelled is read from the gateway and from --status. */
    async cancel(values: Values): Promise<void> {
      if (cancel !== undefined) await ask(cancel, 'POST', values).catch(() => undefined)
    },
  }
}

export function isAddress(text: string): boolean {
  return /^https?:\/\//.test(text)
}

/** Everything stays on this machine, unless the caller allows others. */
export function refuseRemote(name: string, address: string): void {
  if (isLoopback(address)) return
  const hostname = URL.canParse(address) ? new URL(address).hostname : ''
  throw new SetupProblem(`${name} leads to ${hostname || address}: another machine needs --remote.`)
}

function asJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ShopProblem(`${option}: expected JSON, got "${text.trim().slice(0, 200)}".`)
  }
}

async function request(address: string, method: 'GET' | 'POST', values: Values, timeoutMs: number): Promise<string> {
  const url = address.replaceAll(/\{(orderId|paymentKey|amount)\}/g, (_whole, name: keyof Values) =>
    encodeURIComponent(values[name] ?? ''),
  )
  const body = method === 'GET' ? {} : { body: JSON.stringify(values), headers: { 'content-type': 'application/json' } }
  try {
    const response = await fetch(url, { method, ...body, signal: AbortSignal.timeout(timeoutMs) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`)
    return text
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } }
    throw new ShopProblem(`${method} ${url}: ${cause?.code ?? message}`)
  }
}

function run(
  command: string,
  { orderId = '', paymentKey = '', amount }: Values,
  environment: Record<string, string | undefined>,
  timeoutMs: number,
): Promise<string> {
  const env = { ...environment, ORDER_ID: orderId, PAYMENT_KEY: paymentKey, AMOUNT: String(amount ?? '') }
  return new Promise((resolve, reject) => {
    exec(command, { env, timeout: timeoutMs }, (error, stdout, stderr) => {
      if (error) reject(new ShopProblem(`${command}: ${(stderr || error.message).trim().slice(0, 300)}`))
      else resolve(stdout)
    })
  })
}
