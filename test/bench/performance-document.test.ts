// The figures in docs/performance.md are rows of bench/results/summary.json, which the measurements write.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tablesOf as attackTables } from '../../bench/attacks/results.ts'
import { tablesOf as growthTables } from '../../bench/growth/results.ts'
import { tablesOf as logTables } from '../../bench/log/results.ts'
import { tablesOf as overloadTables } from '../../bench/overload/report.ts'
import { tablesOf as pageTables } from '../../bench/pages/results.ts'
import { readSummary } from '../../bench/report/json.ts'
import { tablesOf as soakTables } from '../../bench/soak/run.ts'
import { tablesOf as workloadTables } from '../../bench/workloads/tables.ts'

const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const document = readFileSync(pathOf('docs/performance.md'), 'utf8')

const reports: Record<string, (results: never) => string> = {
  workloads: workloadTables,
  overload: overloadTables,
  growth: growthTables,
  pages: pageTables,
  soak: soakTables,
  attacks: attackTables,
  log: logTables,
}

/** The document leaves rows out, but neither where, when and how it was measured, nor a failure, nor a target that is missed. */
function mustBeShown(line: string): boolean {
  return line !== '' && (!line.startsWith('|') || /\bmissed \|$/.test(line))
}

for (const [name, tablesOf] of Object.entries(reports)) {
  test(`the rows of ${name} are those of bench/results/summary.json, and every missed target is among them`, () => {
    const measured = tablesOf(readSummary(pathOf('bench/results'), name) as never).split('\n')
    const [, section = ''] =
      new RegExp(`^<!-- results: ${name} -->\n(.*?)^<!-- end: ${name} -->`, 'ms').exec(document) ?? []
    const shown = section.split('\n').filter((line) => line !== '' && !line.startsWith('!['))
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

test('every plot in the document exists', () => {
  const plots = [...document.matchAll(/\]\(\.\.\/(bench\/results\/[^)]+)\)/g)].map(([, file = '']) => file)
  assert.ok(plots.length > 0)
  assert.deepEqual(
    plots.filter((file) => !existsSync(pathOf(file))),
    [],
  )
})
