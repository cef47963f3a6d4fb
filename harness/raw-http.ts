// HTTP as bytes on a socket, for requests that no client library sends: broken heads, repeated headers, bodies that continue
// after the answer, requests in pieces. Answers are parsed strictly, by a parser of its own, because it is an oracle.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { assertEnvelope, type Answer as ServiceAnswer } from '../test/support/service/service.ts'

export type Answer = {
  status: number
  /** The status line and the headers, unparsed. */
  head: string
  /** All values by lower-case name. */
  headers: Map<string, string[]>
  /** Null where the request was a HEAD. */
  body: Buffer | null
}

export type Reading = {
  answers: Answer[]
  /** Why the bytes after the last answer are not an answer. */
  fault: string | undefined
  /** The last answer is incomplete. */
  isCut: boolean
}

export type ReadingOptions = {
  /** Whether the request at that place is a HEAD; undefined where it is uncertain. */
  isHead(place: number): boolean | undefined
  /** Whether a request may have sent Expect: 100-continue. */
  mayContinue: boolean
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const headerLine = /^([!#$%&'*+.^_`|~\w-]+): ?([\x20-\x7e]*)$/

/** Status line, headers, a Content-Length, a body of that length, and again. Anything else is a fault with a name. */
export function readAnswers(received: Buffer, { isHead, mayContinue }: ReadingOptions): Reading {
  const answers: Answer[] = []
  let rest = received
  while (rest.length > 0) {
    const read = readOne(rest, isHead(answers.length), mayContinue)
    if ('isCut' in read) return { answers, ...read }
    if (read.answer) answers.push(read.answer)
    rest = read.rest
  }
  return { answers, fault: undefined, isCut: false }
}

/** The first one; null: only an interim answer. */
function readOne(
  received: Buffer,
  isHead: boolean | undefined,
  mayContinue: boolean,
): { answer: Answer | null; rest: Buffer } | Omit<Reading, 'answers'> {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return { fault: faultOfBeginning(received), isCut: true }
  const head = readHead(received.subarray(0, headEnd).toString('latin1'))
  if (typeof head === 'string') return { fault: head, isCut: false }
  const rest = received.subarray(headEnd + 4)
  if (head.status === 100 && mayContinue) return { answer: null, rest }
  const length = lengthOf(head)
  if (typeof length === 'string') return { fault: length, isCut: false }
  if (isHead ?? looksBodiless(rest)) return { answer: { ...head, body: null }, rest }
  if (rest.length < length) return { fault: undefined, isCut: true }
  return { answer: { ...head, body: rest.subarray(0, length) }, rest: rest.subarray(length) }
}

/** The bytes cannot become an answer any more. */
function faultOfBeginning(rest: Buffer): string | undefined {
  const wanted = 'HTTP/1.1 '
  const begun = rest.subarray(0, wanted.length).toString('latin1')
  return wanted.startsWith(begun) || begun === wanted ? undefined : `not an answer: ${JSON.stringify(begun)}`
}

/** Where it is uncertain: a head that is followed by nothing or by the next head had no body. */
function looksBodiless(rest: Buffer): boolean {
  return rest.length === 0 || rest.subarray(0, 9).toString('latin1') === 'HTTP/1.1 '
}

function readHead(head: string): Omit<Answer, 'body'> | string {
  const [first = '', ...lines] = head.split('\r\n')
  const [, status] = statusLine.exec(first) ?? []
  if (!status) return `no status line: ${JSON.stringify(first)}`
  const headers = new Map<string, string[]>()
  for (const line of lines) {
    const [, name, value = ''] = headerLine.exec(line) ?? []
    if (!name) return `no header: ${JSON.stringify(line)}`
    const lower = name.toLowerCase()
    headers.set(lower, [...(headers.get(lower) ?? []), value])
  }
  return { status: Number(status), head, headers }
}

function lengthOf({ status, headers }: Omit<Answer, 'body'>): number | string {
  if (status < 200) return `an interim answer without Expect: ${status}`
  const lengths = headers.get('content-length') ?? []
  if (headers.has('transfer-encoding')) return 'a Transfer-Encoding'
  if (lengths.length !== 1 || !/^\d+$/.test(lengths[0] ?? '')) return `Content-Length: ${JSON.stringify(lengths)}`
  return Number(lengths[0])
}

/** It is the last on its connection. */
export function closes({ headers }: Pick<Answer, 'headers'>): boolean {
  return headers.get('connection')?.some((value) => value.toLowerCase() === 'close') ?? false
}

/** One of the service, with its envelope checked. */
export type RawAnswer = ServiceAnswer & {
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

/** The first answer of the service in these bytes; undefined while it is incomplete. */
export function parseAnswer(received: Buffer): RawAnswer | undefined {
  const read = readOne(received, false, true)
  if ('isCut' in read) {
    if (read.fault) throw new Error(read.fault)
    return undefined
  }
  if (!read.answer) return parseAnswer(read.rest)
  const { status, head, headers, body } = read.answer
  const text = String(body)
  const listed = [...headers].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
  const answer = { status, headers: new Headers(listed), text, body: JSON.parse(text) }
  assertEnvelope(answer)
  return { ...answer, head, rest: String(read.rest) }
}

/** All answers in these bytes. An incomplete one at the end is an error. */
export function parseAnswers(received: Buffer): RawAnswer[] {
  if (received.length === 0) return []
  const answer = parseAnswer(received)
  if (!answer) throw new Error(`an incomplete answer: ${received}`)
  return [answer, ...parseAnswers(Buffer.from(answer.rest))]
}

export type Sending = {
  /** Where the bytes are cut. */
  cuts: number[]
  pauseMs: number
  /** After the last byte the sender waits for the answers, closes at once, or stays idle. */
  ending: 'answered' | 'at once' | 'stays'
}

export type Exchange = {
  received: Buffer
  /** Closed by the server, reset, or still open at the limit. */
  ended: 'closed' | 'reset' | 'hung'
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
const limitMs = 20_000
const momentMs = 25
/** Larger inputs are sent whole: a megabyte in single bytes takes too long. */
const largestCutBytes = 100_000

/** One connection from its first byte to its end, which the server has to reach within a limit. */
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
