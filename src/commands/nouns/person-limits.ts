// The limits of the person who calls a command: an operator of the console has those of the role, anybody else those of an admin.
import { type AdjustmentLimits, limitsToday } from '../../credits/adjustments/adjust.ts'
import { limitsOf } from '../../operators/adjustment-limits.ts'
import { findRole } from '../../operators/operators.sql.ts'
import { personOf } from '../action-log-entry.ts'
import type { Call } from '../command.ts'

type LimitsCall = Pick<Call, 'database' | 'adjustments' | 'values'>

export async function limitsOfPerson({ database, adjustments, values }: LimitsCall): Promise<AdjustmentLimits> {
  return limitsOf(adjustments, (await findRole(database, personOf(values))) ?? 'admin')
}

/** Whether a change of that many credits needs a second person. */
export async function needsSecondPerson(call: LimitsCall, credits: number): Promise<boolean> {
  const limits = await limitsToday(call.database, personOf(call.values), await limitsOfPerson(call))
  return Math.abs(credits) > limits.approvalAbove
}
