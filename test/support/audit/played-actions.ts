// Tests call what refunds and adjusts directly. In the service an operator, a command or a service does, whose action is
// recorded first: this writes the actions that a test has left out, so that the books can be audited.
import type { TestDatabase } from '../database/database.ts'

type Played = { subject: string; at: string; actor: string; command: string; arguments: string[] }

/** On a cluster these are on the workers. */
const listPlayed = [
  `select order_id as subject, opened_at::text as at, 'a test' as actor, 'orders refund' as command,
     array[order_id] as arguments
   from payment_operations where kind = 'REFUND'`,
  `select operation_id::text as subject, opened_at::text as at, 'a test' as actor, 'discrepancies accept' as command,
     array['--credits', credits_held::text] as arguments
   from payment_operations where kind = 'PART'`,
  `select d.customer_id::text as subject, coalesce(r.requested_at, d.created_at)::text as at, d.actor,
     case d.kind when 'GOODWILL' then 'adjustments grant' else 'adjustments correct' end as command,
     array['--adjustmentId', d.adjustment_id::text, '--credits', d.credits::text] as arguments
   from adjustments d left join adjustment_requests r using (customer_id, adjustment_id) where d.kind <> 'REVERSAL'`,
  `select customer_id::text as subject, created_at::text as at, approved_by as actor, 'adjustments approve' as command,
     array[adjustment_id::text] as arguments
   from adjustments where approved_by is not null
   union all
   select customer_id::text, decided_at::text, decided_by, 'adjustments approve', array[adjustment_id::text]
   from adjustment_requests where kind = 'PART' and state = 'APPROVED'`,
]

/** Also where the test has recorded an action itself: one too many hides nothing that a test looks for. */
export async function recordPlayedActions(database: Pick<TestDatabase, 'query'>): Promise<void> {
  for (const text of listPlayed) {
    const played = await database.query<Played>(text)
    await database.query(
      `insert into operator_actions (action_id, step, happened_at, actor, command, arguments, subject)
       select gen_random_uuid(), 'BEGUN', p.at::timestamptz, p.actor, p.command, p.arguments, p.subject
       from jsonb_to_recordset($1::jsonb) as p (subject text, at text, actor text, command text, arguments text[])
       where not exists (
         select from operator_actions b
         where b.step = 'BEGUN' and b.subject = p.subject and b.command = p.command and b.actor = p.actor
           and b.arguments = p.arguments and b.happened_at = p.at::timestamptz)`,
      [JSON.stringify(played)],
    )
  }
}
