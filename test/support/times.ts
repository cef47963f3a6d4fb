// test/times.md: where the time of the tests goes. A run with --times replaces the rows of the files that it has run.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { allFiles, isOuter } from './plan.ts'

const path = fileURLToPath(new URL('../times.md', import.meta.url))

/** Seconds by file; undefined: its line was written without a run. */
export function readTimes(): Map<string, number | undefined> {
  const lines = readFileSync(path, 'utf8').matchAll(/^ *([\d.]+|-) (test\/\S+)$/gm)
  return new Map([...lines].map(([, seconds, file = '']) => [file, seconds === '-' ? undefined : Number(seconds)]))
}

export function writeTimes(run: Map<string, number>): void {
  const before = readTimes()
  const secondsOf = (file: string) => run.get(file) ?? before.get(file)
  const listed = (files: string[]) => {
    const slowestFirst = files.toSorted((one, other) => (secondsOf(other) ?? 0) - (secondsOf(one) ?? 0))
    const sum = files.reduce((seconds, file) => seconds + (secondsOf(file) ?? 0), 0)
    const lines = slowestFirst.map((file) => `${(secondsOf(file)?.toFixed(1) ?? '-').padStart(6)} ${file}`)
    return `${Math.round(sum)} seconds in ${files.length} files.\n\n\`\`\`\n${lines.join('\n')}\n\`\`\``
  }
  writeFileSync(
    path,
    `# Where the time of the tests goes

Written by \`npm run test:times\` and \`npm run test:outer -- --times\`, on ${cpus().length} cores. The seconds of a file are those on the
clock while others run beside it, so their sum is more than the run takes.

## npm test
${listed(allFiles().filter((file) => !isOuter(file)))}

## npm run test:outer
${listed(allFiles().filter(isOuter))}
`,
  )
}
