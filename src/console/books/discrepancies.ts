// The discrepancies: the lists, resolving one, and the page of one with both sides, its timeline and the actions that are
// possible now.
import { refuse } from '../../core/errors.ts'
import { uuidPattern } from '../../core/ids.ts'
import { limitsToday } from '../../credits/adjustments/adjust.ts'
import { limitsOf } from '../../operators/adjustment-limits.ts'
import { may, type Role } from '../../operators/permissions.ts'
import type { OrderKey } from '../../payments/orders.sql.ts'
import {
  findDiscrepancyOrder,
  resolveDiscrepancy,
  sumOpenDiscrepancies,
} from '../../payments/recovery/discrepancies.sql.ts'
import { partlyCancelled } from '../../payments/recovery/review.ts'
import { acceptPart, quotePart } from '../../payments/refunds/accept.ts'
import type { ConsoleContext } from '../context.ts'
import type { Data } from '../contract.ts'
import { paymentUrlOfDiscrepancy } from '../orders/payment-link.ts'
import { discrepancyTimeline } from '../orders/timeline.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import { refuseBecause } from '../refusals.ts'
import type { Handlers } from '../routes.ts'
import { existingRun } from './books.ts'
import {
  type DiscrepancyPage,
  findDiscrepancy,
  listDiscrepancies,
  type SeenPeriod,
  withAmountsAndNames,
} from './discrepancies.sql.ts'

type Names = 'discrepancies' | 'discrepancy' | 'resolveDiscrepancy' | 'partQuote' | 'acceptDiscrepancy'
type PossibleAction = Data<'discrepancy'>['actions'][number]

const permissionOf = { settle: 'settle', accept: 'refund', resolve: 'resolve discrepancies' } as const

export function discrepancyHandlers({
  database,
  payments,
  paymentUrlOf,
  adjustments: settings,
}: Pick<ConsoleContext, 'database' | 'payments' | 'paymentUrlOf' | 'adjustments'>): Handlers<Names> {
  async function existingOrder(discrepancyId: string): Promise<OrderKey> {
    const key = await findDiscrepancyOrder(database, discrepancyId)
    if (!key) throw noSuchDiscrepancy()
    return key
  }

  async function findSeenPeriod(reconciliationId: string | undefined): Promise<SeenPeriod | undefined> {
    if (!reconciliationId) return undefined
    const { startedAt, finishedAt } = await existingRun(database, reconciliationId)
    // A Date has no microseconds: the next millisecond includes all of them.
    return { seenSince: startedAt, foundUntil: finishedAt ? new Date(finishedAt.getTime() + 1) : 'infinity' }
  }

  return {
    async discrepancies({ query }) {
      const limit = limitOf(query)
      const { state = 'open' } = query
      const period = await findSeenPeriod(query.reconciliationId)
      const rows = await listDiscrepancies(database, state, cursorOf(query, uuidPattern), limit + 1, period)
      const { page, nextCursor } = pageOf(rows, limit, (row) => row.discrepancyId)
      const [discrepancies, open] = await Promise.all([
        withAmountsAndNames(database, page),
        sumOpenDiscrepancies(database),
      ])
      return { discrepancies, open, nextCursor }
    },

    async resolveDiscrepancy({ params: { discrepancyId }, body }) {
      const resolution = body.reason.trim()
      const kind = await resolveDiscrepancy(database, discrepancyId, resolution)
      if (kind) return { discrepancyId, kind, resolution }
      if (!(await findDiscrepancy(database, discrepancyId))) throw noSuchDiscrepancy()
      throw refuseBecause('NOT000', 'resolved', 'The discrepancy is already resolved.')
    },

    async partQuote({ operator, params }) {
      const discrepancyId = params.discrepancyId.toLowerCase()
      const quote = await quotePart(payments, { ...(await existingOrder(discrepancyId)), discrepancyId })
      return { ...quote, limits: await limitsToday(database, operator.name, limitsOf(settings, operator.role)) }
    },

    async acceptDiscrepancy({ operator, params, body: { credits, reason } }) {
      const discrepancyId = params.discrepancyId.toLowerCase()
      const key = await existingOrder(discrepancyId)
      const acceptance = { ...key, discrepancyId, credits, reason: reason.trim(), actor: operator.name }
      return acceptPart(payments, acceptance, limitsOf(settings, operator.role))
    },

    async discrepancy({ operator, params }) {
      const found = await findDiscrepancy(database, params.discrepancyId)
      if (!found) throw noSuchDiscrepancy()
      const { order, acts, others, ...discrepancy } = found
      const { foundAt, lastSeenAt, resolvedAt, ...rest } = discrepancy
      const times = {
        foundAt: foundAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
        resolvedAt: resolvedAt?.toISOString() ?? null,
      }
      return {
        discrepancy,
        order,
        others,
        history: discrepancyTimeline({ ...rest, ...times }, acts),
        paymentUrl: paymentUrlOfDiscrepancy(paymentUrlOf, found),
        actions: actionsOf(operator.role, found),
      }
    },
  }
}

function noSuchDiscrepancy() {
  return refuse('NOT000', { message: 'There is no such discrepancy.' })
}

function actionsOf(role: Role, { kind, resolvedAt, order }: DiscrepancyPage): PossibleAction[] {
  const ended = resolvedAt ? 'resolved' : null
  const refusals = {
    settle: ended ?? (order ? null : 'no order'),
    accept: ended ?? (kind === partlyCancelled ? null : 'not a part'),
    resolve: ended,
  } as const
  return (Object.keys(refusals) as PossibleAction['action'][]).map((action) => {
    const code = may(role, permissionOf[action]) ? refusals[action] : 'role'
    return { action, allowed: code === null, code }
  })
}
