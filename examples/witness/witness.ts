// A witness of transparency logs (C2SP tlog-witness): it cosigns a checkpoint when that continues the history it has seen before,
// and refuses any other. It runs at another party than the log. Its key and the newest checkpoint of each log are in one file,
// which is on the disk before a cosignature is sent: a witness that forgot could cosign two histories.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import fs from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import {
  isConsistent,
  isHash,
  isSize,
  readCheckpoint,
  readLogKey,
  type Signature,
  sha256,
  witnessKeyOf,
} from './checkpoint.ts'

/** `logs`: the verifier keys of the logs that it cosigns; while a log rotates its key, the old and the new one. */
export type WitnessOptions = {
  name: string
  logs: string[]
  stateFile: string
  host?: string
  port: number
  /** Called with two checkpoints of one size that the log has signed with two roots: together they are the evidence. */
  onSplit?: (cosigned: string, refused: string) => void
}
export type RunningWitness = { url: string; vkey: string; close(): Promise<void> }

type Seen = { size: string; root: string; note: string }
type State = { privateKey: string; logs: Record<string, Seen> }
type Answer = { status: number; text: string; type?: string }

/** 63 hashes and a checkpoint with some signatures. */
const bodyLimitBytes = 16_384

export async function startWitness(options: WitnessOptions): Promise<RunningWitness> {
  const { name, logs, stateFile, host = '127.0.0.1', port, onSplit } = options
  const keys = logs.map(readLogKey)
  let state = readState(stateFile)
  const privateKey = createPrivateKey(state.privateKey)
  const { keyId, vkey } = witnessKeyOf(name, privateKey)

  /** From here to the end of the file write nothing else runs, so two requests cannot both continue one checkpoint. */
  function addCheckpoint(body: string): Answer {
    const end = body.indexOf('\n\n')
    const [oldLine = '', ...hashes] = body.slice(0, end).split('\n')
    const old = oldLine.replace(/^old /, '')
    const checkpoint = readCheckpoint(body.slice(end + 2))
    const isRead = end > 0 && oldLine !== old && isSize(old) && hashes.length <= 63 && hashes.every(isHash)
    if (!isRead || !checkpoint) return { status: 400, text: 'this is not a request of add-checkpoint' }
    const { origin, size, root, text, signatures } = checkpoint
    const known = keys.filter((key) => key.name === origin)
    if (known.length === 0) return { status: 404, text: 'this log is not known here' }
    const keyOf = ({ name: by, bytes }: Signature) =>
      known.find((key) => by === origin && key.keyId.equals(bytes.subarray(0, 4)))?.key
    const byLog = signatures.filter(keyOf)
    const isValid = (each: Signature) =>
      verify(null, Buffer.from(text), keyOf(each) as KeyObject, each.bytes.subarray(4))
    if (byLog.length === 0 || !byLog.every(isValid)) return { status: 403, text: 'no valid signature of the log' }
    if (BigInt(old) > size) return { status: 400, text: 'the old size is more than the size of the checkpoint' }
    const seen = state.logs[origin] ?? { size: '0', root: sha256().toString('base64'), note: '' }
    if (old !== seen.size) return { status: 409, text: seen.size, type: 'text/x.tlog.size' }
    const seenRoot = Buffer.from(seen.root, 'base64')
    if (`${size}` === seen.size && !root.equals(seenRoot)) {
      onSplit?.(seen.note, body.slice(end + 2))
      return { status: 422, text: 'two histories: the checkpoint that was cosigned before has another root' }
    }
    const proof = hashes.map((hash) => Buffer.from(hash, 'base64'))
    // Anyone can send a wrong proof beside a right checkpoint: that shows nothing about the log.
    if (!isConsistent(BigInt(old), size, seenRoot, root, proof)) return { status: 422, text: 'the proof is wrong' }
    const line = cosignatureOf(text)
    const note = `${text}\n${byLog.map((each) => each.line).join('')}${line}`
    const logs = { ...state.logs, [origin]: { size: `${size}`, root: root.toString('base64'), note } }
    state = writeState(stateFile, { ...state, logs })
    return { status: 200, text: line.trimEnd() }
  }

  function cosignatureOf(text: string): string {
    const seconds = Math.floor(Date.now() / 1000)
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(BigInt(seconds))
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), privateKey)
    return `— ${name} ${Buffer.concat([keyId, time, signature]).toString('base64')}\n`
  }

  function newestOf(path: string): Answer {
    const seen = Object.entries(state.logs).find(([origin]) => path === `/${sha256(origin).toString('hex')}/checkpoint`)
    return seen ? { status: 200, text: seen[1].note.trimEnd() } : { status: 404, text: 'there is nothing here' }
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    if (request.method !== 'POST' || request.url !== '/add-checkpoint') return newestOf(request.url ?? '')
    let body = Buffer.alloc(0)
    for await (const chunk of request) {
      body = Buffer.concat([body, chunk])
      if (body.length > bodyLimitBytes) return { status: 413, text: 'the request is too long' }
    }
    return addCheckpoint(`${body}`)
  }

  const server = createServer(async (request, response) => {
    const failed = ({ message }: Error): Answer => ({ status: 500, text: message })
    const { status, text, type = 'text/plain; charset=utf-8' } = await answer(request).catch(failed)
    response.writeHead(status, { 'content-type': type }).end(`${text}\n`)
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    vkey,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

function readState(file: string): State {
  if (fs.existsSync(file)) return JSON.parse(fs.readFileSync(file, 'utf8'))
  const { privateKey } = generateKeyPairSync('ed25519')
  return writeState(file, { privateKey: `${privateKey.export({ format: 'pem', type: 'pkcs8' })}`, logs: {} })
}

function writeState(file: string, state: State): State {
  fs.writeFileSync(`${file}.new`, JSON.stringify(state, null, 2), { mode: 0o600, flush: true })
  fs.renameSync(`${file}.new`, file)
  // After a power failure the name may be that of the old file, until the directory is on the disk, too.
  const directory = fs.openSync(dirname(file), 'r')
  fs.fsyncSync(directory)
  fs.closeSync(directory)
  return state
}
