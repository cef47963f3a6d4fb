// Which data a running service uses, as a note in the temporary directory of its user. A command that is about to use other
// data, because its shell lacks a setting of the service, finds the note and warns. Notes of dead processes are removed. A
// service on a free port (INTERNAL_PORT=0) leaves none: its caller gives commands the same settings anyway.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config, DatabaseConfig } from '../config.ts'
import { placeOf } from '../db/connect.ts'
import { isAlive } from '../db/embedded/postmaster.ts'

/** `startedAt`: of its process, since another one may get the same id. */
type Note = { root: string; data: string; startedAt: string | undefined }

/** Services and commands of another clone do not concern each other. */
const root = fileURLToPath(new URL('../..', import.meta.url))

/** To show and to compare: without user and password. */
function dataOf({ databaseUrl, dataDir }: Pick<DatabaseConfig, 'databaseUrl' | 'dataDir'>): string {
  return databaseUrl === undefined ? dataDir : placeOf(databaseUrl)
}

const notesDirectory = () => join(tmpdir(), `prepaid-credits-${process.getuid?.()}`)

/** Another user, who made the directory first, could leave false notes. */
function isOwn(directory: string): boolean {
  const { uid, mode } = fs.lstatSync(directory)
  return uid === process.getuid?.() && (mode & 0o077) === 0
}

/** In ticks since the system was started; undefined: a system without /proc, where the process id alone has to do. */
function processStart(pid: number): string | undefined {
  try {
    // The name of the program, in parentheses, may contain anything.
    return fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[19]
  } catch {
    return undefined
  }
}

/** Returns its removal. A service runs without a note where none can be written. */
export function writeRunningNote(config: Pick<Config, 'databaseUrl' | 'dataDir' | 'internalPort'>): () => void {
  if (config.internalPort === 0) return () => undefined
  try {
    const directory = notesDirectory()
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    if (!isOwn(directory)) return () => undefined
    const file = join(directory, `${process.pid}.json`)
    const note: Note = { root, data: dataOf(config), startedAt: processStart(process.pid) }
    fs.writeFileSync(file, JSON.stringify(note), { mode: 0o600 })
    return () => fs.rmSync(file, { force: true })
  } catch {
    return () => undefined
  }
}

/** A line for people when services of this clone run, and none of them uses the data of this command. */
export function warningOfOtherData(config: Pick<DatabaseConfig, 'databaseUrl' | 'dataDir'>): string | undefined {
  const data = dataOf(config)
  const running = readNotes()
  const [first] = running
  if (!first || running.some((note) => note.data === data)) return undefined
  return (
    `This command uses the data of ${data}, and the service that is running (process ${first.pid}) uses ` +
    `${first.data}. Set DATA_DIR or DATABASE_URL as for the service to use the same.`
  )
}

function readNotes(): (Note & { pid: number })[] {
  try {
    const directory = notesDirectory()
    if (!fs.existsSync(directory) || !isOwn(directory)) return []
    const pids = fs
      .readdirSync(directory)
      .flatMap((name) => (/^\d+\.json$/.test(name) ? Number.parseInt(name, 10) : []))
    const fileOf = (pid: number) => join(directory, `${pid}.json`)
    const noteOf = (pid: number) => ({ ...(JSON.parse(fs.readFileSync(fileOf(pid), 'utf8')) as Note), pid })
    const isRunning = (pid: number) => isAlive(pid) && processStart(pid) === noteOf(pid).startedAt
    const running = pids.filter(isRunning)
    for (const pid of pids) if (!running.includes(pid)) fs.rmSync(fileOf(pid), { force: true })
    return running.map(noteOf).filter((note) => note.root === root)
  } catch {
    return []
  }
}
