// The attacks on one entry of the ledger: each changes, inserts, removes or reorders, with everything that has to follow so
// that the books agree with themselves again. An attack that is not possible on an entry, because of its kind or because a
// balance would fall below zero, is tried on another one.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Random } from '../../harness/random.ts'
import { newOrderId } from '../../src/core/ids.ts'
import { type PackageType, packageOf } from '../../src/payments/packages.ts'
import { type Changed, copyEntries, writeEntries } from './forged-ledger.ts'

export type Entry = {
  customerId: string
  entryNumber: number
  kind: string
  delta: number
  heldDelta: number | null
  orderId: string | null
  reference: string | null
  holdId: string | null
  serviceId: string | null
  /** The status of the order, or of the hold. */
  status: string | null
  packageType: PackageType | null
  isReversed: boolean
}

/** The attack does not fit the entry. */
export class NotPossible extends Error {
  override name = 'NotPossible'
}

export type Target = {
  client: pg.ClientBase
  random: Random
  entry: Entry
  /** Another random entry, for attacks that need a second customer. */
  findOther(): Promise<Entry>
}

/** Returns the customers whose entries it has changed. */
type Attack = (target: Target) => Promise<Changed[]>

const set = (assignments: string) => `update forged.entries set ${assignments} where customer_id = $1 and was = $2`

function require(condition: boolean, what: string): asserts condition {
  if (!condition) throw new NotPossible(what)
}

/** Changes the copy of the entries from one on by `edit`, and repairs the rest. */
async function rewrite(
  { client, entry: { customerId, entryNumber } }: Target,
  edit: () => Promise<void>,
  { from = entryNumber, afterEntries }: { from?: number; afterEntries?: Parameters<typeof writeEntries>[3] } = {},
): Promise<Changed[]> {
  await copyEntries(client, customerId, from)
  await edit()
  await writeEntries(client, customerId, from, afterEntries)
  return [{ customerId, from }]
}

/** The first entry of a hold of a service: all its entries change together. */
async function openingOf({ client, entry: { customerId, holdId } }: Target): Promise<number> {
  const { rows } = await client.query<{ opening: number }>(
    'select opening_entry as opening from holds where customer_id = $1 and hold_id = $2',
    [customerId, holdId],
  )
  const [hold] = rows
  require(hold !== undefined, 'its hold is that of an operation')
  return hold.opening
}

async function changeReference(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  require(entry.reference !== null, 'it has no reference')
  return rewrite(target, async () => {
    await client.query(set('reference = $3'), [entry.customerId, entry.entryNumber, `used_${randomUUID()}`])
  })
}

async function changeService(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId, entryNumber, holdId } = entry
  require(entry.serviceId !== null && entry.kind !== 'REVERSAL', 'it has no service')
  const serviceId = `svc_${randomUUID()}`
  if (holdId === null) {
    return rewrite(target, async () => {
      await client.query(set('service_id = $3'), [customerId, entryNumber, serviceId])
    })
  }
  const editHold = async () => {
    const ofHold = 'where customer_id = $1 and hold_id = $2'
    const values = [customerId, holdId, serviceId]
    await client.query(`update forged.entries set service_id = $3 ${ofHold} and service_id is not null`, values)
    await client.query(`update holds set service_id = $3 ${ofHold}`, values)
  }
  return rewrite(target, editHold, { from: await openingOf(target) })
}

const timesText = `
  select b.created_at as earliest, a.created_at as latest
  from ledger_entries e
  join ledger_entries a on a.customer_id = e.customer_id and a.entry_number = e.entry_number + 1
  join ledger_entries b on b.customer_id = e.customer_id and b.entry_number = e.entry_number - 1
  where e.customer_id = $1 and e.entry_number = $2`

/** To another moment between its neighbours, by microseconds that a JavaScript date does not have. */
async function changeTime(target: Target): Promise<Changed[]> {
  const { client, random, entry } = target
  const { rows } = await client.query(timesText, [entry.customerId, entry.entryNumber])
  require(rows.length === 1, 'it has no neighbours')
  return rewrite(target, async () => {
    const share = random.integer(1, 999_999) / 1_000_000
    const { rowCount } = await client.query(
      `update forged.entries f set created_at = t.moment
       from (select earliest + (latest - earliest) * $3::float8 as moment from (${timesText}) times) t
       where f.customer_id = $1 and f.was = $2 and f.created_at <> t.moment
         and t.moment >= coalesce((select created_at from orders where customer_id = $1 and order_id = f.order_id), t.moment)`,
      [entry.customerId, entry.entryNumber, share],
    )
    require(rowCount === 1, 'there is no other moment')
  })
}

async function changeAmount(target: Target): Promise<Changed[]> {
  const { client, random, entry } = target
  const { customerId, entryNumber, orderId, holdId } = entry
  if (entry.kind === 'SPEND') {
    const spent = random.pick([1, 2, 3, 5, 8, 13])
    require(spent !== -entry.delta && !entry.isReversed, 'it is as much, or was given back')
    return rewrite(target, async () => {
      await client.query(set('delta = $3'), [customerId, entryNumber, -spent])
    })
  } else if (entry.kind === 'GRANT') {
    require(entry.status === 'CONFIRMED' && entry.packageType !== null, 'its order was taken back')
    const packageType = random.pick(['BASIC', 'STANDARD', 'PRO'])
    require(packageType !== entry.packageType, 'it is the same package')
    const { price, credits } = packageOf(packageType)
    return rewrite(target, async () => {
      await client.query(set('delta = $3'), [customerId, entryNumber, credits])
      const ofOrder = 'where customer_id = $1 and order_id = $2'
      await client.query(`update orders set package_type = $3, amount = $4, credits = $5 ${ofOrder}`, [
        customerId,
        orderId,
        packageType,
        price,
        credits,
      ])
      const { rowCount } = await client.query(`update payment_operations set amount = $3 ${ofOrder}`, [
        customerId,
        orderId,
        price,
      ])
      require(rowCount === 1, 'it has a second operation')
      await client.query(
        `update events set data = json_build_object('customerId', data -> 'customerId', 'orderId', data -> 'orderId',
           'status', data -> 'status', 'packageType', $3::text, 'amount', $4::bigint, 'credits', $5::bigint,
           'balance', data -> 'balance')
         where customer_id = $1 and data ->> 'orderId' = $2`,
        [customerId, orderId, packageType, price, credits],
      )
    })
  } else {
    require(entry.kind === 'CAPTURE' && entry.reference === null, 'its amount is that of other rows')
    const held = -(entry.heldDelta ?? 0)
    const captured = random.integer(1, held)
    require(captured !== -entry.delta, 'it is as much')
    return rewrite(target, async () => {
      await client.query(set('delta = $3'), [customerId, entryNumber, -captured])
      await client.query('update holds set captured = $3 where customer_id = $1 and hold_id = $2', [
        customerId,
        holdId,
        captured,
      ])
    })
  }
}

/** Another end of a hold; a refund instead of a cancellation. */
async function changeKind(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId, entryNumber, orderId, holdId, kind } = entry
  if (kind === 'ROLLBACK') {
    return rewrite(target, async () => {
      await client.query(set(`kind = 'REFUND'`), [customerId, entryNumber])
      const ofOrder = 'where customer_id = $1 and order_id = $2'
      await client.query(
        `update orders set status = 'REFUNDED', refund_entry = rollback_entry, rollback_entry = null, refund_shortfall = 0
         ${ofOrder}`,
        [customerId, orderId],
      )
      await client.query(`update payment_operations set kind = 'REFUND' ${ofOrder} and kind = 'CANCEL'`, [
        customerId,
        orderId,
      ])
      await client.query(
        `update events set type = 'order.refunded', data = replace(data::text, 'CANCELLED', 'REFUNDED')::json
         where customer_id = $1 and type = 'order.cancelled' and data ->> 'orderId' = $2`,
        [customerId, orderId],
      )
    })
  }
  require(orderId === null && entry.reference === null, 'it is no end of a hold')
  const becomes = { EXPIRE: 'RELEASE', RELEASE: 'EXPIRE', CAPTURE: 'RELEASE' }[kind]
  require(becomes !== undefined, 'it is no end of a hold')
  const state = { RELEASE: 'RELEASED', EXPIRE: 'EXPIRED' }[becomes]
  return rewrite(target, async () => {
    await client.query(
      `update forged.entries f
       set kind = $3, delta = 0,
           service_id = case $3 when 'RELEASE' then (select service_id from holds h
                                                     where h.customer_id = $1 and h.hold_id = f.hold_id) end
       where customer_id = $1 and was = $2`,
      [customerId, entryNumber, becomes],
    )
    await client.query('update holds set state = $3, captured = null where customer_id = $1 and hold_id = $2', [
      customerId,
      holdId,
      state,
    ])
  })
}

async function changeOrder(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId, entryNumber, orderId } = entry
  require(entry.kind === 'GRANT' && entry.status === 'CONFIRMED', 'it is not the only entry of its order')
  const values = [customerId, orderId, newOrderId()]
  return rewrite(target, async () => {
    await client.query(set('order_id = $3'), [customerId, entryNumber, values[2]])
    for (const table of ['orders', 'payment_operations']) {
      await client.query(`update ${table} set order_id = $3 where customer_id = $1 and order_id = $2`, values)
    }
    await client.query(
      `update events set data = replace(data::text, $2, $3)::json where customer_id = $1 and data ->> 'orderId' = $2`,
      values,
    )
  })
}

async function changeHold(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  require(entry.holdId !== null, 'it has no hold')
  const values = [entry.customerId, entry.holdId, randomUUID()]
  const from = await openingOf(target)
  const editHold = async () => {
    for (const table of ['forged.entries', 'holds']) {
      await client.query(`update ${table} set hold_id = $3 where customer_id = $1 and hold_id = $2`, values)
    }
  }
  return rewrite(target, editHold, { from })
}

/** The spend of one customer becomes one of another, at the same time. */
async function changeCustomer(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId: other } = await target.findOther()
  require(entry.kind === 'SPEND' && !entry.isReversed && other !== entry.customerId, 'it is no spend')
  const { rows } = await client.query<{ from: number | null }>(
    `select min(entry_number) as "from" from ledger_entries
     where customer_id = $1 and created_at > (select created_at from ledger_entries
                                              where customer_id = $2 and entry_number = $3)`,
    [other, entry.customerId, entry.entryNumber],
  )
  const from = rows[0]?.from
  require(typeof from === 'number', 'the other customer has no later entry')
  await copyEntries(client, entry.customerId, entry.entryNumber)
  await copyEntries(client, other, from)
  await client.query(
    `update forged.entries f
     set customer_id = $1, place = $4::numeric - 0.5, was = null,
         adjusted_after = (select 0 from ledger_entries
                           where customer_id = $1 and entry_number = $4::bigint - 1 and adjusted_after is not null)
     where customer_id = $2 and was = $3`,
    [other, entry.customerId, entry.entryNumber, from],
  )
  await writeEntries(client, entry.customerId, entry.entryNumber)
  await writeEntries(client, other, from)
  return [
    { customerId: entry.customerId, from: entry.entryNumber },
    { customerId: other, from },
  ]
}

// Between the entry and the one before it.
const insertText = `
  insert into forged.entries (customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                              entry_hash, held_delta, held_after, service_id, adjusted_after, place)
  select $1, 0, $3, $4, 0, $5, $6,
         e.created_at - (e.created_at - coalesce(b.created_at, o.created_at)) * $8::float8, '', 0, 0, $7,
         case when b.adjusted_after is not null then 0 end, $2::numeric - 0.5
  from ledger_entries e
  left join ledger_entries b on b.customer_id = e.customer_id and b.entry_number = e.entry_number - 1
  left join orders o on o.customer_id = e.customer_id and o.order_id = e.order_id
  where e.customer_id = $1 and e.entry_number = $2`

async function insertSpend(target: Target): Promise<Changed[]> {
  const { client, random, entry } = target
  const spent = [-random.integer(1, 5), null, `use_${randomUUID()}`, 'svc_use']
  return rewrite(target, async () => {
    const share = random.integer(0, 1_000_000) / 1_000_000
    await client.query(insertText, [entry.customerId, entry.entryNumber, 'SPEND', ...spent, share])
  })
}

/** A grant that was never paid for, with its order, its operation and its event. */
async function insertGrant(target: Target): Promise<Changed[]> {
  const { client, random, entry } = target
  const { customerId, entryNumber } = entry
  const packageType = random.pick(['BASIC', 'STANDARD', 'PRO'])
  const { price, credits } = packageOf(packageType)
  const orderId = newOrderId()
  const place = entryNumber - 0.5
  const edit = async () => {
    const share = random.integer(0, 1_000_000) / 1_000_000
    await client.query(insertText, [customerId, entryNumber, 'GRANT', credits, orderId, null, null, share])
  }
  return rewrite(target, edit, {
    async afterEntries(numberOf) {
      const values = [customerId, orderId, packageType, price, credits, await numberOf(place)]
      await client.query(
        `insert into orders (customer_id, order_id, package_type, payment_method, amount, credits, status, created_at,
                             confirmed_at, grant_entry)
         select $1, $2, $3, 'CARD', $4, $5, 'CONFIRMED', created_at - interval '1 minute', created_at, $6
         from ledger_entries where customer_id = $1 and entry_number = $6`,
        values,
      )
      await client.query(
        `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, state,
                                         transaction_key, total_credits, holder_id, lease_until, settle_at, sent_at,
                                         opened_at, closed_at, closed_by)
         select $1, $5, $2, 'CONFIRM', 'pay_' || $2, $3, 'APPROVED', 'txc_' || $2, 0, $5, created_at, created_at,
                created_at, created_at, created_at, $5
         from ledger_entries where customer_id = $1 and entry_number = $4`,
        [customerId, orderId, price, values[5], randomUUID()],
      )
      await client.query(
        `insert into events (customer_id, event_number, type, data, created_at)
         select $1, (select last_event + 1 from accounts where customer_id = $1), 'order.confirmed',
                json_build_object('customerId', $1::uuid, 'orderId', $2::text, 'status', 'CONFIRMED', 'packageType', $3::text,
                                  'amount', $4::bigint, 'credits', $5::bigint, 'balance', 0), created_at
         from ledger_entries where customer_id = $1 and entry_number = $6`,
        values,
      )
    },
  })
}

const gone = 'delete from forged.entries where customer_id = $1'

async function remove(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId, entryNumber, orderId, holdId, kind } = entry
  if (kind === 'SPEND') {
    require(!entry.isReversed, 'it was given back')
    return rewrite(target, async () => {
      await client.query(`${gone} and was = $2`, [customerId, entryNumber])
    })
  } else if (kind === 'GRANT') {
    require(entry.status === 'CONFIRMED', 'its order was taken back')
    return rewrite(target, async () => {
      await client.query(`${gone} and was = $2`, [customerId, entryNumber])
      await removeOrder(client, customerId, orderId)
    })
  } else if (orderId !== null) {
    return removeTakenBack(target)
  } else {
    require(holdId !== null, 'it is an adjustment, which has a record')
    const removeHold = async () => {
      await client.query(`${gone} and hold_id = $2`, [customerId, holdId])
      await client.query('delete from holds where customer_id = $1 and hold_id = $2', [customerId, holdId])
    }
    return rewrite(target, removeHold, { from: await openingOf(target) })
  }
}

async function removeOrder(client: pg.ClientBase, customerId: string, orderId: string | null): Promise<void> {
  const values = [customerId, orderId]
  await client.query('delete from payment_operations where customer_id = $1 and order_id = $2', values)
  await client.query('delete from orders where customer_id = $1 and order_id = $2', values)
  await client.query(`delete from events where customer_id = $1 and data ->> 'orderId' = $2`, values)
}

/** Both entries of a cancellation or a refund: as if it had never been. */
async function removeTakenBack(target: Target): Promise<Changed[]> {
  const { client, entry } = target
  const { customerId, orderId, holdId } = entry
  require(entry.status === 'CANCELLED' || entry.status === 'REFUNDED', 'it is still under way, or was refused')
  const { rows } = await client.query<{ from: number }>(
    'select min(entry_number) as "from" from ledger_entries where customer_id = $1 and hold_id = $2',
    [customerId, holdId],
  )
  const edit = async () => {
    await client.query(`${gone} and hold_id = $2`, [customerId, holdId])
    await client.query('delete from payment_operations where customer_id = $1 and operation_id = $2', [
      customerId,
      holdId,
    ])
    await client.query('delete from cancel_keys where customer_id = $1 and operation_id = $2', [customerId, holdId])
    await client.query(
      `update orders
       set status = 'CONFIRMED', rollback_entry = null, refund_entry = null, refund_shortfall = null, refunded_amount = null
       where customer_id = $1 and order_id = $2`,
      [customerId, orderId],
    )
    await client.query(
      `delete from events
       where customer_id = $1 and type in ('order.cancelled', 'order.refunded') and data ->> 'orderId' = $2`,
      [customerId, orderId],
    )
  }
  return rewrite(target, edit, { from: rows[0]?.from ?? 1 })
}

/** Exchanges the entry with one of the next ones. The times stay where they are. */
async function reorder(target: Target): Promise<Changed[]> {
  const { client, random, entry } = target
  const other = entry.entryNumber + random.integer(1, 3)
  return rewrite(target, async () => {
    const { rowCount } = await client.query(
      `update forged.entries f set place = t.place, created_at = t.created_at
       from forged.entries t
       where f.customer_id = $1 and t.customer_id = $1 and f.was <> t.was
         and f.was in ($2, $3) and t.was in ($2, $3)
         and (f.hold_id is null or f.hold_id is distinct from t.hold_id)`,
      [entry.customerId, entry.entryNumber, other],
    )
    require(rowCount === 2, 'there is no other entry to exchange it with')
  })
}

/** What is done to the entry, and its ways. */
export const attacks = {
  change: {
    amount: changeAmount,
    kind: changeKind,
    reference: changeReference,
    service: changeService,
    time: changeTime,
    order: changeOrder,
    hold: changeHold,
    customer: changeCustomer,
  },
  insert: { spend: insertSpend, grant: insertGrant },
  remove: { entry: remove },
  reorder: { entries: reorder },
} satisfies Record<string, Record<string, Attack>>

export type Verb = keyof typeof attacks
export const verbs = Object.keys(attacks) as [Verb, ...Verb[]]

export function attackOf(random: Random): { verb: Verb; object: string; run: Attack } {
  const verb = random.pick(verbs)
  const ways = Object.entries<Attack>(attacks[verb])
  const [object, run] = random.pick(ways as [[string, Attack], ...[string, Attack][]])
  return { verb, object, run }
}
