// The platform's rules of refunds, each with the day from which it holds. An order is judged by the rule of the Korean day of its
// confirm, for ever.
import { startOfKoreanDay } from '../../core/korean-days.ts'

export type RefundRule = {
  /** A Korean day; null: from the beginning. */
  from: string | null
  /** Within so many days of its confirm an untouched order is refunded at its full price, however small. */
  fullPriceDays: number
  /** KRW; no unused part that would return less is refunded. */
  smallestAmount: number
  /** Percent of the value of the unused part that goes back. */
  sharePercent: number
}

export const ruleLimits = {
  fullPriceDays: [0, 3_650],
  smallestAmount: [1, 100_000],
  sharePercent: [1, 100],
} as const satisfies Partial<Record<keyof RefundRule, readonly [number, number]>>

const numbers = Object.entries(ruleLimits)
const members = ['from', ...Object.keys(ruleLimits)]

/** From JSON: rules with days, the earliest first. Undefined: it cannot be read. */
export function readLaterRules(text: string): RefundRule[] | undefined {
  const list = parse(text)
  if (!Array.isArray(list) || !list.every(isLaterRule)) return undefined
  const days = list.map(({ from }) => from)
  return days.every((day, index) => index === 0 || day > (days[index - 1] ?? day)) ? list : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isLaterRule(value: unknown): value is RefundRule & { from: string } {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== members.length) return false
  const rule = value as Record<string, unknown>
  const isWithin = (name: string, [least, most]: readonly [number, number]) =>
    Number.isInteger(rule[name]) && Number(rule[name]) >= least && Number(rule[name]) <= most
  const { from } = rule
  if (typeof from !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(from) || !startOfKoreanDay(from)) return false
  return numbers.every(([name, limits]) => isWithin(name, limits))
}

/** That of a Korean day. The first one holds from the beginning. */
export function ruleOn(day: string, [first, ...later]: [RefundRule, ...RefundRule[]]): RefundRule {
  return later.findLast(({ from }) => from !== null && from <= day) ?? first
}

export function ruleInWords({ from, fullPriceDays, smallestAmount, sharePercent }: RefundRule): string {
  const since = from === null ? 'rule from the beginning' : `rule since ${from}`
  const days = `full price within ${fullPriceDays} ${fullPriceDays === 1 ? 'day' : 'days'}, then `
  const least = `₩${smallestAmount.toLocaleString('en-US')}`
  return `${since}: ${fullPriceDays === 0 ? '' : days}${sharePercent} % of the unused value, at least ${least}`
}

export function isSameRule(one: RefundRule, other: RefundRule): boolean {
  return (
    one.from === other.from && numbers.every(([name]) => one[name as 'sharePercent'] === other[name as 'sharePercent'])
  )
}
