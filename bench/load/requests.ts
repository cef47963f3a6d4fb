// Requests as HTTP text.

export type Customer = { customerId: string; apiKey: string }

/** `to`: which listener; `expected`: the status of an answer that counts as work done; `settles`: it settles money. */
export type Request = { to: 'public' | 'internal'; text: string; expected: number; settles?: boolean }

type Parts = { method: 'GET' | 'POST'; path: string; headers: string; body?: object }

function textOf({ method, path, headers, body }: Parts): string {
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}`
  if (!body) return `${head}\r\n\r\n`
  const content = JSON.stringify(body)
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${content.length}\r\n\r\n${content}`
}

function ofCustomer({ apiKey }: Customer, parts: Omit<Parts, 'headers'>, expected: number, more = ''): Request {
  const path = `/public/v1/payments/${parts.path}`
  return { to: 'public', expected, text: textOf({ ...parts, path, headers: `service-api-key: ${apiKey}${more}` }) }
}

export function purchase(customer: Customer, idempotencyKey?: string): Request {
  const more = idempotencyKey ? `\r\nx-idempotency-key: ${idempotencyKey}` : ''
  const parts = { method: 'POST', path: 'purchase', body: { packageType: 'BASIC' } } as const
  return ofCustomer(customer, parts, 201, more)
}

export function confirm(customer: Customer, order: { orderId: string; amount: number }, paymentKey: string): Request {
  const { orderId, amount } = order
  const body = { orderId, paymentKey, amount }
  return { ...ofCustomer(customer, { method: 'POST', path: 'confirm', body }, 200), settles: true }
}

export function cancel(customer: Customer, paymentKey: string): Request {
  const body = { paymentKey, reason: 'changed my mind' }
  return { ...ofCustomer(customer, { method: 'POST', path: 'cancel', body }, 200), settles: true }
}

export function status(customer: Customer, orderId: string): Request {
  return ofCustomer(customer, { method: 'GET', path: orderId }, 200)
}

export function balance(customer: Customer): Request {
  return ofCustomer(customer, { method: 'GET', path: 'credits' }, 200)
}

export function packages(customer: Customer): Request {
  return ofCustomer(customer, { method: 'GET', path: 'packages' }, 200)
}

export function spend(token: string, { customerId }: Customer, reference: string): Request {
  const headers = `authorization: Bearer ${token}`
  const body = { customerId, credits: 1, reference }
  const path = '/internal/v1/credits/spend'
  return { to: 'internal', expected: 200, text: textOf({ method: 'POST', path, headers, body }) }
}
