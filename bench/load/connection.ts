// One keep-alive connection with one request under way. It parses only status, length and body of an answer: a load
// generator that works as hard as the service would be measured in its place. So this is not the client of
// harness/raw-http.ts.
import net from 'node:net'

export type Answer = { status: number; head: string; body: string }

export type Connection = {
  send(request: string, onAnswer: (answer: Answer) => void): void
  close(): void
}

const endOfHead = '\r\n\r\n'

export function connect(port: number, onLost: (error: Error) => void): Connection {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  let waiting: ((answer: Answer) => void) | undefined
  let received = ''
  let isClosed = false

  function lose(error: Error): void {
    if (isClosed) return
    isClosed = true
    socket.destroy()
    onLost(error)
  }

  // Bytes as characters: lengths are counted in bytes, and only ASCII is parsed.
  socket.setEncoding('latin1')
  socket.on('error', lose)
  socket.on('close', () => lose(new Error('the connection was closed')))
  socket.on('data', (text: string) => {
    received = received === '' ? text : received + text
    const answer = readAnswer(received)
    if (!answer || !waiting) return
    received = ''
    const onAnswer = waiting
    waiting = undefined
    onAnswer(answer)
  })

  return {
    send(request, onAnswer) {
      waiting = onAnswer
      socket.write(request, 'latin1')
    },
    close() {
      isClosed = true
      socket.destroy()
    },
  }
}

/** Undefined until it is complete. Every answer of the service has a Content-Length. */
function readAnswer(text: string): Answer | undefined {
  const end = text.indexOf(endOfHead)
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const [, length = ''] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
  const body = text.slice(end + endOfHead.length)
  if (length === '') throw new Error(`an answer without a length: ${head}`)
  return body.length < Number(length) ? undefined : { status: Number(text.slice(9, 12)), head, body }
}
