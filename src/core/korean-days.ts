// Days of the gateway and of finance: Korean days, nine hours ahead of UTC, without summer time.

const offsetMs = 9 * 3_600_000
export const dayMs = 86_400_000

/** As 2026-01-31. */
export function koreanDayOf(moment: Date): string {
  return new Date(moment.getTime() + offsetMs).toISOString().slice(0, 10)
}

/** As 2026-01-31 09:00:00, which spreadsheets read as a time. */
export function koreanTimeOf(moment: Date): string {
  return new Date(moment.getTime() + offsetMs).toISOString().slice(0, 19).replace('T', ' ')
}

/** Its first moment; undefined when there is no such day. */
export function startOfKoreanDay(day: string): Date | undefined {
  const start = new Date(`${day}T00:00:00+09:00`)
  // 30 February parses, as 2 March.
  return Number.isNaN(start.getTime()) || koreanDayOf(start) !== day ? undefined : start
}

/** The first moment of the day after that of a moment. */
export function endOfKoreanDay(moment: Date): Date {
  return new Date((Math.floor((moment.getTime() + offsetMs) / dayMs) + 1) * dayMs - offsetMs)
}

/** A negative number goes back. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

/** Oldest first, both included. Not compared as texts: past the year 9999 a later day is a smaller text. */
export function daysFromTo(from: string, to: string): string[] {
  const count = (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / dayMs + 1
  return Array.from({ length: Math.max(0, count) }, (_, days) => addDays(from, days))
}
