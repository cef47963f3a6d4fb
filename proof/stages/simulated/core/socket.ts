// A socket in memory with the surface of net.Socket that pg, undici, node:http and Fastify use. It carries bytes to the network,
// which decides when and whether they arrive.
import { Duplex } from 'node:stream'
import { type Life, runIn } from './processes.ts'

/** What the network gives back for an open connection. */
export type Line = {
  /** What was written since the last event, in one piece. */
  send(bytes: Buffer): void
  /** No more will come. */
  end(): void
  /** The socket is closed; `isReset`: at once, without the end that a closed one sends. */
  close(isReset: boolean): void
}

type Callback = (error?: Error | null) => void

const firstLocalPort = 40_000
const localPorts = 20_000

export class SimulatedSocket extends Duplex {
  connecting = false
  readonly remoteAddress = '127.0.0.1'
  readonly remoteFamily = 'IPv4'
  readonly localAddress = '127.0.0.1'
  remotePort = 0
  localPort = 0
  /** The number of its connection. */
  number = 0
  bytesRead = 0
  bytesWritten = 0
  timeout = 0
  line: Line | undefined
  readonly life: Life
  readonly #connectTo: (socket: SimulatedSocket, port: number) => void
  /** Written before the connection is there. */
  #early: Callback | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #isReset = false

  constructor(life: Life, connectTo: (socket: SimulatedSocket, port: number) => void, allowHalfOpen = false) {
    super({ allowHalfOpen, autoDestroy: true, emitClose: true })
    this.life = life
    this.#connectTo = connectTo
    life.open.add(this)
    this.on('end', () => this.#touch())
  }

  get pending(): boolean {
    return this.line === undefined
  }
  get readyState(): string {
    if (this.connecting) return 'opening'
    return this.readable && this.writable ? 'open' : this.writable ? 'writeOnly' : this.readable ? 'readOnly' : 'closed'
  }

  connect(...values: unknown[]): this {
    const [first] = values
    const port = typeof first === 'object' && first !== null ? (first as { port?: number }).port : first
    const onConnect = values.find((value) => typeof value === 'function') as (() => void) | undefined
    if (onConnect) this.once('connect', onConnect)
    this.connecting = true
    this.remotePort = Number(port)
    this.#connectTo(this, Number(port))
    return this
  }

  /** Called by the network, in this socket's process. */
  opened(line: Line, number: number): void {
    if (this.destroyed) {
      line.close(false)
      return
    }
    this.line = line
    this.number = number
    this.localPort = firstLocalPort + (number % localPorts)
    this.connecting = false
    this.#touch()
    this.emit('connect')
    this.emit('ready')
    const early = this.#early
    this.#early = undefined
    early?.()
  }
  arrived(bytes: Buffer): void {
    this.bytesRead += bytes.length
    this.#touch()
    this.push(bytes)
  }
  ended(): void {
    this.push(null)
    // As a real socket does: the end is seen although nothing reads.
    if (this.readableLength === 0) this.read(0)
  }
  failed(error: Error): void {
    this.#isReset = true
    this.destroy(error)
  }

  /** The process is gone: nothing of this socket may run. */
  endByKill(): void {
    this.line?.close(this.life.process.timerDraws.chance(0.5))
    this.line = undefined
  }

  /** What arrives is pushed; there is nothing to ask for. */
  override _read(): undefined {
    return undefined
  }
  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Callback): void {
    this.#send([typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk], done)
  }
  override _writev(chunks: { chunk: Buffer | string; encoding: BufferEncoding }[], done: Callback): void {
    this.#send(
      chunks.map(({ chunk, encoding }) => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk)),
      done,
    )
  }
  #send(chunks: Buffer[], done: Callback): void {
    const { line } = this
    if (!line) {
      this.#early = () => this.#send(chunks, done)
      return
    }
    this.#touch()
    for (const chunk of chunks) {
      this.bytesWritten += chunk.length
      line.send(chunk)
    }
    done()
  }
  override _final(done: Callback): void {
    if (this.connecting) {
      this.#early = () => this._final(done)
      return
    }
    this.line?.end()
    done()
  }
  override _destroy(error: Error | null, done: Callback): void {
    clearTimeout(this.#idleTimer)
    this.connecting = false
    this.life.open.delete(this)
    this.line?.close(this.#isReset)
    this.line = undefined
    done(error)
  }

  setTimeout(timeoutMs: number, onTimeout?: () => void): this {
    this.timeout = timeoutMs
    if (onTimeout) {
      if (timeoutMs === 0) this.removeListener('timeout', onTimeout)
      else this.once('timeout', onTimeout)
    }
    this.#touch()
    return this
  }
  #touch(): void {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = undefined
    if (this.timeout === 0 || this.destroyed) return
    this.#idleTimer = runIn(this.life, () => setTimeout(() => this.emit('timeout'), this.timeout))
  }

  address(): object {
    return { address: this.localAddress, family: 'IPv4', port: this.localPort }
  }
  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
  resetAndDestroy(): this {
    this.#isReset = true
    return this.destroy()
  }
}
