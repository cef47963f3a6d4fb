// Plays the scenarios one after the other, because the faults of a sandbox are those of the whole sandbox, and checks each
// when nothing is open any more or its time is over.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioGateway } from './gateway.ts'
import { type Evidence, evaluate, type Finding, type RuleName } from './rules.ts'
import { type Ending, plainPayment, type Scenario, type Stage } from './scenarios.ts'
import { SetupProblem, type Shop, type ShopOrder, ShopProblem } from './shop.ts'

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
  /** Nothing has changed for so long: the shop is done. Five times as long where it is to do nothing. */
  quietMs: number
}

const pollMs = 100

export async function* playScenarios(parts: RunnerParts, scenarios: readonly Scenario[]): AsyncGenerator<Result> {
  const progress = { isConnected: false, isAnyPlayed: false }
  for (const scenario of scenarios) {
    const missing = missingFor(parts, scenario)
    if (missing !== null) {
      yield { ...described(scenario), verdict: 'skipped', skipped: missing, tookMs: 0, findings: [] }
      continue
    }
    const startedAt = performance.now()
    const findings = await playOne(parts, scenario, progress)
    progress.isAnyPlayed = true
    yield {
      ...described(scenario),
      verdict: findings.length === 0 ? 'ok' : 'failed',
      skipped: null,
      tookMs: Math.round(performance.now() - startedAt),
      findings: findings.map(({ rule, text }) => ({ rule, text })),
    }
  }
}

type Progress = { isConnected: boolean; isAnyPlayed: boolean }

async function playOne(parts: RunnerParts, scenario: Scenario, progress: Progress): Promise<Finding[]> {
  try {
    // A shop may be right to send nothing in a scenario that is not to be paid: a plain payment shows the connection.
    if (!progress.isConnected && scenario.ending === 'unpaid') await playConnected(parts, plainPayment, progress)
    return await playConnected(parts, scenario, progress)
  } catch (error) {
    if (!(error instanceof ShopProblem && progress.isAnyPlayed)) throw error
    return [{ rule: 'shop-fails', text: error.message, mayPass: false }]
  }
}

async function playConnected(parts: RunnerParts, scenario: Scenario, progress: Progress): Promise<Finding[]> {
  const { evidence, findings } = await play(parts, scenario, progress)
  progress.isConnected ||= evidence.requests.length > 0
  if (!progress.isConnected) throw new SetupProblem(notConnected(parts.gateway.url))
  return findings
}

const notConnected = (url: string) =>
  `The shop sent nothing to the sandbox. Set its base URL of the Toss API to ${url} and its secret key to the one of the ` +
  'sandbox (TOSS_SECRET_KEY, test_sk_sandbox by default).'

const described = ({ name, happens, mustHold }: Scenario) => ({ name, happens, mustHold })

function missingFor({ shop, webhookUrl }: RunnerParts, { needs }: Scenario): string | null {
  const has = { webhook: webhookUrl !== null, status: shop.canTellStatus, cancel: shop.canCancel }
  const missing = needs?.find((need) => !has[need])
  return missing === undefined ? null : `needs --${missing}`
}

type Evaluation = { evidence: Evidence; findings: Finding[] }

/** A play cannot go on: these are its findings. */
class PlayEnded extends Error {
  readonly evaluation: Evaluation
  constructor(evaluation: Evaluation) {
    super('The play ended early.')
    this.evaluation = evaluation
  }
}

async function play(parts: RunnerParts, scenario: Scenario, { isAnyPlayed }: Progress): Promise<Evaluation> {
  const { gateway, shop } = parts
  await gateway.setFaults([])
  const firstNumber = (await gateway.requests()).at(-1)?.number ?? 0
  const order = await shop.newOrder()
  const scene: Scene = { order, paymentKeys: [], pages: [], firstNumber, isAnyPlayed }
  try {
    await (scenario.play ?? payAndComeBack(scenario))(stageOf(parts, scene))
    return await evaluateInTime(parts, scene, scenario.ending)
  } catch (error) {
    if (error instanceof PlayEnded) return error.evaluation
    throw error
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
type Scene = {
  order: ShopOrder
  paymentKeys: string[]
  pages: (number | null)[]
  firstNumber: number
  /** Before, a shop that cannot be asked is a mistake in the options. */
  isAnyPlayed: boolean
}

/** The findings of an order that is not paid, or does not say so. */
const unpaidRules: readonly RuleName[] = [
  'not-captured',
  'left-open',
  'paid-without-money',
  'unknown-as-refused',
  'shop-fails',
]
const isUnpaid = ({ rule }: Finding) => unpaidRules.includes(rule)

function stageOf(parts: RunnerParts, scene: Scene): Stage {
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
      const evaluation = await evaluateInTime(parts, scene, 'paid', isUnpaid)
      if (evaluation.findings.some(isUnpaid)) throw new PlayEnded(evaluation)
    },
    cancel: (paymentKey) => shop.cancel({ ...order, paymentKey }),
    async forgeWebhook(paymentKey) {
      const status = await forgeWebhook(webhookUrl ?? '', order, paymentKey, waitMs)
      // A shop may refuse it with any status, but an address that does not exist proves nothing.
      if (status !== null && status !== 404) return
      const text = `The webhook was answered with ${status ?? 'nothing'}.`
      const findings: Finding[] = [{ rule: 'webhook-not-received', text, mayPass: false }]
      throw new PlayEnded({ evidence: await collect(parts, scene), findings })
    },
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
      throw new ShopProblem(`Nothing listens at ${new URL(url).origin}: is the shop running?`)
    return null
  }
}

/** Returns the HTTP status, null without an answer. */
async function forgeWebhook(url: string, { orderId, amount }: ShopOrder, paymentKey: string, timeoutMs: number) {
  const data = { paymentKey, orderId, status: 'DONE', totalAmount: amount, balanceAmount: amount, secret: 'ps_forged' }
  const envelope = { eventType: 'PAYMENT_STATUS_CHANGED', createdAt: new Date().toISOString().slice(0, 23), data }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(envelope),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => null)
  return response?.status ?? null
}

/** Ends when nothing that counts is open and nothing has changed for a moment; otherwise when the time is over. */
async function evaluateInTime(
  parts: RunnerParts,
  scene: Scene,
  ending: Ending,
  counts: (finding: Finding) => boolean = () => true,
): Promise<Evaluation> {
  const endsAt = performance.now() + parts.waitMs
  const quietMs = ending === 'unpaid' ? 5 * parts.quietMs : parts.quietMs
  let known = ''
  let changedAt = performance.now()
  for (;;) {
    const evidence = await collect(parts, scene)
    const findings = evaluate(evidence, ending)
    const now = performance.now()
    const text = JSON.stringify(evidence)
    if (text !== known) [known, changedAt] = [text, now]
    const isSettled = !findings.some((finding) => finding.mayPass && counts(finding)) && now - changedAt >= quietMs
    if (isSettled || now >= endsAt) return { evidence, findings }
    await sleep(pollMs)
  }
}

async function collect({ gateway, shop }: RunnerParts, scene: Scene): Promise<Evidence> {
  const { order, paymentKeys, pages, firstNumber, isAnyPlayed } = scene
  let problem: string | null = null
  const [payments, requests, deliveries, status] = await Promise.all([
    gateway.payments(),
    gateway.requests(),
    gateway.deliveries(),
    shop.statusOf({ ...order, paymentKey: paymentKeys.at(-1) ?? '' }).catch((error: Error) => {
      if (!(error instanceof ShopProblem && isAnyPlayed)) throw error
      problem = error.message
      return null
    }),
  ])
  const isOurs = ({ paymentKey }: { paymentKey: string | null }) => paymentKeys.includes(paymentKey ?? '')
  return {
    order: { orderId: order.orderId, amount: order.amount },
    payments: payments.filter(isOurs),
    requests: requests.filter((each) => each.number > firstNumber && (isOurs(each) || each.orderId === order.orderId)),
    deliveries: deliveries.filter(isOurs),
    pages: [...pages],
    status,
    problem,
  }
}
