// The receipt of a captured payment as a page: what was paid, with which card or wallet, and what has been returned
// since. It needs no key: a shop gives its address to the buyer.

import { paymentObject } from '../payments/payment-object.ts'
import type { Payment } from '../payments/payments.ts'
import { type Html, html } from './html.ts'
import { formatWon, layout } from './page.ts'
import { type Language, texts } from './texts.ts'

export function receiptPage(payment: Payment, language: Language): string {
  const text = texts[language].receipt
  const { orderName, orderId, totalAmount, balanceAmount, approvedAt, card, easyPay } = paymentObject(payment)
  const part = (amount = 0) => (amount === 0 ? undefined : formatWon(amount))
  const facts: [string, string | null | undefined][] = [
    [texts[language].orderId, orderId],
    [texts[language].amount, formatWon(totalAmount)],
    [text.returned, formatWon(totalAmount - balanceAmount)],
    [text.wallet, easyPay?.provider],
    [text.money, part(easyPay?.amount)],
    [text.points, part(easyPay?.discountAmount)],
    [text.card, card && (easyPay ? `${card.number} ${formatWon(card.amount)}` : card.number)],
    [text.approvalNumber, card?.approveNo],
    [text.approvedAt, approvedAt],
  ]
  return layout(
    language,
    html`
      <section class="ended">
        <h1>${text.heading}</h1>
        <p>${orderName}</p>
        <dl class="facts">${facts.map(([term, value]): Html => (value ? html`<div><dt>${term}</dt><dd>${value}</dd></div>` : html``))}</dl>
      </section>`,
  )
}
