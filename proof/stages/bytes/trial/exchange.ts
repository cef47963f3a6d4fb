// One connection from its first byte to its end: the bytes are sent in pieces, the answer is collected, and the server
// has to close within a limit. A sender that has finished half-closes. Not harness/raw-http.ts, which sends everything
// at once, expects an answer in the envelope and throws when there is none.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sending } from '../cases/cases.ts'
import type { Exchanged } from './oracles.ts'

export type Exchange = {
  received: Buffer
  ended: Exchanged['ended']
}

export type ExchangeOptions = {
  port: number
  bytes: Buffer
  sending: Sending
  /** Whether all answers that are due have come. */
  isAnswered(received: Buffer): boolean
  /** Whether more answers may come: then the sender waits a moment before it closes. */
  mayGoOn: boolean
}

/** A request has ten seconds to arrive, the server checks once a second, and the machine is busy. */
export const limitMs = 20_000
const momentMs = 25
/** Larger inputs are sent whole: a megabyte in single bytes takes too long. */
const largestCutBytes = 100_000

export async function exchange({ port, bytes, sending, isAnswered, mayGoOn }: ExchangeOptions): Promise<Exchange> {
  const connection = open(port)
  const { socket, closed } = connection
  const late = new AbortController()
  const overdue = sleep(limitMs, 'late' as const, { signal: late.signal, ref: false }).catch(() => 'late' as const)
  try {
    await sendPieces(socket, bytes, sending)
    if (sending.ending === 'answered') {
      const answered = connection.until(isAnswered)
      if ((await Promise.race([answered, closed, overdue])) === 'late') return connection.end('hung')
      if (mayGoOn) await Promise.race([closed, sleep(momentMs)])
    }
    if (sending.ending !== 'stays') socket.end()
    const ended = await Promise.race([closed, overdue])
    return connection.end(ended === 'late' ? 'hung' : ended)
  } finally {
    late.abort()
    socket.destroy()
  }
}

function open(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  const { promise: closed, resolve } = Promise.withResolvers<'closed' | 'reset'>()
  let failed = false
  let onData: () => void = () => undefined
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    onData()
  })
  socket.on('error', () => {
    failed = true
  })
  socket.on('close', () => {
    resolve(failed ? 'reset' : 'closed')
  })
  const received = () => Buffer.concat(chunks)
  return {
    socket,
    closed,
    /** Checked whenever bytes have come. */
    until: (isAnswered: (received: Buffer) => boolean) =>
      new Promise<'answered'>((done) => {
        onData = () => {
          if (isAnswered(received())) done('answered')
        }
        onData()
      }),
    end: (ended: Exchange['ended']): Exchange => ({ received: received(), ended }),
  }
}

async function sendPieces(socket: Socket, bytes: Buffer, { cuts, pauseMs }: Sending): Promise<void> {
  const places = bytes.length > largestCutBytes ? [] : cuts
  let start = 0
  for (const end of [...places, bytes.length]) {
    if (socket.destroyed || socket.writableEnded) return
    socket.write(bytes.subarray(start, end))
    start = end
    // A pause of 0 ms still sends the piece alone.
    if (end < bytes.length) await sleep(pauseMs)
  }
}
