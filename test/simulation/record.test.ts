// What --record keeps of a run.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newDirectory } from '../../harness/processes.ts'
import { commandOf } from '../../proof/options.ts'
import { record } from '../../proof/report/record.ts'
import { readVersion } from '../../src/core/version.ts'

test('a recorded run has a row with the command that repeats it; again, it replaces its row; another version begins anew', (t) => {
  const file = join(newDirectory(t), 'results.md')
  const rows = () => readFileSync(file, 'utf8').split('\n').slice(6, -1)
  record('npm run chaos -- --seed 1', { verdict: 'FAILED', figures: {} }, file)
  record('npm run chaos -- --seed 12', { verdict: 'PASSED', figures: { 'API calls': 1_234, orders: 5 } }, file)
  assert.equal(rows().length, 2)
  record('npm run chaos -- --seed 1', { verdict: 'PASSED', figures: { orders: 6 } }, file)
  const day = new Date().toISOString().slice(0, 10)
  assert.deepEqual(
    rows().map((row) => row.replace(day, 'DAY')),
    [
      '| DAY | `npm run chaos -- --seed 12` | PASSED | 1,234 API calls, 5 orders |',
      '| DAY | `npm run chaos -- --seed 1` | PASSED | 6 orders |',
    ],
  )
  writeFileSync(file, readFileSync(file, 'utf8').replace(readVersion(), '0.0.1'))
  record('npm run fuzz -- --seed 3', { verdict: 'NOTHING FOUND', figures: {} }, file)
  assert.equal(rows().length, 1)
})

test('the recorded command has the seed that was drawn, and not where the result went', () => {
  assert.equal(
    commandOf('bytes', ['--minutes', '2', '--json', 'a.json', '--record'], 7),
    'npm run fuzz -- --seed 7 --minutes 2',
  )
  assert.equal(commandOf('calls', ['--seed', '8'], 8), 'npm run prove -- --stage calls --seed 8')
})
