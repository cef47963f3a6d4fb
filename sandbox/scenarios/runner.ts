// Plays the scenarios one after the other, because the faults of a sandbox are those of the whole sandbox, and judges each
// when nothing is open any more or its time is over.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioGateway } from './gateway.ts'
import { type Evidence, type Finding, judge } from './rules.ts'
import type { Scenario, Stage } from './scenarios.ts'
import { SetupProblem, type Shop, type ShopOrder } from './shop.ts'

export type Verdict = 'ok' | 'failed' | 'skipped'

export type Result = {
  name: string
  happens: string
  mustHold: string
  verdict: Verdict
  /** Why it was skipped. */
  skipped: string | null
  tookMs: number
  findings: Omit<Finding, 'mayPass'>[]
}

export type RunnerParts = {
  gateway: ScenarioGateway
  shop: Shop
  webhookUrl: string | null
  /** How long a shop has to reach what must hold. */
  waitMs: number
  /** Nothing has changed for so long: the shop is done. */
  quietMs: number
}

const pollMs = 100

export async function* playScenarios(parts: RunnerParts, scenarios: readonly Scenario[]): AsyncGenerator<Result> {
  let isConnected = false
  for (const scenario of scenarios) {
    const missing = missingFor(parts, scenario)
    if (missing !== null) {
      yield { ...described(scenario), verdict: 'skipped', skipped: missing, tookMs: 0, findings: [] }
      continue
    }
    const startedAt = performance.now()
    const { evidence, findings } = await play(parts, scenario)
    isConnected ||= evidence.requests.length > 0
    if (!isConnected && scenario.ending !== 'unpaid') throw new SetupProblem(notConnected(parts.gateway.url))
    yield {
      ...described(scenario),
      verdict: findings.length === 0 ? 'ok' : 'failed',
      skipped: null,
      tookMs: Math.round(performance.now() - startedAt),
      findings: findings.map(({ rule, text }) => ({ rule, text })),
    }
  }
}

const notConnected = (url: string) =>
  `The shop sent nothing to the sandbox. Set its base URL of the Toss API to ${url} and its secret key to the one of the ` +
  'sandbox (TOSS_SECRET_KEY, test_sk_sandbox by default).'

const described = ({ name, happens, mustHold }: Scenario) => ({ name, happens, mustHold })

function missingFor({ shop, webhookUrl }: RunnerParts, { needs }: Scenario): string | null {
  if (needs === 'webhook' && webhookUrl === null) return 'needs --webhook'
  if (needs === 'webhook' && !shop.canTellStatus) return 'needs --status'
  return needs === 'cancel' && !shop.canCancel ? 'needs --cancel' : null
}

async function play(parts: RunnerParts, scenario: Scenario): Promise<{ evidence: Evidence; findings: Finding[] }> {
  const { gateway, shop } = parts
  await gateway.setFaults([])
  const firstNumber = (await gateway.requests()).at(-1)?.number ?? 0
  const order = await shop.newOrder()
  const scene: Scene = { order, paymentKeys: [], pages: [], firstNumber }
  try {
    await (scenario.play ?? payAndComeBack(scenario))(stageOf(parts, scene, scenario))
    return await judgeInTime(parts, scene, scenario)
  } finally {
    await gateway.setFaults([])
  }
}

function payAndComeBack({ result, faults = [] }: Scenario) {
  return async ({ pay, setFaults, comeBack }: Stage) => {
    const paymentKey = await pay(result)
    await setFaults(faults)
    await comeBack(paymentKey)
  }
}

/** What has happened to one order so far. */
type Scene = { order: ShopOrder; paymentKeys: string[]; pages: (number | null)[]; firstNumber: number }

function stageOf(parts: RunnerParts, scene: Scene, scenario: Scenario): Stage {
  const { gateway, shop, webhookUrl, waitMs } = parts
  const { order } = scene
  return {
    order,
    async pay(result = 'approve', other = {}) {
      const { orderId, amount } = { ...order, ...other }
      const paymentKey = await gateway.pay({ orderId, amount, result })
      scene.paymentKeys.push(paymentKey)
      return paymentKey
    },
    async comeBack(paymentKey, amount = order.amount) {
      const url = new URL(order.successUrl)
      const query = { paymentType: 'NORMAL', paymentKey, orderId: order.orderId, amount: String(amount) }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      scene.pages.push(await openPage(url.href, waitMs))
    },
    setFaults: async (faults) => {
      await gateway.setFaults(faults)
    },
    async untilPaid() {
      const { findings } = await judgeInTime(parts, scene, { ...scenario, ending: 'paid' })
      if (findings.length > 0) throw new SetupProblem(`${scenario.name}: the order to cancel did not become paid.`)
    },
    cancel: (paymentKey) => shop.cancel({ ...order, paymentKey }),
    forgeWebhook: (paymentKey) => forgeWebhook(webhookUrl ?? '', order, paymentKey, waitMs),
  }
}

/** As a browser: redirects are followed. Null: no answer. */
async function openPage(url: string, timeoutMs: number): Promise<number | null> {
  try {
    const headers = { accept: 'text/html', 'accept-language': 'ko,en' }
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
    await response.text()
    return response.status
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    if (code === 'ECONNREFUSED')
      throw new SetupProblem(`Nothing listens at ${new URL(url).origin}: start the shop first.`)
    return null
  }
}

async function forgeWebhook(url: string, { orderId, amount }: ShopOrder, paymentKey: string, timeoutMs: number) {
  const data = { paymentKey, orderId, status: 'DONE', totalAmount: amount, balanceAmount: amount, secret: 'ps_forged' }
  const envelope = { eventType: 'PAYMENT_STATUS_CHANGED', createdAt: new Date().toISOString().slice(0, 23), data }
  // How it is answered does not matter: a shop may refuse it.
  await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined)
}

/** Ends when nothing is open and nothing has changed for a moment; otherwise when the time is over. */
async function judgeInTime(parts: RunnerParts, scene: Scene, { ending }: Scenario) {
  const endsAt = performance.now() + parts.waitMs
  let known = ''
  let changedAt = performance.now()
  for (;;) {
    const evidence = await collect(parts, scene)
    const findings = judge(evidence, ending)
    const now = performance.now()
    const text = JSON.stringify(evidence)
    if (text !== known) [known, changedAt] = [text, now]
    const isSettled = !findings.some(({ mayPass }) => mayPass) && now - changedAt >= parts.quietMs
    if (isSettled || now >= endsAt) return { evidence, findings }
    await sleep(pollMs)
  }
}

async function collect({ gateway, shop }: RunnerParts, scene: Scene): Promise<Evidence> {
  const { order, paymentKeys, pages, firstNumber } = scene
  const [payments, requests, deliveries, status] = await Promise.all([
    gateway.payments(),
    gateway.requests(),
    gateway.deliveries(),
    shop.statusOf(order),
  ])
  const isOurs = ({ paymentKey }: { paymentKey: string | null }) => paymentKeys.includes(paymentKey ?? '')
  return {
    order: { orderId: order.orderId, amount: order.amount },
    payments: payments.filter(isOurs),
    requests: requests.filter((each) => each.number > firstNumber && (isOurs(each) || each.orderId === order.orderId)),
    deliveries: deliveries.filter(isOurs),
    pages: [...pages],
    status,
  }
}
