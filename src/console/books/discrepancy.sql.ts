// A discrepancy with all that its page shows, read in one statement: the order as it is now, what operators did about it, and
// what else was found about the same order.
import { type Database, statement } from '../../db/database.ts'
import { iso } from '../../db/iso.ts'
import type { StoryAction } from '../../payments/books/order-story.sql.ts'
import type { OrderStatus } from '../../payments/kinds.ts'
import { type DiscrepancyRow, discrepancyColumns } from './books.sql.ts'

export type DiscrepancyPage = DiscrepancyRow & {
  customerName: string | null
  order: { orderId: string; status: OrderStatus; amount: number; credits: number } | null
  /** About itself, and about its order while it was open. */
  acts: StoryAction[]
  others: { discrepancyId: string; kind: string; foundAt: string; resolvedAt: string | null }[]
}

const findDiscrepancyStatement = statement(
  'console.findDiscrepancy',
  `select ${discrepancyColumns}, c.name as "customerName",
    (select json_build_object('orderId', o.order_id, 'status', o.status, 'amount', o.amount, 'credits', o.credits)
     from orders o where o.customer_id = d.customer_id and o.order_id = d.order_id) as "order",
    (select coalesce(json_agg(json_build_object(
       'actionId', b.action_id, 'actor', b.actor, 'command', b.command, 'reason', b.reason, 'at', ${iso('b.happened_at')},
       'outcome', e.outcome, 'endedAt', ${iso('e.happened_at')}) order by b.happened_at), '[]')
     from (select * from operator_actions a
           where a.step = 'BEGUN' and a.subject in (d.discrepancy_id::text, d.order_id)
             and (a.subject = d.discrepancy_id::text
                  or a.happened_at between d.found_at and coalesce(d.resolved_at, 'infinity'))
           order by a.happened_at limit 1000) b
     left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED') as "acts",
    (select coalesce(json_agg(json_build_object(
       'discrepancyId', s.discrepancy_id, 'kind', s.kind, 'foundAt', ${iso('s.found_at')},
       'resolvedAt', ${iso('s.resolved_at')}) order by s.found_at desc), '[]')
     from (select * from discrepancies a
           where a.customer_id = d.customer_id and a.order_id = d.order_id and a.discrepancy_id <> d.discrepancy_id
           order by a.found_at desc limit 20) s) as "others"
  from discrepancies d
  left join customers c on c.customer_id = d.customer_id
  where d.discrepancy_id = $1`,
)

export async function findDiscrepancy(database: Database, discrepancyId: string): Promise<DiscrepancyPage | undefined> {
  const [found] = await database.run<DiscrepancyPage>(findDiscrepancyStatement, [discrepancyId])
  return found
}
