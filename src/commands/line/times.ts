// Times as an operator writes them. A day is Korean, as the gateway's are: from its first second to its last.
import { readMoment } from '../../core/clock.ts'

export const dateFormat = '2026-01-31 (a Korean day) or 2026-01-31T09:00:00+09:00'

const koreanOffset = '+09:00'
const timePattern = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d:\d\d(?:\.\d{1,3})?(?:Z|[+-]\d\d:\d\d))?$/

/** Undefined when it is none, or a day or time that does not exist. */
export function readTime(text: string | undefined, timeOfDay: string): Date | undefined {
  const [, date, rest = `T${timeOfDay}${koreanOffset}`] = timePattern.exec(text ?? '') ?? []
  return date === undefined ? undefined : readMoment(`${date}${rest}`)
}
