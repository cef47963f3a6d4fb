// The address of a payment on a page of the gateway, from a template with {paymentKey} and {orderId}. The gateway publishes no
// such address: it is a setting.

export type PaymentUrlOf = (payment: { paymentKey: string; orderId: string }) => string | null

export function paymentUrlsBy(template: string | undefined): PaymentUrlOf {
  if (!template) return () => null
  return ({ paymentKey, orderId }) =>
    template
      .replaceAll('{paymentKey}', () => encodeURIComponent(paymentKey))
      .replaceAll('{orderId}', () => encodeURIComponent(orderId))
}

type NamedPayment = { kind: string; subject?: string; orderId?: string | null; detail: Record<string, unknown> }

/** Links to the payment that a discrepancy is about, if it names one. */
export function paymentUrlOfDiscrepancy(urlOf: PaymentUrlOf, { kind, subject, orderId, detail }: NamedPayment) {
  const paymentKey = kind === 'UNKNOWN_ORDER' ? subject : detail.paymentKey
  return typeof paymentKey === 'string' ? urlOf({ paymentKey, orderId: orderId ?? `${detail.orderId ?? ''}` }) : null
}
