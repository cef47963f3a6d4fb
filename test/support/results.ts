// What a run has shown, from the events of its tests: the titles, so that two runs can be compared, and where the time went.
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { budgets } from './plan.ts'

const listedFiles = 25

const seconds = (ms: number) => (ms / 1_000).toFixed(1)
const row = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`

export function createResults() {
  const startedAt = performance.now()
  const titles: string[] = []
  /** In milliseconds, by file. */
  const took = new Map<string, number>()
  /** The names around the test that is reported: its file, the tests it is part of. */
  let path: string[] = []
  let failures = 0
  const counts = { ran: 0, skipped: 0 }

  function collect({ type, data }: TestEvent): void {
    if ((type === 'test:pass' || type === 'test:fail') && data.details.type !== 'suite' && data.nesting > 0) {
      counts[data.skip === undefined ? 'ran' : 'skipped'] += 1
    }
    if (type === 'test:start') path = [...path.slice(0, data.nesting), data.name]
    if (type === 'test:pass') {
      note(data.name, data.nesting, data.details.duration_ms, data.skip === undefined ? '' : ' (skipped)')
    }
    if (type === 'test:fail') {
      if (data.todo === undefined) failures += 1
      note(data.name, data.nesting, data.details.duration_ms, '')
    }
  }

  function note(name: string, nesting: number, durationMs: number, suffix: string): void {
    if (nesting === 0) took.set(name, (took.get(name) ?? 0) + durationMs)
    else titles.push(`${[...path.slice(0, nesting), name].join(' > ')}${suffix}`)
  }

  function folders(): [folder: string, ms: number][] {
    const sums = new Map<string, number>()
    for (const [file, ms] of took) sums.set(dirname(file), (sums.get(dirname(file)) ?? 0) + ms)
    return [...sums].sort(([, one], [, other]) => other - one)
  }

  return {
    collect,
    failed: () => failures > 0,
    /** Of tests, without the suites around them. */
    counts: () => ({ ...counts }),
    titles: () => `${titles.sort().join('\n')}\n`,
    /** Folders that took longer than they may, a line each. */
    overBudget: () =>
      folders().flatMap(([folder, ms]) => {
        const budget = budgets[folder] ?? 0
        return ms > budget * 1_000 ? [`${folder} took ${seconds(ms)} s of its ${budget} s`] : []
      }),
    times() {
      const slowest = [...took].sort(([, one], [, other]) => other - one).slice(0, listedFiles)
      return [
        '# Where the time of the tests goes',
        '',
        `Written by \`npm run test:times\`. ${titles.length} tests in ${took.size} files: ${seconds(performance.now() - startedAt)} s on ` +
          `${cpus().length} cores. The seconds of a file are those on the clock while others run beside it, so their sum ` +
          'is more than the run takes. The budgets are in `test/support/plan.ts`; a run names the folders that exceed theirs.',
        '',
        row('folder', 'seconds', 'budget'),
        row('---', '---:', '---:'),
        ...folders().map(([folder, ms]) => row(`\`${folder}\``, seconds(ms), budgets[folder] ?? 'none')),
        '',
        row('slowest files', 'seconds'),
        row('---', '---:'),
        ...slowest.map(([file, ms]) => row(`\`${file}\``, seconds(ms))),
        '',
      ].join('\n')
    },
  }
}
