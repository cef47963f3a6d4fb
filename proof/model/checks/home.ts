// The console's first page and days at the end: the figures, which the worker adds up by the hour during the run, are
// the sums over the tables to the won; the days are the totals of the gateway's journal, and those that our operations
// account for.
import { koreanDayOf } from '../../../src/core/korean-days.ts'
import type { World } from '../../world/world.ts'
import type { FinalPages, Totals } from '../operators/final-pages.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'

export async function checkHome(
  world: World,
  evidence: Evidence,
  { home, days, missing }: FinalPages,
): Promise<Check[]> {
  return checksOf({
    'O-10 the figures of the first page are the sums over the books, to the won': [
      ...missing,
      ...(home ? otherFigures(home.page, home.totals) : []),
    ],
    "O-11 every day's totals are the gateway's, and our books account for what they must": await otherDays(
      world,
      evidence,
      days,
    ),
  })
}

type Page = NonNullable<FinalPages['home']>['page']

/** The whole run is within the days shown. */
const summed = [
  'ordersMade',
  'ordersConfirmed',
  'ordersFailed',
  'ordersCancelled',
  'ordersRefunded',
  'captured',
  'returned',
  'creditsSold',
  'creditsTakenBack',
  'creditsAdjusted',
] as const

function otherFigures(page: Page, totals: Totals): string[] {
  const { ordersMade, ordersConfirmed, ordersFailed, ordersCancelled, ordersRefunded } = totals
  const spent = totals.creditsSold - totals.creditsTakenBack + totals.creditsAdjusted - totals.creditsOutstanding
  const inAll = (name: keyof Page['days'][number]) => page.days.reduce((sum, day) => sum + Number(day[name]), 0)
  const compared: [what: string, shown: unknown, expected: unknown][] = [
    ...summed.map((name): [string, number, number] => [name, inAll(name), totals[name]]),
    ['netPaid', inAll('netPaid'), totals.captured - totals.returned],
    ['creditsSpent', inAll('creditsSpent'), spent],
    ['creditsOutstanding', page.creditsOutstanding, totals.creditsOutstanding],
    ['creditsOutstanding of the last day', page.days.at(-1)?.creditsOutstanding, totals.creditsOutstanding],
    ['orders PENDING', page.orders.PENDING, ordersMade - ordersConfirmed - ordersFailed],
    ['orders CONFIRMED', page.orders.CONFIRMED, ordersConfirmed - ordersCancelled - ordersRefunded],
    ['orders FAILED', page.orders.FAILED, ordersFailed],
    ['orders CANCELLED', page.orders.CANCELLED, ordersCancelled],
    ['orders REFUNDED', page.orders.REFUNDED, ordersRefunded],
    ['open discrepancies', page.discrepancies.count, totals.openDiscrepancies],
    ['open operations', page.operations.count, 0],
    ['missing hours of the figures', page.figuresUpTo, null],
  ]
  return compared
    .filter(([, shown, expected]) => shown !== expected)
    .map(([what, shown, expected]) => `${what}: ${shown} on the page, ${expected} in the books`)
}

async function otherDays({ books }: World, { movements }: Evidence, days: FinalPages['days']): Promise<string[]> {
  // A RETURN accounts for the capture that no confirm has, and for its cancel.
  const rows = await books.query<{ moved: string }>(
    `select concat_ws(' ', order_id, payment_key, direction, amount) as moved
    from payment_operations
    cross join unnest(case kind when 'CONFIRM' then '{capture}' when 'RETURN' then '{capture,cancel}' else '{cancel}' end::text[])
      as direction
    where state = 'APPROVED'`,
  )
  const approved = new Set(rows.map(({ moved }) => moved))
  const byDay = Map.groupBy(movements, ({ at }) => koreanDayOf(new Date(at)))
  return days.flatMap(({ day, gateway, books: ours, movements: count, state }) => {
    const ofDay = byDay.get(day) ?? []
    /** An operation accounts for one movement of its amount, or for parts that add up to it. */
    function isBooked(movement: (typeof ofDay)[number]): boolean {
      const { orderId, paymentKey, kind, amount } = movement
      const alike = ofDay.filter(
        (other) => other.orderId === orderId && other.paymentKey === paymentKey && other.kind === kind,
      )
      const isFirst = alike.find((other) => other.amount === amount) === movement
      const has = (won: number) => approved.has(`${orderId} ${paymentKey} ${kind} ${won}`)
      return has(alike.reduce((won, other) => won + other.amount, 0)) || (isFirst && has(amount))
    }
    const sum = (kind: string, onlyBooked: boolean) =>
      ofDay
        .filter((movement) => movement.kind === kind)
        .filter((movement) => !onlyBooked || isBooked(movement))
        .reduce((won, { amount }) => won + amount, 0)
    const expected = [
      ofDay.length,
      sum('capture', false),
      sum('cancel', false),
      sum('capture', true),
      sum('cancel', true),
    ]
    const shown = [count, gateway?.captured, gateway?.cancelled, ours?.captured, ours?.cancelled]
    return `${shown}` === `${expected}`
      ? []
      : [`${day} (${state}) shows ${shown}, the journal and the books ${expected}`]
  })
}
