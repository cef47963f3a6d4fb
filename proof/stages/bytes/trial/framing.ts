// How many requests some bytes contain, as far as that is certain: a second parser of HTTP/1.1, narrow on purpose. From
// the first byte that parsers could read differently, everything is uncertain and only bounds are known.

export type Framed = {
  /** Each is due one answer, in this order. */
  requests: FramedRequest[]
  /** After them: nothing, a request with an incomplete body, or anything. */
  rest: 'none' | 'incomplete' | 'uncertain'
  /** No more requests can be in an uncertain rest than it has empty lines. */
  headsInRest: number
}

export type FramedRequest = {
  method: string
  bodyBytes: number
}

const requestLine = /(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \/[\w\-.~/%?=&,:+]* HTTP\/1\.1\r\n/y
const headerLine = /([A-Za-z][A-Za-z0-9-]*): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?\r\n/y
const chunkLine = /([0-9a-f]{1,6})\r\n/iy
const emptyLine = /\n\r?\n/g

/** Headers whose effect on the framing is certain: none, except for the first three. */
const plainHeaders = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-type',
  'service-api-key',
  'authorization',
  'accept',
  'x-idempotency-key',
  'tosspayments-webhook-transmission-id',
  'user-agent',
  'cookie',
  'x-forwarded-for',
])
/** Below these every server accepts a head. */
const mostHeadBytes = 8_000
const mostHeaders = 60

export function frame(bytes: Buffer): Framed {
  const text = bytes.toString('latin1')
  const requests: FramedRequest[] = []
  let place = 0
  while (place < text.length) {
    const head = readHead(text, place)
    if (!head) return { requests, rest: 'uncertain', headsInRest: countHeads(text, place) }
    const end = head.chunked ? endOfChunks(text, head.end) : head.end + head.length
    if (end === undefined) return { requests, rest: 'uncertain', headsInRest: countHeads(text, place) }
    if (end > text.length) return { requests, rest: 'incomplete', headsInRest: 1 }
    requests.push({ method: head.method, bodyBytes: end - head.end })
    place = end
  }
  return { requests, rest: 'none', headsInRest: 0 }
}

function countHeads(text: string, from: number): number {
  return text.slice(from).match(emptyLine)?.length ?? 0
}

type Head = { method: string; end: number; length: number; chunked: boolean }

function readHead(text: string, start: number): Head | undefined {
  const line = matchAt(requestLine, text, start)
  if (!line) return undefined
  let place = start + line[0].length
  const seen = new Map<string, string[]>()
  for (let count = 0; count < mostHeaders; count += 1) {
    if (text.startsWith('\r\n', place)) break
    const header = matchAt(headerLine, text, place)
    if (!header) return undefined
    const [whole, name = '', value = ''] = header
    const lower = name.toLowerCase()
    if (!plainHeaders.has(lower)) return undefined
    seen.set(lower, [...(seen.get(lower) ?? []), value])
    place += whole.length
  }
  if (!text.startsWith('\r\n', place) || place - start > mostHeadBytes) return undefined
  return framingOf(line[1] ?? '', seen, place + 2)
}

function framingOf(method: string, seen: Map<string, string[]>, end: number): Head | undefined {
  const { host = [], 'content-length': lengths = [], 'transfer-encoding': encodings = [] } = Object.fromEntries(seen)
  if (host.length !== 1 || lengths.length + encodings.length > 1) return undefined
  if (encodings.length === 1) return encodings[0] === 'chunked' ? { method, end, length: 0, chunked: true } : undefined
  const [length = '0'] = lengths
  return /^\d{1,8}$/.test(length) ? { method, end, length: Number(length), chunked: false } : undefined
}

/** Past the end of the text when it is incomplete; undefined when it is not a plain list of chunks. */
function endOfChunks(text: string, start: number): number | undefined {
  let place = start
  for (;;) {
    const line = matchAt(chunkLine, text, place)
    if (!line) return place >= text.length ? text.length + 1 : undefined
    const size = Number.parseInt(line[1] ?? '', 16)
    place += line[0].length + size
    if (place + 2 > text.length) return text.length + 1
    if (!text.startsWith('\r\n', place)) return undefined
    place += 2
    if (size === 0) return place
  }
}

function matchAt(pattern: RegExp, text: string, place: number): RegExpExecArray | null {
  pattern.lastIndex = place
  return pattern.exec(text)
}
