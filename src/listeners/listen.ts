// Starts to listen. An error message names the cause and the setting that changes it.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Connections that wait to be accepted; the system may allow fewer. A client retries a dropped one after a second. */
const backlog = 4_096

/** The address it listens on, as a URL. The caller closes it. */
export async function listen(app: FastifyInstance, setting: string, host: string, port: number): Promise<string> {
  try {
    await app.listen({ host, port, backlog })
  } catch (error) {
    throw explainListen(error, setting, host, port)
  }
  const bound = app.server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}

/** The address at which this machine reaches a listener that accepts connections on all of its addresses. */
export function onThisMachine(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

export function explainListen(error: unknown, setting: string, host: string, port: number): unknown {
  const notHere = `${host} is not an address of this machine: set ${setting === 'PORT' ? 'HOST' : 'INTERNAL_HOST'}.`
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use: stop the program that uses it, or set ${setting} to another.`,
    EADDRNOTAVAIL: notHere,
    ENOTFOUND: notHere,
    EAI_AGAIN: notHere,
    EACCES: `Port ${port} needs more rights than this user has: set ${setting} to one above 1023.`,
  }
  const reason = reasons[(error as { code?: string }).code ?? '']
  return reason ? new Error(reason) : error
}
