// The HTTP message of each request: the public API for customers' programs, the internal one for sibling services.

import { userOf } from '../../world/budgets.ts'
import type { Request } from '../history.ts'
import { invalidRequests, type Message } from './invalid-requests.ts'

export const publicBase = '/public/v1/payments'
export const internalBase = '/internal/v1/credits'
const customersBase = '/internal/v1/customers'

function post(path: string, body: object, headers: Record<string, string> = {}): Message {
  return { method: 'POST', path, body: JSON.stringify(body), headers }
}

type Messages = { [Op in Request['op']]: (request: Extract<Request, { op: Op }>, customerId: string) => Message }

const messages: Messages = {
  purchase: ({ packageType, idempotencyKey }) =>
    post(
      `${publicBase}/purchase`,
      { packageType },
      idempotencyKey === null ? {} : { 'x-idempotency-key': idempotencyKey },
    ),
  confirm: ({ orderId, paymentKey, amount }) => post(`${publicBase}/confirm`, { orderId, paymentKey, amount }),
  cancel: ({ paymentKey, reason }) => post(`${publicBase}/cancel`, { paymentKey, reason }),
  status: ({ orderId }) => ({ method: 'GET', path: `${publicBase}/${orderId}` }),
  balance: () => ({ method: 'GET', path: `${publicBase}/credits` }),
  packages: () => ({ method: 'GET', path: `${publicBase}/packages` }),
  invalid: ({ what }) => invalidRequests[what]?.message ?? post(`${publicBase}/purchase`, {}),
  spend: ({ credits, reference }, customerId) =>
    post(`${internalBase}/spend`, { customerId, credits, reference, userId: userOf(reference) }),
  hold: ({ credits, reference, expiresInSeconds, atMost }, customerId) =>
    post(`${internalBase}/holds`, {
      customerId,
      credits,
      reference,
      userId: userOf(reference),
      ...(expiresInSeconds !== null && { expiresInSeconds }),
      ...(atMost && { atMost }),
    }),
  part: ({ holdId, credits, reference }, customerId) =>
    post(`${internalBase}/holds/${holdId}/capture`, { customerId, credits, reference, final: false }),
  extend: ({ holdId, expiresInSeconds }, customerId) =>
    post(`${internalBase}/holds/${holdId}/extend`, { customerId, expiresInSeconds }),
  capture: ({ holdId, credits }, customerId) =>
    post(`${internalBase}/holds/${holdId}/capture`, { customerId, ...(credits !== null && { credits }) }),
  release: ({ holdId }, customerId) => post(`${internalBase}/holds/${holdId}/release`, { customerId }),
  reverse: ({ reversed, credits, reference }, customerId) =>
    post(`${internalBase}/spend/${reversed}/reverse`, {
      customerId,
      reference,
      reason: 'failed',
      ...(credits !== null && { credits }),
    }),
  receipt: ({ of }, customerId) => {
    const subject = 'orderId' in of ? `orders/${of.orderId}` : `references/${of.reference}`
    return { method: 'GET', path: `${customersBase}/${customerId}/${subject}/receipt` }
  },
}

export function messageOf<Of extends Request>(request: Of, customerId: string): Message {
  const make = messages[request.op] as (request: Request, customerId: string) => Message
  return make(request, customerId)
}
