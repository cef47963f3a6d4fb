// test/times.md: where the time of the tests goes. A run with --times replaces the rows of the files that it has run.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { allFiles, isOuter } from './plan.ts'

const path = fileURLToPath(new URL('../times.md', import.meta.url))
const ringOf = (file: string) => (isOuter(file) ? 'outer' : 'first')

/** Seconds by file; undefined: its row was written without a run. */
export function readTimes(): Map<string, number | undefined> {
  const rows = readFileSync(path, 'utf8').matchAll(/^\| `(test\/[^`]+)` \| \w+ \| ([\d.]*) \|$/gm)
  return new Map([...rows].map(([, file = '', seconds]) => [file, seconds ? Number(seconds) : undefined]))
}

export function writeTimes(run: Map<string, number>): void {
  const before = readTimes()
  const rows = allFiles().map((file) => ({ file, seconds: run.get(file) ?? before.get(file) }))
  rows.sort((one, other) => (other.seconds ?? 0) - (one.seconds ?? 0))
  const sumOf = (ring: string) =>
    Math.round(rows.reduce((sum, { file, seconds = 0 }) => sum + (ringOf(file) === ring ? seconds : 0), 0))
  const lines = rows.map(({ file, seconds }) => `| \`${file}\` | ${ringOf(file)} | ${seconds?.toFixed(1) ?? ''} |`)
  writeFileSync(
    path,
    `# Where the time of the tests goes

Written by \`npm run test:times\` and \`npm run test:outer -- --times\`, on ${cpus().length} cores. The seconds of a file are those on the
clock while others run beside it; together ${sumOf('first')} in the first ring and ${sumOf('outer')} in the outer one.

| file | ring | seconds |
| --- | --- | ---: |
${lines.join('\n')}
`,
  )
}
