// The network of a run: listeners by port, connections between simulated processes, and to the database. Each piece of data
// is an event of its own with a delay drawn from the seed; pieces of one direction of a connection keep their order, those of
// different connections do not. Faults change what happens to a connection or to a piece of it.
import type { Server } from 'node:net'
import { type Life, runIn } from './processes.ts'
import { createDraws, type Draws } from './random.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import { SimulatedSocket } from './socket.ts'

/**
 * What a fault does to what a client sends. `refuse`: the connection is refused. `reset-before`: the request is lost and the
 * connection reset. `reset-after`: the request arrives, its answer is lost and the connection reset. `delay`, `delay-answer`:
 * the request or its answer takes longer, by up to `ms`. `double`: the request arrives a second time, up to `ms` later, over a
 * connection of its own. `hold`, `hold-answer`: nothing that the client sends, or nothing that it is sent, arrives until the
 * fault is removed; then everything does, in its order, although its sender may have given up long ago.
 */
export type FaultKind =
  | 'refuse'
  | 'reset-before'
  | 'reset-after'
  | 'delay'
  | 'delay-answer'
  | 'double'
  | 'hold'
  | 'hold-answer'

export type Fault = {
  kind: FaultKind
  /** The name of the process that connects, and of the one that listens; `database` is the database. Undefined: any. */
  from?: string
  to?: string
  /** How likely it is for each connection or request; 1 unless it says otherwise. */
  chance?: number
  /** How often it happens at most; not for those that hold back. */
  times?: number
  ms?: number
}

export type ActiveFault = Fault & { fired: number; remove(): void }

/** The end of a connection that is no socket: the database. */
export type Service = {
  accept(link: ServiceLink): {
    receive(bytes: Buffer): unknown
    /** The client is gone. */
    closed(): unknown
  }
}
export type ServiceLink = {
  number: number
  from: string
  /** Arrives at the client `afterUs` from now, and the way. */
  reply(bytes: Buffer, afterUs: number): void
  end(): void
  reset(): void
}

/** What is under way in one direction: bytes, the end, a reset. */
type Message = { what: string; content?: Buffer | undefined; extraUs?: number; arrive(): unknown }

/** One direction of a connection. */
type Way = {
  /** To whom what arrives belongs. */
  owner: Owner
  receive(bytes: Buffer): unknown
  ended(): unknown
  failed(): unknown
  pending: Buffer[]
  hasEnd: boolean
  /** Pieces do not overtake each other. */
  lastAt: number
  /** While a fault holds it back: what was sent since then, in its order. */
  held: Message[] | undefined
  isOpen: boolean
}

type Connection = {
  number: number
  from: string
  to: string
  port: number
  draws: Draws
  toServer: Way
  toClient: Way
  /** The answer under way is lost. */
  losesAnswer: boolean
  answerDelayUs: number
}

const firstPort = 20_000
const connectUs = [20, 400] as const
const transitUs = [30, 600] as const

/** A fault has really struck what one process sends to another. */
export type OnStrike = (from: string, to: string, kind: string) => void

export type Network = ReturnType<typeof createNetwork>

type Parts = { scheduler: Scheduler; seed: number; onActivity: () => void; onStrike: OnStrike }

export function createNetwork({ scheduler, seed, onActivity, onStrike }: Parts) {
  const listeners = new Map<number, { life: Life; server: Server }>()
  const services = new Map<number, { name: string; service: Service }>()
  const faults: ActiveFault[] = []
  /** What to do when a fault that holds something back is removed. */
  const waiting: { fault: ActiveFault; release(): void }[] = []
  const draws = new Map<string, Draws>()
  const connections = new Set<Connection>()
  /** Directions with something written since the last event. */
  const written = new Set<{ connection: Connection; way: Way }>()
  const itself: Owner = { name: 'network', isAlive: true, heldBack: undefined }
  let numbers = 0
  let nextPort = firstPort

  function drawsOf(from: string, to: string): Draws {
    const name = `network ${from} ${to}`
    let found = draws.get(name)
    if (!found) {
      found = createDraws(seed, name)
      draws.set(name, found)
    }
    return found
  }

  /** The first that applies; its chance is drawn only then, so that a fault for others changes nothing here. */
  function faultFor(kinds: FaultKind[], from: string, to: string): ActiveFault | undefined {
    for (const fault of faults) {
      if (!kinds.includes(fault.kind)) continue
      if (fault.from !== undefined && fault.from !== from) continue
      if (fault.to !== undefined && fault.to !== to) continue
      if (fault.chance !== undefined && !drawsOf(from, to).chance(fault.chance)) continue
      fault.fired += 1
      onStrike(from, to, fault.kind)
      scheduler.note('network', `fault ${fault.kind} ${from}>${to}`)
      // What is held back waits for the fault to be removed.
      if (fault.fired === fault.times && !fault.kind.startsWith('hold')) fault.remove()
      return fault
    }
    return undefined
  }

  function wayTo(socket: SimulatedSocket): Way {
    const { life } = socket
    return {
      owner: life,
      receive: (bytes) => runIn(life, () => socket.arrived(bytes)),
      ended: () => runIn(life, () => socket.ended()),
      failed: () => runIn(life, () => socket.failed(networkError('ECONNRESET', 'read ECONNRESET'))),
      pending: [],
      hasEnd: false,
      lastAt: 0,
      held: undefined,
      isOpen: true,
    }
  }

  function lineOf(connection: Connection, outgoing: Way, incoming: Way) {
    const key = { connection, way: outgoing }
    return {
      send(bytes: Buffer) {
        outgoing.pending.push(bytes)
        written.add(key)
        flushSoon()
      },
      end() {
        outgoing.hasEnd = true
        written.add(key)
        flushSoon()
      },
      close(isReset: boolean) {
        incoming.isOpen = false
        if (isReset) {
          // What was written before is in the network already.
          flush(connection, outgoing)
          resetWay(connection, outgoing)
        } else {
          outgoing.hasEnd = true
          written.add(key)
          flushSoon()
        }
        if (!outgoing.isOpen) connections.delete(connection)
      },
    }
  }

  let isFlushing = false
  /** At the end of the event, when everything that it writes is written. */
  function flushSoon(): void {
    if (isFlushing) return
    isFlushing = true
    scheduler.afterEvent(() => {
      isFlushing = false
      for (const { connection, way } of written) flush(connection, way)
      written.clear()
    })
  }

  function flush(connection: Connection, way: Way): void {
    const bytes = way.pending.length === 1 ? (way.pending[0] as Buffer) : Buffer.concat(way.pending)
    way.pending = []
    if (bytes.length > 0) {
      if (way === connection.toServer) sendRequest(connection, bytes)
      else sendAnswer(connection, bytes)
    }
    if (way.hasEnd && way.isOpen) {
      way.hasEnd = false
      send(connection, way, {
        what: 'end',
        arrive() {
          if (!way.isOpen) return
          way.isOpen = false
          return way.ended()
        },
      })
    }
  }

  const nameOf = ({ number, from, to, toServer }: Connection, way: Way) =>
    way === toServer ? `#${number} ${from}>${to}` : `#${number} ${to}>${from}`

  /** Everything that is sent goes through here. What follows something that is held back waits behind it. */
  function send(connection: Connection, way: Way, message: Message): void {
    const isRequest = way === connection.toServer
    const fault = faultFor([isRequest ? 'hold' : 'hold-answer'], connection.from, connection.to)
    if (fault && !way.held) {
      way.held = []
      waiting.push({
        fault,
        release() {
          const messages = way.held ?? []
          way.held = undefined
          for (const each of messages) send(connection, way, each)
        },
      })
    }
    if (way.held) way.held.push(message)
    else transmit(connection, way, message)
  }

  function transmit(connection: Connection, way: Way, { what, content, extraUs = 0, arrive }: Message): void {
    const at = scheduler.now() + connection.draws.integer(...transitUs) + extraUs
    way.lastAt = Math.max(way.lastAt, at)
    scheduler.schedule(way.owner, way.lastAt, `${what} ${nameOf(connection, way)}`, arrive, content)
  }

  function sendRequest(connection: Connection, bytes: Buffer): void {
    const { from, to } = connection
    const kinds: FaultKind[] = ['reset-before', 'reset-after', 'delay', 'delay-answer']
    if (to !== databaseName) kinds.push('double')
    const fault = faultFor(kinds, from, to)
    if (fault?.kind === 'reset-before') {
      reset(connection)
      return
    }
    const drawnUs = () => connection.draws.integer(0, (fault?.ms ?? 100) * 1_000)
    if (fault?.kind === 'reset-after') connection.losesAnswer = true
    if (fault?.kind === 'delay-answer') connection.answerDelayUs = drawnUs()
    sendToServer(connection, bytes, fault?.kind === 'delay' ? drawnUs() : 0)
    if (fault?.kind === 'double') repeat(connection, bytes, drawnUs())
  }

  function sendToServer(connection: Connection, bytes: Buffer, extraUs = 0): void {
    const arrive = () => arriveAtServer(connection, bytes)
    send(connection, connection.toServer, { what: `sends ${bytes.length}`, content: bytes, extraUs, arrive })
  }

  function arriveAtServer(connection: Connection, bytes: Buffer): unknown {
    const { toServer, toClient } = connection
    if (toServer.isOpen) {
      if (connection.to !== databaseName) onActivity()
      return toServer.receive(bytes)
    }
    // The server has closed it: the kernel answers with a reset.
    resetWay(connection, toClient)
    return undefined
  }

  function sendAnswer(connection: Connection, bytes: Buffer): void {
    if (connection.losesAnswer) {
      reset(connection)
      return
    }
    const extraUs = connection.answerDelayUs
    connection.answerDelayUs = 0
    const arrive = () => {
      const { toClient, toServer } = connection
      if (toClient.isOpen) return toClient.receive(bytes)
      resetWay(connection, toServer)
      return undefined
    }
    // What the database answers is noted when it does, without what is the server's own (process ids, object ids).
    const content = connection.to === databaseName ? undefined : bytes
    send(connection, connection.toClient, { what: `answers ${bytes.length}`, content, extraUs, arrive })
  }

  function resetWay(connection: Connection, way: Way): void {
    if (!way.isOpen) return
    send(connection, way, {
      what: 'reset',
      arrive() {
        if (!way.isOpen) return
        way.isOpen = false
        return way.failed()
      },
    })
  }

  function reset(connection: Connection): void {
    connections.delete(connection)
    resetWay(connection, connection.toServer)
    resetWay(connection, connection.toClient)
  }

  /** Over a connection of its own, whose answers are not read. */
  function repeat(connection: Connection, bytes: Buffer, afterUs: number): void {
    const { from, to, port } = connection
    scheduler.schedule(itself, scheduler.now() + afterUs, `doubles ${bytes.length} ${from}>${to}`, () => {
      const listener = listeners.get(port)
      if (!listener) return
      const ghost: Way = {
        owner: itself,
        receive: () => undefined,
        ended: () => undefined,
        failed: () => undefined,
        pending: [],
        hasEnd: false,
        lastAt: 0,
        held: undefined,
        isOpen: true,
      }
      const doubled = open(from, listener.life.name, port, ghost)
      acceptAt(doubled, listener.life, listener.server)
      sendToServer(doubled, bytes)
    })
  }

  function open(from: string, to: string, port: number, toClient: Way): Connection {
    numbers += 1
    const nowhere: Way = { ...toClient, owner: itself, receive: () => undefined }
    const connection: Connection = {
      number: numbers,
      from,
      to,
      port,
      draws: drawsOf(from, to),
      toServer: nowhere,
      toClient,
      losesAnswer: false,
      answerDelayUs: 0,
    }
    connections.add(connection)
    return connection
  }

  /** The listener's process sees the connection before anything that comes over it. */
  function acceptAt(connection: Connection, life: Life, server: Server): void {
    const { allowHalfOpen } = server as Server & { allowHalfOpen?: boolean }
    const socket = new SimulatedSocket(life, () => undefined, allowHalfOpen)
    const { number, toClient } = connection
    connection.toServer = wayTo(socket)
    const line = lineOf(connection, toClient, connection.toServer)
    scheduler.schedule(life, scheduler.now(), `accepts #${number}`, () =>
      runIn(life, () => {
        const counted = server as Server & { _connections: number; _emitCloseIfDrained(): void }
        socket.opened(line, number)
        if (!server.listening) {
          socket.resetAndDestroy()
          return
        }
        counted._connections += 1
        socket.once('close', () => {
          counted._connections -= 1
          counted._emitCloseIfDrained()
        })
        server.emit('connection', socket)
      }),
    )
  }

  function acceptByService(connection: Connection, service: Service): void {
    const { toClient } = connection
    const link: ServiceLink = {
      number: connection.number,
      from: connection.from,
      reply(bytes, afterUs) {
        if (connection.losesAnswer) return reset(connection)
        connection.answerDelayUs += afterUs
        sendAnswer(connection, bytes)
      },
      end() {
        toClient.hasEnd = true
        flush(connection, toClient)
      },
      reset: () => reset(connection),
    }
    const accepted = service.accept(link)
    connection.toServer = {
      owner: itself,
      receive: accepted.receive,
      ended: accepted.closed,
      failed: accepted.closed,
      pending: [],
      hasEnd: false,
      lastAt: 0,
      held: undefined,
      isOpen: true,
    }
  }

  function connect(life: Life, given: object, port: number): void {
    const socket = given as SimulatedSocket
    const from = life.name
    const to = listeners.get(port)?.life.name ?? services.get(port)?.name ?? `port ${port}`
    const at = scheduler.now() + drawsOf(from, to).integer(...connectUs)
    const attempt = () => {
      if (!life.isAlive || socket.destroyed) return
      const held = faultFor(['hold'], from, to)
      if (held) {
        const release = () => void scheduler.schedule(itself, scheduler.now(), `connects ${from}>${to}`, attempt)
        waiting.push({ fault: held, release })
        return
      }
      const listener = listeners.get(port)
      const service = services.get(port)
      if (faultFor(['refuse'], from, to) || (!listener && !service)) {
        scheduler.schedule(life, scheduler.now() + 20, `refused ${from}>${to}`, () =>
          runIn(life, () => socket.failed(networkError('ECONNREFUSED', `connect ECONNREFUSED 127.0.0.1:${port}`))),
        )
        return
      }
      const connection = open(from, to, port, wayTo(socket))
      if (listener) acceptAt(connection, listener.life, listener.server)
      else if (service) acceptByService(connection, service.service)
      const line = lineOf(connection, connection.toServer, connection.toClient)
      send(connection, connection.toClient, {
        what: 'connected',
        arrive: () => runIn(life, () => socket.opened(line, connection.number)),
      })
    }
    scheduler.schedule(itself, at, `connects ${from}>${to}`, attempt)
  }

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
    connect,
    listen,
    /** The database answers at this port. */
    serve: (port: number, name: string, service: Service) => void services.set(port, { name, service }),
    fault(fault: Fault): ActiveFault {
      const active: ActiveFault = {
        ...fault,
        fired: 0,
        remove() {
          const index = faults.indexOf(active)
          if (index >= 0) faults.splice(index, 1)
          const all = waiting.splice(0)
          waiting.push(...all.filter(({ fault }) => fault !== active))
          for (const each of all.filter(({ fault }) => fault === active)) each.release()
        },
      }
      faults.push(active)
      return active
    },
    /** All of them are reset, as when a host goes away. */
    resetConnections(from: string | undefined, to: string): void {
      for (const connection of connections) {
        if (connection.to === to && (from === undefined || connection.from === from)) reset(connection)
      }
    },
    faults: (): readonly ActiveFault[] => faults,
    removeFaults(): void {
      for (const fault of [...faults]) fault.remove()
    },
  }
}

/** The name under which faults find the database. */
export const databaseName = 'database'

function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: code === 'ECONNREFUSED' ? 'connect' : 'read', errno: -1 })
}
