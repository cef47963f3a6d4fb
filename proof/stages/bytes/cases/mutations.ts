// Mutations of a request's bytes: what can happen in transit, and what an attacker does who looks for differences
// between two HTTP parsers. A table by name; which ones are applied follows from the seed alone.
import type { Random } from '../../../../harness/random.ts'
import { naughtyHeaders, naughtyNumbers, naughtyTexts } from './naughty.ts'

export type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer

function anyOf<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.integer(0, values.length - 1)] as Value
}

function anyBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.integer(0, 255)))
}

/** Characters with a meaning in HTTP or JSON. */
const signs = [
  ['\r\n', '\n', '\r', '\r\n\r\n', '\0', ' ', '\t', ':', ',', '"', '{', '}', '[', '\\', '%', '\x80', '\xff'],
  ['0\r\n\r\n'],
].flat()

/** The place after the head; the end where there is none. */
function bodyStart(bytes: Buffer): number {
  const place = bytes.indexOf('\r\n\r\n')
  return place < 0 ? bytes.length : place + 4
}

function anyPlace(random: Random, bytes: Buffer): number {
  return random.integer(0, bytes.length)
}

function anyRange(random: Random, bytes: Buffer, longest: number): [number, number] {
  const start = anyPlace(random, bytes)
  return [start, Math.min(bytes.length, start + random.integer(1, longest))]
}

function replaced(bytes: Buffer, [start, end]: [number, number], by: Buffer | string): Buffer {
  const middle = typeof by === 'string' ? Buffer.from(by, 'latin1') : by
  return Buffer.concat([bytes.subarray(0, start), middle, bytes.subarray(end)])
}

/** The lines of the head without their ends, and the body. */
function partsOf(bytes: Buffer): { lines: string[]; body: Buffer } {
  const start = bodyStart(bytes)
  return {
    lines: bytes
      .subarray(0, start)
      .toString('latin1')
      .replace(/\r\n\r\n$/, '')
      .split('\r\n'),
    body: bytes.subarray(start),
  }
}

function joined(lines: string[], body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

const isLength = (line: string) => /^content-length:/i.test(line)

/** With the right Content-Length. */
function withBody(lines: string[], body: Buffer): Buffer {
  return joined([...lines.filter((line) => !isLength(line)), `Content-Length: ${body.length}`], body)
}

/**
 * Below and above each limit: of a parameter, a head, a body, a notification, a drained body. The last ones cost most.
 */
const sizes = [120, 300, 4_000, 9_000, 16_384, 16_385, 20_000, 66_000]
const largeSizes = [140_000, 1_048_576, 1_200_000]
const largeShare = 0.08

function anySize(random: Random): number {
  return anyOf(random, random.chance(largeShare) ? largeSizes : sizes)
}

const replacing = (what: RegExp | string, ...by: string[]) =>
  by.map((each) => (line: string) => line.replace(what, each))
const startLines = [
  ...replacing(/^\w+/, 'HEAD', 'CONNECT', 'TRACE', 'OPTIONS', 'PROPFIND', 'get', 'FOO'),
  ...replacing(/^\w+ \S+/, 'PRI *'),
  ...replacing(/ \S+ /, ' * '),
  ...replacing(' /', ' http://elsewhere/', ' //', ' ', ' /../'),
  ...replacing(/ HTTP.*/, ''),
  ...replacing('HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.10', 'http/1.1'),
  ...replacing(' HTTP', '  HTTP', '#fragment HTTP', '%zz HTTP', '?a[__proto__]=1&a=2&a HTTP'),
  ...replacing(/^/, '\r\n\r\n', ' '),
]

const lengths = [
  (body: Buffer) => `${body.length + 1}`,
  (body: Buffer) => `${body.length - 1}`,
  (body: Buffer) => `${body.length}0`,
  (body: Buffer) => `+${body.length}`,
  (body: Buffer) => `0${body.length}`,
  (body: Buffer) => `0x${body.length.toString(16)}`,
  (body: Buffer) => `${body.length}\r\nContent-Length: ${body.length}`,
  (body: Buffer) => `${body.length}\r\nContent-Length: 0`,
  (body: Buffer) => `${body.length}, ${body.length}`,
  (body: Buffer) => `${body.length}\r\nTransfer-Encoding: chunked`,
  () => '0',
  () => '-1',
  () => '16385',
  () => '10737418240',
  () => '99999999999999999999999',
  () => '',
]

function chunk(body: Buffer, size = body.length.toString(16)): Buffer {
  return Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n')])
}

const lastChunk = Buffer.from('0\r\n\r\n')

const chunkings: readonly ((body: Buffer, random: Random) => Buffer)[] = [
  (body) => Buffer.concat([chunk(body), lastChunk]),
  (body, random) => {
    const cut = random.integer(1, Math.max(1, body.length - 1))
    return Buffer.concat([chunk(body.subarray(0, cut)), chunk(body.subarray(cut)), lastChunk])
  },
  (body) => Buffer.concat([...[...body].map((byte) => chunk(Buffer.from([byte]))), lastChunk]),
  (body) => Buffer.concat([chunk(body, `${body.length.toString(16)};a=b;c="d"`), lastChunk]),
  (body) => Buffer.concat([chunk(body, `${body.length.toString(16)};${'x'.repeat(20_000)}`), lastChunk]),
  (body) => Buffer.concat([chunk(body), Buffer.from('0\r\nContent-Length: 5\r\nX-Trailer: a\r\n\r\n')]),
  (body) => Buffer.concat([chunk(body), Buffer.from(`0\r\n${'X-Trailer: a\r\n'.repeat(2_000)}\r\n`)]),
  (body) => Buffer.concat([chunk(body, `0${body.length.toString(16)}`), lastChunk]),
  (body) => Buffer.concat([chunk(body, `${body.length.toString(16)} `), lastChunk]),
  (body) => Buffer.concat([chunk(body, `${(body.length + 3).toString(16)}`), lastChunk]),
  (body) => Buffer.concat([chunk(body, '-1'), lastChunk]),
  (body) => Buffer.concat([chunk(body, 'ffffffffffffffff1'), lastChunk]),
  (body) => Buffer.concat([chunk(body, 'g'), lastChunk]),
  (body) => chunk(body),
  (body) => Buffer.concat([Buffer.from(chunk(body).toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), lastChunk]),
]

const lineEnds = ['\n', '\r', '\r\r\n', '\n\r', '\r\n ', '\r\n\t', '\r\n\r\n', '\0\r\n', ' \r\n', '\x0b\r\n', '\u0085']

export const mutations: Record<string, Mutation> = {
  flip: (bytes, random) => {
    const mutated = Buffer.from(bytes)
    for (let times = random.integer(1, 6); times > 0; times -= 1) {
      const place = random.integer(0, Math.max(0, mutated.length - 1))
      mutated[place] = (mutated[place] ?? 0) ^ (1 << random.integer(0, 7))
    }
    return mutated
  },
  insert: (bytes, random) => {
    const place = anyPlace(random, bytes)
    return replaced(bytes, [place, place], anyBytes(random, random.integer(1, 24)))
  },
  'insert a sign': (bytes, random) => {
    const place = anyPlace(random, bytes)
    return replaced(bytes, [place, place], anyOf(random, signs))
  },
  delete: (bytes, random) => replaced(bytes, anyRange(random, bytes, 40), ''),
  duplicate: (bytes, random) => {
    const range = anyRange(random, bytes, 200)
    const part = bytes.subarray(...range)
    return replaced(bytes, range, Buffer.concat(Array.from({ length: random.integer(2, 4) }, () => part)))
  },
  overwrite: (bytes, random) => {
    const range = anyRange(random, bytes, 20)
    return replaced(bytes, range, anyBytes(random, range[1] - range[0]))
  },
  splice: (bytes, random, other) =>
    Buffer.concat([bytes.subarray(0, anyPlace(random, bytes)), other.subarray(anyPlace(random, other))]),
  truncate: (bytes, random) => bytes.subarray(0, anyPlace(random, bytes)),
  'repeat a header': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    const place = random.integer(0, lines.length - 1)
    const line = lines[place] ?? ''
    const again = random.pick([line, line.toLowerCase(), `${line}x`, line.replace(':', ' :')])
    return joined(lines.toSpliced(random.integer(0, lines.length), 0, again), body)
  },
  'add a header': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    return joined(lines.toSpliced(random.integer(1, lines.length), 0, anyOf(random, naughtyHeaders)), body)
  },
  'drop a header': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    return joined(lines.toSpliced(random.integer(0, lines.length - 1), 1), body)
  },
  'many headers': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    const many = Array.from({ length: anyOf(random, [50, 999, 1_001, 3_000]) }, (_, place) => `x${place}: y`)
    return joined([...lines, ...many], body)
  },
  'huge value': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    const filler = anyOf(random, ['x', ' ', '"', '\\', '%00', 'é', '[', '{"a":'])
      .repeat(anySize(random))
      .slice(0, 1_200_000)
    const place = random.integer(0, lines.length - 1)
    if (random.chance(0.5)) return joined(lines.with(place, `${lines[place]}${filler.slice(0, 70_000)}`), body)
    const at = random.integer(0, body.length)
    return withBody(lines, replaced(body, [at, at], filler))
  },
  'line end': (bytes, random) => {
    const text = bytes.toString('latin1')
    const ends = [...text.matchAll(/\r\n/g)].map(({ index }) => index)
    if (ends.length === 0) return bytes
    if (random.chance(0.1)) return Buffer.from(text.replaceAll('\r\n', anyOf(random, lineEnds)), 'latin1')
    const place = anyOf(random, ends)
    return replaced(bytes, [place, place + 2], anyOf(random, lineEnds))
  },
  'start line': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    return joined(lines.with(0, anyOf(random, startLines)(lines[0] ?? '')), body)
  },
  length: (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    return joined([...lines.filter((line) => !isLength(line)), `Content-Length: ${anyOf(random, lengths)(body)}`], body)
  },
  chunked: (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    const others = random.chance(0.9) ? lines.filter((line) => !isLength(line)) : lines
    return joined([...others, 'Transfer-Encoding: chunked'], anyOf(random, chunkings)(body, random))
  },
  'naughty text': (bytes, random) => {
    const { lines, body } = partsOf(bytes)
    const text = Buffer.from(anyOf(random, random.chance(0.7) ? naughtyTexts : naughtyNumbers))
    const words = [...body.toString('latin1').matchAll(/"[^"]*"|\d+/g)]
    if (words.length === 0) return joined(lines, text)
    const { index, 0: word } = anyOf(random, words)
    const quoted = random.chance(0.7) ? Buffer.from(JSON.stringify(text.toString())) : text
    return withBody(lines, replaced(body, [index, index + word.length], quoted))
  },
}

const mutationNames = Object.keys(mutations)

export type Mutated = { bytes: Buffer; names: string[] }

export function mutate(bytes: Buffer, random: Random, other: Buffer): Mutated {
  const names = Array.from({ length: random.integer(1, 3) }, () => anyOf(random, mutationNames))
  const mutated = names.reduce((so, name) => (mutations[name] as Mutation)(so, random, other), bytes)
  return { bytes: mutated, names }
}
