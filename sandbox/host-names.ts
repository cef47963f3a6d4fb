// Which Host the sandbox answers to: its control endpoints need no authentication. The check is a copy of the one in
// src/http/input/host-names.ts, because the sandbox is a program of its own and imports nothing of src/. And to which
// hosts it sends: this machine.
import { isIP } from 'node:net'

/**
 * Against DNS rebinding: a page of another site can point its name at this machine, but not an address or localhost.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  if (host === undefined) return true
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  const name = plain.toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}

/** The host of a URL is this machine, without a question to a name server. */
export function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname)
}

export const foreignHostText =
  'This answers to IP addresses, to localhost and to the names that are listed in INTERNAL_HOSTNAMES.\n'
