// Adds up the hourly figures, slice after slice, from where the last one ended to shortly before now. Any number of processes
// may do it at once. The length of a slice is adapted to take about a quarter of a second: days when little happened,
// seconds when much did. When the clock of the database was set back, what was added up since yesterday is added up again; when
// it has jumped ahead, statements that began before it are waited for.
import { dayMs } from '../../core/korean-days.ts'
import { type Database, isTooSlow } from '../../db/database.ts'
import { groupsOf, sweptGroupsOf } from '../../db/groups.ts'
import { addDetails, addSlice, findPlace, rewindFigures } from './figures.sql.ts'

/** Several times the time limit of a statement. */
const lagMs = 30_000
const shortestMs = 1_000
const longestMs = 31 * dayMs
const hourMs = 3_600_000
/** After a slice that took less the length doubles, after one that took longer it halves. */
const quickMs = 100
const slowMs = 400

export type AggregateFigures = () => Promise<{ more: boolean }>

/** `lag` is for tests, which know that no transaction is open. */
export function createAggregateFigures(database: Database, { lag = lagMs } = {}): AggregateFigures {
  const aggregations = new Map(groupsOf(database).map((group) => [group, createGroupAggregation(group, lag)]))
  return async () => {
    const ends = await Promise.all(sweptGroupsOf(database).map((group) => aggregations.get(group)?.()))
    return { more: ends.some((end) => end?.more) }
  }
}

function createGroupAggregation(database: Database, lag: number): AggregateFigures {
  const addFigures = createSlices((from, to) => addSlice(database, from, to))
  const addFurther = createSlices((from, to) => addDetails(database, from, to))
  const isSettled = createJumpWatch(lag)
  return async () => {
    const place = await findPlace(database, lag)
    if (!place) return { more: true }
    const { reached, detailsReached, safeTo, rewindTo } = place
    if (!isSettled(place.now)) return { more: false }
    if (rewindTo) {
      await rewindFigures(database, place, rewindTo)
      return { more: true }
    }
    const [figures, details] = [await addFigures(reached, safeTo), await addFurther(detailsReached, safeTo)]
    return { more: figures.more || details.more }
  }
}

/** False for as long as a statement may last, after the clock of the database has jumped ahead of that of this process. */
function createJumpWatch(lag: number): (databaseNow: Date) => boolean {
  let lastOffset = Number.POSITIVE_INFINITY
  let settledAt = Number.NEGATIVE_INFINITY
  return (databaseNow) => {
    const offset = databaseNow.getTime() - performance.now()
    if (offset - lastOffset > lag / 2) settledAt = performance.now() + lag
    lastOffset = offset
    return performance.now() >= settledAt
  }
}

/** Adds one slice at each call. */
function createSlices(add: (from: Date, to: Date) => Promise<void>) {
  let lengthMs = hourMs
  /** False: it was too slow, and nothing was added. */
  async function addMeasured(from: Date, to: Date): Promise<boolean> {
    const startedAt = performance.now()
    const isWhole = to.getTime() - from.getTime() === lengthMs
    const halve = () => {
      lengthMs = Math.max(shortestMs, lengthMs / 2)
    }
    try {
      await add(from, to)
    } catch (error) {
      if (!isTooSlow(error) || lengthMs === shortestMs) throw error
      halve()
      return false
    }
    const tookMs = performance.now() - startedAt
    if (tookMs > slowMs) halve()
    // A shorter slice, up to now, proves nothing about longer ones: after a day without a worker they would grow to a month.
    else if (tookMs < quickMs && isWhole) lengthMs = Math.min(longestMs, lengthMs * 2)
    return true
  }
  return async (reached: Date, safeTo: Date): Promise<{ more: boolean }> => {
    const to = new Date(Math.min(safeTo.getTime(), reached.getTime() + lengthMs))
    if (to <= reached) return { more: false }
    const isAdded = await addMeasured(reached, to)
    return { more: !isAdded || to < safeTo }
  }
}
