// Which Host the sandbox answers to: its control endpoints need no authentication.
import { isIP } from 'node:net'

/** A page of another site can have its own name lead to this machine; an address or localhost cannot be such a name. */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  const name = plain.toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}

export const foreignHostText =
  'This answers to IP addresses, to localhost and to the names that are listed in INTERNAL_HOSTNAMES.\n'
