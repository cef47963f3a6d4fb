// How a connection is closed: never at once. Closed with bytes of the sender on their way, the system would discard what the
// sender has not read yet, possibly the answer to work that was done.
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** How long a client that is still sending has to read its answer. */
const closeWithinMs = 1_000

/** How much of a refused body is read, so that a client that is still sending gets its answer. */
const maxDrainedBytes = 1024 * 1024

/** After this answer and those before it. */
export function closeAfter({ raw: response }: FastifyReply, socket: Duplex): void {
  if (response.writableFinished) closeSoon(socket)
  else response.once('finish', () => closeSoon(socket))
}

/** Sends the last text and reads on, so that the sender can finish. */
export function closeSoon(socket: Duplex, lastText = ''): void {
  socket.resume()
  endSoon(socket, lastText)
}

/** The same without reading on. */
export function endSoon(socket: Duplex, lastText = ''): void {
  if (!socket.writableEnded) socket.end(lastText)
  const limit = setTimeout(() => socket.destroy(), closeWithinMs).unref()
  socket.once('close', () => clearTimeout(limit))
}

/** Node reads and drops the rest of an unwanted body without a limit; this is the limit. */
export function drain({ raw: request }: FastifyRequest, { raw: response }: FastifyReply): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (request.complete || (length ?? encoding) === undefined) return
  let drained = 0
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length
    if (drained <= maxDrainedBytes) return
    request.pause()
    // Not before the answer was sent.
    if (response.writableFinished) request.destroy()
    else response.once('finish', () => request.destroy())
  })
}
