// The payment service as this shop calls it: six requests over HTTP, the envelope opened, and every way not to get an
// answer (refused connection, time-out, something that is no envelope) told as one more code, UNREACHABLE. The API key
// stays in here: it is sent to the service and to nobody else, and no message contains it.

const errorCodes = [
  'INVALID_API_KEY',
  'AUTH001',
  'AUTH003',
  'VAL001',
  'VAL002',
  'VAL003',
  'VAL004',
  'BUS002',
  'PAYMENT_CANCEL_FAILED',
  'NOT000',
  'SVC001',
  'INT001',
] as const

/** Section 7 of the service's specification, and UNREACHABLE for no answer at all. */
export type ApiCode = (typeof errorCodes)[number] | 'UNREACHABLE'

export type Answer<Data> = { ok: true; data: Data } | { ok: false; code: ApiCode; message: string | null }

export type OrderStatus = 'PENDING' | 'CONFIRMED' | 'FAILED' | 'CANCELLED' | 'REFUNDED'

export type CreditPackage = {
  packageType: string
  credits: number
  price: number
  displayName: string
  bonusPercentage: number
  bonusCredits: number
}

export type Purchase = {
  orderId: string
  packageType: string
  amount: number
  clientKey: string
  successUrl: string
  failUrl: string
}

export type Confirmation = { orderId: string; creditsAdded: number; totalCredits: number; message: string }

export type PaymentStatus = {
  orderId: string
  status: OrderStatus
  packageType: string
  amount: number
  createdAt: string
  confirmedAt: string | null
}

export type Api = ReturnType<typeof createApi>

export function createApi({ apiUrl, apiKey, timeoutMs }: { apiUrl: string; apiKey: string; timeoutMs: number }) {
  async function call<Data>(path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer<Data>> {
    try {
      const response = await fetch(`${apiUrl}/public/v1/payments${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'service-api-key': apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      return openEnvelope<Data>(await response.json())
    } catch {
      return { ok: false, code: 'UNREACHABLE', message: null }
    }
  }

  return {
    packages: () => call<CreditPackage[]>('/packages'),
    balance: () => call<{ credits: number; customerId: string }>('/credits'),
    status: (orderId: string) => call<PaymentStatus>(`/${encodeURIComponent(orderId)}`),
    /** One key per click: a repeated request finds the order of the first. */
    purchase: (packageType: string, idempotencyKey: string) =>
      call<Purchase>('/purchase', { packageType, paymentMethod: 'CARD' }, { 'x-idempotency-key': idempotencyKey }),
    confirm: (payment: { orderId: string; paymentKey: string; amount: number }) =>
      call<Confirmation>('/confirm', payment),
    cancel: (paymentKey: string, reason: string) => call<{ message: string }>('/cancel', { paymentKey, reason }),
  }
}

function openEnvelope<Data>(envelope: unknown): Answer<Data> {
  const { code, data, message } = (envelope ?? {}) as { code?: unknown; data?: unknown; message?: unknown }
  if (code === 'SUCCESS') return { ok: true, data: data as Data }
  const known = errorCodes.find((each) => each === code)
  return { ok: false, code: known ?? 'UNREACHABLE', message: typeof message === 'string' ? message : null }
}
