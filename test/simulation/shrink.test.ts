// The parts of the simulation that need no run: the plan, the shrinker, the history in Jepsen's form, the broken guards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedEffects } from '../../proof/faults.ts'
import { type GuardResult, outcomeOf, remarksOf } from '../../proof/guards/find.ts'
import { guards } from '../../proof/guards/guards.ts'
import { readOptions } from '../../proof/options.ts'
import { ednOf, type Line } from '../../proof/report/edn.ts'
import { countEffects, findWithoutEffect } from '../../proof/report/enough.ts'
import { storyOf } from '../../proof/report/story.ts'
import { minimize, simplifyTimes, withoutGroups } from '../../proof/shrink.ts'
import { firstDifference } from '../../proof/stages/simulated/compare.ts'
import { type Life, runIn } from '../../proof/stages/simulated/core/processes.ts'
import { planSteps } from '../../proof/stages/simulated/plan/plan.ts'
import {
  type Actor,
  actors,
  episodesOf,
  readSteps,
  type Step,
  writeSteps,
} from '../../proof/stages/simulated/plan/steps.ts'
import type { Programs, Runner } from '../../proof/stages/simulated/programs.ts'
import { actionOf } from '../../proof/stages/simulated/scenario/actions.ts'
import { watchErrors } from '../../proof/stages/simulated/scenario/errors.ts'
import { type Failure, kindOfError, type RunResult } from '../../proof/stages/simulated/scenario/result.ts'
import { shrinkRun } from '../../proof/stages/simulated/search.ts'

test('a failing list is shrunk to the items that it needs, wherever they are, in few trials', async () => {
  const items = Array.from({ length: 60 }, (_, place) => place)
  for (const needed of [[], [17], [0, 59], [3, 31, 32, 58]]) {
    let trials = 0
    const left = await minimize(items, async (candidate) => {
      trials += 1
      return needed.every((each) => candidate.includes(each))
    })
    assert.deepEqual(left, needed)
    assert.ok(trials < 120, `${trials} trials`)
  }
})

test('without any one item that is left the list does not fail', async () => {
  // It fails with an even number of items from 4 on: no single removal keeps it failing.
  const fails = async (candidate: number[]) => candidate.length >= 4 && candidate.length % 2 === 0
  const left = await minimize([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], fails)
  assert.equal(await fails(left), true)
  for (const item of left) assert.equal(await fails(left.filter((each) => each !== item)), false)
})

test('groups that are not needed are left out, each with one trial', async () => {
  const items = ['a1', 'b1', 'a2', 'c1', 'b2', 'a3']
  let trials = 0
  const left = await withoutGroups(
    items,
    ([group = '']) => group,
    async (candidate) => {
      trials += 1
      return candidate.includes('b2')
    },
  )
  assert.deepEqual(left, ['b1', 'b2'])
  assert.equal(trials, 3)
})

test('times become the simplest with which the list still fails', async () => {
  const steps = [{ atMs: 4_321 }, { atMs: 4_777 }, { atMs: 604_321 }]
  assert.deepEqual(await simplifyTimes(steps, async () => true), [{ atMs: 0 }, { atMs: 0 }, { atMs: 1_000 }])
  const needsFourSeconds = async (candidate: { atMs: number }[]) => (candidate[2]?.atMs ?? 0) > 4_000
  assert.deepEqual(await simplifyTimes(steps, needsFourSeconds), [{ atMs: 0 }, { atMs: 500 }, { atMs: 5_500 }])
  assert.deepEqual(await simplifyTimes(steps, async () => false), steps)
})

test('a plan follows from its seed, every step of it can be done, and it survives a file', () => {
  const steps = planSteps(7, 24)
  assert.deepEqual(planSteps(7, 24), steps)
  assert.notDeepEqual(planSteps(8, 24), steps)
  for (const step of steps) if (step.actor !== 'observer') assert.equal(typeof actionOf(step), 'function')
  assert.deepEqual(new Set(steps.map(({ actor }) => actor)), new Set(actors))
  // The bursts of 24 hours, and what is left of the last hour.
  assert.equal(episodesOf(steps).length, 25)
  assert.deepEqual(readSteps(writeSteps(steps)), steps)
  assert.throws(() => readSteps('[{"atMs":"soon"}]'), /not a list of steps/)
})

/** Programs whose runs fail in the rule "wanted" of a check, behind another one of it, with such steps. */
function programsOf(
  onRun: (steps: Step[], isLast: boolean) => void = () => undefined,
  isFailing: (steps: Step[]) => boolean = (steps) => steps.some(({ what }) => what === 'b'),
): Programs {
  const failureIn = (kind: string): Failure => ({ ...wantedFailure, kind })
  const run = async ({ steps, withLines }: Parameters<Runner['run']>[0]): Promise<RunResult> => {
    onRun(steps, withLines)
    const failures = isFailing(steps) ? ['other', 'wanted'].map(failureIn) : []
    return { digest: '', failures, startedSteps: steps.length, simulatedMs: 1, tookMs: 1, figures: {}, lines: [] }
  }
  return { openRunner: () => ({ run, close: async () => undefined }), close: async () => undefined }
}

const stepsToShrink = ['a', 'b', 'c'].map((what, place): Step => ({ atMs: place, actor: 'customer', what, seed: 1 }))
const wantedFailure: Failure = {
  check: 'the audit',
  kind: 'wanted',
  violations: [],
  atMs: 1,
  when: 'now',
  isOfHarness: false,
}
const toShrink = {
  seed: 1,
  steps: stepsToShrink,
  guard: undefined,
  whole: {
    digest: '',
    failures: [wantedFailure],
    startedSteps: 3,
    simulatedMs: 1,
    tookMs: 1,
    figures: {},
    lines: [],
  } satisfies RunResult,
}

test('a run is shrunk by the rule that was looked for, and that failure is returned, whatever else fails', async () => {
  const found = await shrinkRun(programsOf(), toShrink)
  assert.deepEqual(
    found.steps.map(({ what }) => what),
    ['b'],
  )
  assert.equal(found.failure?.kind, 'wanted')
  assert.deepEqual(remarksOf(found), [])
  // Every run fails in that check, none in that rule.
  const another = { ...toShrink.whole, failures: [{ ...wantedFailure, kind: 'third' }] }
  const { steps, failure } = await shrinkRun(programsOf(), { ...toShrink, whole: another })
  assert.deepEqual([steps, failure], [stepsToShrink, undefined])
})

test('two errors that nothing caught are the same failure by their text, whatever ids and numbers it has', () => {
  const kind = kindOfError('C-30', new TypeError('order ord_01KJ3 of 3995de2f-aa has 5 entries\nand more'))
  assert.equal(kind, 'C-30: TypeError: order … of … has … entries')
  assert.equal(kindOfError('C-30', new TypeError('order ord_9 of 4-b has 12 entries')), kind)
  assert.notEqual(kindOfError('C-30', new RangeError('order ord_9 of 4-b has 12 entries')), kind)
})

test('a step that is not needed at the simpler times is left out', async () => {
  const isFailing = (steps: Step[]) => {
    const [b, c] = ['b', 'c'].map((name) => steps.find(({ what }) => what === name))
    return b !== undefined && (b.atMs === 0 || c !== undefined)
  }
  const { steps, failure } = await shrinkRun(programsOf(undefined, isFailing), toShrink)
  assert.deepEqual(
    steps.map(({ atMs, what }) => [atMs, what]),
    [[0, 'b']],
  )
  assert.ok(failure)
})

test('a shrunk run says what it does not show: more trials, a fresh program that passes, trials that ended by an error', async () => {
  const limited = await shrinkRun(programsOf(), toShrink, { limit: 1 })
  assert.deepEqual(remarksOf(limited), ['stopped at the limit of 1 trials: fewer steps may do'])
  const lines: string[] = []
  const failing = programsOf((steps, isLast) => {
    if (steps.length === 1) throw new Error(isLast ? 'last' : 'the program ended with 1')
  })
  const found = await shrinkRun(failing, toShrink, { onTrial: (line) => lines.push(line) })
  assert.equal(found.steps.length, 2)
  assert.ok(lines.includes('1 steps: the program failed: Error: the program ended with 1'))
  assert.match(remarksOf(found)[0] ?? '', /^\d trials could not be carried out, the first: 1 steps: the program failed/)
  const gone = { ...limited, failure: undefined, isAtLimit: false }
  assert.deepEqual(remarksOf(gone), ['the 2 steps do not fail in a fresh program'])
  const harness = { ...toShrink, whole: { ...toShrink.whole, failures: [{ ...wantedFailure, isOfHarness: true }] } }
  await assert.rejects(shrinkRun(programsOf(), harness), /nothing to shrink/)
})

test('broken guards are found only if each is shrunk to a short story; seeds that cannot be carried out are another code', () => {
  const found: GuardResult = {
    name: 'one',
    seed: 1,
    check: 'C',
    foundMs: 1,
    stepsOfRun: 50,
    steps: 20,
    trials: 9,
    shrunkMs: 1,
    story: '',
    remarks: [],
    harnessErrors: [],
  }
  const codeOf = (...others: Partial<GuardResult>[]) =>
    outcomeOf([found, ...others.map((other) => ({ ...found, ...other }))], { noShrink: false }).code
  assert.equal(codeOf(), 0)
  for (const other of [{ seed: null }, { steps: null }, { steps: 21 }]) assert.equal(codeOf(other), 1)
  assert.equal(codeOf({ harnessErrors: ['seed 1: an error'] }), 3)
  assert.equal(outcomeOf([{ ...found, steps: null }], { noShrink: true }).code, 0)
})

test('--guards takes one name, several, or all that a simulation can find, and --sabotage is another name for it', () => {
  const broken = (...args: string[]) => readOptions('simulated', args, () => 1).guards
  const named = (list: string) => broken('--guards', list)
  assert.deepEqual(broken(), [])
  assert.deepEqual(named('no-recovery,silence-refuses'), ['no-recovery', 'silence-refuses'])
  assert.deepEqual(broken('--sabotage', 'no-recovery'), ['no-recovery'])
  assert.ok(named('all').length > 20 && named('all').every((name) => !guards[name]?.outside))
  for (const wrong of ['nothing', 'no-recovery,all']) assert.throws(() => named(wrong), /--guards: expected one of/)
})

test('two traces that differ are compared at their first difference, with what came before', () => {
  const lines = ['1 a', '2 b', '3 c', '4 d', '5 e', '6 f', '7 g']
  const text = `${lines.join('\n')}\n`
  assert.equal(firstDifference(text, text), null)
  const found = 'event 7 differs:\n    2 b\n    3 c\n    4 d\n    5 e\n    6 f\n  1 7 g\n'
  assert.equal(firstDifference(text, text.replace('7 g', '7 h')), `${found}  2 7 h`)
  assert.equal(firstDifference(text, text.replace('7 g\n', '')), `${found}  2 no event`)
  assert.match(firstDifference(text, `${text}8 h\n`) ?? '', /^ {2}1 no event\n {2}2 8 h$/m)
})

test('faults that took effect are added up by their kind, and a known kind that never did is named', () => {
  const counts = countEffects([
    { events: 5, 'effect: a>gateway hold': 2, 'effect: a>database reset-after': 1, 'effect: process: killed': 1 },
    { 'effect: load>b hold': 3, 'effect: gateway hang-after': 4, 'customer: confirm': 9, 'process: paused': 1 },
  ])
  assert.equal(counts['network hold'], 5)
  assert.equal(counts['database reset-after'], 1)
  assert.equal(counts['gateway hang-after'], 4)
  assert.equal(counts['process: killed'], 1)
  assert.equal(counts['customer: confirm'], undefined)
  const never = findWithoutEffect(counts, { seeds: 20, episodes: 400 })
  assert.ok(never.includes('network double') && !never.includes('network hold') && !never.includes('process: killed'))
  // It was a step, and had no effect.
  assert.ok(never.includes('process: paused'))
  assert.ok(!never.includes('gateway too-fast'))
  assert.ok(findWithoutEffect(counts, { seeds: 20, episodes: 2_000 }).includes('gateway too-fast'))
  assert.deepEqual(findWithoutEffect(counts, { seeds: 19, episodes: 2_000 }), [])
})

test('every known kind of fault that is a step can be planned', () => {
  for (const [actor = '', what] of simulatedEffects.map((kind) => kind.split(': ')))
    if (what !== undefined) assert.equal(typeof actionOf({ actor: actor as Actor, what }), 'function')
})

test('a story leaves out what was read for the checks, except for the calls that a violation cites', () => {
  const lines: Line[] = [
    { type: 'event', at: 1, event: 'step', actor: 'customer', what: 'purchase' },
    { type: 'invoke', at: 2, number: 1, service: 'a', op: 'purchase' },
    { type: 'ok', at: 3, number: 1, status: 201 },
    { type: 'event', at: 4, event: 'quiet' },
    { type: 'invoke', at: 5, number: 2, service: 'a', op: 'status' },
    { type: 'ok', at: 6, number: 2, status: 200 },
    { type: 'invoke', at: 7, number: 12, service: 'a', op: 'balance' },
    { type: 'ok', at: 8, number: 12, status: 200 },
  ]
  const failure = {
    check: 'C',
    kind: 'C',
    violations: ['call 12: too much'],
    atMs: 9,
    when: 'at quiet moment 1',
    isOfHarness: false,
  }
  const story = storyOf(lines, failure)
  assert.match(story, /call 12: balance/)
  assert.match(story, /← ok {2}call 12/)
  assert.doesNotMatch(story, /call 2:|status 200,|quiet {2}/)
})

test("a history in Jepsen's form: a process does one thing at a time, and nothing after an outcome that is not known", () => {
  const lines: Line[] = [
    { type: 'invoke', at: 1.5, number: 1, service: 'a', op: 'purchase', customer: 3 },
    { type: 'event', at: 1.6, event: 'step', actor: 'process', what: 'both killed' },
    { type: 'event', at: 1.7, event: 'step', actor: 'customer', what: 'purchase' },
    { type: 'event', at: 1.8, event: 'quiet', tookMs: 5 },
    { type: 'invoke', at: 2, number: 2, service: 'b', op: 'balance', customer: 3 },
    { type: 'info', at: 3, number: 1, cause: 'ECONNRESET', dropped: false },
    { type: 'ok', at: 4, number: 2, status: 200, data: { credits: 5, 'a b': ['x "y"', null] }, dropped: false },
    { type: 'invoke', at: 5, number: 3, service: 'a', op: 'cancel', customer: 3 },
    { type: 'fail', at: 6, number: 3, status: 409, code: 'CON001', dropped: false },
    { type: 'event', at: 7, event: 'operator request', number: 1, endpoint: 'refunds', operator: 'o' },
    { type: 'event', at: 8, event: 'operator answer', number: 1, outcome: { kind: 'fail', code: 'NOT000' } },
  ]
  assert.deepEqual(ednOf(lines).trimEnd().split('\n'), [
    '{:index 0, :time 1500000, :process 0, :type :invoke, :f :purchase, :value {:service "a", :customer 3}}',
    '{:index 1, :time 1600000, :process :nemesis, :type :info, :f :process-both-killed, :value nil}',
    '{:index 2, :time 2000000, :process 1, :type :invoke, :f :balance, :value {:service "b", :customer 3}}',
    '{:index 3, :time 3000000, :process 0, :type :info, :f :purchase, :value {:service "a", :customer 3}, :error {:cause "ECONNRESET"}}',
    '{:index 4, :time 4000000, :process 1, :type :ok, :f :balance, :value {:service "b", :customer 3, :response {:status 200, :data {:credits 5, "a b" ["x \\"y\\"" nil]}}}}',
    '{:index 5, :time 5000000, :process 1, :type :invoke, :f :cancel, :value {:service "a", :customer 3}}',
    '{:index 6, :time 6000000, :process 1, :type :fail, :f :cancel, :value {:service "a", :customer 3}, :error {:status 409, :code "CON001"}}',
    '{:index 7, :time 7000000, :process 1, :type :invoke, :f :console-refunds, :value {:endpoint "refunds", :operator "o"}}',
    '{:index 8, :time 8000000, :process 1, :type :fail, :f :console-refunds, :value {:endpoint "refunds", :operator "o"}, :error {:code "NOT000"}}',
  ])
})

test('an error that nothing caught belongs to the process of its code, and only a service or the gateway ends by it', () => {
  const errors = watchErrors()
  const life = (name: string) => ({ name }) as unknown as Life
  try {
    const [ofService, ofLoad, thrown] = [new Error('one'), new Error('two'), new Error('three')]
    runIn(life('a'), () => errors.remember(ofService))
    errors.onLine('12 a timer 5')
    runIn(life('load'), () => errors.remember(ofLoad))
    assert.deepEqual(errors.processOf(ofService), { name: 'a', isOfProduct: true })
    assert.deepEqual(errors.processOf(ofLoad), { name: 'load', isOfProduct: false })
    errors.onLine('13 gateway timer 5')
    errors.onLine('13 note {"type":"event"}')
    assert.deepEqual(errors.processOf(thrown), { name: 'gateway', isOfProduct: true })
    errors.onLine('14 network sends 5')
    assert.deepEqual(errors.processOf(thrown), { name: 'network', isOfProduct: false })
  } finally {
    errors.close()
  }
})
