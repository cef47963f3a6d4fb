// What a run has shown, from the events of its tests: the titles, so that two runs can be compared, and where the time went.
import type { TestEvent } from 'node:test/reporters'

export function createResults() {
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

  return {
    collect,
    failed: () => failures > 0,
    /** Counts of tests, without the suites around them. */
    counts: () => ({ ...counts }),
    titles: () => `${titles.sort().join('\n')}\n`,
    /** The wall-clock time of each file. */
    seconds: () => new Map([...took].map(([file, ms]) => [file, ms / 1_000])),
  }
}
