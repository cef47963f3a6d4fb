// Adjustments that were typed on a command line: the action log has the user of the machine beside the name that was given.
import { type Database, statement } from '../db/database.ts'

const findTypedStatement = statement.global(
  'operators.findTypedAdjustments',
  `select coalesce(e.about ->> 'adjustmentId', e.about ->> 'requestId') as "adjustmentId", b.actor, b.command = 'adjustments approve' as "isApproval"
  from operator_actions b
  join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED' and e.outcome in ('ok', 'requested')
  where b.step = 'BEGUN' and b.subject = any ($1::text[]) and b.actor like '% as %'
    and b.command in ('adjustments grant', 'adjustments correct', 'adjustments approve', 'discrepancies accept')
    and coalesce(e.about ->> 'adjustmentId', e.about ->> 'requestId') = any ($2::text[])`,
)

type Adjustment = { customerId: string; adjustmentId: string; discrepancyId?: string | null }

/** The same, with who typed it and who typed its approval, as `NAME as USER`; null for what was done in the console. */
export async function withTypedBy<Each extends Adjustment>(
  database: Database,
  adjustments: Each[],
): Promise<(Each & { typedBy: string | null; approvalTypedBy: string | null })[]> {
  type Row = { adjustmentId: string; actor: string; isApproval: boolean }
  const subjects = new Set(
    adjustments.flatMap(({ customerId, discrepancyId }) => [customerId, discrepancyId ?? []].flat()),
  )
  const ids = adjustments.map(({ adjustmentId }) => adjustmentId)
  const rows = ids.length > 0 ? await database.run<Row>(findTypedStatement, [[...subjects], ids]) : []
  const actorOf = (id: string, isApproval: boolean) =>
    rows.find((row) => row.adjustmentId === id && row.isApproval === isApproval)?.actor ?? null
  return adjustments.map((each) => ({
    ...each,
    typedBy: actorOf(each.adjustmentId, false),
    approvalTypedBy: actorOf(each.adjustmentId, true),
  }))
}
