// The network of a run: processes connect to each other and to the database. Every connection has a generator of its own, from
// the seed, the two names and how many connections they had before: one request less changes the delays of no other.
import type { Server } from 'node:net'
import { type Life, runIn } from '../processes.ts'
import { createDraws } from '../random.ts'
import type { Owner, Scheduler } from '../scheduler.ts'
import { SimulatedSocket } from '../socket.ts'
import { type Connection, createConnections, newDirection, type Receiver } from './connections.ts'
import { createFaults, type OnEffect, type Target } from './faults.ts'
import { createListening, type Endpoint, type Listener, networkError } from './listening.ts'

const connectUs = [20, 400] as const
const refusedUs = 20

export type Network = ReturnType<typeof createNetwork>

type Parts = { scheduler: Scheduler; seed: number; onActivity: () => void; onEffect: OnEffect }

export function createNetwork({ scheduler, seed, onActivity, onEffect }: Parts) {
  const listening = createListening()
  const faults = createFaults(scheduler, onEffect)
  const connections = createConnections({ scheduler, faults, onActivity, onDouble: repeat })
  const attempts = new Map<string, number>()
  const kernel: Owner = { name: 'network', isAlive: true, heldBack: undefined }
  /** Answers that are not read. */
  const discard: Receiver = {
    owner: kernel,
    receive: () => undefined,
    ended: () => undefined,
    failed: () => undefined,
  }

  /** The target of the next connection between them. */
  function newTarget(from: string, to: string): Target {
    const pair = `${from} ${to}`
    const number = (attempts.get(pair) ?? 0) + 1
    attempts.set(pair, number)
    return { from, to, draws: createDraws(seed, `network ${pair} ${number}`) }
  }

  function receiverOf(socket: SimulatedSocket): Receiver {
    const { life } = socket
    return {
      owner: life,
      receive: (bytes) => runIn(life, () => socket.arrived(bytes)),
      ended: () => runIn(life, () => socket.ended()),
      failed: () => runIn(life, () => socket.failed(networkError('ECONNRESET', 'read ECONNRESET'))),
    }
  }

  /** The listener's process sees the connection before anything that comes over it. */
  function openToServer(target: Target, port: number, client: Receiver, { life, server }: Listener): Connection {
    const { allowHalfOpen } = server as Server & { allowHalfOpen?: boolean }
    const socket = new SimulatedSocket(life, () => undefined, allowHalfOpen)
    const connection = connections.open(target, port, newDirection(client), newDirection(receiverOf(socket)))
    const line = connections.lineOf(connection, connection.toClient, connection.toServer)
    scheduler.schedule(life, scheduler.now(), `accepts #${connection.number}`, () =>
      runIn(life, () => accept(server, socket, () => socket.opened(line, connection.number))),
    )
    return connection
  }

  function openToEndpoint(target: Target, port: number, client: Receiver, endpoint: Endpoint): Connection {
    const connection = connections.open(target, port, newDirection(client), newDirection(discard))
    const { receive, closed } = endpoint.accept({
      number: connection.number,
      from: target.from,
      draws: target.draws,
      reply: (bytes, afterUs) => connections.sendAnswer(connection, bytes, afterUs),
      end: () => connections.endAnswers(connection),
      reset: () => connections.reset(connection),
    })
    Object.assign(connection.toServer, { receive, ended: closed, failed: closed })
    return connection
  }

  /** Over a connection of its own, whose answers are not read. */
  function repeat({ from, to, port }: Connection, bytes: Buffer, afterUs: number): void {
    scheduler.schedule(kernel, scheduler.now() + afterUs, `doubles ${bytes.length} ${from}>${to}`, () => {
      const listener = listening.listenerAt(port)
      if (!listener) return
      connections.sendToServer(openToServer(newTarget(from, listener.life.name), port, discard, listener), bytes)
    })
  }

  function connect(life: Life, given: object, port: number): void {
    const socket = given as SimulatedSocket
    const target = newTarget(life.name, listening.nameAt(port))
    const what = `connects ${target.from}>${target.to}`
    const attempt = (): void => {
      if (!life.isAlive || socket.destroyed) return
      const held = faults.takeEffect(['hold'], target)
      if (held) {
        faults.whenRemoved(held, () => void scheduler.schedule(kernel, scheduler.now(), what, attempt))
        return
      }
      const listener = listening.listenerAt(port)
      const endpoint = listening.endpointAt(port)
      const isRefused = faults.takeEffect(['refuse'], target) !== undefined
      const client = receiverOf(socket)
      const connection = isRefused
        ? undefined
        : listener
          ? openToServer(target, port, client, listener)
          : endpoint && openToEndpoint(target, port, client, endpoint)
      if (connection) confirm(connection, socket)
      else refuse(target, socket, port)
    }
    scheduler.schedule(kernel, scheduler.now() + target.draws.integer(...connectUs), what, attempt)
  }

  function confirm(connection: Connection, socket: SimulatedSocket): void {
    const line = connections.lineOf(connection, connection.toServer, connection.toClient)
    const arrive = () => runIn(socket.life, () => socket.opened(line, connection.number))
    connections.send(connection, connection.toClient, { what: 'connected', arrive })
  }

  function refuse({ from, to }: Target, socket: SimulatedSocket, port: number): void {
    const error = networkError('ECONNREFUSED', `connect ECONNREFUSED 127.0.0.1:${port}`)
    scheduler.schedule(socket.life, scheduler.now() + refusedUs, `refused ${from}>${to}`, () =>
      runIn(socket.life, () => socket.failed(error)),
    )
  }

  return {
    connect,
    listen: listening.listen,
    serve: listening.serve,
    fault: faults.add,
    /** All connections to it are reset, as when a host goes away. */
    resetConnections: connections.resetAll,
  }
}

/** As net.Server does with a connection of its own. */
function accept(given: Server, socket: SimulatedSocket, open: () => void): void {
  const server = given as Server & { _connections: number; _emitCloseIfDrained(): void }
  open()
  if (!server.listening) {
    socket.resetAndDestroy()
    return
  }
  server._connections += 1
  socket.once('close', () => {
    server._connections -= 1
    server._emitCloseIfDrained()
  })
  server.emit('connection', socket)
}
