// Connections between simulated processes, and to the database. Each piece of data is an event of its own with a delay drawn
// from the seed; what is sent in one direction of a connection arrives in its order, whatever holds it back.
import type { Owner, Scheduler } from '../scheduler.ts'
import type { Line } from '../socket.ts'
import type { FaultKind, Faults, Target } from './faults.ts'

/** What is under way in one direction: bytes, the end, a reset. */
export type Message = { what: string; content?: Buffer | undefined; extraUs?: number; arrive(): unknown }

/** Where one direction of a connection ends. */
export type Receiver = {
  /** To whom what arrives belongs. */
  owner: Owner
  receive(bytes: Buffer): unknown
  ended(): unknown
  failed(): unknown
}

/** One direction of a connection. */
export type Direction = Receiver & {
  pending: Buffer[]
  hasEnd: boolean
  /** What is sent does not overtake what was sent before. */
  lastAt: number
  /** While a fault holds it back: what was sent since then, in its order. */
  held: Message[] | undefined
  isOpen: boolean
}

export type Connection = Target & {
  number: number
  port: number
  toServer: Direction
  toClient: Direction
  /** The answer under way is lost. */
  losesAnswer: boolean
  answerDelayUs: number
}

/** The name under which faults find the database. */
export const databaseName = 'database'

const transitUs = [30, 600] as const

export const newDirection = (receiver: Receiver): Direction => ({
  ...receiver,
  pending: [],
  hasEnd: false,
  lastAt: 0,
  held: undefined,
  isOpen: true,
})

type Parts = {
  scheduler: Scheduler
  faults: Faults
  onActivity: () => void
  /** The request arrives again, over another connection. */
  onDouble(connection: Connection, bytes: Buffer, afterUs: number): void
}

export type Connections = ReturnType<typeof createConnections>

export function createConnections({ scheduler, faults, onActivity, onDouble }: Parts) {
  const open = new Set<Connection>()
  /** Directions with something written since the last event. */
  const written = new Set<{ connection: Connection; direction: Direction }>()
  let isFlushing = false
  let numbers = 0

  /** At the end of the event, when everything that it writes is written. */
  function flushSoon(): void {
    if (isFlushing) return
    isFlushing = true
    scheduler.afterEvent(() => {
      isFlushing = false
      for (const { connection, direction } of written) flush(connection, direction)
      written.clear()
    })
  }

  function flush(connection: Connection, direction: Direction): void {
    const { pending } = direction
    const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending)
    direction.pending = []
    if (bytes.length > 0) {
      if (direction === connection.toServer) sendRequest(connection, bytes)
      else sendAnswer(connection, bytes)
    }
    if (!direction.hasEnd || !direction.isOpen) return
    direction.hasEnd = false
    send(connection, direction, { what: 'end', arrive: () => close(direction, direction.ended) })
  }

  function close(direction: Direction, how: () => unknown): unknown {
    if (!direction.isOpen) return undefined
    direction.isOpen = false
    return how()
  }

  /** Everything that is sent goes through here. What follows something that is held back waits behind it. */
  function send(connection: Connection, direction: Direction, message: Message): void {
    const fault = faults.takeEffect([direction === connection.toServer ? 'hold' : 'hold-answer'], connection)
    if (fault && !direction.held) {
      direction.held = []
      faults.whenRemoved(fault, () => {
        const messages = direction.held ?? []
        direction.held = undefined
        for (const each of messages) send(connection, direction, each)
      })
    }
    if (direction.held) direction.held.push(message)
    else transmit(connection, direction, message)
  }

  function transmit(connection: Connection, direction: Direction, message: Message): void {
    const { number, from, to, toServer, draws } = connection
    const { what, content, extraUs = 0, arrive } = message
    const at = scheduler.now() + draws.integer(...transitUs) + extraUs
    direction.lastAt = Math.max(direction.lastAt, at)
    const way = direction === toServer ? `${from}>${to}` : `${to}>${from}`
    scheduler.schedule(direction.owner, direction.lastAt, `${what} #${number} ${way}`, arrive, content)
  }

  function sendRequest(connection: Connection, bytes: Buffer): void {
    const kinds: FaultKind[] = ['reset-before', 'reset-after', 'delay', 'delay-answer']
    if (connection.to !== databaseName) kinds.push('double')
    const fault = faults.takeEffect(kinds, connection)
    if (fault?.kind === 'reset-before') {
      reset(connection)
      return
    }
    const drawnUs = () => connection.draws.integer(0, (fault?.ms ?? 100) * 1_000)
    if (fault?.kind === 'reset-after') connection.losesAnswer = true
    if (fault?.kind === 'delay-answer') connection.answerDelayUs = drawnUs()
    sendToServer(connection, bytes, fault?.kind === 'delay' ? drawnUs() : 0)
    if (fault?.kind === 'double') onDouble(connection, bytes, drawnUs())
  }

  function sendToServer(connection: Connection, bytes: Buffer, extraUs = 0): void {
    const { toServer, toClient, to } = connection
    const arrive = () => {
      if (toServer.isOpen) {
        if (to !== databaseName) onActivity()
        return toServer.receive(bytes)
      }
      // The server has closed it: the kernel answers with a reset.
      resetDirection(connection, toClient)
      return undefined
    }
    send(connection, toServer, { what: `sends ${bytes.length}`, content: bytes, extraUs, arrive })
  }

  function sendAnswer(connection: Connection, bytes: Buffer, afterUs = 0): void {
    if (connection.losesAnswer) {
      reset(connection)
      return
    }
    const { toClient, toServer } = connection
    const extraUs = afterUs + connection.answerDelayUs
    connection.answerDelayUs = 0
    const arrive = () => {
      if (toClient.isOpen) return toClient.receive(bytes)
      resetDirection(connection, toServer)
      return undefined
    }
    // What the database answers is noted when it does, without what is the server's own (process ids, object ids).
    const content = connection.to === databaseName ? undefined : bytes
    send(connection, toClient, { what: `answers ${bytes.length}`, content, extraUs, arrive })
  }

  function resetDirection(connection: Connection, direction: Direction): void {
    if (!direction.isOpen) return
    send(connection, direction, { what: 'reset', arrive: () => close(direction, direction.failed) })
  }

  function reset(connection: Connection): void {
    open.delete(connection)
    resetDirection(connection, connection.toServer)
    resetDirection(connection, connection.toClient)
  }

  return {
    open(target: Target, port: number, toClient: Direction, toServer: Direction): Connection {
      numbers += 1
      const connection = { ...target, number: numbers, port, toServer, toClient, losesAnswer: false, answerDelayUs: 0 }
      open.add(connection)
      return connection
    },
    /** For the socket at one end. */
    lineOf(connection: Connection, outgoing: Direction, incoming: Direction): Line {
      const key = { connection, direction: outgoing }
      const end = () => {
        outgoing.hasEnd = true
        written.add(key)
        flushSoon()
      }
      return {
        send(bytes) {
          outgoing.pending.push(bytes)
          written.add(key)
          flushSoon()
        },
        end,
        close(isReset) {
          incoming.isOpen = false
          if (isReset) {
            // What was written before is in the network already.
            flush(connection, outgoing)
            resetDirection(connection, outgoing)
          } else end()
          if (!outgoing.isOpen) open.delete(connection)
        },
      }
    },
    send,
    sendToServer,
    sendAnswer,
    endAnswers(connection: Connection): void {
      connection.toClient.hasEnd = true
      flush(connection, connection.toClient)
    },
    reset,
    /** All of them, as when a host goes away. */
    resetAll(to: string): void {
      for (const connection of open) if (connection.to === to) reset(connection)
    },
  }
}
