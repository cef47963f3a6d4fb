// The limits of the person who calls a command: an operator of the console has those of the role, anybody else those of an admin.
import type { AdjustmentLimits } from '../../credits/adjustments/adjust.ts'
import { limitsOf } from '../../operators/adjustment-limits.ts'
import { findRole } from '../../operators/operators.sql.ts'
import { personOf } from '../action-log-entry.ts'
import type { Call } from '../command.ts'

export async function limitsOfPerson({
  database,
  adjustments,
  values,
}: Pick<Call, 'database' | 'adjustments' | 'values'>): Promise<AdjustmentLimits> {
  return limitsOf(adjustments, (await findRole(database, personOf(values))) ?? 'admin')
}
