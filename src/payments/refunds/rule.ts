// The platform's rule for a refund of the unused part: what would be returned for an order now, and the credits it takes.
import type { LotOfOrder } from '../../credits/lots/lots.sql.ts'
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
