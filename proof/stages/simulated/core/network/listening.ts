// Who listens at which port: servers of simulated processes, and the database, which is no process.
import type { Server } from 'node:net'
import type { Life } from '../processes.ts'
import type { Draws } from '../random.ts'

export type Listener = { life: Life; server: Server }

/** The end of a connection that is no socket: the database. */
export type Endpoint = {
  accept(link: EndpointLink): {
    receive(bytes: Buffer): unknown
    /** The client is gone. */
    closed(): unknown
  }
}
export type EndpointLink = {
  number: number
  from: string
  /** For everything that is random about this connection. */
  draws: Draws
  /** Arrives at the client `afterUs` from now, and the way. */
  reply(bytes: Buffer, afterUs: number): void
  end(): void
  reset(): void
}

const firstPort = 20_000

export type Listening = ReturnType<typeof createListening>

export function createListening() {
  const listeners = new Map<number, Listener>()
  const endpoints = new Map<number, { name: string; endpoint: Endpoint }>()
  let nextPort = firstPort

  function listen(life: Life, given: object, wanted: number): void {
    const server = given as Server & { _handle: object | null }
    while (wanted === 0 && listeners.has(nextPort)) nextPort += 1
    const port = wanted === 0 ? nextPort++ : wanted
    if (listeners.has(port)) {
      const error = networkError('EADDRINUSE', `listen EADDRINUSE: address already in use 127.0.0.1:${port}`)
      process.nextTick(() => server.emit('error', error))
      return
    }
    const listener = { life, server }
    const close = () => {
      if (listeners.get(port) === listener) listeners.delete(port)
      life.open.delete(opened)
    }
    const opened = { endByKill: close }
    life.open.add(opened)
    listeners.set(port, listener)
    // What net.Server asks of the handle of a listening socket.
    server._handle = {
      close: (done?: () => void) => {
        close()
        if (done) process.nextTick(done)
      },
      getsockname: (address: object) => void Object.assign(address, { address: '127.0.0.1', family: 'IPv4', port }),
      ref: () => undefined,
      unref: () => undefined,
    }
    process.nextTick(() => server.emit('listening'))
  }

  return {
    listen,
    /** The database answers at this port. */
    serve: (port: number, name: string, endpoint: Endpoint) => void endpoints.set(port, { name, endpoint }),
    listenerAt: (port: number) => listeners.get(port),
    endpointAt: (port: number) => endpoints.get(port)?.endpoint,
    nameAt: (port: number) => listeners.get(port)?.life.name ?? endpoints.get(port)?.name ?? `port ${port}`,
  }
}

export function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: code === 'ECONNREFUSED' ? 'connect' : 'read', errno: -1 })
}
