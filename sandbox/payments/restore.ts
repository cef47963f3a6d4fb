// A cancel that is taken back on the day it was made, as gateways do on request: the payment is what it was before, and the
// cancel is in no list any more.

import type { Movements } from './movements.ts'
import { koreanTime, type Payment } from './payments.ts'

/** The restored payment, or why there is none. */
export function restore(movements: Movements, { paymentKey, status, cancels }: Payment, now: Date): Payment | string {
  const last = cancels.at(-1)
  const before = movements.findPrevious(paymentKey)
  if (last === undefined || before === undefined) return `A payment that is ${status} has no cancel to take back.`
  const day = last.canceledAt.slice(0, 10)
  if (day === koreanTime(now).slice(0, 10)) return before
  return `The last cancel was on ${day}: it can be taken back on the same Korean day only.`
}
