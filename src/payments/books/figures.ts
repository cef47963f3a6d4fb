// Adds up what happened, slice after slice, from where it was left to a little before now. Any number of processes may do
// it at once. A slice is as long as a quarter of a second is worth: days where nothing happened, seconds where much did.
import { dayMs } from '../../core/korean-days.ts'
import { type Database, isTooSlow } from '../../db/database.ts'
import { addSlice, findPlace } from './figures.sql.ts'

/** Several times what a statement may take. */
const lagMs = 30_000
const shortestMs = 1_000
const longestMs = 31 * dayMs
const hourMs = 3_600_000
/** What takes less is followed by a slice of twice the length, what takes longer by one of half of it. */
const quickMs = 100
const slowMs = 400

export type AddUp = () => Promise<{ more: boolean }>

/** `lag` is for the tests, which know that nothing is under way. */
export function createAddUp(database: Database, { lag = lagMs } = {}): AddUp {
  let lengthMs = hourMs
  /** False: it was more than can be added up at once. */
  async function add(from: Date, to: Date): Promise<boolean> {
    const startedAt = performance.now()
    const isWhole = to.getTime() - from.getTime() === lengthMs
    const halve = () => {
      lengthMs = Math.max(shortestMs, lengthMs / 2)
    }
    try {
      await addSlice(database, from, to)
    } catch (error) {
      if (!isTooSlow(error) || lengthMs === shortestMs) throw error
      halve()
      return false
    }
    const tookMs = performance.now() - startedAt
    if (tookMs > slowMs) halve()
    // The last one, up to now, says nothing of longer ones: after a day without a worker they would be a month.
    else if (tookMs < quickMs && isWhole) lengthMs = Math.min(longestMs, lengthMs * 2)
    return true
  }
  return async () => {
    const place = await findPlace(database, lag)
    if (!place) return { more: true }
    const { reached, safeTo } = place
    const to = new Date(Math.min(safeTo.getTime(), reached.getTime() + lengthMs))
    if (to <= reached) return { more: false }
    const isAdded = await add(reached, to)
    return { more: !isAdded || to < safeTo }
  }
}
