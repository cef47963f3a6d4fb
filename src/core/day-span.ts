// Days in Korea that a caller names: one day, or a span of days whose first and last are included.
import { type Refusal, refuseFields } from './errors.ts'
import { addDays, dayMs, koreanDayOf, startOfKoreanDay } from './korean-days.ts'

export const dayPattern = /^\d{4}-\d\d-\d\d$/
export const dayRule = 'a day such as 2026-01-31'

const defaultDays = 31
const maxDays = 366

/** No books are older. */
const firstDay = '2000-01-01'

export const faultOf = (field: string, rule: string): Refusal => refuseFields('VAL003', [{ field, rule }])

export const dayRefusals = {
  noSuchDay: (field: string) => faultOf(field, 'must be a day that exists'),
  outside: (field: string, lastDay: string) => faultOf(field, `must be a day from ${firstDay} to ${lastDay}`),
  endsBeforeItBegins: () => faultOf('to', 'must not be before from'),
  tooLong: (mostDays: number) => faultOf('to', `must be within ${mostDays} days of from`),
}

/** The first moment of a day of a request. Up to tomorrow: the clock of the caller may be ahead. */
export function dayStartOf(field: string, day: string): Date {
  const start = startOfKoreanDay(day)
  if (!start) throw dayRefusals.noSuchDay(field)
  const lastDay = addDays(koreanDayOf(new Date()), 1)
  if (day < firstDay || day > lastDay) throw dayRefusals.outside(field, lastDay)
  return start
}

export type DaySpan = { from: string; to: string }

/** By default the last days up to today. */
export function spanOf({ from, to = koreanDayOf(new Date()) }: Partial<DaySpan>, mostDays = maxDays): DaySpan {
  dayStartOf('to', to)
  const first = from ?? [addDays(to, 1 - defaultDays), firstDay].toSorted().at(-1) ?? firstDay
  const lengthDays = (dayStartOf('to', to).getTime() - dayStartOf('from', first).getTime()) / dayMs + 1
  if (lengthDays < 1) throw dayRefusals.endsBeforeItBegins()
  if (lengthDays > mostDays) throw dayRefusals.tooLong(mostDays)
  return { from: first, to }
}
