// Budgets by the ledger alone: what spends and holds took and gave back, and what was captured of holds of other services,
// added up for each budget, value and period. No limit was ever exceeded, what the service has counted is that sum, and a
// refusal names a limit that exists, counts the request and had too little left.
import { allCustomers, type BudgetPeriod } from '../../../../src/credits/budgets/kinds.ts'
import { type CampaignBudget, userOf } from '../../../world/budgets.ts'
import { type Check, checksOf, type Evidence } from '../evidence.ts'
import { type UsageEntry, wasDuring } from './booked.ts'

export function checkBudgets(evidence: Evidence): Check[] {
  return checksOf({
    'B-1 no budget was exceeded in any period, by the ledger': evidence.shop.budgets.flatMap((budget) =>
      exceeded(evidence, budget),
    ),
    'B-2 what is counted of a budget is what spends and holds took and did not give back, by the ledger':
      evidence.shop.budgets.flatMap((budget) => wronglyCounted(evidence, budget)),
  })
}

/** A limit may count from a little before the request for it: clocks are read one after the other. */
const clockMs = 1_000

function exceeded(evidence: Evidence, budget: CampaignBudget): string[] {
  const limitAt = (at: number) =>
    budget.limits.findLast(({ fromMs }) => performance.timeOrigin + fromMs - clockMs <= at)?.credits ?? 0
  return [...usageOf(evidence, budget)].flatMap(([subject, steps]) => {
    const step = steps.find(({ used, at, isTaken }) => isTaken && used > limitAt(at))
    return step ? [`${budget.budgetId} ${subject}: ${step.used} used of ${limitAt(step.at)}`] : []
  })
}

/**
 * In the latest period in which something was taken; what is given back later counts too. Of all customers together the periods
 * are not certain: their clocks are those of their accounts.
 */
function wronglyCounted({ usage, countedUsage, shop }: Evidence, budget: CampaignBudget): string[] {
  if (budget.customerId === allCustomers) return []
  const services = servicesOf(shop)
  const uses = usage.flatMap((use) => {
    const value = valueIn(budget, { ...use, service: services.get(use.serviceId) })
    if (value === undefined) return []
    return [{ ...use, value: budget.value === null ? (value ?? '') : '', period: periodOf(budget.period, use.takenAt) }]
  })
  const rows = countedUsage.filter(({ budgetId }) => budgetId === budget.budgetId)
  const values = new Set([...uses, ...rows].map(({ value }) => value))
  return [...values].flatMap((value) => {
    const ofValue = uses.filter((use) => use.value === value)
    const latest = ofValue.toSorted((one, other) => one.takenAt - other.takenAt).at(-1)?.period ?? 'never'
    const sum = ofValue.filter(({ period }) => period === latest).reduce((total, { credits }) => total + credits, 0)
    const row = rows.find((each) => each.value === value)
    const counted = row ? `${row.used} in ${periodOf(budget.period, row.periodStart)}` : 'nothing'
    const isRight = counted === `${sum} in ${latest}`
    return isRight ? [] : [`${budget.budgetId} ${value || 'all'}: counted ${counted}, taken ${sum} in ${latest}`]
  })
}

function servicesOf({ siblings }: Evidence['shop']): Map<string, string> {
  return new Map(siblings.map(({ serviceId, name }) => [serviceId, name]))
}

type UsageStep = { used: number; at: number; isTaken: boolean }

/** Accounts are locked before what is used: of two customers, the later entry may be counted first. */
const lockMs = 5_000

/** After each entry, by value and period. What is given back in another period does not count. */
function usageOf({ usage, shop }: Evidence, budget: CampaignBudget): Map<string, UsageStep[]> {
  const services = servicesOf(shop)
  const earlierMs = budget.customerId === allCustomers ? lockMs : 0
  const counted = usage.flatMap(({ credits, at, takenAt, ...use }) => {
    const value = valueIn(budget, { ...use, service: services.get(use.serviceId) })
    const isCounted = value !== undefined && periodOf(budget.period, at) === periodOf(budget.period, takenAt)
    const countedAt = credits < 0 ? at - earlierMs : at
    return isCounted ? [{ credits, at: countedAt, subject: subjectOf(budget, value, takenAt) }] : []
  })
  const steps = new Map<string, UsageStep[]>()
  for (const { credits, at, subject } of counted.sort((one, other) => one.at - other.at)) {
    const ofSubject = steps.get(subject) ?? []
    ofSubject.push({ used: (ofSubject.at(-1)?.used ?? 0) + credits, at, isTaken: credits > 0 })
    steps.set(subject, ofSubject)
  }
  return steps
}

type LabelledUse = Pick<UsageEntry, 'customerId' | 'reference' | 'isOfAnother'> & { service: string | undefined }

/** The value that the budget counts it for; null: the budget has one for all. Undefined: it does not count it. */
function valueIn(budget: CampaignBudget, use: LabelledUse): string | null | undefined {
  const { customerId, service, reference, isOfAnother } = use
  if (budget.customerId !== allCustomers && budget.customerId !== customerId) return undefined
  // What another service holds was counted for the customer when it was taken.
  if (isOfAnother && budget.scope !== 'SERVICE') return undefined
  if (budget.scope === 'CUSTOMER') return null
  const label = budget.scope === 'SERVICE' ? service : userOf(reference)
  return budget.value === null || budget.value === label ? label : undefined
}

function subjectOf({ period }: CampaignBudget, value: string | null, at: number): string {
  return `${value ?? 'all'} ${periodOf(period, at)}`
}

const koreaMs = 9 * 3_600_000
const periodLengths: Record<BudgetPeriod, number> = { HOUR: 13, DAY: 10, MONTH: 7 }

/** As 2026-01-31T08, 2026-01-31 or 2026-01, in Korea. */
function periodOf(period: BudgetPeriod, at: number): string {
  return new Date(at + koreaMs).toISOString().slice(0, periodLengths[period])
}

/** In the metadata of a refusal. */
export type NamedLimit = {
  budgetId: string
  scope: string
  value: string | null
  period: string
  credits: number
  left: number
  renewsAt: string
}

/** `reference` is null for a capture of a hold of another service, whose label does not count. */
type LabelledRequest = { customer: number; sibling: number; reference: string | null }

/** `enough`: with this many left it would not have been refused. */
export function refusedByBudget(
  evidence: Evidence,
  call: { request: LabelledRequest; invokedAtMs: number; endedAtMs: number },
  enough: number,
  limit: NamedLimit,
): string | null {
  const { shop } = evidence
  const { customer, sibling, reference } = call.request
  const budget = shop.budgets.find(({ budgetId }) => budgetId === limit.budgetId)
  const use = {
    customerId: shop.customers[customer]?.customerId ?? '',
    service: shop.siblings[sibling]?.name,
    reference: reference ?? '',
    isOfAnother: reference === null,
  }
  const value = budget && valueIn(budget, use)
  const named = [limit.scope, limit.value, limit.period, limit.credits].join(' ')
  const isNamed = (each: { credits: number }) =>
    [budget?.scope, value, budget?.period, each.credits].join(' ') === named
  if (!budget || value === undefined || !budget.limits.some(isNamed)) {
    return `was refused by ${JSON.stringify(limit)}, which is no limit for it`
  }
  if (!(limit.left < enough)) return `was refused with ${limit.left} left, ${enough} requested`
  // Entries of all customers together are not in the order in which they were counted.
  if (budget.customerId === allCustomers) return null
  const ofPeriod = usageOf(evidence, budget).get(subjectOf(budget, value, Date.parse(limit.renewsAt) - 1)) ?? []
  const steps = [{ used: 0, at: Number.NEGATIVE_INFINITY }, ...ofPeriod]
  const isTrue = wasDuring(call, steps, ({ used }) => Math.max(limit.credits - used, 0) === limit.left)
  return isTrue ? null : `was refused with ${limit.left} left of ${limit.credits}, which was not so at that time`
}
