// `npm test`: every test file, in as many processes as the machine can use (test/support/plan.ts), on one PostgreSQL. With the
// names of files only those, each alone. `npm run test:outer` runs what that leaves out (test/support/outer.ts), `npm run
// test:cluster` those of test/support/on-clusters.ts on a coordinator with workers. `--titles FILE` writes the titles, sorted,
// so that two runs can be compared with diff; `--times` writes the seconds of the files that were run to test/times.md. None of
// them changes the machine, except `npm run test:outer -- --install`, which installs programs before the first test.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { ProgramsMissing } from '../harness/debian.ts'
import { watchChildren } from './support/children.ts'
import { clusterVariable } from './support/database/database.ts'
import { globalSetup, globalTeardown } from './support/database/global-setup.ts'
import { filesOnClusters, skippedOnClusters } from './support/on-clusters.ts'
import { type OuterRing, planOuter } from './support/outer.ts'
import { type Plan, planOf, planOfFiles } from './support/plan.ts'
import { putFirst, refusePrograms } from './support/refused-programs.ts'
import { createResults } from './support/results.ts'
import { writeTimes } from './support/times.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache')

/** Twice as many as there are cores: half of them wait, for a database, a process or a page. */
const concurrency = availableParallelism() * 2

const nameOf = (file: string) => file.replaceAll(/\W+/g, '-')

/** The file that the runner starts for a lane: it has to be one, and there is no other way to pass it a list. */
export function writeLane(directory: string, name: string, files: string[]): string {
  const claims = join(directory, 'claims')
  mkdirSync(claims, { recursive: true })
  const entry = join(directory, `${name}.mjs`)
  const lane = pathToFileURL(join(root, 'test/support/lane.ts')).href
  const args = [files, claims].map((value) => JSON.stringify(value)).join(', ')
  writeFileSync(entry, `import { runLane } from '${lane}'\nawait runLane(${args})\n`)
  return entry
}

/** What never ends is red after a while: a test by its time limit, a process by its watchdog, or by ours (children.ts). */
export const runOptions = {
  cwd: root,
  timeout: 480_000,
  execArgv: ['--import=./test/support/watchdog.ts'],
}

const patternOf = (text: string) => new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
const testSkipPatterns = Object.values(skippedOnClusters).flat().map(patternOf)

/** Files that are run on one PostgreSQL, with this in their environment. */
type Batch = { plan: Plan; environment: Record<string, string> }

function roundsOf({ alone, shared, last }: Plan, directory: string) {
  const lanes = shared.length > 0 ? Array.from({ length: concurrency }, (_, lane) => `lane-${lane}`) : []
  const own = (file: string) => writeLane(join(directory, nameOf(file)), nameOf(file), [file])
  return [
    { files: [...alone.map(own), ...lanes.map((name) => writeLane(directory, name, shared))], concurrency },
    { files: last.map(own), concurrency: 1 },
  ].filter(({ files }) => files.length > 0)
}

async function* runBatch({ plan, environment }: Batch, signal: AbortSignal) {
  const before = { ...process.env }
  Object.assign(process.env, environment)
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'test-run-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  const children = watchChildren(directory)
  try {
    await globalSetup()
    for (const round of roundsOf(plan, directory)) {
      if (signal.aborted) return
      yield* run({ ...runOptions, ...round, signal, ...(process.env[clusterVariable] && { testSkipPatterns }) })
    }
  } finally {
    await children.end()
    await globalTeardown()
    remove()
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

/** A run that is ended from outside ends what it has started: the processes of its files, and their PostgreSQL. */
function stopOnSignals(): AbortSignal {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      process.exitCode = 128 + constants.signals[name]
      stopping.abort()
    })
  }
  return stopping.signal
}

const noRing: OuterRing = { parts: [], notRun: [], hasFailed: false }

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      titles: { type: 'string' },
      times: { type: 'boolean' },
      cluster: { type: 'boolean' },
      outer: { type: 'boolean' },
      install: { type: 'boolean' },
    },
  })
  if (values.install && !values.outer) throw new Error('--install: only npm run test:outer installs programs.')
  const named = positionals.map((file) => relative(root, join(process.cwd(), file)))
  const { parts, notRun, hasFailed } = values.outer ? await planOuter(named, values) : noRing
  const batches: Batch[] = values.outer
    ? parts.map(({ files, environment }) => ({ plan: planOf(files), environment }))
    : values.cluster
      ? [
          {
            plan: planOfFiles(named.length > 0 ? named : filesOnClusters()),
            environment: { [clusterVariable]: 'citus' },
          },
        ]
      : [{ plan: named.length > 0 ? planOfFiles(named) : planOf(), environment: {} }]
  for (const line of notRun) process.stdout.write(`${line}\n`)
  const results = createResults()
  const refusal = refusePrograms()
  process.once('exit', () => refusal.remove())
  putFirst(refusal)

  const stopping = stopOnSignals()

  async function* runAll() {
    for (const batch of batches) {
      if (stopping.aborted) return
      for await (const event of runBatch(batch, stopping)) {
        results.collect(event)
        yield event
      }
    }
  }

  const shown = Readable.from(runAll()).compose(spec)
  shown.pipe(process.stdout)
  await finished(shown)
  if (stopping.aborted) return
  if (values.titles) writeFileSync(values.titles, results.titles())
  if (values.times) writeTimes(results.seconds())
  const calls = refusal.calls().map((call) => `A test has called a program that changes the machine: ${call}`)
  const { ran, skipped } = results.counts()
  const total = values.outer ? [`The outer ring: ${ran} tests were run, ${skipped} skipped.`] : []
  for (const line of [...calls, ...notRun, ...total]) process.stdout.write(`${line}\n`)
  if (results.failed() || calls.length > 0 || hasFailed || (values.outer && ran === 0)) process.exitCode = 1
}

if (import.meta.main) {
  try {
    await main()
  } catch (error) {
    process.stderr.write(`${error instanceof ProgramsMissing ? error.message : (error as Error).stack}\n`)
    process.exitCode = 1
  }
}
