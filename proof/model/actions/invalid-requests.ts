// Invalid requests, each with the codes that may answer it. None of them may have an effect.

export type Message = { method: 'GET' | 'POST'; path: string; body?: string; headers?: Record<string, string> }

export const invalidRequests: Record<string, { message: Message; codes: string[] }> = {
  'malformed JSON': {
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
  'a body over the limit': {
    message: {
      method: 'POST',
      path: '/public/v1/payments/purchase',
      body: JSON.stringify({ packageType: 'BASIC', filler: 'x'.repeat(20_000) }),
    },
    codes: ['VAL004'],
  },
  'an unknown route': { message: { method: 'POST', path: '/public/v1/refunds', body: '{}' }, codes: ['NOT000'] },
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
