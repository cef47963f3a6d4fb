// Masks payment keys in the console's answers. A payment key and an API key of the customer suffice to cancel a payment, so a key
// is shown in full only to roles that may refund. Every answer passes through here (routes.ts) and fields are found by name: a
// handler cannot forget it.
//
// The first four characters stay visible. A key of Toss Payments is five letters of the shop, the second of the payment and five
// random characters: the last four, which one would show of a card, are most of what cannot be guessed.
import { orderIdPattern, uuidPattern } from '../core/ids.ts'
import { mapTexts } from '../core/visible.ts'
import { may, permissions, type Role } from '../operators/permissions.ts'

/** Exports contain payment keys in full: this does not compile unless every role that may export may also refund. */
export const exportsPaymentKeys: readonly (typeof permissions.refund)[number][] = permissions.export

const shownAtStart = 4
/** A shorter key would match parts of other texts by chance. */
const shortestWithinText = 8

export function masked(paymentKey: string): string {
  return `${paymentKey.slice(0, paymentKey.length > 2 * shownAtStart ? shownAtStart : 0)}…`
}

/** The answer as this role may see it. */
export function shownTo<Answer>(role: Role, answer: Answer): Answer {
  if (may(role, 'refund')) return answer
  const keys = new Set<string>()
  collectKeys(answer, keys)
  // Longest first: one key may be the beginning of another.
  const within = [...keys].filter((key) => key.length >= shortestWithinText).sort((a, b) => b.length - a.length)
  const hide = (text: string) =>
    keys.has(text) ? masked(text) : within.reduce((left, key) => left.replaceAll(key, masked(key)), text)
  return mapTexts(answer, hide) as Answer
}

/** Whether a text is a payment key, may contain some, or contains none. */
type Reading = 'key' | 'may contain keys' | 'none'

function collectKeys(value: unknown, keys: Set<string>, reading: Reading = 'none'): void {
  if (typeof value === 'string') {
    for (const key of keysIn(value, reading)) keys.add(key)
  } else if (Array.isArray(value)) {
    for (const each of value) collectKeys(each, keys, reading)
  } else if (isPlain(value)) {
    for (const [name, each] of Object.entries(value)) collectKeys(each, keys, readingOf(value, name, reading))
  }
}

function readingOf(row: Record<string, unknown>, name: string, above: Reading): Reading {
  // The addresses of a receipt and of a payment contain the key.
  if (
    /payment_?keys?$|^(receipt|payment)Url$/i.test(name) ||
    isDiscrepancySubject(row, name) ||
    isFoundPayment(row, name)
  )
    return 'key'
  // The fields of a detail are not in the contract and may contain texts of the gateway; operators may quote a key in what they
  // write.
  if (/^(detail|reason|resolution|arguments|outcome|note)$/.test(name)) return 'may contain keys'
  return /(Id|Hash)$|^(transactionKey|reference|host|rule)$/.test(name) ? 'none' : above
}

function keysIn(text: string, reading: Reading): string[] {
  if (reading === 'none' || text === '') return []
  if (reading === 'key') return [text]
  return (text.match(longWord) ?? []).filter(
    (word) => /\d/.test(word) && /[A-Za-z]/.test(word) && !orderIdPattern.test(word) && !uuidPattern.test(word),
  )
}

/** A key of Toss Payments has 24 letters and digits, formerly 48. */
const longWord = /[\w-]{20,200}/g

/** A discrepancy is about an order of ours, a movement (by its transaction key), or a payment key. */
function isDiscrepancySubject(row: Record<string, unknown>, name: string): boolean {
  const isPayment = !orderIdPattern.test(`${row.subject}`) && !/^MOVEMENT_/.test(`${row.kind}`)
  return name === 'subject' && 'discrepancyId' in row && isPayment
}

/** A search result for a payment is identified by its key. */
function isFoundPayment(row: Record<string, unknown>, name: string): boolean {
  return name === 'id' && row.kind === 'payment'
}

/** Not a Date. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}
