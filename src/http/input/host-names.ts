// Which Host headers an internal listener accepts. Another site can point its name at this machine (DNS rebinding): its pages
// then have the same origin as this listener, and their requests carry that name. Addresses and localhost cannot be such a
// name; every other name has to be configured. sandbox/ and examples/ have copies of the check: they import nothing of src/.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Refusal, refuseFields } from '../../core/errors.ts'

/** `names` are in lower case. An HTTP/1.0 request may have no Host: no browser sends one. */
export function refusalOfHost({ headers: { host } }: IncomingMessage, names: readonly string[]): Refusal | undefined {
  if (host === undefined || isOwnHost(host, names)) return undefined
  const rule = 'must be an IP address, localhost, or a name that is listed in INTERNAL_HOSTNAMES'
  return refuseFields('VAL003', [{ field: 'Host', rule }], `The Host header ${rule}.`)
}

function isOwnHost(host: string, names: readonly string[]): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  const name = plain.toLowerCase()
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}
