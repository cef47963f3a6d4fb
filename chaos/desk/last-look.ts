// The end of the day at the console: an operator, with the session of the morning, compares each day of the campaign with the
// gateway, and reads what the books and the first page say. The sums over the tables are taken before and after, so that the
// page is held against what was true at that moment: the clock goes on failing orders that nobody has paid.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../harness/random.ts'
import type { Data } from '../../src/console/contract.ts'
import { daysFromTo, koreanDayOf } from '../../src/core/korean-days.ts'
import type { Books } from '../world/postgres.ts'
import type { Service } from '../world/service.ts'
import { limits, type World } from '../world/world.ts'
import { type Asked, dataOf } from './console.ts'
import type { Desk } from './desk.ts'
import { beSignedIn, type Seat } from './roster.ts'

export type Totals = Record<
  | ('ordersMade' | 'ordersConfirmed' | 'ordersFailed' | 'ordersCancelled' | 'ordersRefunded' | 'captured' | 'returned')
  | ('creditsSold' | 'creditsTakenBack' | 'creditsOutstanding' | 'openDiscrepancies'),
  number
>

export type LastLook = {
  /** Null: it could not be had. */
  home: { page: Data<'home'>; totals: Totals } | null
  days: Data<'days'>['days']
  /** Runs that did not come to an end, pages that were not given. */
  missing: string[]
}

const attempts = 40
const pauseMs = 250

export async function takeLastLook(world: World, desk: Desk, from: Date, stopped: AbortSignal): Promise<LastLook> {
  const operator = desk.operators.find(({ role }) => role === 'finance')
  if (!operator) throw new Error('nobody is there for the books')
  const { secrets, books } = world
  const seat: Seat = { console: desk.console, operator, random: createRandom(1), secrets, stopped }
  await beSignedIn(seat)
  const service = await punctual(world)
  const missing: string[] = []
  const days = daysFromTo(koreanDayOf(from), koreanDayOf(new Date()))
  for (const day of days) missing.push(...(await compareDay(seat, service, day)))
  const read = await untilGiven(seat, 'days', { query: { from: days[0] ?? '', to: days.at(-1) ?? '' }, service })
  const home = await readHome(seat, books)
  if (!home) missing.push('the first page and the books never stood still together')
  return { home, days: read?.days ?? [], missing }
}

/** One whose clock is not behind: what it has not lived through it does not compare. */
async function punctual({ services }: World): Promise<Service> {
  const found = services.find((service) => service.now().clockShiftMs >= 0)
  if (found) return found
  await services[0].end('SIGTERM', limits.shutdownTimeoutMs)
  await services[0].start()
  return services[0]
}

async function untilGiven<Name extends 'days' | 'home' | 'reconcile' | 'run'>(
  { console, operator, random }: Seat,
  endpoint: Name,
  asked: Asked<Name>,
): Promise<Data<Name> | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const data = dataOf(await console.ask(operator, random, endpoint, asked))
    if (data) return data
    await sleep(pauseMs)
  }
  return undefined
}

async function compareDay(seat: Seat, service: Service, day: string): Promise<string[]> {
  const asked = await untilGiven(seat, 'reconcile', { body: { from: day, to: day }, service })
  if (!asked) return [`nobody reconciles ${day}`]
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const run = await untilGiven(seat, 'run', { params: { reconciliationId: asked.reconciliationId } })
    if (run?.state === 'finished') return []
    await sleep(pauseMs)
  }
  return [`the reconciliation of ${day} does not end`]
}

async function readHome(seat: Seat, books: Books): Promise<LastLook['home']> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const before = await readTotals(books)
    const page = await untilGiven(seat, 'home', { query: { days: '7' } })
    const totals = await readTotals(books)
    if (page && JSON.stringify(before) === JSON.stringify(totals)) return { page, totals }
    await sleep(pauseMs)
  }
  return null
}

/** By the states of the orders and the balances alone: nothing that the figures are made of. */
async function readTotals(books: Books): Promise<Totals> {
  const [row] = await books.query<Totals>(
    `select count(*)::float8 as "ordersMade",
      count(*) filter (where was_confirmed)::float8 as "ordersConfirmed",
      count(*) filter (where status = 'FAILED')::float8 as "ordersFailed",
      count(*) filter (where status = 'CANCELLED')::float8 as "ordersCancelled",
      count(*) filter (where status = 'REFUNDED')::float8 as "ordersRefunded",
      coalesce(sum(amount) filter (where was_confirmed), 0)::float8 as captured,
      coalesce(sum(amount) filter (where status in ('CANCELLED', 'REFUNDED')), 0)::float8 as returned,
      coalesce(sum(credits) filter (where was_confirmed), 0)::float8 as "creditsSold",
      coalesce(sum(credits - coalesce(refund_shortfall, 0)) filter (where status in ('CANCELLED', 'REFUNDED')), 0)::float8
        as "creditsTakenBack",
      (select sum(balance)::float8 from accounts) as "creditsOutstanding",
      (select count(*)::float8 from discrepancies where resolved_at is null) as "openDiscrepancies"
    from (select *, status in ('CONFIRMED', 'CANCELLED', 'REFUNDED') as was_confirmed from orders) o`,
  )
  if (!row) throw new Error('no sums')
  return row
}
