// The books: how each day of the gateway compares with ours, the runs that compared them, and what a person has to look at.
// A run that is asked for here goes on in this process after the answer; how it ended is an action of its own in the trail.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse, refuseFields } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import { addDays, dayMs, daysFromTo, koreanDayOf, startOfKoreanDay } from '../../core/korean-days.ts'
import { recorded, type Trail } from '../../operators/action-log.ts'
import type { Run, TimeSpan } from '../../payments/books/reconcile.sql.ts'
import { abandonRun, beginRun, executeRun, isDoubtful } from '../../payments/books/reconcile.ts'
import { resolveDiscrepancy } from '../../payments/recovery/discrepancies.sql.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { ConsoleParts } from '../parts.ts'
import { refuseBecause } from '../refusals.ts'
import { actorOf, type Handlers } from '../routes.ts'
import {
  type DayRun,
  findRun,
  listDiscrepancies,
  listRuns,
  listRunsOfDays,
  type Sight,
  type StoredResult,
} from './books.sql.ts'
import type { dayStates } from './contract.ts'
import { findDiscrepancy } from './discrepancy.sql.ts'
import { noSuchDiscrepancy } from './discrepancy.ts'

const defaultDays = 31
export const mostDays = 366

type Names = 'days' | 'runs' | 'run' | 'reconcile' | 'discrepancies' | 'resolveDiscrepancy'
type BookParts = Pick<ConsoleParts, 'database' | 'background' | 'log'>

export function bookHandlers(parts: BookParts, trail: Trail, app: FastifyInstance): Handlers<Names> {
  const { database } = parts
  const runInBackground = createBackground(parts, trail, app)

  async function mustFindRun(reconciliationId: string) {
    const run = await findRun(database, reconciliationId)
    if (!run) throw refuse('NOT000', { message: 'There is no such run.' })
    return run
  }

  async function sightOf(reconciliationId: string | undefined): Promise<Sight | undefined> {
    if (!reconciliationId) return undefined
    const { startedAt, finishedAt } = await mustFindRun(reconciliationId)
    // A Date is cut off at the millisecond.
    return { seenSince: startedAt, foundUntil: finishedAt ? new Date(finishedAt.getTime() + 1) : 'infinity' }
  }

  return {
    async days({ query }) {
      return { days: await readDays(database, spanOf(query)) }
    },
    async runs({ query }) {
      const limit = limitOf(query)
      const rows = await listRuns(database, cursorOf(query, uuidPattern), limit + 1)
      const { page, nextCursor } = pageOf(rows, limit, (row) => row.reconciliationId)
      return { runs: page, nextCursor }
    },
    async run({ params }) {
      return mustFindRun(params.reconciliationId)
    },
    async reconcile({ body, request }) {
      const { from, to } = spanOf(body)
      const begins = startOf('from', from)
      if (begins.getTime() >= Date.now()) throw faultOf('from', 'must not be in the future')
      const ends = new Date(startOf('to', to).getTime() + dayMs)
      return { reconciliationId: await runInBackground({ from: begins, to: ends }, request, body.reason.trim()) }
    },
    async discrepancies({ query }) {
      const limit = limitOf(query)
      const { state = 'open' } = query
      const sight = await sightOf(query.reconciliationId)
      const rows = await listDiscrepancies(database, state, cursorOf(query, uuidPattern), limit + 1, sight)
      const { page, nextCursor } = pageOf(rows, limit, (row) => row.discrepancyId)
      return { discrepancies: page, nextCursor }
    },
    async resolveDiscrepancy({ params: { discrepancyId }, body }) {
      const resolution = body.reason.trim()
      const kind = await resolveDiscrepancy(database, discrepancyId, resolution)
      if (kind) return { discrepancyId, kind, resolution }
      if (!(await findDiscrepancy(database, discrepancyId))) throw noSuchDiscrepancy()
      throw refuseBecause('NOT000', 'resolved', 'The discrepancy is resolved already.')
    },
  }
}

type UnderWay = { span: string; begun: Promise<Run> }

/** One run at a time. A listener that closes has it stop between two pieces of work, and waits for it. */
function createBackground({ background, log }: BookParts, trail: Trail, app: FastifyInstance) {
  const stopping = new AbortController()
  const ending = new Set<Promise<void>>()
  let current: UnderWay | undefined
  app.addHook('preClose', async () => stopping.abort(new Error('The service was stopped.')))
  app.addHook('onClose', async () => {
    await Promise.all(ending)
  })

  async function carryOn(run: Run, onDone: () => void, request: FastifyRequest, reason: string): Promise<void> {
    const { reconciliationId } = run
    const action = { actor: actorOf(request), command: 'reconcile carry-out', arguments: [reconciliationId] }
    const work = async () => ({
      reconciliationId,
      ...(await executeRun(background, run, { stopping: stopping.signal })),
    })
    try {
      await recorded(trail, { ...action, subject: reconciliationId, reason }, () => work().finally(onDone), isDoubtful)
    } catch (error) {
      log.error({ reconciliationId, err: error }, 'a reconciliation came to nothing')
      await abandonRun(background, run)
    }
  }

  function begin(days: TimeSpan, span: string, request: FastifyRequest, reason: string): UnderWay {
    const mine = { span, begun: beginRun(background, days) }
    const leave = () => {
      if (current === mine) current = undefined
    }
    const ended = mine.begun.then((run) => carryOn(run, leave, request, reason)).catch(() => undefined)
    ending.add(ended)
    ended.then(() => {
      leave()
      ending.delete(ended)
    })
    return mine
  }

  /** The id of the run, once it has begun. Whoever asks for the same days meanwhile is told of the same run. */
  return async (days: TimeSpan, request: FastifyRequest, reason: string): Promise<string> => {
    const span = `${days.from.toISOString()} ${days.to.toISOString()}`
    if (current && current.span !== span) {
      const message = 'A reconciliation of other days is under way. Try again when it has ended.'
      throw refuseBecause('SVC001', 'other days', message)
    }
    current ??= begin(days, span, request, reason)
    return (await current.begun).reconciliationId
  }
}

function faultOf(field: string, rule: string) {
  return refuseFields('VAL003', [{ field, rule }])
}

/** No day before it has anything in the books. */
const firstDay = '2000-01-01'

/** Up to tomorrow: the clock of whoever asks may be ahead. */
function startOf(field: string, day: string): Date {
  const start = startOfKoreanDay(day)
  if (!start) throw faultOf(field, 'must be a day that exists')
  const lastDay = addDays(koreanDayOf(new Date()), 1)
  if (day < firstDay || day > lastDay) throw faultOf(field, `must be a day from ${firstDay} to ${lastDay}`)
  return start
}

export type DaySpan = { from: string; to: string }

/** Without a word the last days and today. */
export function spanOf({ from, to = koreanDayOf(new Date()) }: Partial<DaySpan>): DaySpan {
  startOf('to', to)
  const first = from ?? [addDays(to, 1 - defaultDays), firstDay].toSorted().at(-1) ?? firstDay
  const lengthDays = (startOf('to', to).getTime() - startOf('from', first).getTime()) / dayMs + 1
  if (lengthDays < 1) throw faultOf('to', 'must not be before from')
  if (lengthDays > mostDays) throw faultOf('to', `must be within ${mostDays} days of from`)
  return { from: first, to }
}

/** Newest first. */
export async function readDays(database: ConsoleParts['database'], { from, to }: DaySpan) {
  const runs = Map.groupBy(await listRunsOfDays(database, from, to), ({ day }) => day)
  return daysFromTo(from, to)
    .reverse()
    .map((day) => dayOf(day, runs.get(day) ?? []))
}

type DayState = (typeof dayStates)[number]

function dayOf(day: string, runs: DayRun[]) {
  const finished = runs.find(({ state }) => state === 'finished')
  const isUnderWay = runs.some(({ state }) => state === 'under way')
  if (!finished?.result) {
    const state: DayState = isUnderWay ? 'under way' : 'not compared'
    const nothing = { gateway: null, books: null, reconciliationId: null, comparedAt: null }
    return { day, state, movements: 0, difference: 0, ...nothing }
  }
  const { result, reconciliationId, finishedAt: comparedAt } = finished
  const gateway = moneyOf(result.captured, result.cancelled)
  const { bookedCaptured, bookedCancelled, missingCaptured = 0, missingCancelled = 0 } = result
  const books = moneyOf(bookedCaptured + missingCaptured, bookedCancelled + missingCancelled)
  return {
    day,
    state: isUnderWay ? ('under way' as const) : stateOf(result),
    movements: result.movements,
    gateway,
    books,
    difference: gateway.net - books.net,
    reconciliationId,
    comparedAt,
  }
}

function moneyOf(captured: number, cancelled: number) {
  return { captured, cancelled, net: captured - cancelled }
}

/** What the books say of a repaired day is from before its repair. Money of another shop's orders is nobody's repair. */
function stateOf(result: StoredResult): DayState {
  const { captured, cancelled, bookedCaptured, bookedCancelled, foreign, reviewed } = result
  const { notListed = 0, listedDifferently = 0 } = result
  const isOpen = reviewed.disagrees + reviewed.unknown + reviewed['under way'] + notListed + listedDifferently > 0
  const isEqual = captured === bookedCaptured && cancelled === bookedCancelled
  if (isOpen || (!isEqual && foreign > 0)) return 'differs'
  return isEqual && reviewed.repaired === 0 ? 'agrees' : 'repaired'
}
