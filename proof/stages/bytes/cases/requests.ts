// A valid request for each route, and how its answer differs from the answer to any other: by its code and by the
// fields of its data. Sent unchanged, they show that answers come in the order of their requests.
import type { Random } from '../../../../harness/random.ts'
import type { Answer } from '../../../../harness/raw-http.ts'
import { bodyOf } from '../trial/oracles.ts'
import { type ListenerName, type Route, routes } from './routes.ts'
import { standIns } from './stand-ins.ts'

export type Message = { method: string; path: string; headers: [string, string][]; body: Buffer | null }

export type Right = { listener: ListenerName; message: Message; fits(answer: Answer): boolean }

type Sample = {
  /** `mark` is unique for each request: a reference can be used once. */
  body?: (mark: string) => object
  query?: string
  /** Besides SUCCESS and SVC001, which any route may answer. */
  codes?: string[]
  /** Fields of its success; no other route has all of them, but that the three receipts are alike, and an order has all of its status. */
  data?: string[]
}

const paymentKey = `pay_${standIns.orderId}`
const price = 20_000

const samples: Record<string, Sample> = {
  'POST /public/v1/payments/purchase': {
    body: () => ({ packageType: 'STANDARD', paymentMethod: 'CARD' }),
    data: ['orderId', 'clientKey'],
  },
  'POST /public/v1/payments/confirm': {
    body: () => ({ orderId: standIns.orderId, paymentKey, amount: price }),
    codes: ['VAL003', 'NOT000'],
    data: ['orderId', 'creditsAdded'],
  },
  'POST /public/v1/payments/cancel': {
    body: () => ({ paymentKey, reason: 'changed my mind' }),
    codes: ['PAYMENT_CANCEL_FAILED', 'NOT000'],
    data: ['message'],
  },
  'GET /public/v1/payments/credits': { data: ['credits', 'customerId'] },
  'GET /public/v1/payments/packages': { data: ['0', '1', '2'] },
  'GET /public/v1/payments/:orderId': { codes: ['NOT000'], data: ['orderId', 'confirmedAt'] },
  'GET /public/v1/orders': { query: '?limit=3', data: ['orders', 'nextCursor'] },
  'GET /public/v1/orders/:orderId': { codes: ['NOT000'], data: ['orderId', 'refunds'] },
  'GET /public/v1/statement': { query: '?limit=3&kind=GRANT,SPEND', data: ['entries', 'nextCursor'] },
  'POST /internal/v1/credits/spend': {
    body: (mark) => ({ customerId: standIns.customerId, credits: 1, reference: `spend-${mark}` }),
    codes: ['BUS002'],
    data: ['reference', 'balance'],
  },
  'POST /internal/v1/credits/holds': {
    body: (mark) => ({ customerId: standIns.customerId, credits: 2, reference: `hold-${mark}`, expiresInSeconds: 60 }),
    codes: ['BUS002'],
    data: ['holdId', 'expiresAt'],
  },
  'POST /internal/v1/credits/holds/:holdId/extend': {
    body: () => ({ customerId: standIns.customerId, expiresInSeconds: 60 }),
    codes: ['VAL003', 'NOT000'],
    data: ['holdId', 'expiresAt'],
  },
  'POST /internal/v1/credits/holds/:holdId/capture': {
    body: () => ({ customerId: standIns.customerId, credits: 1 }),
    codes: ['VAL003', 'NOT000'],
    data: ['holdId', 'captured'],
  },
  'POST /internal/v1/credits/holds/:holdId/release': {
    body: () => ({ customerId: standIns.customerId }),
    codes: ['VAL003', 'NOT000'],
    data: ['holdId', 'released'],
  },
  'GET /internal/v1/customers/:customerId/statement': {
    query: '?limit=3&kind=GRANT,SPEND&from=2026-01-31T09:00:00Z',
    data: ['entries', 'nextCursor'],
  },
  'POST /internal/v1/credits/spend/:reference/reverse': {
    body: (mark) => ({ customerId: standIns.customerId, reference: `reversal-${mark}`, reason: 'the job failed' }),
    codes: ['VAL003', 'NOT000'],
    data: ['reference', 'credits', 'balance'],
  },
  'GET /internal/v1/customers/:customerId/orders/:orderId/refund-quote': {
    codes: ['VAL003', 'NOT000'],
    data: ['rule', 'creditsUsed'],
  },
  'POST /internal/v1/customers/:customerId/orders/:orderId/refund': {
    body: () => ({ amount: price, credits: 21, reason: 'asked for the unused part' }),
    codes: ['VAL003', 'NOT000'],
    data: ['refundedAmount', 'creditsTakenBack'],
  },
  'GET /internal/v1/customers/:customerId/lots': { query: '?limit=3', data: ['lots', 'adjusted'] },
  'GET /internal/v1/customers/:customerId/use': { query: '?by=key', data: ['rows', 'sums', 'others', 'total'] },
  'GET /internal/v1/customers/:customerId/budgets': { data: ['customerId', 'budgets'] },
  'GET /internal/v1/customers/:customerId/orders/:orderId/receipt': {
    codes: ['NOT000'],
    data: ['subject', 'checkpoint'],
  },
  'GET /internal/v1/customers/:customerId/references/:reference/receipt': {
    codes: ['NOT000'],
    data: ['subject', 'checkpoint'],
  },
  'GET /internal/v1/customers/:customerId/statement/receipt': {
    query: '?from=1&to=3',
    codes: ['NOT000'],
    data: ['subject', 'checkpoint'],
  },
  'GET /livez': {},
  'GET /readyz': {},
}

const webhookSample: Sample = {
  body: (mark) => ({
    eventType: 'PAYMENT_STATUS_CHANGED',
    createdAt: '2026-01-31T09:00:00.000000',
    data: { orderId: standIns.orderId, paymentKey, status: 'DONE', mark },
  }),
}

export const routesWithoutSample = routes
  .filter((route) => !sampleOf(route))
  .map(({ method, path }) => `${method} ${path}`)

function sampleOf({ listener, method, path }: Route): Sample | undefined {
  return listener === 'webhook' ? webhookSample : samples[`${method} ${path}`]
}

const routesOf = Map.groupBy(routes, ({ listener }) => listener)

export function anyRoute(random: Random, listener: ListenerName): Route {
  const [first, ...others] = routesOf.get(listener) ?? []
  if (!first) throw new Error(`no route of the ${listener} listener`)
  return random.pick([first, ...others])
}

export function rightRequest(random: Random, listener: ListenerName, mark: string): Right {
  const route = anyRoute(random, listener)
  const { body, query = '', codes = [], data = [] } = sampleOf(route) ?? {}
  const message = {
    method: route.method,
    path: `${pathOf(route)}${query}`,
    headers: headersOf(listener, mark, body !== undefined),
    body: body ? Buffer.from(JSON.stringify(body(mark))) : null,
  }
  const accepted = new Set(['SVC001', ...codes])
  return {
    listener,
    message,
    fits(answer) {
      const document = bodyOf(answer) ?? {}
      if (!('code' in document)) return route.path === '/livez' || route.path === '/readyz'
      if (document.code !== 'SUCCESS') return accepted.has(String(document.code))
      return data.every((field) => Object.hasOwn((document.data as object | null) ?? {}, field))
    },
  }
}

/** With the stand-ins of its parameters. */
export function pathOf({ path }: Route): string {
  const ids: Record<string, string> = standIns
  return path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? name)
}

export function headersOf(listener: ListenerName, mark: string, hasBody: boolean): [string, string][] {
  const callers: Record<ListenerName, [string, string][]> = {
    public: [
      ['Service-Api-Key', standIns.apiKey],
      ['X-Idempotency-Key', `key-${mark}`],
    ],
    internal: [['Authorization', `Bearer ${standIns.token}`]],
    webhook: [['tosspayments-webhook-transmission-id', `transmission-${mark}`]],
  }
  return [['Host', 'localhost'], ...callers[listener], ...(hasBody ? [jsonType] : [])]
}

const jsonType: [string, string] = ['Content-Type', 'application/json']

export function toBytes({ method, path, headers, body }: Message): Buffer {
  const length: [string, string][] = body ? [['Content-Length', `${body.length}`]] : []
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'),
    body ?? Buffer.alloc(0),
  ])
}
