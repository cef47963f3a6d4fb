// The platform's rules in numbers: what a refund of the unused part returns now, and the credits that it takes; and which credits
// the won of a part stand for that was cancelled at the gateway.
import { dayMs } from '../../core/korean-days.ts'
import type { LotOfOrder } from '../../credits/lots/lots.sql.ts'
import { pricePerCredit } from '../../credits/lots/price.ts'
import { refundRefusals } from '../refusals.ts'
import type { RefundRule } from './dated-rules.ts'

export type UnusedPart = {
  /** `full price`: nothing was used, and the order is young enough that no smallest amount applies. */
  rule: 'full price' | 'unused part'
  /** KRW that go back. */
  amount: number
  credits: number
  /** KRW that the credits are worth. */
  value: number
  /** The rule of the day of the confirm. */
  terms: RefundRule
}

/** Takes all unspent credits of the lot, bonus included, and returns the share of their value. Throws when the rule refuses it. */
export function unusedPartOf(lot: LotOfOrder, terms: RefundRule, now = Date.now()): UnusedPart {
  const { used, value } = lot
  const credits = lot.unused + lot.held
  const isUntouched = used === 0 && now - lot.grantedAt.getTime() <= terms.fullPriceDays * dayMs
  const amount = isUntouched ? value : Math.floor((value * terms.sharePercent) / 100)
  if (value === 0) throw refundRefusals.nothingLeft()
  if (!isUntouched && amount < terms.smallestAmount) {
    throw refundRefusals.belowSmallestAmount(amount, terms.smallestAmount)
  }
  if (lot.available < credits) throw refundRefusals.creditsHeld(credits, lot.available)
  return { rule: isUntouched ? 'full price' : 'unused part', amount, credits, value, terms }
}

export type PartOfOrder = {
  /** KRW that the gateway returned. */
  amount: number
  /** What the parts before returned. */
  amountBefore: number
  creditsBefore: number
  /** KRW of the order. */
  paid: number
  creditsOfTheOrder: number
}

/** What is unused may be less. */
export function creditsOfPart({ amount, amountBefore, creditsBefore, paid, creditsOfTheOrder }: PartOfOrder) {
  const creditsOf = (won: number) => Math.floor(won / pricePerCredit)
  const bonus = creditsOfTheOrder - creditsOf(paid)
  return {
    standsFor: creditsOf(amountBefore + amount) - creditsOf(amountBefore),
    most: creditsOf(amountBefore + amount) + bonus - creditsBefore,
  }
}
