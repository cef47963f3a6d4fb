// HTTP as bytes on a socket, for requests that no client library sends: broken heads, repeated headers, bodies that
// continue after the answer. The answer is read by its Content-Length and checked for the envelope like every other.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as breathe } from 'node:timers/promises'
import { type Answer, assertEnvelope } from '../test/support/service/service.ts'

export type RawAnswer = Answer & {
  /** The status line and the headers, unparsed. */
  head: string
  /** The bytes received after the first answer; normally none. */
  rest: string
}

export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

/** Sends everything in one write and returns the first answer. */
export async function sendRaw(port: number, request: string | Buffer): Promise<RawAnswer> {
  const socket = await openSocket(port)
  const answer = readAnswer(socket)
  socket.write(request)
  return answer
}

/**
 * Like a client that does not read before it has sent the last byte: it fails if the server closes the connection, so
 * that the write fails or the answer is lost.
 */
export async function sendBeforeReading(port: number, head: string, pieces: Iterable<Buffer>): Promise<RawAnswer> {
  const socket = await openSocket(port)
  const failed = once(socket, 'close').then(() => {
    throw new Error('closed while still sending')
  })
  failed.catch(() => undefined)
  socket.write(head)
  for (const piece of pieces) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), failed])
    await breathe()
  }
  return readAnswer(socket)
}

/** Sends everything in one write and returns all answers until the server closes the connection, which it has to. */
export async function answersUntilClosed(port: number, request: string | Buffer): Promise<RawAnswer[]> {
  const socket = await openSocket(port)
  const closed = readToEnd(socket)
  socket.write(request)
  return parseAnswers(await closed)
}

/** All bytes until the server closes the connection. A reset counts too: a server that closes may not read the rest. */
export function readToEnd(socket: Socket, limitMs = 10_000): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const limit = setTimeout(() => {
      socket.destroy()
      reject(new Error(`still open after ${limitMs} ms: ${Buffer.concat(pieces)}`))
    }, limitMs)
    socket.on('data', (piece) => pieces.push(piece))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(limit)
      resolve(Buffer.concat(pieces))
    })
  })
}

function readAnswer(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    socket.setTimeout(10_000, () => reject(new Error(`no complete answer within 10 s: ${received}`)))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed before the answer was complete: ${received}`)))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      try {
        const answer = parseAnswer(received)
        if (!answer) return
        socket.destroy()
        resolve(answer)
      } catch (error) {
        socket.destroy()
        reject(error)
      }
    })
  })
}

/** The first answer in these bytes; undefined while it is incomplete. */
export function parseAnswer(received: Buffer): RawAnswer | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const head = received.subarray(0, headEnd).toString('latin1')
  const [statusLine = '', ...lines] = head.split('\r\n')
  // An interim answer: the final one follows.
  if (statusLine.startsWith('HTTP/1.1 1')) return parseAnswer(received.subarray(headEnd + 4))
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1)]),
  )
  const bodyEnd = headEnd + 4 + Number(headers.get('content-length'))
  if (received.length < bodyEnd) return undefined
  const text = received.subarray(headEnd + 4, bodyEnd).toString('utf8')
  const answer = { status: Number(statusLine.split(' ')[1]), headers, text, body: JSON.parse(text) }
  assertEnvelope(answer)
  return { ...answer, head, rest: received.subarray(bodyEnd).toString('utf8') }
}

/** All answers in these bytes. An incomplete one at the end is an error. */
export function parseAnswers(received: Buffer): RawAnswer[] {
  if (received.length === 0) return []
  const answer = parseAnswer(received)
  if (!answer) throw new Error(`an incomplete answer: ${received}`)
  return [answer, ...parseAnswers(Buffer.from(answer.rest))]
}

/** A request as bytes: the lines of its head as given, and its body. */
export function message(startLine: string, lines: string[], body: string | Buffer = ''): Buffer {
  const text = [`${startLine} HTTP/1.1`, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(text, 'latin1'), Buffer.from(body)])
}

/** The head of a request, with the empty line at its end. */
export function head(startLine: string, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}`)
  return [`${startLine} HTTP/1.1`, ...lines, '', ''].join('\r\n')
}
