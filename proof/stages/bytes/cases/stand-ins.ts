// Cases have stand-ins for everything that differs from run to run: keys, tokens, ids. So the same seed plans the same
// bytes, and they can be printed without a secret. Just before sending, the real values are filled in, each as long as
// its stand-in. A stand-in that a mutation has changed stays: a key that was never issued.

export const standIns = {
  apiKey: `cpk_${'K'.repeat(43)}`,
  otherApiKey: `cpk_${'L'.repeat(43)}`,
  suspendedApiKey: `cpk_${'S'.repeat(43)}`,
  token: `cst_${'T'.repeat(43)}`,
  suspendedToken: `cst_${'U'.repeat(43)}`,
  webhookToken: 'W'.repeat(36),
  customerId: '00000000-0000-4000-8000-0000000000c1',
  otherCustomerId: '00000000-0000-4000-8000-0000000000c2',
  orderId: `ord_${'0'.repeat(35)}1`,
  holdId: '00000000-0000-4000-8000-0000000000f1',
} as const

export type StandIn = keyof typeof standIns
export type Values = Record<StandIn, string>

export function fillIn(planned: Buffer, values: Values): Buffer {
  let text = planned.toString('latin1')
  for (const [name, standIn] of Object.entries(standIns)) text = text.replaceAll(standIn, values[name as StandIn])
  return Buffer.from(text, 'latin1')
}

/** Ids in an answer are used by later requests: a purchase is confirmed, a hold is captured. */
export function learn(values: Values, body: unknown): void {
  const { data } = (body ?? {}) as {
    data?: { orderId?: string; clientKey?: string; holdId?: string; expiresAt?: string }
  }
  if (data?.orderId && data.clientKey) values.orderId = data.orderId
  if (data?.holdId && data.expiresAt) values.holdId = data.holdId
}
