// Books that break one rule of the audit each, as somebody with all rights over the database could break them. Where a
// guard of the schema stands in the way it is taken down first, and the audit names that too.
import { brokenCredits } from './credit-cases.ts'
import type { BrokenRule } from './damage.ts'
import { brokenRecords } from './journal-cases.ts'
import { brokenOrders } from './order-cases.ts'

export const brokenRules: BrokenRule[] = [...brokenCredits, ...brokenOrders, ...brokenRecords]
