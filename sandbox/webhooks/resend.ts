// Sends the last webhook of a payment again, as a button of the gateway's dashboard does: for the control endpoint and the
// page.

import { type ErrorAnswer, errorAnswer } from '../protocol/errors.ts'
import type { Sandbox } from '../state.ts'
import { announcePayment } from './deliveries.ts'

export function resendWebhook(sandbox: Sandbox, paymentKey: string): { transmissionId: string } | ErrorAnswer {
  const { webhooks, deliveries, payments, clock } = sandbox
  sandbox.expireSessions()
  const payment = payments.find(paymentKey)
  if (payment === undefined) return errorAnswer('NOT_FOUND_PAYMENT')
  const url = webhooks.url()
  if (url === null) {
    return errorAnswer('INVALID_REQUEST', 'No webhook URL is registered: PUT /sandbox/webhook { url } first.')
  }

  const sentBefore = deliveries.findLatestOf(paymentKey)
  if (sentBefore !== undefined) {
    webhooks.resend(sentBefore, url)
    return { transmissionId: sentBefore.id }
  }
  // The change happened while no URL was registered.
  const announcement = announcePayment(payment, clock.nowMs())
  if (announcement === null) {
    return errorAnswer('INVALID_REQUEST', `A payment that is ${payment.status} is not notified.`)
  }
  sandbox.record({ changed: [], webhooks: [announcement] })
  return { transmissionId: announcement.id }
}
