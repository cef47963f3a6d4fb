// Programs that npm does not have, from Debian's packages. A command that needs one which is missing reports which, and what
// `--install` would do; it installs only with that option. No other file names apt-get: a run of the tests leaves the machine
// as it is.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Something that is needed is not on this machine. The message says what, and how to get it. */
export class ProgramsMissing extends Error {
  override name = 'ProgramsMissing'
}

/** A program, and Debian's packages that have it. */
export type Program = { name: string; packages: readonly string[] }

const limitMs = 600_000
/** A cluster and a server that the package of PostgreSQL would make and start. */
const noCluster = { file: '/etc/postgresql-common/createcluster.conf', setting: 'create_main_cluster = false' }

const packagesOf = (programs: readonly Program[]) => [...new Set(programs.flatMap(({ packages }) => packages))]
const hasServer = (packages: readonly string[]) => packages.some((name) => name.startsWith('postgresql-'))

/** `more`: what the installation does besides. */
export function missingPrograms(programs: readonly Program[], more: readonly string[] = []): ProgramsMissing {
  const packages = packagesOf(programs)
  return missing(
    programs.map(({ name, packages: own }) => `${name} (${own.join(', ')})`).join(', '),
    'as root on Debian',
    [
      `${installText(packages)}, with the packages these depend on`,
      ...(hasServer(packages) ? [`"${noCluster.setting}" in ${noCluster.file}, so that no server is started`] : []),
      ...more,
    ],
  )
}

/** What a package has is used from a directory. */
export function missingFiles(name: string, packageName: string, directory: string): ProgramsMissing {
  return missing(name, 'on Debian', [`apt-get download ${packageName}, unpacked into ${directory}`])
}

function missing(names: string, where: string, steps: string[]): ProgramsMissing {
  return new ProgramsMissing(
    `Not on this machine: ${names}. Nothing was installed. The same command with --install does it, ${where}: ` +
      `${steps.join('; ')}.`,
  )
}

const installText = (packages: readonly string[]) => `apt-get install -y --no-install-recommends ${packages.join(' ')}`

/** Throws if it does not succeed. */
export function installPrograms(programs: readonly Program[]): void {
  const packages = packagesOf(programs)
  const { file, setting } = noCluster
  const before = hasServer(packages)
    ? `mkdir -p /etc/postgresql-common; test -e ${file} || echo '${setting}' >${file}`
    : ':'
  const install = installText(packages)
  if (process.getuid?.() !== 0) throw new ProgramsMissing(`--install needs root for ${packages.join(', ')}.`)
  run(`${before}\n${install} || { apt-get update && ${install}; }`)
}

/** The files of a package in a directory, for use from there. Of another Debian than this one, if one is named. */
export function unpackPackage(name: string, directory: string, debian?: string): void {
  mkdirSync(directory, { recursive: true })
  const apt = debian === undefined ? 'apt-get' : `apt-get ${optionsFor(debian, directory)}`
  const update = debian === undefined ? ':' : `${apt} update`
  // One rename makes it complete.
  run(`cd '${directory}'
    rm -rf unpacked; ${update}; ${apt} download ${name}; dpkg -x ${name}_*.deb unpacked
    rm -rf usr; mv unpacked/usr usr`)
}

/** Lists and sources of its own, from the mirror that this machine uses. */
function optionsFor(debian: string, directory: string): string {
  const { stdout } = spawnSync('apt-get', ['indextargets', '--format', '$(REPO_URI)'], { encoding: 'utf8' })
  const mirror = (stdout ?? '').split('\n').find((uri) => uri !== '' && !uri.includes('security'))
  if (!mirror) throw new ProgramsMissing('apt has no source of packages: see /etc/apt.')
  const [lists, cache, source] = ['lists', 'cache', 'sources.list'].map((each) => join(directory, each))
  for (const each of [lists, cache]) mkdirSync(join(`${each}`, 'partial'), { recursive: true })
  const key = '/usr/share/keyrings/debian-archive-keyring.gpg'
  writeFileSync(`${source}`, `deb [signed-by=${key}] ${mirror} ${debian} main\n`)
  const settings = {
    'Dir::Etc::SourceList': source,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': lists,
    'Dir::Cache': cache,
    'APT::Sandbox::User': 'root',
  }
  return Object.entries(settings)
    .map(([option, value]) => `-o ${option}=${value}`)
    .join(' ')
}

function run(script: string): void {
  process.stderr.write(`Installing:\n${script}\n`)
  // No server of a package is started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const { status } = spawnSync('sh', ['-ec', script], { env, timeout: limitMs, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new ProgramsMissing('The installation failed: see the lines above. It needs Debian.')
}
