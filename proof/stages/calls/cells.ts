// A cell of the fault table: one call, struck at one crossing (or, with its successor, at two), and its ending. Either
// the same call is made again, by new processes on the same database and gateway, until there is a definite answer. Or
// the caller has given up, and only the worker continues; the caller repeats the call once no work is left. Between two
// calls the clock moves past every lease. In the end books, gateway and every answer must be consistent.
import assert from 'node:assert/strict'
import { silentLog } from '../../../harness/silent-log.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { type Attempt, attempt, type Clock, isStalled, notify } from './calls.ts'
import { checkAnswers, checkBooks, checkSends, type Found, readBooks } from './checks.ts'
import type { Strike } from './crossings.ts'
import { age, takeSubject } from './givens.ts'
import type { Books, CallName, Ending, Ends, Scenario, Subject } from './scenario.ts'
import { hideOtherPayments, makeDayDue, moveClock, retire, type World } from './world.ts'

export type Plan = {
  strikes: { call: CallName; strike: Strike }[]
  ending: Ending
  clock?: Clock
  /** The first stalled process resumes as soon as the second call is struck, not at the end. */
  wakesEarly?: boolean
}

export type Cell = {
  label: string
  fired: boolean
  /** The crossings of each call to strike. */
  crossed: string[][]
  failure: string | null
}

/** The state of a running cell. */
type Story = { world: World; scenario: Scenario; subject: Subject; clock: Clock; attempts: Attempt[] }

/** Strikes explain some unknown answers in a row; more than this means that the work never ends. */
const maxTries = 5
const requests: CallName[] = [
  'purchase',
  'confirm',
  'cancel',
  'spend',
  'hold',
  'capture',
  'release',
  'refund',
  'notify',
]

export async function runCell(world: World, scenario: Scenario, plan: Plan): Promise<Cell> {
  const subject = await begin(world, scenario)
  const story: Story = { world, scenario, subject, clock: plan.clock ?? 'moved', attempts: [] }
  let failure: string | null = null
  try {
    for (const { call, strike } of plan.strikes) {
      if (story.attempts.length > 0) await passTime(story)
      await make(story, call, strike)
    }
    if (plan.wakesEarly) await resumeStalled(story.attempts.slice(0, 1))
    const last = await endBy[plan.ending](story)
    await checkStory(story, last)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  if (failure !== null || isUnfinished(scenario.ends)) await retire(world, subject)
  const struck = story.attempts.slice(0, plan.strikes.length).map(({ crossings }) => crossings)
  const places = struck.map((each) => `${each.strike?.mode} ${each.strike?.at} ${each.place()}`)
  if (plan.wakesEarly) places.push('and the first resumes')
  return {
    label: [scenario.title, plan.ending, ...places].join(' / '),
    fired: struck.every((each) => each.fired()),
    crossed: struck.map((each) => each.crossed),
    failure,
  }
}

async function begin(world: World, { given, alone, aged, notified, call }: Scenario): Promise<Subject> {
  const subject = await takeSubject(world, given, alone)
  if (alone) await hideOtherPayments(world, subject)
  if (call === 'reconcileDay') await makeDayDue(world)
  if (aged) await age(world, subject)
  if (notified) await notify(createDatabase(world.connections, silentLog), subject, notified)
  return subject
}

/** Whether the cell leaves something that would affect later cells. */
function isUnfinished({ open = 0, notification, payment, order }: Ends): boolean {
  return open > 0 || notification === null || (payment === 'DONE' && order !== 'CONFIRMED')
}

async function make({ world, scenario, subject, clock, attempts }: Story, call: CallName, strike: Strike | null) {
  const made = await attempt(world, subject, scenario, call, strike, clock)
  attempts.push(made)
  return made
}

/** The real clock moves by itself. */
async function passTime({ world, subject, clock }: Story): Promise<void> {
  if (clock === 'moved') await moveClock(world, subject)
}

const read = ({ world, scenario, subject }: Story) => readBooks(world, scenario, subject)

/** Each returns the expected end. */
const endBy: Record<Ending, (story: Story) => Promise<Ends>> = {
  'called again': async (story) => {
    const { ends } = story.scenario
    await passTime(story)
    checkBooks(await callAgain(story), ends, 'after the last call')
    if (await resumeStalled(story.attempts)) checkBooks(await read(story), ends, 'after the stalled process resumed')
    return ends
  },
  'left to the background': async (story) => {
    const { jobs = ['recover'] } = story.scenario.background ?? {}
    let found = await work(story, jobs)
    checkBooks(found, expectedOf(story.scenario, found).rests, 'after the background')
    if (await resumeStalled(story.attempts)) {
      found = await work(story, jobs)
      checkBooks(found, expectedOf(story.scenario, found).rests, 'after the stalled process resumed')
    }
    const { last } = expectedOf(story.scenario, found)
    checkBooks(await callAgain(story), last, 'after the caller repeated the call')
    return last
  },
}

/** The expected result of the background, and of a later call. */
function expectedOf({ background, ends }: Scenario, { books, begun }: Found): { rests: Books; last: Ends } {
  assert.ok(background, 'no background for this scenario')
  const { byStatus, unbegun = ends, afterBegun = ends, afterUnbegun = ends } = background
  const expected = byStatus?.[books.orders[0] ?? '']
  if (expected) return expected
  return begun ? { rests: afterBegun, last: afterBegun } : { rests: unbegun, last: afterUnbegun }
}

/** A caller repeats its request until there is an answer, an operator until no work is left. */
async function callAgain(story: Story): Promise<Found> {
  const { call, ends } = story.scenario
  const isRequest = requests.includes(call)
  for (let tries = 1; ; tries += 1) {
    const { answer } = await make(story, call, null)
    const isKnown = isRequest ? answer?.code !== 'SVC001' : isComplete(call, answer)
    const found = isKnown ? await read(story) : null
    if (found && (isRequest || !found.waiting || ends.open)) return found
    assert.ok(tries < maxTries, `no end: ${answer?.code} ${answer?.message}`)
    await passTime(story)
  }
}

/**
 * A failed job runs again, and an operator repeats a run that could not look everything up. Days are reconciled until
 * none is due.
 */
function isComplete(call: CallName, answer: Attempt['answer']): boolean {
  if (answer?.code !== 'SUCCESS') return false
  if (call === 'reconcileDay') return answer.data === null
  const { more = false, reviewed = {} } = answer.data as { more?: boolean; reviewed?: Record<string, number> }
  return !more && !reviewed['under way'] && !reviewed.unknown
}

/** Runs the worker until no work is left. */
async function work(story: Story, jobs: CallName[]): Promise<Found> {
  for (let round = 1; ; round += 1) {
    await passTime(story)
    for (const job of jobs) await make(story, job, null)
    const found = await read(story)
    if (!found.waiting) return found
    assert.ok(round < maxTries, 'the work of the background never ends')
  }
}

/** Resumes stalled processes, which find everything done; returns whether there was one. */
async function resumeStalled(attempts: Attempt[]): Promise<boolean> {
  const stalled = attempts.filter((each) => isStalled(each) && each.crossings.resume())
  await Promise.all(stalled.map(({ finished }) => finished))
  return stalled.length > 0
}

/** Checks the answers and the calls sent to the gateway. */
async function checkStory({ world, scenario, subject, attempts }: Story, last: Ends): Promise<void> {
  const calls = attempts.filter(({ call }) => call === scenario.call)
  const answers = await Promise.all(calls.map((each) => (isStalled(each) ? each.finished : each.answer)))
  const answered = { attempts: calls, answers, isFirst: attempts[0] === calls[0] }
  if (requests.includes(scenario.call)) checkAnswers(scenario, last, subject, answered)
  checkSends(world, scenario, last, subject, attempts)
}
