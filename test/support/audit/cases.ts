// Books that break one rule of the audit each, damaged with all rights over the database. A guard of the schema that would
// prevent the damage is removed first, and the audit reports that too.
import { brokenCredits } from './credit-cases.ts'
import type { BrokenRule } from './damage.ts'
import { brokenRecords } from './journal-cases.ts'
import { brokenOrders } from './order-cases.ts'

export const brokenRules: BrokenRule[] = [...brokenCredits, ...brokenOrders, ...brokenRecords]
