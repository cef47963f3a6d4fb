// A simulated seed gives the same history in two programs; a broken guard is found, and shrunk to a few steps that fail in the
// same check.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { storyOf } from '../../proof/report/story.ts'
import { planSteps } from '../../proof/stages/simulated/plan/plan.ts'
import { openPrograms, type Programs } from '../../proof/stages/simulated/programs.ts'
import { runOnce, shrinkRun } from '../../proof/stages/simulated/search.ts'

let programs: Programs
before(async () => {
  programs = await openPrograms()
})
after(() => programs.close())

test('a seed gives the same history twice', async () => {
  const run = { seed: 3, steps: planSteps(3, 0.1) }
  const first = await runOnce(programs, { ...run, withLines: true })
  const second = await runOnce(programs, { ...run, withLines: false })
  assert.equal(second.digest, first.digest)
})

test('a confirm that answers a wrong total is found, and shrunk to a purchase and a confirm', async () => {
  const [seed, guard] = [3, 'confirm-wrong-total']
  // A reversal of nothing, a purchase and a confirm: each trial takes a second or two.
  const few = [5, 3, 6].flatMap((place) => planSteps(seed, 0.1)[place] ?? [])
  const timesMs = [0, 80_000, 81_000]
  const steps = few.map((step, place) => ({ ...step, atMs: timesMs[place] ?? 0 }))
  const whole = await runOnce(programs, { seed, steps, withLines: true }, guard)
  const startedMs = whole.lines.filter(({ event }) => event === 'step').map(({ at }) => at)
  assert.deepEqual(
    startedMs.map((ms) => Math.round((ms - (startedMs[0] ?? 0)) / 100) * 100),
    timesMs,
    'each step starts at its time, also after one in which nothing happens',
  )
  assert.equal(whole.failures[0]?.check, 'I-22 every acknowledged confirm is true: granted once, as in the answer')
  const { steps: left, shrunk, failure } = await shrinkRun(programs, { seed, steps, whole, guard })
  assert.deepEqual(
    left.map(({ actor, what }) => `${actor}: ${what}`),
    ['customer: purchase', 'customer: confirm'],
  )
  assert.ok(failure && failure.check === whole.failures[0]?.check)
  const story = storyOf(shrunk.lines, failure)
  assert.match(story, /customer: purchase\n.*→ [ab] {2}call 1: purchase/)
  assert.match(story, /at quiet moment 1: I-22/)
})
