// What a budget is for, and for how long it lasts.
import { leastUuid } from '../../core/ids.ts'

export const budgetScopes = ['CUSTOMER', 'SERVICE', 'KEY', 'USER'] as const
export type BudgetScope = (typeof budgetScopes)[number]
export const budgetPeriods = ['HOUR', 'DAY', 'MONTH'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/** The customer of a budget of a service over all customers together. */
export const allCustomers = leastUuid
