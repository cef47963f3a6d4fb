// Where two runs of a seed part: both run again with a trace of their events, and the first line that differs is shown.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const linesBefore = 5

/** Two traces, one event a line; null: they are the same. */
export function firstDifference(one: string, other: string): string | null {
  const [first, second] = [one.split('\n'), other.split('\n')]
  const place = first.findIndex((line, index) => line !== second[index])
  if (place < 0) return null
  return [
    `event ${place + 1} differs:`,
    ...first.slice(Math.max(0, place - linesBefore), place).map((line) => `    ${line}`),
    `  1 ${first[place] || 'no event'}`,
    `  2 ${second[place] || 'no event'}`,
  ].join('\n')
}

/** `run` writes the trace of a run to the file. */
export async function explainDifference(run: (trace: string) => Promise<unknown>): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'simulation-traces-'))
  try {
    const [one, other] = [join(directory, '1'), join(directory, '2')]
    await run(one)
    await run(other)
    const found = firstDifference(readFileSync(one, 'utf8'), readFileSync(other, 'utf8'))
    return found ?? 'two more runs with a trace have the same events: run the seed again with --twice --trace FILE'
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
