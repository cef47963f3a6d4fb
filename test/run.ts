// `npm test`: every test file, in the processes that test/support/plan.ts gives them, on one PostgreSQL. With the names of
// files only those, each alone. `--titles FILE` writes the titles, sorted, so that two runs can be compared with diff;
// `--times` writes test/times.md.
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { type Entry, planOf } from './support/plan.ts'
import { collectResults } from './support/results.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const entryFolder = join(root, 'node_modules/.cache/test-entries')

/** One more than there are cores: it works while others wait for a time that a test has to pass. */
const concurrency = availableParallelism() + 1

/** The file that the runner starts for an entry: it has to be one, and there is no other way to pass it a list. */
export function writeEntry({ name, files }: Entry): string {
  mkdirSync(entryFolder, { recursive: true })
  const entry = join(entryFolder, `${name.replaceAll(/[^\w]+/g, '-')}.mjs`)
  const together = pathToFileURL(join(root, 'test/support/together.ts')).href
  writeFileSync(entry, `import { runTogether } from '${together}'\nrunTogether(${JSON.stringify(files)})\n`)
  return entry
}

/** What never ends is red after a while: a test by its time limit, a process by its watchdog. */
export const runOptions = {
  cwd: root,
  concurrency,
  timeout: 240_000,
  globalSetupPath: join(root, 'test/support/database/global-setup.ts'),
  execArgv: ['--import=./test/support/watchdog.ts'],
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { titles: { type: 'string' }, times: { type: 'boolean' } },
  })
  const entries =
    positionals.length > 0
      ? positionals.map((file) => ({ name: file, files: [relative(root, join(process.cwd(), file))] }))
      : planOf()
  const stream = run({ ...runOptions, files: entries.map(writeEntry) })
  const results = collectResults(stream)
  stream.compose(spec).pipe(process.stdout)
  stream.once('end', () => {
    if (values.titles) writeFileSync(values.titles, results.titles())
    if (values.times) writeFileSync(join(root, 'test/times.md'), results.times())
    if (positionals.length === 0) for (const line of results.overBudget()) process.stdout.write(`${line}\n`)
    if (results.failed()) process.exitCode = 1
  })
}
