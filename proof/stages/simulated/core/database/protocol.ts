// Messages of PostgreSQL's protocol: where they end, what they are about, and those that the simulation sends itself.

export const protocolVersion = 196_608
const code = (letter: string) => letter.charCodeAt(0)
/** The types of messages of PostgreSQL's protocol that are looked at. */
const [readyForQuery, sync, bind, parse] = [code('Z'), code('S'), code('B'), code('P')]
export const [query, terminate] = [code('Q'), code('X')]

export function queryMessage(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const message = Buffer.alloc(length + 6)
  message[0] = query
  message.writeInt32BE(length + 5, 1)
  message.write(text, 5)
  return message
}

const clockStatement = 'simulation.clock'
export const prepareClock = `prepare "${clockStatement}" (text) as select set_config('simulation.now', $1, false)`

/** Bind and Execute: the answer waits for the Sync of the client's own statement, so it is one exchange. */
export function clockMessages(text: string): Buffer {
  const body = Buffer.alloc(1 + clockStatement.length + 1 + 2 + 2 + 4 + text.length + 2)
  body.write(clockStatement, 1)
  let place = clockStatement.length + 4
  body.writeInt16BE(1, place)
  body.writeInt32BE(text.length, place + 2)
  place += 6 + body.write(text, place + 6)
  const head = Buffer.from([bind, 0, 0, 0, 0])
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body, executeAll])
}

const executeAll = Buffer.from([code('E'), 0, 0, 0, 9, 0, 0, 0, 0, 0])

/** An error by which the server ends a session. */
export function fatalError(sqlstate: string, message: string): Buffer {
  const fields = `SFATAL\0VFATAL\0C${sqlstate}\0M${message}\0\0`
  const head = Buffer.from([code('E'), 0, 0, 0, 0])
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, Buffer.from(fields)])
}

/** Fails in the server itself, so that a transaction around it is rolled back as by any other error. */
export function failingMessage(sqlstate: string, message: string): Buffer {
  return queryMessage(`do $$ begin raise exception using errcode = '${sqlstate}', message = '${message}'; end $$`)
}

/** What is left for the client. In a transaction that has failed, setting the clock fails as its own statement would. */
export function withoutClock(answer: Buffer, isPlain: boolean): Buffer {
  if (isPlain) return answer.subarray(endOf(answer, 1))
  let place = 0
  // BindComplete, DataRow, CommandComplete.
  for (const type of ['2', 'D', 'C']) {
    if (answer[place] !== code(type)) return answer
    place += 1 + answer.readInt32BE(place + 1)
  }
  return answer.subarray(place)
}

/** The end of the n-th ReadyForQuery; undefined while it has not come. */
export function endOf(bytes: Buffer, readies: number): number | undefined {
  let place = 0
  let left = readies
  while (place + 5 <= bytes.length) {
    const end = place + 1 + bytes.readInt32BE(place + 1)
    if (end > bytes.length) return undefined
    if (bytes[place] === readyForQuery) left -= 1
    place = end
    if (left === 0) return place
  }
  return undefined
}

/** Messages of a client up to the one that asks for an answer. */
export function unitLength(bytes: Buffer): number | undefined {
  let place = 0
  while (place + 5 <= bytes.length) {
    const type = bytes[place]
    const end = place + 1 + bytes.readInt32BE(place + 1)
    if (end > bytes.length) return undefined
    if (type === sync || type === query || type === terminate) return end
    place = end
  }
  return undefined
}

/** The name of a prepared statement, or the beginning of another's text. */
export function labelOf(unit: Buffer): string {
  let place = 0
  let label = ''
  while (place + 5 <= unit.length) {
    const end = place + 1 + unit.readInt32BE(place + 1)
    const body = unit.subarray(place + 5, end)
    if (unit[place] === query) return oneLine(body.toString('utf8'))
    const texts = () => body.toString('latin1').split('\0', 2)
    if (unit[place] === parse) label = texts()[0] || oneLine(texts()[1] ?? '')
    if (unit[place] === bind && label === '') label = texts()[1] ?? ''
    place = end
  }
  return label
}

/** The text of a statement, and the name under which it is prepared; undefined where it was prepared before. */
export function textOf(unit: Buffer): { name: string; text: string } | undefined {
  let place = 0
  while (place + 5 <= unit.length) {
    const end = place + 1 + unit.readInt32BE(place + 1)
    const body = unit.subarray(place + 5, end).toString('utf8')
    if (unit[place] === query) return { name: '', text: body }
    if (unit[place] === parse) {
      const [name = '', text = ''] = body.split('\0', 2)
      return { name, text }
    }
    place = end
  }
  return undefined
}

const oneLine = (text: string) => text.replace(/\0/g, '').replace(/\s+/g, ' ').slice(0, 60)

const contents = new Set(['D', 'C', 'E'].map(code))

/** Rows, tags and errors: what the descriptions contain (object ids) depends on the server, not on the run. */
export function contentOf(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  let place = 0
  while (place + 5 <= answer.length) {
    const end = place + 1 + answer.readInt32BE(place + 1)
    if (contents.has(answer[place] as number)) parts.push(answer.subarray(place, end))
    place = end
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}
