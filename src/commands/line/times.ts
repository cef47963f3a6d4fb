// Reads dates and times of the command line. A date is a day in Korea, as the gateway's days are.
import { readMoment } from '../../core/clock.ts'
import type { Values } from '../command.ts'

export const dateFormat = '2026-01-31 (a Korean day) or 2026-01-31T09:00:00+09:00'

/** As the time of a last day. */
export const endOfDay = '23:59:59.999'

const koreanOffset = '+09:00'
const timePattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/

/** `timeOfDay` is used for a date alone. Undefined for another format, or a day or time that does not exist. */
export function readTime(text: string | undefined, timeOfDay: string): Date | undefined {
  const [, date, rest = `T${timeOfDay}${koreanOffset}`] = timePattern.exec(text ?? '') ?? []
  return date === undefined ? undefined : readMoment(`${date}${rest}`)
}

/** A span whose last day or time is included; null: no bound. */
export function readBounds({ from, to }: Pick<Values, 'from' | 'to'>): { since: Date | null; before: Date | null } {
  const last = readTime(to, endOfDay)
  return { since: readTime(from, '00:00:00') ?? null, before: last ? new Date(last.getTime() + 1) : null }
}
