// The console at the end: an operator, with the same session, reconciles each day of the campaign and reads the days
// and the first page. The sums over the tables are read before and after, so that the page is compared with the same
// moment: unpaid orders still expire.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../harness/random.ts'
import type { Data } from '../../../src/console/contract.ts'
import { daysFromTo, koreanDayOf } from '../../../src/core/korean-days.ts'
import type { Books } from '../../world/postgres.ts'
import type { Service } from '../../world/service.ts'
import { limits } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import { type ConsoleRequest, dataOf } from './console-client.ts'
import type { Operators } from './operators.ts'
import { beSignedIn, type OperatorContext } from './sign-in.ts'

export type Totals = Record<
  | ('ordersMade' | 'ordersConfirmed' | 'ordersFailed' | 'ordersCancelled' | 'ordersRefunded' | 'captured' | 'returned')
  | ('creditsSold' | 'creditsTakenBack' | 'creditsAdjusted' | 'creditsOutstanding' | 'openDiscrepancies'),
  number
>

export type FinalPages = {
  /** Null: it could not be read. */
  home: { page: Data<'home'>; totals: Totals } | null
  days: Data<'days'>['days']
  /** Runs that did not finish, pages that were not answered. */
  missing: string[]
}

const attempts = 40
const pauseMs = 250

export async function readFinalPages(
  world: World,
  staff: Pick<Operators, 'operators' | 'console'>,
  from: Date,
  stopped: AbortSignal,
): Promise<FinalPages> {
  const operator = staff.operators.find(({ role }) => role === 'finance')
  if (!operator) throw new Error('there is no operator with the role finance')
  const { secrets, books } = world
  const context: OperatorContext = { console: staff.console, operator, random: createRandom(1), secrets, stopped }
  await beSignedIn(context)
  const service = await serviceWithRightClock(world)
  const missing: string[] = []
  const days = daysFromTo(koreanDayOf(from), koreanDayOf(new Date()))
  for (const day of days) missing.push(...(await compareDay(context, service, day)))
  const read = await untilAnswered(context, 'days', { query: { from: days[0] ?? '', to: days.at(-1) ?? '' }, service })
  const home = await readHome(context, books)
  if (!home) missing.push('the books changed during every read of the first page')
  return { home, days: read?.days ?? [], missing }
}

/** One whose clock is not behind: it does not compare a day that is in its future. */
async function serviceWithRightClock({ services }: World): Promise<Service> {
  const found = services.find((service) => service.now().clockShiftMs >= 0)
  if (found) return found
  await services[0].end('SIGTERM', limits.shutdownTimeoutMs)
  await services[0].start()
  return services[0]
}

async function untilAnswered<Name extends 'days' | 'home' | 'reconcile' | 'run'>(
  { console, operator, random }: OperatorContext,
  endpoint: Name,
  request: ConsoleRequest<Name>,
): Promise<Data<Name> | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const data = dataOf(await console.send(operator, random, endpoint, request))
    if (data) return data
    await sleep(pauseMs)
  }
  return undefined
}

async function compareDay(context: OperatorContext, service: Service, day: string): Promise<string[]> {
  const started = await untilAnswered(context, 'reconcile', { body: { from: day, to: day }, service })
  if (!started) return [`no reconciliation of ${day} was started`]
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const run = await untilAnswered(context, 'run', { params: { reconciliationId: started.reconciliationId } })
    if (run?.state === 'finished') return []
    await sleep(pauseMs)
  }
  return [`the reconciliation of ${day} does not end`]
}

async function readHome(context: OperatorContext, books: Books): Promise<FinalPages['home']> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const before = await readTotals(books)
    const page = await untilAnswered(context, 'home', { query: { days: '7' } })
    const totals = await readTotals(books)
    if (page && JSON.stringify(before) === JSON.stringify(totals)) return { page, totals }
    await sleep(pauseMs)
  }
  return null
}

/** From the states of orders and the balances alone, not from what the figures are made of. */
async function readTotals(books: Books): Promise<Totals> {
  type Others = 'creditsAdjusted' | 'creditsOutstanding' | 'openDiscrepancies'
  const [row] = await books.query<Omit<Totals, Others>>(
    `select count(*)::float8 as "ordersMade",
      count(*) filter (where was_confirmed)::float8 as "ordersConfirmed",
      count(*) filter (where status = 'FAILED')::float8 as "ordersFailed",
      count(*) filter (where status = 'CANCELLED')::float8 as "ordersCancelled",
      count(*) filter (where status = 'REFUNDED')::float8 as "ordersRefunded",
      coalesce(sum(amount) filter (where was_confirmed), 0)::float8 as captured,
      coalesce(sum(case status when 'CANCELLED' then amount when 'REFUNDED' then parts_amount + coalesce(refunded_amount, amount)
                               else parts_amount end), 0)::float8 as returned,
      coalesce(sum(credits) filter (where was_confirmed), 0)::float8 as "creditsSold",
      coalesce(sum(case status when 'CANCELLED' then credits when 'REFUNDED' then credits - refund_shortfall + parts_credits
                               else parts_credits end), 0)::float8 as "creditsTakenBack"
    from (
      select o.*, status in ('CONFIRMED', 'CANCELLED', 'REFUNDED') as was_confirmed, part.amount as parts_amount,
             part.credits as parts_credits
      from orders o
      cross join lateral (
        select coalesce(sum(amount), 0) as amount, coalesce(sum(credits_held), 0) as credits from payment_operations
        where customer_id = o.customer_id and order_id = o.order_id and kind = 'PART') part) o`,
  )
  if (!row) throw new Error('no sums')
  const numberOf = async (text: string) => (await books.query<{ number: number }>(text))[0]?.number ?? 0
  return {
    ...row,
    creditsAdjusted: await numberOf('select coalesce(sum(credits), 0)::float8 as number from adjustments'),
    creditsOutstanding: await numberOf('select sum(balance)::float8 as number from accounts'),
    openDiscrepancies: await numberOf('select count(*)::float8 as number from discrepancies where resolved_at is null'),
  }
}
