// The adjustments of a customer: the list, goodwill and corrections, and the decision of a second operator. The limits are those
// of the operator's role at that moment.
import {
  type AdjustmentRequest,
  findAdjustmentState,
  listPendingRequests,
  type OperatorKind,
} from '../../credits/adjustments/adjust.sql.ts'
import { adjust, limitsToday, reject } from '../../credits/adjustments/adjust.ts'
import { listAdjustments } from '../../credits/adjustments/adjustments.sql.ts'
import { customerNotFound } from '../../credits/refusals.ts'
import { findCustomerNames } from '../../customers/names.sql.ts'
import type { Database } from '../../db/database.ts'
import { limitsOf } from '../../operators/adjustment-limits.ts'
import { withTypedBy } from '../../operators/typed-by.sql.ts'
import { approvePending } from '../../payments/refunds/approve.ts'
import type { ConsoleContext } from '../context.ts'
import type { SignedIn } from '../guard.ts'
import { cursorOf, limitOf, pageOf } from '../paging.ts'
import type { Handlers } from '../routes.ts'

type Names = 'adjustments' | 'grantGoodwill' | 'correctBalance' | 'approveAdjustment' | 'rejectAdjustment'

const pendingLimit = 100

type Call = {
  operator: SignedIn
  params: { customerId: string }
  body: { adjustmentId: string; credits: number; reason: string }
}

/** For a list of requests of any customers. */
export async function withNamesAndTypedBy(database: Database, requests: AdjustmentRequest[]) {
  const names = await findCustomerNames(
    database,
    requests.map(({ customerId }) => customerId),
  )
  const typed = await withTypedBy(database, requests)
  return typed.map((each) => ({ ...each, customerName: names.get(each.customerId) ?? null }))
}

export function adjustmentHandlers({
  database,
  payments,
  adjustments: settings,
}: Pick<ConsoleContext, 'database' | 'payments' | 'adjustments'>): Handlers<Names> {
  const adjustAs =
    (kind: OperatorKind) =>
    ({ operator, params, body }: Call) => {
      const adjustment = {
        customerId: params.customerId.toLowerCase(),
        adjustmentId: body.adjustmentId.toLowerCase(),
        kind,
        credits: body.credits,
        reason: body.reason.trim(),
        actor: operator.name,
      }
      return adjust(database, adjustment, limitsOf(settings, operator.role))
    }

  return {
    async adjustments({ operator, params, query }) {
      const customerId = params.customerId.toLowerCase()
      const limit = limitOf(query)
      const before = Number(cursorOf(query, /^\d{1,15}$/) ?? 0) || null
      const rows = await listAdjustments(database, customerId, { before, limit: limit + 1 })
      const { page, nextCursor } = pageOf(rows, limit, ({ entryNumber }) => `${entryNumber}`)
      const pending = await listPendingRequests(database, customerId, pendingLimit)
      const { available } = await findAdjustmentState(database, { customerId, adjustmentId: null })
      const limits = await limitsToday(database, operator.name, limitsOf(settings, operator.role))
      if (available === null) throw customerNotFound()
      const adjustments = page.map((each) => ({ ...each, customerId }))
      return {
        pending: await withNamesAndTypedBy(database, pending),
        adjustments: await withTypedBy(database, adjustments),
        limits,
        nextCursor,
      }
    },

    grantGoodwill: adjustAs('GOODWILL'),
    correctBalance: adjustAs('CORRECTION'),

    approveAdjustment: ({ operator, params }) =>
      approvePending(
        payments,
        params.adjustmentId.toLowerCase(),
        operator.name,
        limitsOf(settings, operator.role).perDay,
      ),
    rejectAdjustment: ({ operator, params }) => reject(database, params.adjustmentId.toLowerCase(), operator.name),
  }
}
