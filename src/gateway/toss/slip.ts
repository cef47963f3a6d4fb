// The card slip of a captured payment: what its buyer finds on the card statement. It decides nothing: a member that is missing
// or malformed is left out, and the outcome stays the same. A card number is taken only if it is masked.
import type { CardSlip } from '../gateway.ts'
import { membersOf } from './members.ts'

const longestUrl = 500
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
const visibleAscii = /^[\x21-\x7e]+$/
// The first eight and the last four digits at most, the rest masked: the schema has the same rule.
const maskedNumber = /^[0-9]{0,8}\*{3,16}[0-9]{0,4}\*{0,4}$/
const longestNumber = 20
const approvalNumber = /^[A-Za-z0-9]{1,8}$/

export function cardSlipOf(payment: { receipt?: unknown; card?: unknown }): CardSlip {
  const card = membersOf(payment.card)
  return {
    receiptUrl: urlOrNull(membersOf(payment.receipt).url),
    cardNumber: maskedOrNull(card.number),
    approvalNumber: matchOrNull(card.approveNo, approvalNumber),
  }
}

/** It becomes a link: https, or http to a sandbox on this machine. */
function urlOrNull(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestUrl || !visibleAscii.test(value)) return null
  const { protocol, hostname = '', username, password, href = '' } = URL.parse(value) ?? {}
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname))
  return isAllowed && !username && !password && href.length <= longestUrl ? href : null
}

/** Some issuers write the digits in groups. */
function maskedOrNull(value: unknown): string | null {
  const number = typeof value === 'string' && value.length <= longestNumber ? value.replaceAll(/[ -]/g, '') : null
  return matchOrNull(number, maskedNumber)
}

function matchOrNull(value: unknown, pattern: RegExp): string | null {
  return typeof value === 'string' && pattern.test(value) ? value : null
}
