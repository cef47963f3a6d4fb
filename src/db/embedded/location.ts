// Which user runs the embedded PostgreSQL, and where its binaries, its cluster and its socket are. PostgreSQL refuses to run as
// root, so for root another user runs it. That user may be unable to enter the clone (a home or `mktemp -d` directory has mode
// 700): then binaries and cluster are below /var/lib/prepaid-credits, and DATA_DIR/postgres.location points there. Those of a
// DATA_DIR in the temporary directory stay in it.
// Invariant: one DATA_DIR always leads to the same cluster, and an emptied DATA_DIR to a new one.
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  copyReadable,
  makeDirectory,
  moveUnlessThere,
  ownName,
  publish,
  readIfThere,
  removeAbandoned,
} from './files.ts'
import { socketPort } from './postmaster.ts'

/** Not /tmp, which is emptied when the machine restarts. */
const sharedBases = ['/var/lib', '/opt', '/srv', '/var/tmp']
/** After the one that is set, which may be in memory, where some machines execute nothing. */
const temporaryBases = ['/tmp', '/var/tmp']
const probeTimeoutMs = 10_000
/** The kernel's limit for the path of a socket, without the closing zero byte. */
const socketPathBytes = process.platform === 'darwin' ? 103 : 107

export type Runner = { uid: number; gid: number; name: string }

export type Location = {
  /** The user that runs the server; null: our own. */
  runner: Runner | null
  /** The directory that holds the cluster and its socket: DATA_DIR or a place the runner can reach. */
  home: string
  /** The cluster: complete if it exists, because one rename creates it. */
  dataDirectory: string
}

export function openDataDir(dataDir: string): string {
  const directory = resolve(dataDir)
  try {
    fs.mkdirSync(dirname(directory), { recursive: true })
    makeDirectory(directory, 0o700)
    fs.accessSync(directory, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
  } catch {
    throw new Error(`This user cannot use the data directory ${directory}: set DATA_DIR to another.`)
  }
  return fs.realpathSync(directory)
}

export function locate(dataDir: string): Location {
  const pointer = join(dataDir, 'postgres.location')
  const inside = { home: dataDir, dataDirectory: join(dataDir, 'postgres') }
  const elsewhere = readIfThere(pointer)
  const placed = elsewhere ? { home: elsewhere, dataDirectory: join(elsewhere, 'postgres') } : inside
  const owner = fs.statSync(placed.dataDirectory, { throwIfNoEntry: false })
  if (owner) return { ...placed, runner: runnerOf(owner, placed.dataDirectory) }

  const runner = process.getuid?.() === 0 ? serverUser() : null
  if (!elsewhere && (runner === null || letIn(runner, dataDir))) return { ...inside, runner }
  if (runner === null) throw new Error(`The data directory ${dataDir} was set up by root: run as root or set DATA_DIR.`)
  const home =
    elsewhere ?? publish(pointer, join(sharedPlace(runner, dataDir), 'clusters', randomBytes(8).toString('hex')))
  makeDirectory(dirname(home), 0o711)
  makeDirectory(home, 0o700)
  giveTo(runner, home)
  return { home, dataDirectory: join(home, 'postgres'), runner }
}

/** The directory of initdb and postgres, which the runner can execute. */
export function provideBinaries(runner: Runner | null, dataDir: string, packageDirectory: string): string {
  const native = join(packageDirectory, 'native')
  if (runner === null || runs(runner, native) === null) return join(native, 'bin')
  const { version } = JSON.parse(fs.readFileSync(join(packageDirectory, 'package.json'), 'utf8'))
  const faults: string[] = []
  for (const place of sharedPlaces(runner, dataDir)) {
    const copy = join(place, `postgres-${version}`)
    if (!fs.existsSync(copy)) {
      removeAbandoned(place, `postgres-${version}.copy-`)
      const unfinished = join(place, `postgres-${version}.copy-${ownName()}`)
      copyReadable(native, unfinished)
      moveUnlessThere(unfinished, copy)
    }
    const fault = runs(runner, copy)
    if (fault === null) return join(copy, 'bin')
    faults.push(`in ${copy}: ${fault}`)
  }
  if (faults.length === 0) throw noPlace(runner, dataDir)
  throw new Error(`PostgreSQL does not run as user ${runner.name}, ${faults.join('; ')}`)
}

/** Next to the cluster, or in a directory with a short path if that one would not fit into a socket address. */
export function openSocketDirectory({ home, dataDirectory, runner }: Location): string {
  // The cluster's identifier (the first bytes of pg_control) is part of the name, so that a new cluster does not find the socket
  // of a deleted one whose server is still stopping.
  const identifier = fs.readFileSync(join(dataDirectory, 'global/pg_control')).subarray(0, 8)
  const name = createHash('sha256').update(dataDirectory).update(identifier).digest('hex').slice(0, 16)
  const places = [join(home, 'postgres-socket'), join(tmpdir(), `credits-${name}`), `/tmp/credits-${name}`]
  for (const place of places) {
    if (Buffer.byteLength(`${place}/.s.PGSQL.${socketPort}`) > socketPathBytes) continue
    makeDirectory(place, 0o700)
    const found = fs.lstatSync(place)
    const self = process.getuid?.()
    if (!found.isDirectory() || (found.uid !== self && found.uid !== runner?.uid)) {
      throw new Error(`The directory for the database socket, ${place}, belongs to another user: remove it.`)
    }
    fs.chmodSync(place, 0o700)
    giveTo(runner, place)
    if (runner === null || shell(runner, 'cd "$0"', place)) return place
  }
  throw new Error(`No directory is short enough for the database socket of ${home}: set a shorter DATA_DIR.`)
}

export function giveTo(runner: Runner | null, path: string): void {
  if (runner) fs.lchownSync(path, runner.uid, runner.gid)
}

/** An existing cluster is run by its owner, so that `sudo` works after an earlier start without it. */
function runnerOf(owner: fs.Stats, dataDirectory: string): Runner | null {
  const self = process.getuid?.()
  if (self === undefined || owner.uid === self) {
    if (self === 0) throw new Error(`${dataDirectory} belongs to root, as whom PostgreSQL does not run: chown it back.`)
    return null
  }
  const { uid, gid } = owner
  const name = users().find((user) => user.uid === uid)?.name ?? `${uid}`
  if (self === 0) return { uid, gid, name }
  throw new Error(`The cluster ${dataDirectory} belongs to user ${name}: run as that user or set another DATA_DIR.`)
}

function serverUser(): Runner {
  const user = users().find(({ name }) => name === 'postgres') ?? users().find(({ name }) => name === 'nobody')
  if (user) return user
  throw new Error('PostgreSQL does not run as root, and there is no user postgres or nobody: run as another user.')
}

function users(): Runner[] {
  const lines = fs.readFileSync('/etc/passwd', 'utf8').split('\n')
  return lines.map((line) => {
    const [name = '', , uid, gid] = line.split(':')
    return { name, uid: Number(uid), gid: Number(gid) }
  })
}

/** The runner has to enter DATA_DIR without reading it: group access to enter, where it was open to root only. */
function letIn(runner: Runner, dataDir: string): boolean {
  const before = fs.statSync(dataDir)
  const closed = before.uid === 0 && (before.mode & 0o077) === 0
  if (closed) {
    fs.chownSync(dataDir, 0, runner.gid)
    fs.chmodSync(dataDir, 0o710)
  }
  if (isUsable(runner, dataDir)) return true
  if (closed) {
    fs.chmodSync(dataDir, before.mode & 0o7777)
    fs.chownSync(dataDir, 0, before.gid)
  }
  return false
}

/** Where files of this DATA_DIR may be instead, in order of preference. */
export function basesFor(dataDir: string): string[] {
  const temporary = fs.existsSync(tmpdir()) ? fs.realpathSync(tmpdir()) : '/tmp'
  return dataDir.startsWith(`${temporary}/`) ? [temporary, ...temporaryBases] : sharedBases
}

function sharedPlace(runner: Runner, dataDir: string): string {
  for (const place of sharedPlaces(runner, dataDir)) return place
  throw noPlace(runner, dataDir)
}

function* sharedPlaces(runner: Runner, dataDir: string): Generator<string> {
  for (const base of basesFor(dataDir)) {
    const place = join(base, 'prepaid-credits')
    try {
      makeDirectory(place, 0o755)
      const found = fs.lstatSync(place)
      // Every user can write to /var/tmp: a directory of our name may belong to another user.
      if (!found.isDirectory() || found.uid !== 0) continue
      fs.chmodSync(place, 0o755)
      if (!isUsable(runner, place)) continue
    } catch {
      // Missing or read-only: the next one.
      continue
    }
    yield place
  }
}

function noPlace(runner: Runner, dataDir: string): Error {
  return new Error(
    `PostgreSQL has to run as user ${runner.name}, who cannot enter this directory, and none of ` +
      `${basesFor(dataDir).join(', ')} can be written instead: run as another user than root, or set DATABASE_URL.`,
  )
}

/** By trying it as that user: modes do not show access lists, mounts and mapped users. */
function isUsable(runner: Runner, directory: string): boolean {
  const probe = join(directory, `.probe-${ownName()}`)
  try {
    fs.mkdirSync(probe, { mode: 0o700 })
    giveTo(runner, probe)
    return shell(runner, 'cd "$0" && : > file', probe)
  } catch {
    return false
  } finally {
    fs.rmSync(probe, { recursive: true, force: true })
  }
}

function shell({ uid, gid }: Runner, script: string, argument: string): boolean {
  const options = { uid, gid, cwd: '/', stdio: 'ignore', timeout: probeTimeoutMs } as const
  return spawnSync('/bin/sh', ['-c', script, argument], options).status === 0
}

/** Null if it runs, or the error. */
function runs({ uid, gid }: Runner, native: string): string | null {
  const options = { uid, gid, cwd: '/', encoding: 'utf8', timeout: probeTimeoutMs } as const
  const { status, stderr, error } = spawnSync(join(native, 'bin/postgres'), ['--version'], options)
  return status === 0 ? null : (error?.message ?? stderr.trim())
}
