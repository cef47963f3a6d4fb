// The page of one discrepancy: what the two sides said, its history, and what can be done about it now. It is settled and
// resolved by what the pages of orders and of the books use.
import { refuse } from '../../core/errors.ts'
import { may, type Role } from '../../operators/permissions.ts'
import type { Data } from '../contract.ts'
import { historyOf } from '../orders/story.ts'
import type { ConsoleParts } from '../parts.ts'
import type { Handlers } from '../routes.ts'
import { type DiscrepancyPage, findDiscrepancy } from './discrepancy.sql.ts'

type Given = Data<'discrepancy'>['actions'][number]

const permissionOf = { settle: 'settle', resolve: 'resolve discrepancies' } as const

export function discrepancyHandlers({ database }: Pick<ConsoleParts, 'database'>): Handlers<'discrepancy'> {
  return {
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
        history: historyOf({ ...rest, ...times }, acts),
        actions: actionsOf(operator.role, found),
      }
    },
  }
}

export function noSuchDiscrepancy() {
  return refuse('NOT000', { message: 'There is no such discrepancy.' })
}

function actionsOf(role: Role, { resolvedAt, order }: DiscrepancyPage): Given[] {
  const ended = resolvedAt ? 'resolved' : null
  const refusals = { settle: ended ?? (order ? null : 'no order'), resolve: ended } as const
  return (Object.keys(refusals) as Given['action'][]).map((action) => {
    const code = may(role, permissionOf[action]) ? refusals[action] : 'role'
    return { action, allowed: code === null, code }
  })
}
