// `npm run test:outer`, the outer ring: what `npm test` leaves out because it takes long, or needs programs that npm does not
// have. A part whose programs are missing is reported and not run; with --install they are installed first.
import { readFileSync } from 'node:fs'
import { findCitus } from '../../harness/citus/citus.ts'
import { ProgramsMissing } from '../../harness/debian.ts'
import { findPrograms, installCluster } from '../../proof/stages/patroni/packages.ts'
import { findBrowser, installBrowser } from './console/browser.ts'
import { clusterVariable } from './database/database.ts'
import { longVariable } from './long.ts'
import { allFiles, isOuter } from './plan.ts'

const failover = 'test/faults/failover.test.ts'

type Part = {
  title: string
  files: string[]
  environment: Record<string, string>
  /** Throws where its programs are missing. */
  find(): unknown
  install?(): void
}

const importing = (pattern: RegExp) => allFiles().filter((file) => pattern.test(readFileSync(file, 'utf8')))
const needsPrograms = (file: string) => file === failover || file.startsWith('test/cluster/')

/** In the order in which they are run. */
export async function everyPart(): Promise<Part[]> {
  const longer = importing(/support\/(long|call-faults)\.ts'/)
  const parts: Part[] = [
    {
      title: 'what takes long: pages, kills under load, upgrades, pairs of faults, packages, tests of the tools',
      files: allFiles().filter((file) => (isOuter(file) && !needsPrograms(file)) || longer.includes(file)),
      environment: { [longVariable]: '1' },
      find: () => undefined,
    },
    {
      title: 'the failover campaign, on three PostgreSQL under Patroni',
      files: [failover],
      environment: {},
      find: () => findPrograms(),
      install: () => installCluster(),
    },
    {
      title: 'the tests of a Citus cluster',
      files: allFiles().filter((file) => file.startsWith('test/cluster/')),
      environment: { [clusterVariable]: 'citus' },
      find: findCitus,
    },
  ]
  const browser: Part = {
    title: 'the browser tests',
    files: importing(/\blaunchBrowser\b.*console\/browser\.ts'/),
    environment: {},
    find: findBrowser,
    install: installBrowser,
  }
  // `npm test` runs them where it finds a Chromium.
  return (await isThere(browser)) ? parts : [...parts, browser]
}

export type OuterRing = {
  parts: Pick<Part, 'title' | 'files' | 'environment'>[]
  /** The parts that cannot be run, a line each with the reason. */
  notRun: string[]
  /** What should have been installed was not. */
  hasFailed: boolean
}

/** Plans the named files, or all. */
export async function planOuter(named: string[], { install = false } = {}): Promise<OuterRing> {
  const ring: OuterRing = { parts: [], notRun: [], hasFailed: false }
  for (const part of await everyPart()) {
    const files = part.files.filter((file) => named.length === 0 || named.includes(file))
    if (files.length === 0) continue
    try {
      if (install && !(await isThere(part))) part.install?.()
      await part.find()
      ring.parts.push({ ...part, files })
    } catch (error) {
      if (!(error instanceof ProgramsMissing)) throw error
      ring.hasFailed ||= install && part.install !== undefined
      ring.notRun.push(
        `Not run: ${part.title} (${files.length === 1 ? '1 file' : `${files.length} files`}). ${error.message}`,
      )
    }
  }
  return ring
}

async function isThere(part: Part): Promise<boolean> {
  try {
    await part.find()
    return true
  } catch (error) {
    if (error instanceof ProgramsMissing) return false
    throw error
  }
}
