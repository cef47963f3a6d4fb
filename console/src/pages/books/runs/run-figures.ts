// The figures of a reconciliation run: its nets and their difference, what was reviewed, and whether everything matched.
import type { Data } from '../../../../../src/console/contract.ts'

export type Run = Data<'run'>
export type Result = NonNullable<Run['result']>

export function gatewayNetOf({ captured, cancelled }: Result): number {
  return captured - cancelled
}

/** What our books have, matched or not confirmed by the gateway. */
export function booksNetOf(result: Result): number {
  const { bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  return bookedCaptured + missingCaptured - bookedCancelled - missingCancelled
}

/** KRW. */
export function differenceOf(result: Result): number {
  return gatewayNetOf(result) - booksNetOf(result)
}

/** Counted in the result, whether a line belongs to them or not. */
const ofStored = ['MOVEMENT_NOT_LISTED', 'MOVEMENT_DIFFERS']

/** The discrepancies that the run has found or seen again, without those that are resolved. */
export function discrepanciesOf({ bridge, result }: Pick<Run, 'bridge' | 'result'>): number {
  const lines = bridge?.lines.filter(({ kind, resolvedAt }) => !ofStored.includes(kind ?? '') && !resolvedAt)
  const ids = new Set(lines?.flatMap(({ discrepancyId }) => discrepancyId ?? []))
  return ids.size + (result ? storedWrong(result) : 0)
}

function storedWrong({ notListed = 0, listedDifferently = 0 }: Result): number {
  return notListed + listedDifferently
}

/** Compares each direction: equal nets can hide two differences. */
export function hasEqualTotals(result: Result): boolean {
  const { captured, cancelled, bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  const isEqual = captured === bookedCaptured && cancelled === bookedCancelled
  return isEqual && missingCaptured === 0 && missingCancelled === 0
}

/** Orders of other services and unknown ones are not reviewed, and match nothing. */
export function hasMatchedAll(result: Result): boolean {
  return hasEqualTotals(result) && result.foreign === 0 && storedWrong(result) === 0 && reviewedOf(result) === 0
}

export function hasDiscrepancies(result: Result): boolean {
  return result.reviewed.disagrees + storedWrong(result) + (result.unknownOrders ?? 0) > 0
}

export function reviewedOf(result: Result | null): number | null {
  return result && Object.values(result.reviewed).reduce((sum, count) => sum + count, 0)
}
