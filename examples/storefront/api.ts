// The payment service as this shop calls it, through the client: answers as values, and every way not to get one (refused
// connection, time-out, something that is no answer of the service) told as one more code, UNREACHABLE. The API key stays in
// the client: it is sent to the service and to nobody else, and no message contains it.

import {
  type CreditsClient,
  createCreditsClient,
  isCreditsError,
  type PackageType,
  type ServiceCode,
} from '../../client/src/index.ts'

/** The codes of the service, and UNREACHABLE for no answer at all. */
export type ApiCode = ServiceCode | 'UNREACHABLE'

export type Answer<Data> = { ok: true; data: Data } | { ok: false; code: ApiCode; message: string | null }

export type Api = ReturnType<typeof createApi>

/** The pages ask again by themselves what became of a payment, and the buyer sees that they do. */
const once = { maxAttempts: 1 }

export function createApi({ apiUrl, apiKey, timeoutMs }: { apiUrl: () => string; apiKey: string; timeoutMs: number }) {
  // Somebody looks at a page that does not come: no more than one repetition, and no longer than the limit.
  const limits = { timeoutMs, settleTimeoutMs: timeoutMs, deadlineMs: timeoutMs, maxAttempts: 2 }
  let client: CreditsClient | undefined
  function credits(): CreditsClient {
    client ??= createCreditsClient({ baseUrl: apiUrl(), apiKey, ...limits })
    return client
  }
  return {
    packages: () => answerOf(credits().listCreditPackages()),
    balance: () => answerOf(credits().getCreditBalance()),
    status: (orderId: string) => answerOf(credits().getPaymentStatus({ orderId })),
    /** One key per click: a repeated request finds the order of the first. What comes from a form may be any text. */
    purchase: (packageType: string, idempotencyKey: string) =>
      answerOf(credits().purchaseCredits({ packageType: packageType as PackageType }, { idempotencyKey })),
    confirm: (payment: { orderId: string; paymentKey: string; amount: number }) =>
      answerOf(credits().confirmPayment(payment, once)),
    cancel: (paymentKey: string, reason: string) => answerOf(credits().cancelPayment({ paymentKey, reason }, once)),
  }
}

async function answerOf<Data>(call: Promise<Data>): Promise<Answer<Data>> {
  try {
    return { ok: true, data: await call }
  } catch (error) {
    if (!isCreditsError(error)) throw error
    const { message } = error
    return error.kind === 'answer'
      ? { ok: false, code: error.code, message }
      : { ok: false, code: 'UNREACHABLE', message: null }
  }
}
