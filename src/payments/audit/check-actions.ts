// The audit of what operators do: every goodwill, correction and refund has its action, which is written before anything is
// changed and is journalled. What the serving role writes by itself has none, or leaves a forged one in the log of actions. An
// action covers one adjustment.
import { assert } from '../../core/assert.ts'
import { groupsOf } from '../../db/cluster/groups.ts'
import type { Database } from '../../db/database.ts'
import {
  type AdjustmentKey,
  type AdjustmentToCheck,
  type DayPlace,
  findBeginOfActions,
  findEvidence,
  findRefundsWithoutAction,
  firstDay,
  firstRow,
  listAdjustmentsToCheck,
  listRefundsToCheck,
  listWrongDays,
  type RowPlace,
} from './check-actions.sql.ts'

export type ActionRule = { invariant: string; rule: string; isLiveness?: never }

const rule = (text: string): ActionRule => ({ invariant: 'A-1', rule: text })

export const actionRules = {
  adjustment: rule(
    'every goodwill and correction has an action of its own: of its operator, its customer, its credits',
  ),
  charge: rule('every goodwill and correction is charged to the day of its operator, and of the one who approved it'),
  approval: rule('every approval of an adjustment has the action of its operator, and every such action its approval'),
  total: rule('the total of a day is the sum of what it is charged for'),
  refund: rule('every refund has an action about its order, or was found cancelled at the gateway'),
} satisfies Record<string, ActionRule>

export type ActionCheckOptions = {
  /** At most so many rows of a page. */
  pageRows: number
  found(broken: ActionRule, detail: object, subject: Subject): void
  /** After each page. */
  onPage(): Promise<void>
}
type Subject = { customerId?: string; entryNumber?: number; operationId?: string; orderId?: string }

const mostAdjustments = 1_000
/** Operations of all kinds are read. */
const mostOperations = 10_000
const mostDays = 1_000

export async function checkActions(database: Database, options: ActionCheckOptions): Promise<void> {
  const since = await findBeginOfActions(database)
  for (const group of groupsOf(database)) {
    await checkAdjustments(database, group, since, options)
    await checkRefunds(database, group, since, options)
  }
  await checkDays(database, since, options)
}

async function checkAdjustments(
  database: Database,
  group: Database,
  since: string,
  options: ActionCheckOptions,
): Promise<void> {
  const most = Math.min(options.pageRows, mostAdjustments)
  let waiting: AdjustmentToCheck[] = []
  for (let after: RowPlace | null = firstRow; after; ) {
    const page: AdjustmentToCheck[] = await listAdjustmentsToCheck(group, after, since, most)
    const last = page.length === most ? page.at(-1) : undefined
    // The rest of the last customer is on the next page: actions are counted for a customer as a whole.
    const read = [...waiting, ...page]
    waiting = read.filter(({ customerId }) => customerId === last?.customerId)
    await checkCustomers(
      database,
      read.filter(({ customerId }) => customerId !== last?.customerId),
      options,
    )
    await options.onPage()
    after = last ? { customerId: last.customerId, id: last.adjustmentId } : null
  }
}

const keyOf = ({ customerId, adjustmentId }: AdjustmentKey) => `${customerId}/${adjustmentId}`

/**
 * All adjustments of some customers. Each takes the oldest action that is left for it. All may have theirs equally long before or
 * after them, so taking them in the order of time finds an action for every one, if there are as many as needed.
 */
async function checkCustomers(
  database: Database,
  adjustments: AdjustmentToCheck[],
  { found }: ActionCheckOptions,
): Promise<void> {
  if (adjustments.length === 0) return
  const byId = new Map(adjustments.map((each) => [keyOf(each), each]))
  const taken = new Set<string>()
  for (const { actions, isCharged, isApproved, ...key } of await findEvidence(database, adjustments)) {
    const judged = byId.get(keyOf(key))
    assert(judged, 'evidence about another adjustment')
    const { customerId, entryNumber, ...adjustment } = judged
    const subject = { customerId, entryNumber }
    const action = actions.find((each) => !taken.has(each))
    if (action) taken.add(action)
    else found(actionRules.adjustment, adjustment, subject)
    if (!isCharged) found(actionRules.charge, adjustment, subject)
    if (!isApproved) found(actionRules.approval, adjustment, subject)
  }
}

async function checkDays(
  database: Database,
  since: string,
  { found, onPage, pageRows }: ActionCheckOptions,
): Promise<void> {
  const most = Math.min(pageRows, mostDays)
  for (let after: DayPlace | null = firstDay; after; ) {
    const { read, last, wrong } = await listWrongDays(database, after, since, most)
    for (const day of wrong) found(actionRules.total, day, {})
    await onPage()
    after = read === most ? last : null
  }
}

async function checkRefunds(
  database: Database,
  group: Database,
  since: string,
  { found, onPage, pageRows }: ActionCheckOptions,
): Promise<void> {
  const most = Math.min(pageRows, mostOperations)
  for (let after: RowPlace | null = firstRow; after; ) {
    const { read, last, refunds } = await listRefundsToCheck(group, after, since, most)
    const broken = refunds.length > 0 ? await findRefundsWithoutAction(database, refunds) : []
    for (const subject of broken) found(actionRules.refund, {}, subject)
    await onPage()
    after = read === most ? last : null
  }
}
