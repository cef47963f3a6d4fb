// The programs of the database cluster: PostgreSQL, Patroni, etcd and haproxy, from Debian's packages. Debian 12 ships Patroni
// 3.0.2, which loses acknowledged commits when its leader is frozen, so a newer one is unpacked beside it, from the next Debian.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { installPrograms, missingPrograms, type Program, unpackPackage } from '../../../harness/debian.ts'

export type Programs = {
  /** The directory of postgres, initdb and pg_rewind. */
  postgresBin: string
  etcd: string
  haproxy: string
  /** A library that changes the time that a process sees. */
  faketime: string
  /** The command without its arguments, what it needs in the environment, and its version. */
  patroni: { command: string[]; environment: Record<string, string>; version: string }
}

const debian: Record<keyof Programs, Program> = {
  postgresBin: { name: 'PostgreSQL', packages: ['postgresql-15'] },
  etcd: { name: 'etcd', packages: ['etcd-server'] },
  haproxy: { name: 'haproxy', packages: ['haproxy'] },
  faketime: { name: 'libfaketime', packages: ['libfaketime'] },
  patroni: { name: 'Patroni 3.0.3 or later', packages: ['patroni', 'python3-etcd'] },
}
const nextDebian = 'trixie'
/** Not below a test's own directory: it is fetched once for a machine. Only root can create it there. */
const unpackedIn = '/var/lib/prepaid-credits/patroni'
const modules = join(unpackedIn, 'usr/lib/python3/dist-packages')
/** The first version in which a leader that wakes up does not overwrite the lock of its successor. */
const safePatroni = [3, 0, 3]

export type PatroniChoice = 'safe' | 'packaged'

/** `packaged`: the Patroni of this Debian, whatever its version. */
export function findPrograms(choice: PatroniChoice = 'safe'): Programs {
  const found = look(choice)
  const { postgresBin, etcd, haproxy, faketime, patroni } = found
  if (postgresBin && etcd && haproxy && faketime && patroni) return { postgresBin, etcd, haproxy, faketime, patroni }
  throw missingPrograms(missingOf(found), [
    `where this Debian's Patroni is older, the one of ${nextDebian} in ${unpackedIn}`,
  ])
}

/** What is missing of it. */
export function installCluster(choice: PatroniChoice = 'safe'): void {
  const missing = missingOf(look(choice))
  if (missing.length > 0) installPrograms(missing)
  if (look(choice).patroni === undefined) unpackPackage('patroni', unpackedIn, nextDebian)
}

/** Each is undefined where there is none. */
function look(choice: PatroniChoice): { [Name in keyof Programs]: Programs[Name] | undefined } {
  return {
    postgresBin: findPostgres(),
    etcd: find('etcd'),
    haproxy: find('haproxy'),
    faketime: findFaketime(),
    patroni: findPatroni(choice),
  }
}

function missingOf(found: ReturnType<typeof look>): Program[] {
  return (Object.keys(debian) as (keyof Programs)[])
    .filter((name) => found[name] === undefined)
    .map((name) => debian[name])
}

function find(name: string): string | undefined {
  const found = spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${name}`], { encoding: 'utf8' })
  return found.stdout.trim() || undefined
}

function findPostgres(): string | undefined {
  const base = '/usr/lib/postgresql'
  const versions = existsSync(base) ? readdirSync(base).sort((one, other) => Number(other) - Number(one)) : []
  return versions.map((version) => join(base, version, 'bin')).find((bin) => existsSync(join(bin, 'pg_rewind')))
}

function findFaketime(): string | undefined {
  return globSync('/usr/lib/*/faketime/libfaketime.so.1')[0]
}

/** This Debian's, or if that is too old the newer one, which is Python and runs with the packages that the older needs. */
function findPatroni(choice: PatroniChoice): Programs['patroni'] | undefined {
  const program = find('patroni')
  if (program === undefined) return undefined
  const packaged = { command: [program], environment: {}, version: versionOf([program], {}) }
  if (choice === 'packaged' || isSafe(packaged.version)) return packaged
  if (!existsSync(join(modules, 'patroni'))) return undefined
  const command = ['/usr/bin/python3', '-m', 'patroni']
  const environment = { PYTHONPATH: modules }
  return { command, environment, version: versionOf(command, environment) }
}

function versionOf([command = '', ...args]: string[], environment: Record<string, string>): string {
  const { stdout, stderr } = spawnSync(command, [...args, '--version'], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  })
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0] ?? ''
}

export function isSafe(version: string): boolean {
  const numbers = version.split('.').map(Number)
  const place = safePatroni.findIndex((least, index) => (numbers[index] ?? 0) !== least)
  return place === -1 || (numbers[place] ?? 0) > (safePatroni[place] ?? 0)
}
