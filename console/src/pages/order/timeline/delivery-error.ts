// Translates the error of a delivery: a text of the service, an HTTP status, or a network error code. An unknown error is shown as
// it is.
import type { Words } from '../../../words/words.tsx'

/** Errors that contain a value. */
const withValue = {
  answered: /^HTTP (\d{3})$/,
  notSecure: /^the URL does not begin with (https):/,
  port: /^port (\d+) is neither 443 nor at least 1024$/,
  notPublic: /^(\S+) is not a public address$/,
  sealed: /^sealed under secret (\d+), which is not among KEY_PEPPER$/,
}

export function deliveryError({ problems: { deliveries } }: Words, error: string): string {
  for (const [name, pattern] of Object.entries(withValue)) {
    const value = pattern.exec(error)?.[1]
    if (value) return deliveries[name as keyof typeof withValue](value)
  }
  const known = (deliveries.errors as Record<string, string>)[error]
  // With the code, for looking it up.
  return known === undefined ? error : /^\w+$/.test(error) ? `${known} (${error})` : known
}
