// What a reconciliation says of its span: the money of both sides, the difference of their nets, and whether they agree.
import type { Reconciliation } from './reconcile.ts'

/** `explained`: it differs, and each line of the difference is settled or resolved. */
export const spanStates = ['agrees', 'repaired', 'explained', 'differs'] as const
type SpanState = (typeof spanStates)[number]

type AddedSince07 = 'missingCaptured' | 'missingCancelled' | 'notListed' | 'listedDifferently'
type Booked = 'captured' | 'cancelled' | 'bookedCaptured' | 'bookedCancelled' | 'foreign' | 'reviewed'
/** Runs of the first version have no others. */
type Compared = Pick<Reconciliation, Booked> & Partial<Pick<Reconciliation, AddedSince07>>

/** KRW. The books' side is our operations that match the gateway's movements, and those that the gateway does not confirm. */
export function sidesOf(result: Compared) {
  const { bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  const gateway = moneyOf(result.captured, result.cancelled)
  const books = moneyOf(bookedCaptured + missingCaptured, bookedCancelled + missingCancelled)
  return { gateway, books, difference: gateway.net - books.net }
}

function moneyOf(captured: number, cancelled: number) {
  return { captured, cancelled, net: captured - cancelled }
}

/** The books' side of a repaired day is from before the repair. Foreign orders, of another shop, cannot be repaired. */
export function spanStateOf(result: Compared, isExplained: boolean): SpanState {
  const { captured, cancelled, bookedCaptured, bookedCancelled, foreign, reviewed } = result
  const { notListed = 0, listedDifferently = 0 } = result
  const isOpen = reviewed.disagrees + reviewed.unknown + reviewed['under way'] + notListed + listedDifferently > 0
  const isEqual = captured === bookedCaptured && cancelled === bookedCancelled
  if (isOpen || (!isEqual && foreign > 0)) return isExplained ? 'explained' : 'differs'
  return isEqual && reviewed.repaired === 0 ? 'agrees' : 'repaired'
}
