// A short simulation, without a violation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planSteps } from '../../proof/stages/simulated/plan/plan.ts'
import { openPrograms } from '../../proof/stages/simulated/programs.ts'
import { runOnce } from '../../proof/stages/simulated/search.ts'

test('every check of the campaign holds after the steps of a seed', async (t) => {
  const programs = await openPrograms()
  t.after(() => programs.close())
  const steps = planSteps(3, 0.1)
  const run = await runOnce(programs, { seed: 3, steps, withLines: false })
  assert.deepEqual(run.failures, [])
  assert.equal(run.startedSteps, steps.length)
  assert.ok((run.figures.calls ?? 0) > 20, 'customers have sent requests')
})
