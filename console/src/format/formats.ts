// Localised numbers and times. Times are shown in Korea's time, as the books and the gateway use it, and in UTC, as the log and the
// API use it. Formatters are expensive to create and cached.
import { useMemo } from 'react'
import { useLanguage } from '../words/words.tsx'

const koreanZone = 'Asia/Seoul'

type Options = Intl.DateTimeFormatOptions

const dateOptions: Options = { year: 'numeric', month: 'short', day: 'numeric' }
const clockOptions: Options = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }

const units: [unit: string, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

function makeFormats(locale: string) {
  const number = new Intl.NumberFormat(locale)
  const won = new Intl.NumberFormat(locale, { style: 'currency', currency: 'KRW', currencyDisplay: 'narrowSymbol' })
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 2 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const change = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  })
  const at = (options: Options) => new Intl.DateTimeFormat(locale, options)
  const korea = {
    date: at({ ...dateOptions, timeZone: koreanZone }),
    clock: at({ ...clockOptions, timeZone: koreanZone }),
  }
  const utc = { date: at({ ...dateOptions, timeZone: 'UTC' }), clock: at({ ...clockOptions, timeZone: 'UTC' }) }
  const hour = at({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: koreanZone })
  const shortDay = at({ month: 'numeric', day: 'numeric', timeZone: 'UTC' })
  const unitOf = Object.fromEntries(
    units.map(([unit]) => [unit, new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' })]),
  )

  return {
    number: (value: number) => number.format(value),
    won: (value: number) => won.format(value),
    /** For round numbers: 1.25M. */
    compact: (value: number) => compact.format(value),
    /** 0 to 1. */
    percent: (value: number) => percent.format(value),
    /** With a sign: +0.5 is +50%. */
    change: (value: number) => change.format(value),
    time(moment: string) {
      const time = new Date(moment)
      return {
        korea: `${korea.date.format(time)} ${korea.clock.format(time)} KST`,
        utc: `${utc.date.format(time)} ${utc.clock.format(time)} UTC`,
      }
    },
    /** From one moment to another, beside the date of the first one: with dates only if they differ. */
    timeSpan(from: string, to: string) {
      const ends = [new Date(from), new Date(to)].map((time) => ({
        date: korea.date.format(time),
        clock: korea.clock.format(time),
      }))
      const isOneDay = ends[0]?.date === ends[1]?.date
      return ends.map(({ date, clock }) => (isOneDay ? clock : `${date} ${clock}`)).join(' – ')
    },
    /** The hour of a moment in Korea: 14:00. */
    hour: (moment: string) => hour.format(new Date(moment)),
    /** A day in Korea, as 2026-01-31. */
    day: (day: string) => utc.date.format(new Date(`${day}T00:00:00Z`)),
    shortDay: (day: string) => shortDay.format(new Date(`${day}T00:00:00Z`)),
    /** The two largest units. */
    age(seconds: number) {
      const whole = Math.max(0, Math.round(seconds))
      const first = units.findIndex(([, size]) => whole >= size)
      const [largest, next] = first === -1 ? [units.at(-1), undefined] : [units[first], units[first + 1]]
      const format = (unit: string, count: number) => unitOf[unit]?.format(count) ?? ''
      if (!largest) return ''
      const rest = next ? Math.floor((whole % largest[1]) / next[1]) : 0
      const parts = [
        format(largest[0], Math.floor(whole / largest[1])),
        ...(next && rest > 0 ? [format(next[0], rest)] : []),
      ]
      return parts.join(' ')
    },
  }
}

export type Formats = ReturnType<typeof makeFormats>

const made = new Map<string, Formats>()

export function useFormats(): Formats {
  const { locale } = useLanguage()
  return useMemo(() => {
    const formats = made.get(locale) ?? makeFormats(locale)
    made.set(locale, formats)
    return formats
  }, [locale])
}
