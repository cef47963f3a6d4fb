// The translated value of a field of a detail, followed by its code. An unknown value is shown as it is.
import type { Words } from '../../../words/words.tsx'
import { deliveryError } from './delivery-error.ts'
import { meaningOfCode } from './gateway-code.ts'

type Table = Record<string, string>

/** The tables of values that the page also uses elsewhere, by field. */
function tablesOf({ timeline, books, problems }: Words): Record<string, Table> {
  const { values } = timeline
  const discrepancies = Object.entries(books.discrepancies.kinds).map(([kind, { name }]) => [kind, name])
  return {
    ...values,
    kind: { ...Object.fromEntries(discrepancies), ...values.kind },
    outcome: { ...timeline.outcomes, ...timeline.webhookOutcomes },
    resolution: timeline.resolvedBy,
    reason: timeline.reasons,
    command: timeline.commands,
    refusal: Object.fromEntries(Object.entries(problems.reasons).map(([reason, { title }]) => [reason, title])),
  }
}

/** The actor of an action in the console. */
const inConsole = /^(.+) in the console from (\S+)$/

export function valueText(words: Words, field: string, value: string): string {
  if (field === 'gatewayCode' || field === 'code') return meaningOfCode(words, value)
  if (field === 'error') return deliveryError(words, value)
  const [, name, address] = (field === 'actor' && inConsole.exec(value)) || []
  if (name && address) return words.timeline.inConsole(name, address)
  const known = tablesOf(words)[field]?.[value]
  if (known === undefined) return value
  return /^[A-Z_]+$/.test(value) ? `${known} (${value})` : known
}
