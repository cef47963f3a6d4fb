// The audit of what operators do: every goodwill, correction, refund and accepted part has its action, which is written before
// anything is changed and is journalled. What the serving role writes by itself has none, or leaves a forged one in the log of
// actions. An action covers one adjustment.
import { assert } from '../../core/assert.ts'
import { listOutstandingLots } from '../../credits/lots/liability.sql.ts'
import type { Database } from '../../db/database.ts'
import { groupsOf } from '../../db/groups.ts'
import { creditsOfPart } from '../refunds/rule.ts'
import {
  type AdjustmentKey,
  type AdjustmentToCheck,
  type ComparedPart,
  type DayPlace,
  findBeginOfActions,
  findEvidence,
  findPartEvidence,
  findRefundsWithoutAction,
  firstDay,
  firstRow,
  listAdjustmentsToCheck,
  listPartsToCheck,
  listRefundsToCheck,
  listWrongDays,
  type PartToCheck,
  type RowPlace,
} from './check-actions.sql.ts'

export type ActionRule = { invariant: string; rule: string; isLiveness?: never }

const rule = (text: string): ActionRule => ({ invariant: 'A-1', rule: text })

export const actionRules = {
  adjustment: rule(
    'every goodwill and correction has an action of its own: of its operator, its customer, its credits',
  ),
  charge: rule('every goodwill and correction is charged to the day of its operator, or of the one who approved it'),
  approval: rule('every approval of an adjustment has the action of its operator, and every such action its approval'),
  total: rule('the total of a day is the sum of what it is charged for'),
  part: rule('every accepted part ends a discrepancy of its order by the action of an operator, with its credits'),
  partCharge: rule(
    'what an accepted part takes more or less than its won stand for is charged to its operator, or to the one who approved it',
  ),
  partApproval: rule('every approval of an accepted part has the action of its operator'),
  refund: rule('every refund has an action about its order, or was found cancelled at the gateway'),
} satisfies Record<string, ActionRule>

export type ActionCheckOptions = {
  /** The most rows of a page. */
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
    await checkParts(database, group, options)
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
    const toCheck = byId.get(keyOf(key))
    assert(toCheck, 'evidence about another adjustment')
    const { customerId, entryNumber, ...adjustment } = toCheck
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

async function checkParts(
  database: Database,
  group: Database,
  { found, onPage, pageRows }: ActionCheckOptions,
): Promise<void> {
  const most = Math.min(pageRows, mostAdjustments)
  for (let after: RowPlace | null = firstRow; after; ) {
    const page: PartToCheck[] = await listPartsToCheck(group, after, most)
    const compared: ComparedPart[] = []
    for (const part of page) compared.push({ ...part, difference: await differenceOf(database, part) })
    for (const evidence of compared.length > 0 ? await findPartEvidence(database, compared) : []) {
      const { isAccepted, isCharged, isApproved, ...subject } = evidence
      if (!isAccepted) found(actionRules.part, {}, subject)
      if (!isCharged) found(actionRules.partCharge, {}, subject)
      if (!isApproved) found(actionRules.partApproval, {}, subject)
    }
    await onPage()
    const last = page.length === most ? page.at(-1) : undefined
    after = last ? { customerId: last.customerId, id: last.operationId } : null
  }
}

/** What it took more or less than was proposed; payments/refunds/accept.ts. */
async function differenceOf(database: Database, part: PartToCheck): Promise<number> {
  const { customerId, orderId, credits, leftAt } = part
  const { most, standsFor } = creditsOfPart(part)
  if (credits >= standsFor) return credits - standsFor
  const lots = await listOutstandingLots(database, [customerId], leftAt)
  const unspent = lots.find((lot) => lot.orderId === orderId)?.unspent ?? 0
  return Math.max(0, Math.min(standsFor, most, credits + unspent) - credits)
}
