// A little of what no program of ours would send, with the codes that may answer it. None of it may have an effect.

/** What a client says on the wire. */
export type Message = { method: 'GET' | 'POST'; path: string; body?: string; headers?: Record<string, string> }

export const garbage: Record<string, { message: Message; codes: string[] }> = {
  'no JSON': {
    message: { method: 'POST', path: '/public/v1/payments/purchase', body: '{"packageType":' },
    codes: ['VAL001'],
  },
  'an unknown package': {
    message: { method: 'POST', path: '/public/v1/payments/purchase', body: '{"packageType":"GOLD"}' },
    codes: ['VAL003'],
  },
  'no package': {
    message: { method: 'POST', path: '/public/v1/payments/purchase', body: '{}' },
    codes: ['VAL002'],
  },
  'a confirm without an order': {
    message: { method: 'POST', path: '/public/v1/payments/confirm', body: '{"paymentKey":"k","amount":1000}' },
    codes: ['VAL002'],
  },
  'an amount in quotes': {
    message: {
      method: 'POST',
      path: '/public/v1/payments/confirm',
      body: '{"orderId":"o","paymentKey":"k","amount":"1000"}',
    },
    codes: ['VAL003'],
  },
  'a cancel without a reason': {
    message: { method: 'POST', path: '/public/v1/payments/cancel', body: '{"paymentKey":"k"}' },
    codes: ['VAL002'],
  },
  'too much': {
    message: {
      method: 'POST',
      path: '/public/v1/payments/purchase',
      body: JSON.stringify({ packageType: 'BASIC', filler: 'x'.repeat(20_000) }),
    },
    codes: ['VAL004'],
  },
  'no such route': { message: { method: 'POST', path: '/public/v1/refunds', body: '{}' }, codes: ['NOT000'] },
  'a malformed key': {
    message: { method: 'GET', path: '/public/v1/payments/credits', headers: { 'service-api-key': 'key' } },
    codes: ['INVALID_API_KEY'],
  },
  'an unknown key': {
    message: {
      method: 'GET',
      path: '/public/v1/payments/credits',
      headers: { 'service-api-key': `cpk_${'0'.repeat(43)}` },
    },
    codes: ['AUTH001'],
  },
}
