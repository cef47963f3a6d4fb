// Section 4.1 over the whole history: acknowledged orders are in the books, refused ones are not, one order for a key,
// and every order in the books was requested by its owner.
import { packageOf } from '../../../../src/payments/packages.ts'
import { at, type Check, checksOf, type Evidence } from '../evidence.ts'

type Purchase = Evidence['callsOf']['purchase'][number]

export function checkPurchases(evidence: Evidence): Check[] {
  return checksOf({
    'I-22 every acknowledged order is in the books, as in the answer': evidence.callsOf.purchase.flatMap((call) =>
      acknowledged(evidence, call),
    ),
    'I-14 one order for each idempotency key, and every answer carries it': byKey(evidence),
    'I-23 every order in the books was requested, once': unexplained(evidence),
  })
}

function acknowledged({ orders }: Evidence, call: Purchase): string[] {
  const { request, outcome } = call
  if (outcome.kind !== 'ok' || Array.isArray(outcome.data)) return []
  const { orderId, packageType, amount, clientKey, successUrl, failUrl } = outcome.data
  const booked = orders.get(String(orderId))
  if (!booked) return [`${at(call)}: ${orderId} was acknowledged and is not there`]
  const { price } = packageOf(request.packageType)
  const answered = [booked.customer, packageType, booked.packageType, amount, booked.amount].join()
  const expected = [request.customer, request.packageType, request.packageType, price, price].join()
  if (answered !== expected) return [`${at(call)}: ${orderId} is ${answered}, not ${expected}`]
  const hasUrls = typeof successUrl === 'string' && String(failUrl).includes(String(orderId))
  return typeof clientKey === 'string' && hasUrls ? [] : [`${at(call)}: ${orderId} has no checkout data`]
}

function keyOf({ request }: Purchase): string | null {
  return request.idempotencyKey === null ? null : `${request.customer}/${request.idempotencyKey}`
}

function idOf({ outcome }: Purchase): string | null {
  return outcome.kind === 'ok' && !Array.isArray(outcome.data) ? String(outcome.data.orderId) : null
}

function byKey(evidence: Evidence): string[] {
  const { callsOf, orders } = evidence
  const inBooks = new Map<string, string>()
  for (const { customer, idempotencyKey, orderId } of orders.values()) {
    if (idempotencyKey !== null) inBooks.set(`${customer}/${idempotencyKey}`, orderId)
  }
  const groups = Map.groupBy(callsOf.purchase, keyOf)
  return [...groups].flatMap(([key, calls]) => {
    if (key === null) return []
    const ids = new Set(calls.map(idOf).filter((id) => id !== null))
    if (ids.size > 1) return [`key ${key} was answered with ${[...ids].join(', ')}`]
    const [id] = ids
    if (id !== undefined && inBooks.get(key) !== id)
      return [`key ${key}: answered with ${id}, booked ${inBooks.get(key)}`]
    return refusals(key, calls)
  })
}

/** Only a key that was sent with two bodies may be refused. */
function refusals(key: string, calls: Purchase[]): string[] {
  const bodies = new Set(calls.map(({ request }) => request.packageType))
  return calls.flatMap((call) => {
    if (call.outcome.kind !== 'fail') return []
    const allowed = call.outcome.code === 'VAL003' && bodies.size > 1
    return allowed ? [] : [`${at(call)}: key ${key} was refused with ${call.outcome.code}`]
  })
}

function unexplained({ callsOf, orders }: Evidence): string[] {
  const violations: string[] = []
  const keys = Map.groupBy(callsOf.purchase, keyOf)
  for (const { customer, idempotencyKey, orderId } of orders.values()) {
    if (idempotencyKey === null) continue
    const calls = keys.get(`${customer}/${idempotencyKey}`) ?? []
    if (calls.some(({ outcome }) => outcome.kind !== 'fail')) continue
    violations.push(`${orderId} has the key ${idempotencyKey}, which no successful request can have used`)
  }
  const keyless = (calls: Purchase[]) => calls.filter(({ request }) => request.idempotencyKey === null)
  const kind = ({ customer, packageType }: { customer: number; packageType: string }) => `${customer}/${packageType}`
  const requested = Map.groupBy(keyless(callsOf.purchase), ({ request }) => kind(request))
  const booked = Map.groupBy(
    [...orders.values()].filter((order) => order.idempotencyKey === null),
    kind,
  )
  for (const name of new Set([...requested.keys(), ...booked.keys()])) {
    const calls = requested.get(name) ?? []
    const ids = calls.map(idOf).filter((id) => id !== null)
    if (new Set(ids).size < ids.length) violations.push(`${name}: one order answered two purchases without a key`)
    const mayBe = calls.filter(({ outcome }) => outcome.kind !== 'fail').length
    const are = booked.get(name)?.length ?? 0
    if (are < ids.length || are > mayBe) violations.push(`${name}: ${are} orders, expected ${ids.length} to ${mayBe}`)
  }
  return violations
}
