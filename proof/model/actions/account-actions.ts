// What operators do to accounts beside the orders: goodwill and corrections, of which some need a second person; higher
// budgets; and customers suspended for a while. In this process, as a command does, and repeated until the outcome is known:
// the id of an adjustment, the limit of a budget and the state of a customer make that harmless.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { asOperator } from '../../../harness/as-operator.ts'
import type { Random } from '../../../harness/random.ts'
import { Refusal } from '../../../src/core/errors.ts'
import type { Adjustment } from '../../../src/credits/adjustments/adjust.sql.ts'
import { type AdjustmentResult, adjust, approve, reject } from '../../../src/credits/adjustments/adjust.ts'
import { setBudget } from '../../../src/credits/budgets/budgets.sql.ts'
import { updateSuspension } from '../../../src/customers/customers.sql.ts'
import { anyOf, type Customer, type Shop } from '../../world/shop.ts'
import type { History } from '../history.ts'

type Times = { invokedAtMs: number; endedAtMs: number }

export type AdjustmentCall = Times & {
  by: 'adjust' | 'approve' | 'reject'
  customer: number
  actor: string
  adjustment: Pick<Adjustment, 'adjustmentId' | 'kind' | 'credits'>
  outcome: { kind: 'ok'; result: AdjustmentResult } | { kind: 'fail'; code: string; about: string } | { kind: 'info' }
}

/** `activated` is null while the customer is suspended. */
export type Suspension = { customer: number; suspended: Times; activated: Times | null }

export type AccountContext = {
  shop: Shop
  history: History
  random: Random
  stopped: AbortSignal
  adjustmentCalls: AdjustmentCall[]
  suspensions: Suspension[]
  count(name: string): void
  wrong: string[]
}

/** The limits of each operator; one of them is busier than the day allows. */
export const adjustmentLimits = { perDay: 90, approvalAbove: 12 }
const busyOperator = 'busy'
const operators = 40
const mostCredits = 16

export async function adjustOne(context: AccountContext): Promise<void> {
  const { shop, random } = context
  const customer = shop.anyCustomer(random)
  const actor = random.chance(0.3) ? busyOperator : anyOperator(random)
  const kind = random.pick(['GOODWILL', 'CORRECTION'])
  const credits = random.integer(1, mostCredits) * (kind === 'CORRECTION' && random.chance(0.7) ? -1 : 1)
  await adjustBy(context, customer, { kind, credits, actor })
}

const roundsBeyondLimit = 6

/** One operator grants credits and takes them back until both are more than the limit of a day. */
export async function exceedDailyLimit(context: AccountContext): Promise<void> {
  const { shop, random, count } = context
  const customer = shop.anyCustomer(random)
  const actor = `over the limit ${random.integer(1, 2 ** 31)}`
  for (let round = 0; round < roundsBeyondLimit; round += 1) {
    const credits = random.integer(mostCredits / 2, mostCredits)
    await adjustBy(context, customer, { kind: 'GOODWILL', credits, actor })
    await adjustBy(context, customer, { kind: 'CORRECTION', credits: -credits, actor })
  }
  count('adjustments beyond the daily limit')
}

async function adjustBy(
  context: AccountContext,
  { index: customer, customerId }: Pick<Customer, 'index' | 'customerId'>,
  { kind, credits, actor }: Pick<Adjustment, 'kind' | 'credits' | 'actor'>,
): Promise<void> {
  const { shop, random, count } = context
  const adjustment = { adjustmentId: randomUUID(), customerId, kind, credits, reason: 'campaign', actor }
  const command = kind === 'GOODWILL' ? 'adjustments grant' : 'adjustments correct'
  const send = (of: Adjustment) =>
    record(context, { by: 'adjust', customer, actor, adjustment: of }, () =>
      asOperator(shop.database, { actor, command, subject: customerId, credits: of.credits }, () =>
        adjust(shop.database, of, adjustmentLimits),
      ),
    )
  const twins = Array.from({ length: random.chance(0.3) ? 3 : 1 }, () => adjustment)
  const changed = random.chance(0.15) ? [{ ...adjustment, credits: credits + Math.sign(credits) }] : []
  const calls = await Promise.all([...twins, ...changed].map(send))
  count('adjustment')
  if (calls.some(({ outcome }) => outcome.kind === 'ok' && outcome.result.state === 'PENDING')) {
    await decide(context, customer, adjustment)
    count('adjustment of two persons')
  }
}

function anyOperator(random: Random): string {
  return `operator ${random.integer(1, operators)}`
}

/** Up to three decisions at once, some by the one who requested it. */
async function decide(context: AccountContext, customer: number, adjustment: Adjustment): Promise<void> {
  const { shop, random } = context
  const decisions = Array.from({ length: random.chance(0.4) ? 3 : 1 }, () => {
    const actor = random.chance(0.3) ? adjustment.actor : anyOperator(random)
    const by = random.chance(0.8) ? 'approve' : 'reject'
    const { adjustmentId } = adjustment
    return record(context, { by, customer, actor, adjustment }, () =>
      by === 'approve'
        ? asOperator(
            shop.database,
            { actor, command: 'adjustments approve', subject: adjustment.customerId, ids: [adjustmentId] },
            () => approve(shop.database, adjustmentId, actor, adjustmentLimits.perDay),
          )
        : reject(shop.database, adjustmentId, actor),
    )
  })
  await Promise.all(decisions)
}

async function record(
  context: AccountContext,
  call: Pick<AdjustmentCall, 'by' | 'customer' | 'actor' | 'adjustment'>,
  act: () => Promise<AdjustmentResult>,
): Promise<AdjustmentCall> {
  const { adjustmentId, kind, credits } = call.adjustment
  const { result, ...times } = await untilAnswered(context, act)
  const outcome: AdjustmentCall['outcome'] =
    result === null
      ? { kind: 'info' }
      : result instanceof Refusal
        ? { kind: 'fail', code: result.code, about: aboutOf(result) }
        : { kind: 'ok', result }
  const recorded = { ...call, adjustment: { adjustmentId, kind, credits }, ...times, outcome }
  context.adjustmentCalls.push(recorded)
  context.history.note('adjustment', recorded)
  return recorded
}

/** The reason of the refusal, or the field that it names. */
function aboutOf({ metadata }: Refusal): string {
  const [field] = (metadata?.fields ?? []) as { field: string }[]
  return String(metadata?.reason ?? field?.field ?? '')
}

const retryForMs = 90_000
const pauseMs = 300

/** SVC001, the database does not answer, is retried. Null: the outcome is not known. */
async function untilAnswered<Result>(
  { history, stopped, wrong }: AccountContext,
  act: () => Promise<Result>,
): Promise<Times & { result: Result | Refusal | null }> {
  const invokedAtMs = history.nowMs()
  const ended = (result: Result | Refusal | null) => ({ result, invokedAtMs, endedAtMs: history.nowMs() })
  while (history.nowMs() < invokedAtMs + retryForMs && !stopped.aborted) {
    try {
      return ended(await act())
    } catch (error) {
      if (!(error instanceof Refusal)) {
        wrong.push(`an action on an account: ${(error as Error).stack}`)
        return ended(null)
      }
      if (error.code !== 'SVC001') return ended(error)
    }
    await sleep(pauseMs)
  }
  if (!stopped.aborted) wrong.push('an action on an account has no outcome')
  return ended(null)
}

/** One at a time: an older, lower limit must not come last. */
export async function raiseBudget(context: AccountContext): Promise<void> {
  const { shop, history, random, count } = context
  const budget = anyOf(random, shop.budgets)
  if (!budget || budget.busy) return
  budget.busy = true
  const credits = (budget.limits.at(-1)?.credits ?? 0) + random.integer(1, budget.step)
  budget.limits.push({ credits, fromMs: history.nowMs() })
  const { customerId, scope, value, period, budgetId } = budget
  history.note('budget raised', { budgetId, credits })
  await untilAnswered(context, () =>
    setBudget(shop.database, { customerId, scope, value, period, credits, warnAt: null }),
  )
  budget.busy = false
  count('budget raised')
}

const suspendedMs = { least: 500, most: 8_000 }
/** Those of which something is spent meanwhile. */
const hotCustomers = 5

export async function suspendCustomer(context: AccountContext): Promise<void> {
  const { shop, history, random, suspensions, count } = context
  const { index: customer, customerId } =
    anyOf(random, shop.customers.slice(0, hotCustomers)) ?? shop.anyCustomer(random)
  if (suspensions.some((each) => each.customer === customer && each.activated === null)) return
  const suspension: Suspension = {
    customer,
    suspended: { invokedAtMs: history.nowMs(), endedAtMs: Number.POSITIVE_INFINITY },
    activated: null,
  }
  suspensions.push(suspension)
  suspension.suspended = await untilAnswered(context, () => updateSuspension(shop.database, customerId, true))
  await sleep(random.integer(suspendedMs.least, suspendedMs.most))
  suspension.activated = await untilAnswered(context, () => updateSuspension(shop.database, customerId, false))
  history.note('customer suspended', suspension)
  count('customer suspended')
}
