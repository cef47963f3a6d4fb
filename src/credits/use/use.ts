// What a customer has used, by day in Korea and by service, key, user or label. The ledger is read in pages, and the values beyond
// the first thousand are one sum: memory does not grow with the ledger, nor with the number of users.
import { type DaySpan, dayStartOf, spanOf } from '../../core/day-span.ts'
import { dayMs } from '../../core/korean-days.ts'
import type { Database } from '../../db/database.ts'
import { customerNotFound } from '../refusals.ts'
import { readAccount } from '../statement/statement.sql.ts'
import { findRange } from '../statement/statement.ts'
import { addUpUse, type UseDimension, type UseOfDay, type UseSums } from './use.sql.ts'

/** Three months. */
export const mostUseDays = 92
export const mostUseValues = 1_000

/** Entries that one statement reads. */
const entriesRead = 10_000

export type UseRequest = DaySpan & { customerId: string; by: UseDimension }

export type CustomerUse = DaySpan & {
  customerId: string
  by: UseDimension
  /** By day, and of a day in the order of the sums. */
  rows: UseOfDay[]
  /** A sum for each value; those that have used the most first. */
  sums: (UseSums & { value: string | null })[]
  /** The values after the first thousand that were used: they have no rows. Null: there are none. */
  others: UseSums | null
  total: UseSums
}

/** The last 31 days by service, unless others are named. */
export function spanOfUse(given: Partial<DaySpan> & { by?: UseDimension }): DaySpan & { by: UseDimension } {
  return { ...spanOf(given, mostUseDays), by: given.by ?? 'service' }
}

export async function readUse(database: Database, { customerId, by, ...span }: UseRequest): Promise<CustomerUse> {
  const account = await readAccount(database, customerId)
  if (!account) throw customerNotFound()
  const { above, upTo } = await findRange(database, { customerId, ...timesOf(span) }, account.lastEntry)
  const sums = createSums()
  for (let last = above; last < upTo; last += entriesRead) {
    const page = { customerId, above: last, upTo: Math.min(upTo, last + entriesRead), by }
    for (const row of await addUpUse(database, page)) sums.add(row)
  }
  return { customerId, by, ...span, ...sums.result() }
}

/** The first and the last millisecond. */
function timesOf({ from, to }: DaySpan): { from: Date; to: Date } {
  return { from: dayStartOf('from', from), to: new Date(dayStartOf('to', to).getTime() + dayMs - 1) }
}

const nothing = (): UseSums => ({ credits: 0, units: 0, count: 0 })

function addTo(sums: UseSums, { credits, units, count }: UseSums): void {
  sums.credits += credits
  sums.units += units
  sums.count += count
}

function createSums() {
  const values = new Map<string | null, { sum: UseSums; days: Map<string, UseSums> }>()
  const others = nothing()
  const total = nothing()
  let hasOthers = false

  function placesOf({ day, value }: UseOfDay): UseSums[] {
    const known = values.get(value)
    if (!known && values.size === mostUseValues) {
      hasOthers = true
      return [others]
    }
    const { sum, days } = known ?? { sum: nothing(), days: new Map<string, UseSums>() }
    const ofDay = days.get(day) ?? nothing()
    days.set(day, ofDay)
    if (!known) values.set(value, { sum, days })
    return [sum, ofDay]
  }

  function result(): Pick<CustomerUse, 'rows' | 'sums' | 'others' | 'total'> {
    const used = [...values].sort(([, a], [, b]) => b.sum.credits - a.sum.credits)
    const rows = used.flatMap(([value, { days }]) => [...days].map(([day, sums]) => ({ day, value, ...sums })))
    return {
      rows: rows.sort((a, b) => (a.day < b.day ? -1 : Number(a.day > b.day))),
      sums: used.map(([value, { sum }]) => ({ value, ...sum })),
      others: hasOthers ? others : null,
      total,
    }
  }

  return {
    add(row: UseOfDay): void {
      for (const sums of [total, ...placesOf(row)]) addTo(sums, row)
    },
    result,
  }
}
