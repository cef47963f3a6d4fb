// A minimal pooler between a client and PostgreSQL: it accepts every client without a password, and forwards its bytes to a
// connection of its own to the server. In transaction mode that connection returns to the pool when the server reports that
// no transaction is open. Startup parameters of a client are ignored or refused; the limits of the server connections are
// configured here.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import pg from 'pg'
import { type Cleaner, databaseUrl, defer } from '../../../harness/processes.ts'
import type { ServerConnection } from './places.ts'

export type PoolerOptions = {
  mode: 'session' | 'transaction'
  /** A startup parameter that is refused. */
  refuses?: string
  /** The limits of every server connection. */
  limits?: { statement_timeout: number; lock_timeout: number; idle_in_transaction_session_timeout: number }
}

const readyForQuery = 'Z'.charCodeAt(0)
const terminate = 'X'.charCodeAt(0)
const idle = 'I'.charCodeAt(0)

/** AuthenticationOk, then ReadyForQuery outside a transaction. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, readyForQuery, 0, 0, 0, 5, idle])

/** An ErrorResponse: severity, code and message. */
function refusalOf(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`)
  const head = Buffer.from([0x45, 0, 0, 0, 0])
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}

type ServerSide = { socket: Socket; client: Socket | undefined }

/** Returns the URL of the database behind the pooler. */
export async function startPooler(t: Cleaner, connection: ServerConnection, options: PoolerOptions): Promise<string> {
  const { mode, limits, refuses } = options
  const free: ServerSide[] = []
  const logins: pg.Client[] = []

  /** A connection that pg has logged in; afterwards its bytes are read and written here. */
  async function connectToServer(): Promise<ServerSide> {
    const login = new pg.Client({ ...connection, ...limits })
    login.on('error', () => undefined)
    await login.connect()
    logins.push(login)
    const { stream: socket } = (login as unknown as { connection: { stream: Socket } }).connection
    const side: ServerSide = { socket, client: undefined }
    socket.removeAllListeners('data')
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      const { client } = side
      rest = Buffer.concat([rest, chunk])
      let isIdle = false
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const length = 1 + rest.readInt32BE(1)
        isIdle = rest[0] === readyForQuery && rest[5] === idle
        rest = rest.subarray(length)
      }
      if (isIdle && mode === 'transaction') release(side)
      client?.write(chunk)
    })
    return side
  }

  function release(side: ServerSide): void {
    side.client = undefined
    if (!free.includes(side)) free.push(side)
  }

  async function serverFor(client: Socket): Promise<ServerSide> {
    const side = free.pop() ?? (await connectToServer())
    side.client = client
    return side
  }

  const server = createServer((client) => {
    let started = false
    let work = Promise.resolve()
    let side: ServerSide | undefined
    client.on('error', () => undefined)
    client.on('data', (chunk: Buffer) => {
      if (!started) {
        started = true
        const isRefused = refuses !== undefined && chunk.includes(refuses)
        if (isRefused) client.end(refusalOf(`unsupported startup parameter: ${refuses}`))
        else client.write(welcome)
        return
      }
      if (chunk[0] === terminate) return
      work = work.then(async () => {
        if (side?.client !== client) side = await serverFor(client)
        side.socket.write(chunk)
      })
    })
    client.on('close', () => {
      if (side?.client === client) release(side)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(t, async () => {
    server.close()
    for (const login of logins) await login.end()
  })
  const { port } = server.address() as { port: number }
  return databaseUrl({ ...connection, host: '127.0.0.1', port })
}
