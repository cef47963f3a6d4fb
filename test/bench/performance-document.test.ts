// The figures in docs/performance.md are rows of the reports in bench/results, which the measurements write.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { repository } from '../../harness/processes.ts'

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')
const results = join(repository, 'bench/results')
const document = readFileSync(join(repository, 'docs/performance.md'), 'utf8')
const sections = [...document.matchAll(/^<!-- results: (\w+) -->\n(.*?)^<!-- end: \1 -->/gms)]

/** The document leaves rows out, but neither where, when and how it was measured, nor a failure, nor a target that is missed. */
function mustBeShown(line: string): boolean {
  return !line.startsWith('|') || /\bmissed \|$/.test(line)
}

test('every measurement of the document has its report', () => {
  const names = sections.map(([, name = '']) => name).sort()
  assert.deepEqual(names, ['attacks', 'growth', 'log', 'overload', 'pages', 'soak', 'workloads'])
  const files = readdirSync(results)
  assert.deepEqual(
    names.filter((name) => !files.includes(`${name}.md`)),
    [],
  )
})

for (const [, name = '', section = ''] of sections) {
  test(`the rows of ${name} are those of its report, and every missed target is among them`, () => {
    const measured = linesOf(readFileSync(join(results, `${name}.md`), 'utf8'))
    const shown = linesOf(section)
    assert.deepEqual(
      shown.filter((line) => !measured.includes(line)),
      [],
    )
    assert.ok(shown.filter((line) => line.startsWith('| ')).length > 2)
    assert.deepEqual(
      measured.filter((line) => mustBeShown(line) && !shown.includes(line)),
      [],
    )
  })
}
