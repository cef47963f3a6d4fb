// A cell of the fault table: one call, struck at one crossing (or, with whoever comes after it, at two), and the way it
// ends. Either the same call is made again, by new processes on the same database and gateway, until there is a definite
// answer. Or the caller has given up, and only the worker goes on: then the caller comes back once all is quiet. Between
// two calls the clock moves past every lease. In the end books, gateway and every answer must fit together.
import assert from 'node:assert/strict'
import { createDatabase } from '../../../src/db/database.ts'
import { silentLog } from '../database/database.ts'
import { type Attempt, attempt, type Clock, isStalled, notify } from './calls.ts'
import { checkAnswers, checkBooks, checkSends, type Found, readBooks } from './checks.ts'
import type { Strike } from './crossings.ts'
import { age, takeSubject } from './givens.ts'
import type { Books, CallName, Ending, Ends, Scenario, Subject } from './scenario.ts'
import { leaveAlone, makeDayDue, moveClock, retire, type World } from './world.ts'

export type Plan = {
  strikes: { call: CallName; strike: Strike }[]
  ending: Ending
  clock?: Clock
  /** Whoever was struck first wakes up as soon as the second is struck, not when all is over. */
  wakesEarly?: boolean
}

export type Cell = {
  label: string
  fired: boolean
  /** What each of those that were to be struck crossed. */
  crossed: string[][]
  failure: string | null
}

/** What has happened so far. */
type Story = { world: World; scenario: Scenario; subject: Subject; clock: Clock; attempts: Attempt[] }

/** Unknown answers in a row are explained by what was struck; past that something never comes to an end. */
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
    if (plan.wakesEarly) await wakeUp(story.attempts.slice(0, 1))
    const last = await endBy[plan.ending](story)
    await checkStory(story, last)
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error)
  }
  if (failure !== null || isUnfinished(scenario.ends)) await retire(world, subject)
  const struck = story.attempts.slice(0, plan.strikes.length).map(({ crossings }) => crossings)
  const places = struck.map((each) => `${each.strike?.mode} ${each.strike?.at} ${each.place()}`)
  if (plan.wakesEarly) places.push('and the first wakes up')
  return {
    label: [scenario.title, plan.ending, ...places].join(' / '),
    fired: struck.every((each) => each.fired()),
    crossed: struck.map((each) => each.crossed),
    failure,
  }
}

async function begin(world: World, { given, alone, aged, notified, call }: Scenario): Promise<Subject> {
  const subject = await takeSubject(world, given, alone)
  if (alone) await leaveAlone(world, subject)
  if (call === 'reconcileDay') await makeDayDue(world)
  if (aged) await age(world, subject)
  if (notified) await notify(createDatabase(world.connections, silentLog), subject, notified)
  return subject
}

/** Something is left that later cells would come upon. */
function isUnfinished({ open = 0, heard, payment, order }: Ends): boolean {
  return open > 0 || heard === null || (payment === 'DONE' && order !== 'CONFIRMED')
}

async function make({ world, scenario, subject, clock, attempts }: Story, call: CallName, strike: Strike | null) {
  const made = await attempt(world, subject, scenario, call, strike, clock)
  attempts.push(made)
  return made
}

/** The clock on the wall moves by itself. */
async function passTime({ world, subject, clock }: Story): Promise<void> {
  if (clock === 'moved') await moveClock(world, subject)
}

const read = ({ world, scenario, subject }: Story) => readBooks(world, scenario, subject)

/** Each gives what it has led to. */
const endBy: Record<Ending, (story: Story) => Promise<Ends>> = {
  'called again': async (story) => {
    const { ends } = story.scenario
    await passTime(story)
    checkBooks(await callAgain(story), ends, 'after the last call')
    if (await wakeUp(story.attempts)) checkBooks(await read(story), ends, 'after waking up')
    return ends
  },
  'left to the background': async (story) => {
    const { jobs = ['recover'] } = story.scenario.background ?? {}
    let found = await work(story, jobs)
    checkBooks(found, expectedOf(story.scenario, found).rests, 'after the background')
    if (await wakeUp(story.attempts)) {
      found = await work(story, jobs)
      checkBooks(found, expectedOf(story.scenario, found).rests, 'after waking up')
    }
    const { last } = expectedOf(story.scenario, found)
    checkBooks(await callAgain(story), last, 'when the caller came back')
    return last
  },
}

/** What the background must have left, and what a later call leads to. */
function expectedOf({ background, ends }: Scenario, { books, begun }: Found): { rests: Books; last: Ends } {
  assert.ok(background, 'no background for this scenario')
  const { byStatus, unbegun = ends, afterBegun = ends, afterUnbegun = ends } = background
  const expected = byStatus?.[books.orders[0] ?? '']
  if (expected) return expected
  return begun ? { rests: afterBegun, last: afterBegun } : { rests: unbegun, last: afterUnbegun }
}

/** The caller asks until there is an answer, and an operator until there is nothing more to ask for. */
async function callAgain(story: Story): Promise<Found> {
  const { call, ends } = story.scenario
  const isRequest = requests.includes(call)
  for (let tries = 1; ; tries += 1) {
    const { answer } = await make(story, call, null)
    const isKnown = isRequest ? answer?.code !== 'SVC001' : hasSeenAll(call, answer)
    const found = isKnown ? await read(story) : null
    if (found && (isRequest || !found.waiting || ends.open)) return found
    assert.ok(tries < maxTries, `no end: ${answer?.code} ${answer?.message}`)
    await passTime(story)
  }
}

/**
 * A job that has failed comes again, and so does an operator who reads that something could not be found out. A day is
 * reconciled until there is none left.
 */
function hasSeenAll(call: CallName, answer: Attempt['answer']): boolean {
  if (answer?.code !== 'SUCCESS') return false
  if (call === 'reconcileDay') return answer.data === null
  const { more = false, reviewed = {} } = answer.data as { more?: boolean; reviewed?: Record<string, number> }
  return !more && !reviewed['under way'] && !reviewed.unknown
}

/** The worker, until nothing is left for it to do. */
async function work(story: Story, jobs: CallName[]): Promise<Found> {
  for (let round = 1; ; round += 1) {
    await passTime(story)
    for (const job of jobs) await make(story, job, null)
    const found = await read(story)
    if (!found.waiting) return found
    assert.ok(round < maxTries, 'the background never comes to an end')
  }
}

/** Whoever stands still wakes up now and finds everything done; whether there was anybody. */
async function wakeUp(attempts: Attempt[]): Promise<boolean> {
  const asleep = attempts.filter((each) => isStalled(each) && each.crossings.resume())
  await Promise.all(asleep.map(({ finished }) => finished))
  return asleep.length > 0
}

/** What was told and what was sent. */
async function checkStory({ world, scenario, subject, attempts }: Story, last: Ends): Promise<void> {
  const asked = attempts.filter(({ call }) => call === scenario.call)
  const answers = await Promise.all(asked.map((each) => (isStalled(each) ? each.finished : each.answer)))
  const told = { attempts: asked, answers, isFirst: attempts[0] === asked[0] }
  if (requests.includes(scenario.call)) checkAnswers(scenario, last, subject, told)
  checkSends(world, scenario, last, subject, attempts)
}
