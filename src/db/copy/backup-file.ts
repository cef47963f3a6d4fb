// A backup is one gzip file: a JSON line with its header, then each table in PostgreSQL's text format between a JSON line and
// `\.`, and a last JSON line with the sums. It is written under a temporary name and renamed when it is complete and on disk. A
// truncated or changed file does not match its sums.
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGunzip, createGzip } from 'node:zlib'
import { ownName, removeAbandoned, synchronise } from '../embedded/files.ts'
import type { Applied } from '../migrate.ts'
import { type OnRows, type Source, summing, type TableRows, type TableSum } from './source.ts'

const format = 'prepaid-credits backup 1'

export type Header = {
  format: typeof format
  madeAt: string
  migrations: Applied[]
  totalRows: number
  secretChecks: SecretChecks
}

/** Texts that only the secrets of that service can unseal, to check whether another service has them. */
export type SecretChecks = string[] | 'not known'

export type Written = { bytes: number; sums: TableSum[] }

type Writing = {
  file: string
  source: Source
  secretChecks: SecretChecks
  onProgress(done: number, total: number): void
  signal: AbortSignal
}

export async function writeBackup({ file, source, secretChecks, onProgress, signal }: Writing): Promise<Written> {
  requireNew(file)
  removeAbandoned(dirname(file), `${basename(file)}.partial-`)
  const partial = join(dirname(file), `${basename(file)}.partial-${ownName()}`)
  const { migrations, totalRows } = source
  const header: Header = { format, madeAt: new Date().toISOString(), migrations, totalRows, secretChecks }
  const sums: TableSum[] = []
  let done = 0
  const onRows = (rows: number) => {
    done += rows
    onProgress(done, totalRows)
  }
  try {
    await pipeline(
      backupText(source, header, sums, onRows),
      createGzip({ level: constants.Z_BEST_SPEED }),
      fs.createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
      { signal },
    )
    publishAs(partial, file)
    synchronise(dirname(file))
  } finally {
    fs.rmSync(partial, { force: true })
  }
  return { bytes: fs.statSync(file).size, sums }
}

export function requireNew(file: string): void {
  if (fs.existsSync(file)) throw isThere(file)
}

const isThere = (file: string) => new Error(`${file} exists already: choose another file name.`)

/** One atomic step that fails when the name exists by now; a rename would overwrite that file. */
function publishAs(partial: string, file: string): void {
  try {
    fs.linkSync(partial, file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw isThere(file)
    if (!noHardLinks.includes(code)) throw error
    // Reserves the name with an empty file of our own, which may be overwritten.
    fs.closeSync(fs.openSync(file, 'wx', 0o600))
    fs.renameSync(partial, file)
  }
}

/** For example on FAT file systems. */
const noHardLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

const endOfTable = Buffer.from('\\.\n')

async function* backupText(source: Source, header: Header, sums: TableSum[], onRows: OnRows): AsyncGenerator<Buffer> {
  const line = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
  yield line(header)
  for await (const each of source.tables()) {
    yield line({ table: each.table, columns: each.columns })
    const { sum, chunks } = summing(each, onRows)
    yield* chunks
    yield endOfTable
    sums.push(sum)
  }
  yield line({ sums })
}

/** Reads the whole file and compares it with its sums; loading reads it again. */
export async function checkBackup(file: string, onProgress: (done: number, total: number) => void) {
  const { header, source, close } = await openBackup(file)
  try {
    let done = 0
    for await (const each of source.tables()) {
      const { chunks } = summing(each, (rows) => {
        done += rows
        onProgress(done, source.totalRows)
      })
      for await (const _ of chunks);
    }
    return header
  } finally {
    close()
  }
}

/** Its tables, read to the end, are what was written: anything else throws. */
export async function openBackup(file: string): Promise<{ header: Header; source: Source; close(): void }> {
  const input = fs.createReadStream(file)
  const gunzip = createGunzip()
  pipeline(input, gunzip).catch(() => undefined)
  const damaged = (error: unknown) => {
    const { code, message } = error as { code?: string; message: string }
    if (code && !code.startsWith('Z_')) return new Error(`${file} cannot be read: ${message}.`)
    return new Error(`${file} is not a complete backup (${message}): nothing was changed. Use another one.`)
  }
  async function* guarded(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    try {
      yield* chunks
    } catch (error) {
      throw damaged(error)
    }
  }
  const text = createText(gunzip)
  const close = () => input.destroy()
  try {
    const header = (await text.line()) as Header
    if (header.format !== format) throw new Error('it has no header of a backup')
    async function* tables(): AsyncGenerator<TableRows> {
      const sums: TableSum[] = []
      try {
        for (;;) {
          const next = (await text.line()) as Partial<TableRows> & { sums?: TableSum[] }
          if (next.sums) return await requireEqual(sums, next.sums, text)
          const { table = '', columns = [] } = next
          const { sum, chunks } = summing({ table, columns, rows: text.rows() })
          yield { table, columns, rows: guarded(chunks) }
          sums.push(sum)
        }
      } catch (error) {
        throw damaged(error)
      }
    }
    return { header, source: { migrations: header.migrations, totalRows: header.totalRows, tables }, close }
  } catch (error) {
    close()
    throw damaged(error)
  }
}

async function requireEqual(found: TableSum[], written: TableSum[], text: Text): Promise<void> {
  await text.end()
  const different = written.find(({ sha256 }, index) => found[index]?.sha256 !== sha256)
  if (different) throw new Error(`the rows of ${different.table} do not match their sum`)
  if (found.length !== written.length) throw new Error('tables are missing')
}

type Text = ReturnType<typeof createText>

/** Longer lines are not from a backup. */
const longestLineBytes = 1_000_000

/** Reads lines of JSON, and between them rows up to the line that ends them. */
function createText(stream: AsyncIterable<Buffer>) {
  const chunks = stream[Symbol.asyncIterator]()
  let held = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { done, value } = await chunks.next()
    if (done) throw new Error('it ends too early')
    held = Buffer.concat([held, value])
  }

  async function line(): Promise<object> {
    for (let at = held.indexOf('\n'); ; at = held.indexOf('\n')) {
      if (at === -1 && held.length > longestLineBytes) throw new Error('a line is too long')
      if (at === -1) await more()
      else {
        const text = held.toString('utf8', 0, at)
        held = held.subarray(at + 1)
        return JSON.parse(text)
      }
    }
  }

  /** A backslash within a row is doubled, so only the end of a table is a line of these two characters. */
  async function* rows(): AsyncGenerator<Buffer> {
    const end = Buffer.from('\n\\.\n')
    held = Buffer.concat([Buffer.from('\n'), held])
    let first = true
    const rowsUpTo = (end: number) => {
      const part = held.subarray(first ? 1 : 0, end)
      first = false
      return part
    }
    for (;;) {
      const at = held.indexOf(end)
      if (at !== -1) {
        const last = rowsUpTo(at + 1)
        held = held.subarray(at + end.length)
        if (last.length > 0) yield last
        return
      }
      // The marker may have begun within the last three bytes.
      const safe = held.length - (end.length - 1)
      if (safe > 1) {
        const part = rowsUpTo(safe)
        held = held.subarray(safe)
        yield part
      }
      await more()
    }
  }

  return {
    line,
    rows,
    async end(): Promise<void> {
      const { done } = await chunks.next()
      if (!done || held.length > 0) throw new Error('something follows its end')
    },
  }
}
