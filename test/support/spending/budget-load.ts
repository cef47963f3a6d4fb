// Load under budgets: budgets of every scope on several customers, spends and holds with random labels, and the check that no
// budget was exceeded and that what is counted is what has moved. The sums are made from the ledger and the labels that were sent.
import assert from 'node:assert/strict'
import type { Random } from '../../../harness/random.ts'
import { type BudgetSetting, setBudget } from '../../../src/credits/budgets/budgets.sql.ts'
import { allCustomers } from '../../../src/credits/budgets/kinds.ts'
import type { Database } from '../../../src/db/database.ts'
import type { TestDatabase } from '../database/database.ts'
import { definite } from '../service/cluster.ts'
import type { Answer } from '../service/service.ts'
import { creditsPath, type Spending } from './spending.ts'

const labels = ['a', 'b', 'c'] as const

export type SetBudget = BudgetSetting & { budgetId: string }

/** Five budgets of each customer, all of which can be reached, and one of the service over all customers, which a cluster cannot have. */
export async function setBudgets(
  database: Database,
  customerIds: string[],
  service: string,
  credits: number,
): Promise<SetBudget[]> {
  const common = { value: null, period: 'MONTH', warnAt: null } as const
  const settings: BudgetSetting[] = customerIds.flatMap((customerId): BudgetSetting[] => [
    { ...common, customerId, scope: 'CUSTOMER', credits },
    { ...common, customerId, scope: 'SERVICE', value: service, credits: Math.ceil(credits * 0.95) },
    { ...common, customerId, scope: 'KEY', credits: Math.ceil(credits * 0.4) },
    { ...common, customerId, scope: 'USER', credits: Math.ceil(credits * 0.45) },
    { ...common, customerId, scope: 'USER', value: 'a', credits: Math.ceil(credits * 0.3) },
  ])
  const ofAll = Math.ceil(credits * customerIds.length * 0.8)
  const isCluster = database.groups !== undefined
  if (!isCluster)
    settings.push({ ...common, customerId: allCustomers, scope: 'SERVICE', value: service, credits: ofAll })
  const set: SetBudget[] = []
  for (const setting of settings) {
    set.push({ ...setting, budgetId: (await setBudget(database, setting))?.budgetId ?? assert.fail('too many') })
  }
  return set
}

/** Sends a request until its outcome is known. */
export type Sender = (path: string, body: object) => Promise<Answer<Record<string, string>>>

export function senderOf(listener: (attempt: number) => Pick<Spending, 'call'>): Sender {
  return (path, body) => {
    let attempt = 0
    return definite(() => listener(attempt++).call(path, { body }))
  }
}

/** `count` calls, `width` at a time. */
export async function inTurns<Value>(
  count: number,
  width: number,
  run: (index: number) => Promise<Value>,
): Promise<Value[]> {
  const results: Value[] = []
  let next = 0
  async function takeTurns(): Promise<void> {
    while (next < count) {
      const index = next
      next += 1
      results[index] = await run(index)
    }
  }
  await Promise.all(Array.from({ length: width }, takeTurns))
  return results
}

export type Moved = { customerId: string; reference: string; keyId?: string; userId?: string }

/** One spend, or one hold that is released, captured in part or kept. Returns what was sent, by its labels. */
export async function spendOrHold(
  random: Random,
  customerIds: string[],
  send: Sender,
): Promise<Moved & { code: string }> {
  const pickLabel = () => random.pick([...labels, undefined] as unknown as readonly ['a' | undefined])
  const [keyId, userId] = [pickLabel(), pickLabel()]
  const customerId = customerIds[random.integer(0, customerIds.length - 1)] ?? assert.fail('no customer')
  const moved = { customerId, reference: crypto.randomUUID(), ...(keyId && { keyId }), ...(userId && { userId }) }
  const credits = random.integer(1, 3)
  if (random.chance(0.6)) {
    const { body } = await send(`${creditsPath}/spend`, { ...moved, credits })
    return { ...moved, code: body.code }
  }
  const { body } = await send(`${creditsPath}/holds`, { ...moved, credits })
  if (body.code === 'SUCCESS') {
    const path = `${creditsPath}/holds/${body.data.holdId}`
    const way = random.pick(['release', 'part', 'keep'])
    if (way === 'release') await send(`${path}/release`, { customerId })
    if (way === 'part') await send(`${path}/capture`, { customerId, credits: 1 })
  }
  return { ...moved, code: body.code }
}

/** Throws when a budget was exceeded, or when what is counted is not what has moved. Returns how many budgets are used up. */
export async function assertBudgetsKept(
  database: TestDatabase,
  budgets: SetBudget[],
  service: string,
  sent: Moved[],
): Promise<number> {
  const entries = await database.query<{ reference: string; customerId: string; credits: number }>(
    `select e.reference, e.customer_id as "customerId",
       case e.kind when 'SPEND' then -e.delta else case h.state when 'ACTIVE' then h.credits else coalesce(h.captured, 0) end
       end::int as credits
     from ledger_entries e left join holds h on h.customer_id = e.customer_id and h.hold_id = e.hold_id
     where e.reference is not null`,
  )
  const labelsOf = new Map(sent.map((moved) => [moved.reference, moved]))
  const counted = await database.query<{ budgetId: string; value: string; used: number }>(
    `select budget_id as "budgetId", value, used::int from budget_usage where used > 0`,
  )
  let full = 0
  for (const { budgetId, customerId, scope, value, credits } of budgets) {
    const sums: Record<string, number> = {}
    for (const entry of entries) {
      const moved = labelsOf.get(entry.reference)
      if (!moved || (customerId !== allCustomers && customerId !== entry.customerId)) continue
      const label = { CUSTOMER: '', SERVICE: service, KEY: moved.keyId, USER: moved.userId }[scope]
      if (label === undefined || (value !== null && value !== label)) continue
      const key = value === null && scope !== 'CUSTOMER' ? label : ''
      sums[key] = (sums[key] ?? 0) + entry.credits
    }
    const moved = Object.entries(sums).filter(([, sum]) => sum > 0)
    for (const [key, sum] of moved) {
      assert.ok(sum <= credits, `${scope} ${value} ${key}: ${sum} of ${credits} credits`)
      if (sum >= credits - 2) full += 1
    }
    const used = counted.filter((row) => row.budgetId === budgetId).map((row) => [row.value, row.used])
    assert.deepEqual(used.sort(), moved.sort(), `${scope} ${value}: what is counted, and what has moved`)
  }
  return full
}
