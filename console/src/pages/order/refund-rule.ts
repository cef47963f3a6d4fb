// The rule of refunds that an order is judged by, in a sentence.
import type { RefundRule } from '../../../../src/payments/refunds/dated-rules.ts'
import type { Formats } from '../../format/formats.ts'
import type { Words } from '../../words/words.tsx'

export function refundRuleText({ orders: { refund } }: Words, { day, number, won }: Formats, rule: RefundRule): string {
  const { from, fullPriceDays, sharePercent, smallestAmount } = rule
  return refund.rule(from && day(from), number(fullPriceDays), number(sharePercent), won(smallestAmount))
}
