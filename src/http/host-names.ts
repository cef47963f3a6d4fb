// Which Host a listener for the inside answers to. A page of another site can have its name lead to this machine (DNS rebinding)
// and is then of one origin with what listens here; its requests carry that name. An address or localhost cannot be such a name,
// every other name has to be configured. The sandbox and the example shop have copies of the check: they import nothing of src/.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { type Refusal, refuseFields } from '../core/errors.ts'

/** `names` are lower case. A request of HTTP/1.0 may have no Host: no browser sends one. */
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
