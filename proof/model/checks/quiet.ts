// Waits after the faults until everything is settled without intervention: no operation is open, every notification is
// processed, orders and holds past their time have expired, every event is delivered, every entry of the ledger is in the
// transparency log, every action of an operator has its end, and no balance changes. What is not settled within the limit is
// stranded.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'

export const quietLimitMs = 60_000
const pauseMs = 500
const stableReads = 3
/** A row is committed a little after the time that it has. */
const commitMs = 2_000

export type Quiet = {
  tookMs: number
  stranded: string[]
  /** Wall clock: everything written before this is settled. */
  settledAt: number
}

export async function awaitQuiet(world: World, stopped: AbortSignal): Promise<Quiet> {
  const startedAt = performance.now()
  let unsettled: string[] = []
  let stable = 0
  let before = ''
  while (performance.now() < startedAt + quietLimitMs) {
    const readAt = Date.now() - commitMs
    unsettled = await findUnsettled(world)
    const now = await digest(world)
    stable = unsettled.length === 0 && now === before ? stable + 1 : 0
    before = now
    if (stable >= stableReads) return { tookMs: performance.now() - startedAt, stranded: [], settledAt: readAt }
    await sleep(pauseMs, undefined, { signal: stopped })
  }
  const stranded = unsettled.length > 0 ? unsettled : ['the balances keep changing']
  return { tookMs: performance.now() - startedAt, stranded, settledAt: 0 }
}

/** Each selects what is not settled. */
const unsettledTexts = [
  `select concat_ws(' ', kind, 'of', order_id, 'is open since', opened_at, 'attempts', attempts, gateway_code) as what
  from payment_operations where state = 'OPEN' order by opened_at`,
  `select concat_ws(' ', 'notification', transmission_id, 'about', order_id, 'attempts', attempts) as what
  from webhook_notifications where processed_at is null order by received_at`,
  `select concat_ws(' ', order_id, 'is PENDING since', created_at) as what from orders
  where status = 'PENDING' and created_at < now() - interval '${limits.pendingOrderLifetimeMs} ms'`,
  `select concat_ws(' ', 'hold', hold_id, 'is ACTIVE, and was to expire at', expires_at) as what from holds
  where state = 'ACTIVE' and expires_at <= now() order by expires_at`,
  `select concat_ws(' ', 'events', next_event, 'to', last_event, 'of', customer_id, 'wait, attempts', attempts,
    last_error) as what
  from event_queues where next_event <= last_event order by due_at`,
  `select concat_ws(' ', 'entries', coalesce(logged.last_entry, 0) + 1, 'to', a.last_entry, 'of', a.customer_id,
    'are not in the transparency log') as what
  from accounts a
  left join (select customer_id, max(last_entry) as last_entry from log_runs group by customer_id) logged
    on logged.customer_id = a.customer_id
  where a.last_entry > coalesce(logged.last_entry, 0) order by a.customer_id`,
  `select concat_ws(' ', 'action', o.action_id, b.command, 'of', b.actor, 'has no end, lease until', o.lease_until) as what
  from open_actions o join operator_actions b on b.action_id = o.action_id and b.step = 'BEGUN' order by b.happened_at`,
]

async function findUnsettled({ books }: World): Promise<string[]> {
  const found: string[] = []
  for (const text of unsettledTexts) {
    const rows = await books.query<{ what: string }>(text)
    found.push(...rows.map(({ what }) => what))
  }
  return found
}

async function digest({ books }: World): Promise<string> {
  const [row] = await books.query<{ digest: string }>(
    `select md5(string_agg(concat(customer_id, balance, '/', held), ',' order by customer_id)) as digest from accounts`,
  )
  return row?.digest ?? ''
}
