// docs/results.md: the runs that were recorded of this version, a row for each. The first of another version begins it again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../../harness/processes.ts'
import { readVersion } from '../../src/core/version.ts'

/** What of a run is kept. */
export type Result = { verdict: string; figures: Record<string, number> }

export const resultsFile = join(repository, 'docs/results.md')

const headOf = (version: string) => `# Results of long runs

What the runs of [reliability.md](reliability.md) found in version ${version}. \`npm run prove\` and its short names write a row with \`--record\`; the first run of another version begins this file again.

| day | run | result | of |
| --- | --- | --- | --- |
`

/** Replaces the row of the same command. */
export function record(command: string, { verdict, figures }: Result, file = resultsFile): void {
  const head = headOf(readVersion())
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const rows = before.startsWith(head)
    ? before
        .slice(head.length)
        .split('\n')
        .filter((row) => row !== '')
    : []
  const counts = Object.entries(figures).map(([name, value]) => `${value.toLocaleString('en-US')} ${name}`)
  const day = new Date().toISOString().slice(0, 10)
  const row = `| ${day} | \`${command}\` | ${verdict} | ${counts.join(', ')} |`
  const others = rows.filter((each) => !each.includes(` | \`${command}\` | `))
  writeFileSync(file, `${head}${[...others, row].join('\n')}\n`)
}
