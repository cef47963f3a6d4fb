// The end of the faults, and what must follow without anybody's help: everything open is settled, every notification is
// dealt with, every order whose time is over has failed, every hold too, every event is delivered, and the balances stand
// still. What is not by then is stranded.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits, type World } from '../world/world.ts'

/** Nothing may take longer. */
export const quietLimitMs = 60_000
const pauseMs = 500
const stillLooks = 3
/** What has the time of a moment is committed a little later. */
const commitMs = 2_000

export type Quiet = {
  tookMs: number
  stranded: string[]
  /** On the clock on the wall: what was written before that is settled. */
  settledAt: number
}

export async function awaitQuiet(world: World, stopped: AbortSignal): Promise<Quiet> {
  const startedAt = performance.now()
  let unsettled: string[] = []
  let stood = 0
  let before = ''
  while (performance.now() < startedAt + quietLimitMs) {
    const lookedAt = Date.now() - commitMs
    unsettled = await look(world)
    const now = await digest(world)
    stood = unsettled.length === 0 && now === before ? stood + 1 : 0
    before = now
    if (stood >= stillLooks) return { tookMs: performance.now() - startedAt, stranded: [], settledAt: lookedAt }
    await sleep(pauseMs, undefined, { signal: stopped })
  }
  const stranded = unsettled.length > 0 ? unsettled : ['the balances do not stand still']
  return { tookMs: performance.now() - startedAt, stranded, settledAt: 0 }
}

/** Each as rows that are not settled. */
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
]

async function look({ books }: World): Promise<string[]> {
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
