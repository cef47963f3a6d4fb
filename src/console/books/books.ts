// The books: each day of the gateway compared with ours, and the reconciliation runs. A run that is started here continues in this
// process after the answer; its outcome is a separate entry in the action log.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type DaySpan, dayStartOf, faultOf, spanOf } from '../../core/day-span.ts'
import { refuse } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import { dayMs, daysFromTo } from '../../core/korean-days.ts'
import { findCustomerNames } from '../../customers/names.sql.ts'
import { readDatabaseTime } from '../../db/database.ts'
import { type ActionLog, recordAction } from '../../operators/action-log.ts'
import type { Run, TimeSpan } from '../../payments/books/reconcile.sql.ts'
import { abandonRun, beginRun, executeRun, isDoubtful } from '../../payments/books/reconcile.ts'
import { sidesOf, spanStateOf } from '../../payments/books/span-state.ts'
import type { ConsoleContext } from '../context.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import { refuseBecause } from '../refusals.ts'
import { actorOf, type Handlers } from '../routes.ts'
import { type DayRun, findRun, listRuns, listRunsOfDays, type RunRow } from './books.sql.ts'
import type { dayStates } from './contract.ts'
import { findResolvedTimes } from './discrepancies.sql.ts'

type Names = 'days' | 'runs' | 'run' | 'reconcile'
type BookContext = Pick<ConsoleContext, 'database' | 'background' | 'log'>

export function bookHandlers(context: BookContext, actionLog: ActionLog, app: FastifyInstance): Handlers<Names> {
  const { database } = context
  const startRun = createRunner(context, actionLog, app)

  return {
    async days({ query }) {
      return { days: await readDays(database, spanOf(query)) }
    },
    async runs({ query }) {
      const limit = limitOf(query)
      const rows = await listRuns(database, cursorOf(query, uuidPattern), limit + 1)
      const { page, nextCursor } = pageOf(rows, limit, (row) => row.reconciliationId)
      return { runs: page.map(withOutcome), nextCursor }
    },
    run: async ({ params }) => withBridge(database, await existingRun(database, params.reconciliationId)),
    async reconcile({ body, request }) {
      const { from, to } = spanOf(body)
      const begins = dayStartOf('from', from)
      if (begins >= (await readDatabaseTime(database))) throw faultOf('from', 'must not be in the future')
      const ends = new Date(dayStartOf('to', to).getTime() + dayMs)
      return { reconciliationId: await startRun({ from: begins, to: ends }, request, body.reason.trim()) }
    },
  }
}

export async function existingRun(database: ConsoleContext['database'], reconciliationId: string): Promise<RunRow> {
  const run = await findRun(database, reconciliationId)
  if (!run) throw refuse('NOT000', { message: 'There is no such run.' })
  return run
}

function withOutcome({ isExplained, ...run }: RunRow) {
  return { ...run, outcome: run.result && spanStateOf(run.result, isExplained) }
}

/** The lines as they were found, with the names of customers, and which discrepancies are resolved by now. */
async function withBridge(database: ConsoleContext['database'], row: RunRow) {
  const run = withOutcome(row)
  if (!run.result) return { ...run, bridge: null }
  const { lines, rest, ...result } = run.result
  if (!lines || !rest) return { ...run, result, bridge: null }
  const [names, resolved] = await Promise.all([
    findCustomerNames(
      database,
      lines.map(({ customerId }) => customerId),
    ),
    findResolvedTimes(
      database,
      lines.flatMap(({ discrepancyId }) => discrepancyId ?? []),
    ),
  ])
  const shown = lines.map((line) => ({
    ...line,
    customerName: names.get(line.customerId ?? '') ?? null,
    resolvedAt: resolved.get(line.discrepancyId ?? '') ?? null,
  }))
  return { ...run, result, bridge: { lines: shown, rest } }
}

type CurrentRun = { span: string; begun: Promise<Run> }

/** One run at a time. When the listener closes, the run stops between two steps and is waited for. */
function createRunner({ background, log }: BookContext, actionLog: ActionLog, app: FastifyInstance) {
  const stopping = new AbortController()
  const ending = new Set<Promise<void>>()
  let current: CurrentRun | undefined
  app.addHook('preClose', async () => stopping.abort(new Error('The service was stopped.')))
  app.addHook('onClose', async () => {
    await Promise.all(ending)
  })

  async function finishRun(run: Run, onDone: () => void, request: FastifyRequest, reason: string): Promise<void> {
    const { reconciliationId } = run
    const action = { actor: actorOf(request), command: 'reconcile carry-out', arguments: [reconciliationId] }
    const work = async () => ({
      reconciliationId,
      ...(await executeRun(background, run, { stopping: stopping.signal })),
    })
    try {
      await recordAction(actionLog, { ...action, subject: reconciliationId, reason }, () => work().finally(onDone), {
        failed: isDoubtful,
      })
    } catch (error) {
      log.error({ reconciliationId, err: error }, 'a reconciliation failed')
      await abandonRun(background, run)
    }
  }

  function begin(days: TimeSpan, span: string, request: FastifyRequest, reason: string): CurrentRun {
    const started = { span, begun: beginRun(background, days, request.operator?.name ?? null) }
    const clear = () => {
      if (current === started) current = undefined
    }
    const ended = started.begun.then((run) => finishRun(run, clear, request, reason)).catch(() => undefined)
    ending.add(ended)
    ended.then(() => {
      clear()
      ending.delete(ended)
    })
    return started
  }

  /** The id of the run, once it has begun. A second request for the same days gets the id of the same run. */
  return async (days: TimeSpan, request: FastifyRequest, reason: string): Promise<string> => {
    const span = `${days.from.toISOString()} ${days.to.toISOString()}`
    if (current && current.span !== span) {
      const message = 'A reconciliation of other days is in progress. Try again when it has ended.'
      throw refuseBecause('SVC001', 'other days', message, { metadata: { began: false } })
    }
    current ??= begin(days, span, request, reason)
    return (await current.begun).reconciliationId
  }
}

/** Newest first. */
export async function readDays(database: ConsoleContext['database'], { from, to }: DaySpan) {
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
  const { result, reconciliationId, finishedAt: comparedAt, isExplained } = finished
  return {
    day,
    state: isUnderWay ? ('under way' as const) : spanStateOf(result, isExplained),
    movements: result.movements,
    ...sidesOf(result),
    reconciliationId,
    comparedAt,
  }
}
