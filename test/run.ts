// `npm test`: every test file, in as many processes as the machine can use (test/support/plan.ts), on one PostgreSQL. With the
// names of files only those, each alone. `npm run test:cluster` runs those of test/support/on-clusters.ts on a coordinator with
// workers. `--titles FILE` writes the titles, sorted, so that two runs can be compared with diff; `--times` writes
// test/times.md.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { CitusUnavailable } from '../harness/citus/citus.ts'
import { clusterVariable } from './support/database/database.ts'
import { globalSetup, globalTeardown } from './support/database/global-setup.ts'
import { filesOnClusters, skippedOnClusters } from './support/on-clusters.ts'
import { planOf } from './support/plan.ts'
import { createResults } from './support/results.ts'

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

/** What never ends is red after a while: a test by its time limit, a process by its watchdog. */
export const runOptions = {
  cwd: root,
  timeout: 480_000,
  execArgv: ['--import=./test/support/watchdog.ts'],
}

const patternOf = (text: string) => new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { titles: { type: 'string' }, times: { type: 'boolean' }, cluster: { type: 'boolean' } },
  })
  if (values.cluster) process.env[clusterVariable] = 'citus'
  const chosen = positionals.map((file) => relative(root, join(process.cwd(), file)))
  const named = values.cluster && chosen.length === 0 ? filesOnClusters() : chosen
  const { alone, shared, last } = named.length > 0 ? { alone: named, shared: [], last: [] } : planOf()
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'test-run-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const lanes = shared.length > 0 ? Array.from({ length: concurrency }, (_, lane) => `lane-${lane}`) : []
  const own = (file: string) => writeLane(join(directory, nameOf(file)), nameOf(file), [file])
  const rounds = [
    { files: [...alone.map(own), ...lanes.map((name) => writeLane(directory, name, shared))], concurrency },
    { files: last.map(own), concurrency: 1 },
  ].filter(({ files }) => files.length > 0)
  const results = createResults()
  const testSkipPatterns = Object.values(skippedOnClusters).flat().map(patternOf)

  async function* runRounds() {
    await globalSetup()
    try {
      for (const round of rounds) {
        for await (const event of run({ ...runOptions, ...round, ...(values.cluster && { testSkipPatterns }) })) {
          results.collect(event)
          yield event
        }
      }
    } finally {
      await globalTeardown()
    }
  }

  const stream = Readable.from(runRounds())
  stream.once('error', (error) => {
    process.stderr.write(`${error instanceof CitusUnavailable ? error.message : error.stack}\n`)
    process.exitCode = 1
  })
  stream.compose(spec).pipe(process.stdout)
  stream.once('end', () => {
    if (values.titles) writeFileSync(values.titles, results.titles())
    if (values.times) writeFileSync(join(root, 'test/times.md'), results.times())
    if (named.length === 0) for (const line of results.overBudget()) process.stdout.write(`${line}\n`)
    if (results.failed()) process.exitCode = 1
  })
}
