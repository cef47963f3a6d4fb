// The platform's rules in numbers: what a refund of the unused part returns now, and the credits that it takes; and which credits
// the won of a part stand for that was cancelled at the gateway.
import type { LotOfOrder } from '../../credits/lots/lots.sql.ts'
import { pricePerCredit } from '../../credits/lots/price.ts'
import type { PaymentSettings } from '../context.ts'
import { refundRefusals } from '../refusals.ts'

export type UnusedPart = {
  /** `full price`: nothing was used, and the order is young enough that no smallest amount applies. */
  rule: 'full price' | 'unused part'
  /** KRW. */
  amount: number
  credits: number
}

/** Takes all unspent credits of the lot, bonus included, and returns their value. Throws when the rule refuses it. */
export function unusedPartOf(
  lot: LotOfOrder,
  { refundFullPriceMs, refundSmallestAmount }: Pick<PaymentSettings, 'refundFullPriceMs' | 'refundSmallestAmount'>,
  now = Date.now(),
): UnusedPart {
  const credits = lot.unused + lot.held
  const isUntouched = lot.used === 0 && now - lot.grantedAt.getTime() <= refundFullPriceMs
  const part = { rule: isUntouched ? 'full price' : 'unused part', amount: lot.value, credits } as const
  if (part.amount === 0) throw refundRefusals.nothingLeft()
  if (!isUntouched && part.amount < refundSmallestAmount) {
    throw refundRefusals.belowSmallestAmount(part.amount, refundSmallestAmount)
  }
  if (lot.available < credits) throw refundRefusals.creditsHeld(credits, lot.available)
  return part
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
