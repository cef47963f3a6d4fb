// The budgets of the campaign: a few of single customers, and one of a sibling service over all customers. Their limits are
// low, so that spends and holds are refused, and operators raise them now and then. Sibling services send a user with each
// spend and hold.
import { type BudgetSetting, setBudget } from '../../src/credits/budgets/budgets.sql.ts'
import { allCustomers } from '../../src/credits/budgets/kinds.ts'
import type { Database } from '../../src/db/database.ts'

export type CampaignBudget = Omit<BudgetSetting, 'credits' | 'warnAt'> & {
  budgetId: string
  /** Each with the time from which it may count; each is higher than the one before. */
  limits: { credits: number; fromMs: number }[]
  /** By how much it is raised at most. */
  step: number
  busy: boolean
}

type Planned = Pick<BudgetSetting, 'scope' | 'value' | 'period' | 'credits'> & {
  /** Its index; null: all. */
  customer: number | null
}

const planned: Planned[] = [
  { customer: 1, scope: 'CUSTOMER', value: null, period: 'HOUR', credits: 60 },
  { customer: 2, scope: 'SERVICE', value: 'usage', period: 'DAY', credits: 40 },
  { customer: 3, scope: 'USER', value: null, period: 'HOUR', credits: 15 },
  { customer: 3, scope: 'CUSTOMER', value: null, period: 'MONTH', credits: 40 },
  { customer: null, scope: 'SERVICE', value: 'reports', period: 'MONTH', credits: 200 },
]

export async function openBudgets(database: Database, customers: { customerId: string }[]): Promise<CampaignBudget[]> {
  const budgets: CampaignBudget[] = []
  for (const { customer, scope, value, period, credits } of planned) {
    // Where customers are on several servers there is none over all of them.
    if (customer === null && database.groups) continue
    const customerId = customer === null ? allCustomers : (customers[customer]?.customerId ?? '')
    const subject = { customerId, scope, value, period }
    const { budgetId = '' } = (await setBudget(database, { ...subject, credits, warnAt: null })) ?? {}
    const limits = [{ credits, fromMs: Number.NEGATIVE_INFINITY }]
    budgets.push({ ...subject, budgetId, limits, step: Math.ceil(credits / 2), busy: false })
  }
  return budgets
}

const users = 3

/** The label of a spend or hold. It follows from the reference, so that the ledger tells it. */
export function userOf(reference: string): string {
  return `user-${Number(/\d+$/.exec(reference)?.[0] ?? 0) % users}`
}
