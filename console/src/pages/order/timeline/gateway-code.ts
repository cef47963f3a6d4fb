// The translated meaning of a gateway code, followed by the code. An unknown code is shown as it is.
import type { Words } from '../../../words/words.tsx'

/** Codes that contain a number or a status. */
const families: { pattern: RegExp; words: 'http' | 'paymentIn' }[] = [
  { pattern: /^HTTP_(\d{3})$/, words: 'http' },
  { pattern: /^PAYMENT_(\w+)$/, words: 'paymentIn' },
]

export function meaningOfCode({ gateway }: Words, code: string): string {
  const known = (gateway.codes as Record<string, string>)[code]
  if (known) return `${known} (${code})`
  for (const { pattern, words } of families) {
    const value = pattern.exec(code)?.[1]
    if (value) return gateway[words](value)
  }
  return code
}
