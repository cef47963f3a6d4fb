// A case of the fault table: one action with a fault at one of its calls (or, with its successor, at two), and its ending. Either
// the same action is done again, by new processes on the same database and gateway, until there is a definite answer. Or the
// caller has given up, and only the worker continues; the caller repeats the action once no work is left. Between two actions
// the clock moves past every lease. In the end books, gateway and every answer must be consistent.
import assert from 'node:assert/strict'
import { silentLog } from '../../../harness/silent-log.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { type Attempt, attempt, type Clock, isPaused, notify } from './actions.ts'
import { checkAnswers, checkBooks, checkSends, type Found, readBooks } from './checks.ts'
import type { FaultAt } from './faulty-calls.ts'
import { age, takeSubject } from './givens.ts'
import type { ActionName, Books, Ending, Ends, Scenario, Subject } from './scenario.ts'
import { hideOtherPayments, makeDayDue, moveClock, retire, type World } from './world.ts'

export type Plan = {
  faults: { action: ActionName; fault: FaultAt }[]
  ending: Ending
  clock?: Clock
  /** The first paused process resumes as soon as the second action has its fault, not at the end. */
  wakesEarly?: boolean
}

export type Case = {
  label: string
  /** Where the faults were: "payments.claimConfirms". */
  places: { fault: FaultAt; call: string }[]
  tookEffect: boolean
  /** The calls of each action with a fault. */
  made: string[][]
  failure: string | null
}

/** The state of a running case. */
type Course = { world: World; scenario: Scenario; subject: Subject; clock: Clock; attempts: Attempt[] }

/** Faults explain some unknown answers in a row; more than this means that the work never ends. */
const maxTries = 5
const requests: ActionName[] = [
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

export async function runCase(world: World, scenario: Scenario, plan: Plan): Promise<Case> {
  const subject = await begin(world, scenario)
  const course: Course = { world, scenario, subject, clock: plan.clock ?? 'moved', attempts: [] }
  let failure: string | null = null
  try {
    for (const { action, fault } of plan.faults) {
      if (course.attempts.length > 0) await passTime(course)
      await make(course, action, fault)
    }
    if (plan.wakesEarly) await resumePaused(course.attempts.slice(0, 1))
    const last = await endBy[plan.ending](course)
    await checkCourse(course, last)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  if (failure !== null || isUnfinished(scenario.ends)) await retire(world, subject)
  const faulty = course.attempts.slice(0, plan.faults.length).map(({ calls }) => calls)
  const places = faulty.flatMap(({ fault, place }) => (fault ? [{ fault, call: place() ?? '' }] : []))
  const listed = places.map(({ fault: { kind, at }, call }) => `${kind} ${at} ${call}`)
  if (plan.wakesEarly) listed.push('and the first resumes')
  return {
    label: [scenario.title, plan.ending, ...listed].join(' / '),
    places,
    tookEffect: faulty.every((each) => each.tookEffect()),
    made: faulty.map((each) => each.made),
    failure,
  }
}

async function begin(world: World, { given, alone, aged, notified, action }: Scenario): Promise<Subject> {
  const subject = await takeSubject(world, given, alone)
  if (alone) await hideOtherPayments(world, subject)
  if (action === 'reconcileDay') await makeDayDue(world)
  if (aged) await age(world, subject)
  if (notified) await notify(createDatabase(world.connections, silentLog), subject, notified)
  return subject
}

/** Whether the case leaves something that would affect later cases. */
function isUnfinished({ open = 0, notification, payment, order }: Ends): boolean {
  return open > 0 || notification === null || (payment === 'DONE' && order !== 'CONFIRMED')
}

async function make({ world, scenario, subject, clock, attempts }: Course, action: ActionName, fault: FaultAt | null) {
  const made = await attempt(world, subject, scenario, action, fault, clock)
  attempts.push(made)
  return made
}

/** The real clock moves by itself. */
async function passTime({ world, subject, clock }: Course): Promise<void> {
  if (clock === 'moved') await moveClock(world, subject)
}

const read = ({ world, scenario, subject }: Course) => readBooks(world, scenario, subject)

/** Each returns the expected end. */
const endBy: Record<Ending, (course: Course) => Promise<Ends>> = {
  'called again': async (course) => {
    const { ends } = course.scenario
    await passTime(course)
    checkBooks(await callAgain(course), ends, 'after the last action')
    if (await resumePaused(course.attempts)) checkBooks(await read(course), ends, 'after the paused process resumed')
    return ends
  },
  'left to the background': async (course) => {
    const { jobs = ['recover'] } = course.scenario.background ?? {}
    let found = await work(course, jobs)
    checkBooks(found, expectedOf(course.scenario, found).rests, 'after the background')
    if (await resumePaused(course.attempts)) {
      found = await work(course, jobs)
      checkBooks(found, expectedOf(course.scenario, found).rests, 'after the paused process resumed')
    }
    const { last } = expectedOf(course.scenario, found)
    checkBooks(await callAgain(course), last, 'after the caller repeated the action')
    return last
  },
}

/** The expected result of the background, and of a later action. */
function expectedOf({ background, ends }: Scenario, { books, begun }: Found): { rests: Books; last: Ends } {
  assert.ok(background, 'no background for this scenario')
  const { byStatus, unbegun = ends, afterBegun = ends, afterUnbegun = ends } = background
  const expected = byStatus?.[books.orders[0] ?? '']
  if (expected) return expected
  return begun ? { rests: afterBegun, last: afterBegun } : { rests: unbegun, last: afterUnbegun }
}

/** A caller repeats its request until there is an answer, an operator until no work is left. */
async function callAgain(course: Course): Promise<Found> {
  const { action, ends } = course.scenario
  const isRequest = requests.includes(action)
  for (let tries = 1; ; tries += 1) {
    const { answer } = await make(course, action, null)
    const isKnown = isRequest ? answer?.code !== 'SVC001' : isComplete(action, answer)
    const found = isKnown ? await read(course) : null
    if (found && (isRequest || !found.waiting || ends.open)) return found
    assert.ok(tries < maxTries, `no end: ${answer?.code} ${answer?.message}`)
    await passTime(course)
  }
}

/**
 * A failed job runs again, and an operator repeats a run that could not look everything up. Days are reconciled until
 * none is due.
 */
function isComplete(action: ActionName, answer: Attempt['answer']): boolean {
  if (answer?.code !== 'SUCCESS') return false
  if (action === 'reconcileDay') return answer.data === null
  const { more = false, reviewed = {} } = answer.data as { more?: boolean; reviewed?: Record<string, number> }
  return !more && !reviewed['under way'] && !reviewed.unknown
}

/** Runs the worker until no work is left. */
async function work(course: Course, jobs: ActionName[]): Promise<Found> {
  for (let round = 1; ; round += 1) {
    await passTime(course)
    for (const job of jobs) await make(course, job, null)
    const found = await read(course)
    if (!found.waiting) return found
    assert.ok(round < maxTries, 'the work of the background never ends')
  }
}

/** Resumes paused processes, which find everything done; returns whether there was one. */
async function resumePaused(attempts: Attempt[]): Promise<boolean> {
  const paused = attempts.filter((each) => isPaused(each) && each.calls.resume())
  await Promise.all(paused.map(({ finished }) => finished))
  return paused.length > 0
}

/** Checks the answers and the calls sent to the gateway. */
async function checkCourse({ world, scenario, subject, attempts }: Course, last: Ends): Promise<void> {
  const own = attempts.filter(({ action }) => action === scenario.action)
  const answers = await Promise.all(own.map((each) => (isPaused(each) ? each.finished : each.answer)))
  const answered = { attempts: own, answers, isFirst: attempts[0] === own[0] }
  if (requests.includes(scenario.action)) checkAnswers(scenario, last, subject, answered)
  checkSends(world, scenario, last, subject, attempts)
}
