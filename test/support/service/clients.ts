// A customer's program, written with the client library: it knows only the API. One attempt per call, so that a test sees the
// answer to one request.
import { type ClientCode, createCreditsClient, isCreditsError, type ServiceCode } from '../../../client/src/index.ts'
import type { PackageType } from '../../../src/payments/packages.ts'

export type Client = ReturnType<typeof clientOf>

export function clientOf(publicUrl: string, apiKey: string) {
  const client = createCreditsClient({ baseUrl: publicUrl, apiKey, maxAttempts: 1 })
  /** With a made-up payment key, which a sandbox that is not strict accepts as a finished checkout. */
  const confirm = (orderId: string, amount: number) =>
    client.confirmPayment({ orderId, paymentKey: `pay_${orderId}`, amount })
  return {
    ...client,
    confirm,
    cancel: (orderId: string, reason = 'changed my mind') =>
      client.cancelPayment({ paymentKey: `pay_${orderId}`, reason }),
    /** A CONFIRMED order. */
    async buy(packageType: PackageType): Promise<string> {
      const { orderId, amount } = await client.purchaseCredits({ packageType })
      await confirm(orderId, amount)
      return orderId
    },
    status: async (orderId: string) => (await client.getPaymentStatus({ orderId })).status,
    credits: async () => (await client.getCreditBalance()).credits,
  }
}

/** The code that a call ended with. */
export async function codeOf(call: Promise<unknown>): Promise<'SUCCESS' | ServiceCode | ClientCode> {
  try {
    await call
    return 'SUCCESS'
  } catch (error) {
    if (isCreditsError(error)) return error.code
    throw error
  }
}
