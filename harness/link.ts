// A network between two programs: a TCP proxy on loopback that can be cut. While it is cut no byte passes in either direction.
// Then the bytes that waited go on, or are lost with the machine that sent them.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** On port 0: one that is free. */
export async function openLink(port: number, to: NetConnectOpts) {
  let isCut = false
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const target = connect(to)
    for (const [side, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(side)
      // Without regard to back pressure: a pipe would resume what a cut has paused.
      side.on('data', (bytes) => other.write(bytes))
      if (isCut) side.pause()
      side.on('error', () => other.destroy())
      side.on('close', () => {
        sockets.delete(side)
        other.destroy()
      })
    }
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cut(): void {
      isCut = true
      for (const socket of sockets) socket.pause()
    },
    mend(): void {
      isCut = false
      for (const socket of sockets) socket.resume()
    },
    /** Mended, without what waited. */
    reset(): void {
      isCut = false
      for (const socket of sockets) socket.destroy()
    },
    close(): void {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
