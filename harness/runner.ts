// Programs that PostgreSQL's own user runs: PostgreSQL refuses to run as root.
import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { type Launched, startProcess } from './launch.ts'

/** The user that runs the programs: PostgreSQL refuses to run as root. */
export type Runner = { uid: number; gid: number }

/** As root, the user of Debian's package, which exists once that is installed. */
export function findRunner(): Runner {
  const { uid, gid } = userInfo()
  if (uid !== 0) return { uid, gid }
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('postgres:'))
  const [, , postgresUid, postgresGid] = (line ?? '').split(':').map(Number)
  if (!postgresUid || !postgresGid) throw new Error('There is no user postgres to run the cluster as.')
  return { uid: postgresUid, gid: postgresGid }
}

export function makeDirectory(runner: Runner, path: string): void {
  mkdirSync(path, { mode: 0o755 })
  chownSync(path, runner.uid, runner.gid)
}

/** As the runner; its output is appended to the log. */
export function launchPart(
  runner: Runner,
  logFile: string,
  command: string[],
  environment: Record<string, string> = {},
): Launched {
  const log = openSync(logFile, 'a', 0o600)
  const [program = '', ...args] = command
  const path = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin', HOME: '/', LC_ALL: 'C.UTF-8' }
  const launched = startProcess(program, args, {
    ...runner,
    cwd: '/',
    env: { ...path, ...environment },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  return launched
}
