// What a code of the gateway means, in the reader's words, with the code itself for whoever looks it up. One that nobody
// has words for is shown as it is.
import type { Words } from '../../../words/words.tsx'

/** Codes that carry a number or a status. */
const families: { pattern: RegExp; words: 'http' | 'paymentIn' }[] = [
  { pattern: /^HTTP_(\d{3})$/, words: 'http' },
  { pattern: /^PAYMENT_(\w+)$/, words: 'paymentIn' },
]

export function meaningOfCode({ gateway }: Words, code: string): string {
  const known = (gateway.codes as Record<string, string>)[code]
  if (known) return `${known} (${code})`
  for (const { pattern, words } of families) {
    const carried = pattern.exec(code)?.[1]
    if (carried) return gateway[words](carried)
  }
  return code
}
