// Every answer by itself: the envelope with a listed code and its status, no unexpected error, no data of another
// customer, and the right order or catalogue for reads.
import { packages } from '../../../src/payments/packages.ts'
import type { Call } from '../history.ts'
import { at, type Check, checksOf, type Evidence } from './evidence.ts'

export const envelopeCheck = 'I-26 every answer is the envelope, with a listed code and the status of that code'
export const unexpectedErrorCheck = 'I-27 no unexpected error'

export const isUnexpectedError = ({ breach }: Pick<Call, 'breach'>) =>
  breach?.startsWith('an unexpected error') ?? false

export function checkAnswers(evidence: Evidence): Check[] {
  const { calls, callsOf } = evidence
  const breaches = calls.filter(({ breach }) => breach !== null)
  const [unexpected, others] = [breaches.filter(isUnexpectedError), breaches.filter((call) => !isUnexpectedError(call))]
  return checksOf({
    [envelopeCheck]: others.map((call) => `${at(call)}: ${call.breach}`),
    [unexpectedErrorCheck]: unexpected.map((call) => `${at(call)} ${call.request.op}: ${call.breach}`),
    'I-25 no answer has data of another customer': isolation(evidence),
    'I-23 reads, packages and invalid requests are answered as they must be': reads(callsOf),
  })
}

function isolation({ calls, orders, shop }: Evidence): string[] {
  return calls.flatMap((call) => {
    const { request, outcome } = call
    if (outcome.kind !== 'ok' || Array.isArray(outcome.data)) return []
    const { orderId, customerId } = outcome.data
    const own = shop.customers[request.customer]?.customerId
    if (customerId !== undefined && customerId !== own) return [`${at(call)}: the balance of ${customerId}`]
    const owner = orderId === undefined ? request.customer : orders.get(String(orderId))?.customer
    return owner === request.customer ? [] : [`${at(call)}: customer ${request.customer} was shown ${orderId}`]
  })
}

const catalogueText = JSON.stringify(packages)

function reads(callsOf: Evidence['callsOf']): string[] {
  const status = callsOf.status.flatMap((call) => {
    const { request, outcome } = call
    if (outcome.kind === 'info') return []
    if (request.foreign) return refusedWith(call, ['NOT000'])
    const same = outcome.kind === 'ok' && !Array.isArray(outcome.data) && outcome.data.orderId === request.orderId
    return same ? [] : [`${at(call)}: the status of ${request.orderId} was answered with ${JSON.stringify(outcome)}`]
  })
  const balance = callsOf.balance.filter(({ outcome }) => outcome.kind === 'fail')
  const catalogue = callsOf.packages.filter(
    ({ outcome }) =>
      outcome.kind === 'fail' || (outcome.kind === 'ok' && JSON.stringify(outcome.data) !== catalogueText),
  )
  return [
    ...status,
    ...balance.map((call) => `${at(call)}: a balance was refused`),
    ...catalogue.map((call) => `${at(call)}: not the catalogue`),
    ...callsOf.invalid.flatMap((call) => refusedWith(call, call.request.codes)),
  ]
}

function refusedWith(call: Call, codes: string[]): string[] {
  const { outcome } = call
  if (outcome.kind === 'info' || (outcome.kind === 'fail' && codes.includes(outcome.code))) return []
  return [`${at(call)}: expected ${codes.join(' or ')}, got ${outcome.kind === 'fail' ? outcome.code : 'a success'}`]
}
