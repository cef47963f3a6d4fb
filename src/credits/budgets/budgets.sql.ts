// The statements on budgets: set, remove, list with what has been used. A trigger marks the account of the customer, so the next
// spend or hold is checked (restricted.sql.ts).
import { newBudgetId, uuidPattern } from '../../core/ids.ts'
import { type Database, statement } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { BudgetPeriod, BudgetScope } from './kinds.ts'
import { renewalOf } from './usage.sql.ts'

/** A label of a caller, as the internal API takes it. */
export const labelPattern = /^[\x21-\x7e]{1,200}$/

/** Every spend reads all of them. */
export const mostBudgets = 100

export type BudgetSetting = {
  /** Or `allCustomers`. */
  customerId: string
  scope: BudgetScope
  /** The service by the name of its tokens, the key, the user; null: the customer, or each key or user for itself. */
  value: string | null
  period: BudgetPeriod
  credits: number
  /** The event budget.low is sent when that many are used; null: 80 % of the credits. */
  warnAt: number | null
}

/** The fault of a setting; undefined when there is none. */
export function faultOfBudget({ scope, value, credits, warnAt }: Omit<BudgetSetting, 'customerId'>) {
  const isLabel = scope === 'KEY' || scope === 'USER'
  if (scope === 'CUSTOMER' && value !== null) return { field: 'value', rule: 'must be left out for scope CUSTOMER' }
  if (scope === 'SERVICE' && !value) return { field: 'value', rule: 'must be the name of the service' }
  if (isLabel && value !== null && !labelPattern.test(value)) {
    return { field: 'value', rule: 'must be 1 to 200 visible ASCII characters' }
  }
  if (warnAt !== null && warnAt > Math.max(credits, 1)) return { field: 'warnAt', rule: 'must be at most the credits' }
  return undefined
}

const setBudgetStatement = statement.global(
  'credits.setBudget',
  `insert into budgets as b (customer_id, budget_id, scope, value, period, credits, warn_at)
  select $1::uuid, $2::uuid, $3, $4, $5, $6::bigint, $7::bigint
  where $8::int > (select count(*) from budgets other where other.customer_id = $1::uuid and other.removed_at is null)
    or exists (select from budgets same
               where same.customer_id = $1::uuid and same.scope = $3 and coalesce(same.value, '') = coalesce($4, '')
                 and same.period = $5 and same.removed_at is null)
  on conflict (customer_id, scope, coalesce(value, ''), period) where removed_at is null
  do update set credits = excluded.credits, warn_at = excluded.warn_at
  returning budget_id as "budgetId", warn_at as "warnAt"`,
)

/**
 * Sets the budget of that subject and period, or changes its credits: what was used stays. Undefined when the customer has the
 * most budgets that it can have. The customer must exist.
 */
export async function setBudget(
  database: Database,
  setting: BudgetSetting,
): Promise<{ budgetId: string; warnAt: number } | undefined> {
  const { customerId, scope, value, period, credits, warnAt } = setting
  const warning = warnAt ?? Math.max(Math.ceil(credits * 0.8), 1)
  const values = [customerId, newBudgetId(), scope, value, period, credits, warning, mostBudgets]
  return (await database.run<{ budgetId: string; warnAt: number }>(setBudgetStatement, values))[0]
}

const removeBudgetStatement = statement.global(
  'credits.removeBudget',
  (replicated) => sql`with removed as (
    update budgets set removed_at = now() where budget_id = $1 and removed_at is null
  )
  select where ${replicated}`,
)

const findBudgetStatement = statement.global(
  'credits.findBudget',
  `select customer_id as "customerId" from budgets where budget_id = $1`,
)

/** A removed budget stays removed. */
export async function removeBudget(database: Database, budgetId: string): Promise<void> {
  await database.run(removeBudgetStatement, [budgetId])
}

/** A removed one is found too. */
export async function findBudget(database: Database, budgetId: string): Promise<{ customerId: string } | undefined> {
  if (!uuidPattern.test(budgetId)) return undefined
  return (await database.run<{ customerId: string }>(findBudgetStatement, [budgetId]))[0]
}

/** `value` is null for the customer itself. */
export type BudgetUse = { value: string | null; used: number; left: number }

export type Budget = {
  budgetId: string
  scope: BudgetScope
  value: string | null
  period: BudgetPeriod
  credits: number
  warnAt: number
  renewsAt: Date
  /** Set in the present period: uses before are not counted. Null: all of the period are. */
  countsSince: Date | null
  /** Uses in the present period, the most used first. One use, but where each key or user has the limit for itself. */
  uses: BudgetUse[]
}

export type ListedBudget = Budget & { customerId: string; customerName: string | null; createdAt: Date }

/** Keys or users of a budget that are listed. */
const mostUses = 100

const renewal = renewalOf(sql`now_in.period_start`, sql`b.period`)

const listBudgetsStatement = statement.global(
  'credits.listBudgets',
  `select b.budget_id as "budgetId", b.scope, b.value, b.period, b.credits, b.warn_at as "warnAt",
    b.customer_id as "customerId", c.name as "customerName", b.created_at as "createdAt"
  from budgets b
  left join customers c on c.customer_id = b.customer_id
  where b.removed_at is null and ($1::uuid is null or b.customer_id = $1)
  order by b.customer_id, b.scope, b.value nulls first, b.period, b.budget_id
  limit $2`,
)

const findUsesStatement = statement.ofCustomers(
  'credits.findBudgetUses',
  sql`select b.budget_id as "budgetId", ${renewal} as "renewsAt",
    case when b.created_at > now_in.period_start then b.created_at end as "countsSince",
    case when b.value is null and b.scope <> 'CUSTOMER' then each.uses
         else json_build_array(json_build_object(
           'value', b.value, 'used', one.used, 'left', greatest(b.credits - one.used, 0))) end as "uses"
  from unnest($1::uuid[], $2::uuid[]) as i (customer_id, budget_id)
  join budgets b on b.customer_id = i.customer_id and b.budget_id = i.budget_id
  cross join lateral (select date_trunc(lower(b.period), now(), 'Asia/Seoul') as period_start) now_in
  cross join lateral (
    select coalesce(max(u.used) filter (where u.period_start >= now_in.period_start), 0) as used
    from budget_usage u
    where u.customer_id = b.customer_id and u.budget_id = b.budget_id and u.value = ''
  ) one
  cross join lateral (
    select coalesce(json_agg(json_build_object(
             'value', u.value, 'used', u.used, 'left', greatest(b.credits - u.used, 0)) order by u.used desc, u.value), '[]')
             as uses
    from (
      select * from budget_usage u
      where u.customer_id = b.customer_id and u.budget_id = b.budget_id and u.value <> ''
        and u.period_start >= now_in.period_start and u.used > 0
      order by u.used desc, u.value
      limit $3
    ) u
  ) each`,
)

/** Two that are set at once may be one more than the most there can be. */
const mostListed = mostBudgets * 2

/** The budgets of one customer, those over all customers, or all there are. */
export async function listBudgets(
  database: Database,
  customerId: string | null,
  limit = mostListed,
): Promise<ListedBudget[]> {
  type Uses = Pick<ListedBudget, 'renewsAt' | 'countsSince' | 'uses'>
  type Listed = Omit<ListedBudget, keyof Uses>
  const listed = await database.run<Listed>(listBudgetsStatement, [customerId, limit])
  const keys = [listed.map((budget) => budget.customerId), listed.map(({ budgetId }) => budgetId)]
  const uses = await database.run<Uses & { budgetId: string }>(findUsesStatement, [...keys, mostUses])
  const byId = new Map(uses.map((row) => [row.budgetId, row]))
  return listed.flatMap((budget) => {
    const found = byId.get(budget.budgetId)
    return found ? [{ ...budget, ...found }] : []
  })
}
