// The payment service as this shop calls it, through the client: answers as values, and every missing answer (refused
// connection, time-out, an answer that is not the service's) as one more code, UNREACHABLE. The API key stays in the
// client: it is sent to the service only, and no message contains it.

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

/** The pages check an unknown outcome again by themselves, and show that they do. */
const once = { maxAttempts: 1 }

type ApiOptions = { apiUrl: () => string | undefined; apiKey: string; timeoutMs: number }

export function createApi({ apiUrl, apiKey, timeoutMs }: ApiOptions) {
  // A visitor waits for the page: one retry at most, and no longer than the limit.
  const limits = { timeoutMs, settleTimeoutMs: timeoutMs, deadlineMs: timeoutMs, maxAttempts: 2 }
  let client: CreditsClient | undefined

  async function call<Data>(send: (credits: CreditsClient) => Promise<Data>): Promise<Answer<Data>> {
    const baseUrl = apiUrl()
    if (baseUrl === undefined) return { ok: false, code: 'UNREACHABLE', message: null }
    client ??= createCreditsClient({ baseUrl, apiKey, ...limits })
    return answerOf(send(client))
  }

  return {
    packages: () => call((credits) => credits.listCreditPackages()),
    balance: () => call((credits) => credits.getCreditBalance()),
    status: (orderId: string) => call((credits) => credits.getPaymentStatus({ orderId })),
    /** One key per click: a repeated request finds the order of the first. `packageType` may be any text: it is a form field. */
    purchase: (packageType: string, idempotencyKey: string) =>
      call((credits) => credits.purchaseCredits({ packageType: packageType as PackageType }, { idempotencyKey })),
    confirm: (payment: { orderId: string; paymentKey: string; amount: number }) =>
      call((credits) => credits.confirmPayment(payment, once)),
    cancel: (paymentKey: string, reason: string) =>
      call((credits) => credits.cancelPayment({ paymentKey, reason }, once)),
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
