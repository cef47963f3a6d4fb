// The programs of the database cluster: PostgreSQL, Patroni, etcd and haproxy, from Debian's packages. As root they are
// installed; elsewhere they have to be there. Debian 12 ships Patroni 3.0.2, which loses acknowledged commits when its
// leader is frozen, so a newer one is unpacked beside it, from the next Debian.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRootOnDebian, runLocked } from '../../harness/debian.ts'

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

/** Why a cluster cannot be started here. */
export class ClusterUnavailable extends Error {}

const packages = ['postgresql-15', 'patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'libfaketime']
const nextDebian = 'trixie'
/** Not below a test's own directory: it is fetched once for a machine. Only root can create it there. */
const unpackedIn = '/var/lib/prepaid-credits/patroni'
/** The first version in which a leader that wakes up does not overwrite the lock of its successor. */
const safePatroni = [3, 0, 3]

export type PatroniChoice = 'safe' | 'packaged'

/** `packaged`: the Patroni of this Debian, whatever its version. */
export function findPrograms(choice: PatroniChoice = 'safe'): Programs {
  const postgresBin = findPostgres()
  const names = { etcd: find('etcd'), haproxy: find('haproxy'), patroni: find('patroni'), libfaketime: findFaketime() }
  const missing = Object.entries({ postgres: postgresBin, ...names }).filter(([, path]) => path === undefined)
  if (missing.length > 0) {
    if (install()) return findPrograms(choice)
    const which = missing.map(([name]) => name).join(', ')
    throw new ClusterUnavailable(
      `${which} not found: install Debian's packages ${packages.join(', ')}, or run as root there.`,
    )
  }
  const { etcd = '', haproxy = '', patroni = '', libfaketime: faketime = '' } = names
  const packaged = { command: [patroni], environment: {}, version: versionOf([patroni], {}) }
  const chosen = choice === 'packaged' || isSafe(packaged.version) ? packaged : newerPatroni()
  return { postgresBin: postgresBin ?? '', etcd, haproxy, faketime, patroni: chosen }
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

/** A second attempt would fail in the same way. */
let isTried = false

function install(): boolean {
  if (isTried || !isRootOnDebian()) return false
  isTried = true
  process.stderr.write(`Installing ${packages.join(', ')} (once) ...\n`)
  // Debian would start a server of its own.
  const install = `mkdir -p /etc/postgresql-common
    test -e /etc/postgresql-common/createcluster.conf || echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
    apt-get install -y -qq --no-install-recommends ${packages.join(' ')}`
  return runLocked(`(${install}) || (apt-get update -qq && ${install})`)
}

function newerPatroni(): Programs['patroni'] {
  const modules = join(unpackedIn, 'usr/lib/python3/dist-packages')
  if (!existsSync(join(modules, 'patroni')) && !(isRootOnDebian() && unpackNewer())) {
    throw new ClusterUnavailable(
      `Patroni of this Debian is too old (3.0.3 at least), and no newer one could be fetched.`,
    )
  }
  const command = ['/usr/bin/python3', '-m', 'patroni']
  const environment = { PYTHONPATH: modules }
  return { command, environment, version: versionOf(command, environment) }
}

/** From the mirror that this machine uses. It is written in Python and runs with the packages that the older one needs. */
function unpackNewer(): boolean {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI)'], { encoding: 'utf8' })
  const mirror = stdout.split('\n').find((uri) => uri !== '' && !uri.includes('security'))
  if (!mirror) return false
  process.stderr.write('Fetching a newer Patroni (once) ...\n')
  const [lists, cache] = ['lists', 'cache'].map((name) => join(unpackedIn, name))
  for (const directory of [lists, cache]) mkdirSync(join(`${directory}`, 'partial'), { recursive: true })
  const source = join(unpackedIn, 'sources.list')
  writeFileSync(source, `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${nextDebian} main\n`)
  const settings = {
    'Dir::Etc::SourceList': source,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': lists,
    'Dir::Cache': cache,
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).map(([name, value]) => `-o ${name}=${value}`)
  const apt = `apt-get -qq ${options.join(' ')}`
  const fetched = `${apt} update; ${apt} download patroni; dpkg -x patroni_*.deb unpacked; mv unpacked/usr usr`
  return runLocked(`cd ${unpackedIn}; test -d usr || { rm -rf unpacked; ${fetched}; }`)
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
