// The end of the faults, and what must follow without anybody's help: everything open is settled, every notification is
// dealt with, every order whose time is over has failed, and the balances stand still. What is not by then is stranded.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits, type World } from './world.ts'

/** Nothing may take longer. */
export const quietLimitMs = 60_000
const pauseMs = 500
const stillLooks = 3

type Unsettled = { open: string[]; notifications: string[]; overdue: string[] }

export type Quiet = { tookMs: number; stranded: string[] }

export async function awaitQuiet(world: World, stopped: AbortSignal): Promise<Quiet> {
  const startedAt = performance.now()
  let unsettled: Unsettled = { open: [], notifications: [], overdue: [] }
  let stood = 0
  let before = ''
  while (performance.now() < startedAt + quietLimitMs) {
    unsettled = await look(world)
    const now = await digest(world)
    const isQuiet = Object.values(unsettled).every((each) => each.length === 0)
    stood = isQuiet && now === before ? stood + 1 : 0
    before = now
    if (stood >= stillLooks) return { tookMs: performance.now() - startedAt, stranded: [] }
    await sleep(pauseMs, undefined, { signal: stopped })
  }
  const stranded = Object.values(unsettled).flat()
  if (stranded.length === 0) stranded.push('the balances do not stand still')
  return { tookMs: performance.now() - startedAt, stranded }
}

async function look({ books }: World): Promise<Unsettled> {
  const list = async (text: string) => (await books.query<{ what: string }>(text)).map(({ what }) => what)
  return {
    open: await list(
      `select concat_ws(' ', kind, 'of', order_id, 'is open since', opened_at, 'attempts', attempts, gateway_code) as what
      from payment_operations where state = 'OPEN' order by opened_at`,
    ),
    notifications: await list(
      `select concat_ws(' ', 'notification', transmission_id, 'about', order_id, 'attempts', attempts) as what
      from webhook_notifications where processed_at is null order by received_at`,
    ),
    overdue: await list(
      `select concat_ws(' ', order_id, 'is PENDING since', created_at) as what from orders
      where status = 'PENDING' and created_at < now() - interval '${limits.pendingOrderLifetimeMs} ms'`,
    ),
  }
}

async function digest({ books }: World): Promise<string> {
  const [row] = await books.query<{ digest: string }>(
    `select md5(string_agg(concat(customer_id, balance, '/', held), ',' order by customer_id)) as digest from accounts`,
  )
  return row?.digest ?? ''
}
