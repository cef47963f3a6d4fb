// The projection of lots equals a replay of the ledger, on random histories: grants, spends, holds and their ends, cancels and
// refunds that begin, are rejected or finish while others run, refunds of the unused part, adjustments.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ReplayedEntry, replayLots } from '../../harness/lots-replay.ts'
import { createRandom, type Random } from '../../harness/random.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { listOutstandingLots } from '../../src/credits/lots/liability.sql.ts'
import { findLot, type Lot, listLots, lotsOfAccounts } from '../../src/credits/lots/lots.sql.ts'
import { createDatabase } from '../../src/db/database.ts'
import { type CreditPackage, packages } from '../../src/payments/packages.ts'
import { createTestDatabase, type OwnTestDatabase } from '../support/database/database.ts'

let database: OwnTestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

type OrderRow = {
  customer_id: string
  order_id: string
  package_type: string
  amount: number
  credits: number
  status: string
  confirmed_at: string
  grant_entry: number
  rollback_entry: number | null
  refund_entry: number | null
  refund_shortfall: number | null
  refunded_at: number | null
}
type History = {
  customerId: string
  orders: OrderRow[]
  entries: (ReplayedEntry & { balance: number; adjusted: number; at: number })[]
  /** At the end, by holds and by the cancels and refunds that are under way. */
  held: number
  closing: Closing[]
}
type Closing = { order_id: string; kind: 'CANCEL' | 'REFUND'; credits_held: number }

/** The entries that the operations under way would end with. */
function entriesOf(closing: Closing[]): ReplayedEntry[] {
  return closing.map(({ order_id: orderId, kind, credits_held }) => ({
    kind: kind === 'CANCEL' ? 'ROLLBACK' : 'REFUND',
    delta: -credits_held,
    orderId,
  }))
}

const below = (random: Random, limit: number) => random.integer(0, limit - 1)

/** Follows the rules by which the service moves credits; one step is one moment. */
function randomHistory(random: Random): History {
  const customerId = crypto.randomUUID()
  const orders: OrderRow[] = []
  const entries: History['entries'] = []
  const holds: number[] = []
  const open = new Map<OrderRow, { kind: 'CANCEL' | 'REFUND'; held: number }>()
  let [balance, held, adjusted, now] = [0, 0, 0, 0]

  function move(kind: string, delta: number, orderId: string | null = null): number {
    balance += delta
    const isAdjustment = kind === 'GOODWILL' || kind === 'CORRECTION'
    adjusted = Math.max(0, Math.min(adjusted + (isAdjustment ? delta : 0), balance))
    entries.push({ kind, delta, orderId, balance, adjusted, at: now })
    return entries.length
  }
  const upTo = (limit: number) => 1 + below(random, limit)
  const available = () => balance - held
  const confirmed = () => orders.filter((order) => order.status === 'CONFIRMED' && !open.has(order))
  const closing = () => [...open].map(([{ order_id }, { kind, held }]) => ({ order_id, kind, credits_held: held }))

  function grant(): void {
    const { packageType, price, credits } = random.pick(packages as [CreditPackage, ...CreditPackage[]])
    const orderId = `${customerId}-${orders.length}`
    const grant_entry = move('GRANT', credits, orderId)
    orders.push({
      customer_id: customerId,
      order_id: orderId,
      package_type: packageType,
      amount: price,
      credits,
      status: 'CONFIRMED',
      confirmed_at: new Date(now).toISOString(),
      grant_entry,
      rollback_entry: null,
      refund_entry: null,
      refund_shortfall: null,
      refunded_at: null,
    })
  }
  function begin(): void {
    const order = confirmed().at(below(random, Math.max(1, confirmed().length)))
    if (!order) return
    const lots = replayLots([...entries, ...entriesOf(closing())])
    const unspent = lots.find((lot) => lot.orderId === order.order_id)?.unspent ?? 0
    const ofConfirmed = new Set(confirmed().map(({ order_id }) => order_id))
    const refundable = lots.reduce((sum, lot) => sum + (ofConfirmed.has(lot.orderId ?? '') ? lot.unspent : 0), 0)
    const how = random.pick(['cancel', 'full', 'unused'] as const)
    if (how === 'cancel' && Math.min(available(), refundable) < order.credits) return
    if (how === 'unused' && (unspent === 0 || available() < unspent)) return
    const credits = { cancel: order.credits, full: Math.min(order.credits, available()), unused: unspent }[how]
    held += credits
    open.set(order, { kind: how === 'cancel' ? 'CANCEL' : 'REFUND', held: credits })
  }
  function finish(): void {
    const [first] = open
    if (!first) return
    const [order, operation] = first
    open.delete(order)
    held -= operation.held
    if (below(random, 4) === 0) return
    const kind = operation.kind === 'CANCEL' ? 'ROLLBACK' : 'REFUND'
    const entry = operation.held > 0 ? move(kind, -operation.held, order.order_id) : null
    if (operation.kind === 'CANCEL') Object.assign(order, { status: 'CANCELLED', rollback_entry: entry })
    else {
      const refund_shortfall = order.credits - operation.held
      Object.assign(order, { status: 'REFUNDED', refund_entry: entry, refund_shortfall, refunded_at: now })
    }
  }
  function endHold(): void {
    const credits = holds.splice(below(random, Math.max(1, holds.length)), 1)[0]
    if (!credits) return
    held -= credits
    const captured = below(random, credits + 1)
    if (captured > 0) move('CAPTURE', -captured)
  }
  const steps = {
    grant,
    spend: () => available() > 0 && move('SPEND', -upTo(Math.min(available(), 30))),
    hold: () => {
      if (available() === 0) return
      const credits = upTo(Math.min(available(), 40))
      held += credits
      holds.push(credits)
    },
    endHold,
    begin,
    finish,
    goodwill: () => move('GOODWILL', upTo(20)),
    correct: () => available() > 0 && move('CORRECTION', -upTo(Math.min(available(), 15))),
  }
  const likely = [
    'grant',
    'spend',
    'spend',
    'spend',
    'hold',
    'endHold',
    'begin',
    'finish',
    'goodwill',
    'correct',
  ] as const
  for (; now < 40; now += 1) steps[random.pick(likely)]()
  return { customerId, orders, entries, held, closing: closing() }
}

/** What the definition says, for every order that was granted by then. */
function expectedLots({ orders, entries }: History, entryNumber: number): string[] {
  const moment = entries[entryNumber - 1]?.at ?? 0
  const lots = replayLots(entries.slice(0, entryNumber))
  return orders
    .filter((order) => order.grant_entry <= entryNumber)
    .map((order) => {
      const { used, unspent, takenBack } = lots.find((lot) => lot.orderId === order.order_id) ?? assert.fail()
      const isCancelled = order.rollback_entry !== null && order.rollback_entry <= entryNumber
      const isRefunded = order.refunded_at !== null && order.refunded_at <= moment
      const status = isCancelled ? 'CANCELLED' : isRefunded ? 'REFUNDED' : 'CONFIRMED'
      const value = status === 'CONFIRMED' ? Math.max(0, order.amount / 1_000 - used) * 1_000 : 0
      return `${order.order_id} ${status} used ${used} unspent ${unspent} taken ${takenBack} value ${value}`
    })
}

type AccountAt = { customer_id: string; entry_number: number; paid: number; moment: string }

/** The account after its last entry, or after an earlier one. */
function accountAt(random: Random, { customerId, entries }: History, at: 'end' | 'earlier'): AccountAt {
  const entryNumber = at === 'end' ? entries.length : below(random, entries.length + 1)
  const { balance = 0, adjusted = 0, at: step = 0 } = entries[entryNumber - 1] ?? {}
  return { customer_id: customerId, entry_number: entryNumber, paid: balance - adjusted, moment: momentOf(step) }
}

function momentOf(step: number): string {
  return new Date(step * 1_000).toISOString()
}

/** A connection on which tables of the session hide those of the schema, so that rows of any history can be written. */
async function ownTables() {
  const client = await database.ownerPool.connect()
  await client.query(`
    create temp table orders as table public.orders with no data;
    create temp table payment_operations as table public.payment_operations with no data;
    create temp table accounts as table public.accounts with no data;
    create temp table ledger_entries as table public.ledger_entries with no data;
    create temp table account_at (customer_id uuid, entry_number bigint, paid bigint, moment timestamptz);
    create index on orders (customer_id, order_id);
    create index on payment_operations (customer_id, order_id)`)
  const insert = (table: string, rows: object[]) =>
    client.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [
      JSON.stringify(rows),
    ])
  async function replaceBooks(histories: History[]): Promise<void> {
    await client.query('truncate orders, payment_operations')
    const orders = histories.flatMap((history) => history.orders)
    const refunds = orders.flatMap(({ customer_id, order_id, refunded_at }) =>
      refunded_at === null
        ? []
        : [{ customer_id, order_id, kind: 'REFUND', state: 'APPROVED', closed_at: momentOf(refunded_at) }],
    )
    const open = histories.flatMap(({ customerId, closing }) =>
      closing.map((operation) => ({ customer_id: customerId, state: 'OPEN', ...operation })),
    )
    await insert('orders', orders)
    await insert('payment_operations', [...refunds, ...open])
    await client.query('analyze orders; analyze payment_operations')
  }
  return { client, insert, replaceBooks }
}

test('on 10,000 random histories the lots equal a replay of the ledger, at the end and at an earlier entry', async () => {
  const random = createRandom(19)
  const { client, insert, replaceBooks } = await ownTables()
  try {
    for (let part = 0; part < 20; part += 1) {
      const histories = Array.from({ length: 500 }, () => randomHistory(random))
      await replaceBooks(histories)
      for (const at of ['end', 'earlier'] as const) {
        const accounts = histories.map((history) => accountAt(random, history, at))
        await client.query('truncate account_at')
        await insert('account_at', accounts)
        const { rows } = await client.query<{ customer_id: string; lots: string[] }>(
          `with account as (select * from account_at),${lotsOfAccounts}
          select customer_id, array_agg(format('%s %s used %s unspent %s taken %s value %s',
            order_id, status, used, unspent, taken_back, value) order by grant_entry) as lots
          from lot group by customer_id`,
        )
        const found = new Map(rows.map((row) => [row.customer_id, row.lots]))
        for (const [index, history] of histories.entries()) {
          const { entry_number = 0 } = accounts[index] ?? {}
          const expected = expectedLots(history, entry_number)
          assert.deepEqual(
            found.get(history.customerId) ?? [],
            expected,
            `history ${part}/${index}, entry ${entry_number}`,
          )
        }
      }
    }
  } finally {
    client.release(true)
  }
})

/** What a cancel or refund under way takes is held on its own order; holds of services take the lots that are used next. */
function heldOfLots({ entries, held, closing }: History): Map<string, { unspent: number; held: number }> {
  const reserved = new Map(closing.map(({ order_id, credits_held }) => [order_id, credits_held]))
  let left = held - closing.reduce((sum, { credits_held }) => sum + credits_held, 0)
  // The replay has a lot without an order for adjustments.
  const lots = replayLots([...entries, ...entriesOf(closing)]).filter((lot) => lot.orderId !== null)
  return new Map(
    lots.map(({ orderId, unspent }) => {
      const own = reserved.get(orderId ?? '') ?? 0
      const taken = Math.min(unspent, left)
      left -= taken
      return [orderId ?? '', { unspent: unspent + own, held: own + taken }]
    }),
  )
}

test('on 1,000 of them each page of lots, the unspent ones and a single one equal the replay, with what is held', async () => {
  const random = createRandom(20)
  const { client, insert, replaceBooks } = await ownTables()
  const own = createDatabase(client, silentLog)
  const shown = (lots: Lot[]) => lots.map(({ orderId, held, unused }) => `${orderId} held ${held} unused ${unused}`)
  async function pagesOf(customerId: string): Promise<Lot[]> {
    const all: Lot[] = []
    for (let below: number | null = null; ; below = all.at(-1)?.entryNumber ?? null) {
      const page = await listLots(own, customerId, { below, limit: 3 })
      all.push(...page)
      if (page.length < 3) return all
    }
  }
  try {
    for (let part = 0; part < 4; part += 1) {
      const histories = Array.from({ length: 250 }, () => randomHistory(random))
      await replaceBooks(histories)
      await client.query('truncate accounts')
      const accounts = histories.map(({ customerId, entries, held }) => {
        const { balance = 0, adjusted = 0 } = entries.at(-1) ?? {}
        return { customer_id: customerId, last_entry: entries.length, balance, adjusted, held }
      })
      await insert('accounts', accounts)
      for (const history of histories) {
        const expected = [...heldOfLots(history)].reverse()
        const lines = (of: typeof expected) =>
          of.map(([orderId, { unspent, held }]) => `${orderId} held ${held} unused ${unspent - held}`)
        const { customerId } = history
        assert.deepEqual(shown(await pagesOf(customerId)), lines(expected))
        const unspent = expected.filter(([, lot]) => lot.unspent > 0)
        const onlyUnspent = await listLots(own, customerId, { below: null, limit: 100, onlyUnspent: true })
        assert.deepEqual(shown(onlyUnspent), lines(unspent))
        const one = random.pick([...expected, null] as [(typeof expected)[number] | null])
        if (!one) continue
        const found = await findLot(own, customerId, one[0])
        assert.deepEqual(found && shown([found]), lines([one]))
      }
    }
  } finally {
    client.release(true)
  }
})

test('on 500 of them what is owed before a moment equals the replay: no entry of that moment, no credits of adjustments', async () => {
  const random = createRandom(21)
  const { client, insert, replaceBooks } = await ownTables()
  try {
    const histories = Array.from({ length: 500 }, () => randomHistory(random))
    await replaceBooks(histories)
    const customers = histories.map(({ customerId: customer_id, entries }) => ({
      customer_id,
      last_entry: entries.length,
    }))
    await insert('accounts', customers)
    const entries = histories.flatMap(({ customerId, entries: own }) =>
      own.map(({ balance, adjusted, at }, place) => ({
        customer_id: customerId,
        entry_number: place + 1,
        balance_after: balance,
        adjusted_after: adjusted,
        created_at: momentOf(at),
      })),
    )
    await insert('ledger_entries', entries)
    await client.query('create unique index on ledger_entries (customer_id, entry_number); analyze ledger_entries')
    for (const step of [10, 25, 40]) {
      const ids = customers.map(({ customer_id }) => customer_id)
      const owed = await listOutstandingLots(createDatabase(client, silentLog), ids, new Date(momentOf(step)))
      const found = Map.groupBy(owed, ({ customerId }) => customerId)
      for (const { customerId, entries: own } of histories) {
        const lots = replayLots(own.filter(({ at }) => at < step))
        assert.deepEqual(
          (found.get(customerId) ?? []).map(({ orderId, used, unspent }) => ({ orderId, used, unspent })),
          lots
            .filter(({ orderId, unspent }) => orderId !== null && unspent > 0)
            .map(({ orderId, used, unspent }) => ({ orderId, used, unspent })),
        )
      }
    }
  } finally {
    client.release(true)
  }
})

type Rule = {
  rule: string
  /** Oldest first: A, B, ... Of 10 credits for 10,000 won, unless they say otherwise. */
  orders: Partial<OrderRow>[]
  account: { balance: number; adjusted?: number; held?: number }
  operations?: object[]
  /** used / held / unused / taken back, value */
  lots: string[]
}
const cancelled = { status: 'CANCELLED', rollback_entry: 9 }
const refunded = (refund_shortfall: number) => ({ status: 'REFUNDED', refund_entry: 9, refund_shortfall })
const standard = { amount: 20_000, credits: 21 }
const rules: Rule[] = [
  {
    rule: 'the oldest order is used first: what is unspent is of the newest',
    orders: [{}, {}],
    account: { balance: 12 },
    lots: ['A 8/0/2/0 2000', 'B 0/0/10/0 10000'],
  },
  {
    rule: 'what was used of a cancelled order counts on the order after it, and a cancelled order has no value',
    orders: [cancelled, {}],
    account: { balance: 7 },
    lots: ['A 0/0/0/10 0', 'B 3/0/7/0 7000'],
  },
  {
    rule: 'what a refund did not take back stays used of its own order, without value',
    orders: [refunded(4), {}],
    account: { balance: 10 },
    lots: ['A 4/0/0/6 0', 'B 0/0/10/0 10000'],
  },
  {
    rule: 'credits in a hold that a refund did not take back are not used yet',
    orders: [refunded(4)],
    account: { balance: 4, held: 4 },
    lots: ['A 0/4/0/6 0'],
  },
  {
    rule: 'credits of adjustments are of no order',
    orders: [{}],
    account: { balance: 12, adjusted: 5 },
    lots: ['A 3/0/7/0 7000'],
  },
  {
    rule: 'bonus credits are used after those that were paid for, and have no value',
    orders: [standard, standard],
    account: { balance: 22 },
    lots: ['A 20/0/1/0 0', 'B 0/0/21/0 20000'],
  },
  {
    rule: 'an order that is used up is worth nothing, and not less by its bonus credits',
    orders: [standard, standard],
    account: { balance: 21 },
    lots: ['A 21/0/0/0 0', 'B 0/0/21/0 20000'],
  },
  {
    rule: 'a cancel or refund under way holds credits of its own order; holds of services take those that are used next',
    orders: [{}, {}],
    account: { balance: 20, held: 13 },
    operations: [{ order_id: 'B', kind: 'CANCEL', state: 'OPEN', credits_held: 10 }],
    lots: ['A 0/3/7/0 10000', 'B 0/10/0/0 10000'],
  },
  {
    rule: 'an operation that has ended holds nothing: what services hold is of the order that is used next',
    orders: [{}, {}],
    account: { balance: 20, held: 3 },
    operations: [{ order_id: 'B', kind: 'REFUND', state: 'REJECTED', credits_held: 10 }],
    lots: ['A 0/3/7/0 10000', 'B 0/0/10/0 10000'],
  },
  {
    rule: 'an order without the credits of an accepted part has less room, and less value by the part',
    orders: [{}, {}],
    account: { balance: 15 },
    operations: [
      { order_id: 'B', kind: 'PART', state: 'APPROVED', amount: 3_000, credits_held: 3, closed_at: new Date(0) },
    ],
    lots: ['A 2/0/8/0 8000', 'B 0/0/7/3 7000'],
  },
]

for (const { rule, orders, account, operations = [], lots } of rules) {
  test(rule, async () => {
    const { client, insert } = await ownTables()
    try {
      const customer_id = crypto.randomUUID()
      const rows = orders.map((order, place) => {
        const confirmed_at = new Date(place * 1_000)
        const given = { order_id: 'AB'[place], status: 'CONFIRMED', amount: 10_000, credits: 10, ...order }
        return { customer_id, package_type: 'ANY', grant_entry: place + 1, confirmed_at, ...given }
      })
      await insert('orders', rows)
      const ofCustomer = operations.map((operation) => ({ customer_id, ...operation }))
      await insert('payment_operations', ofCustomer)
      await insert('accounts', [{ customer_id, last_entry: 9, adjusted: 0, held: 0, ...account }])
      const own = createDatabase(client, silentLog)
      const line = ({ orderId, used, held, unused, takenBack, value }: Lot) =>
        `${orderId} ${used}/${held}/${unused}/${takenBack} ${value}`
      const listed = await listLots(own, customer_id, { below: null, limit: 10 })
      assert.deepEqual(listed.map(line).reverse(), lots)
      const single = await Promise.all(rows.map(({ order_id = '' }) => findLot(own, customer_id, order_id)))
      assert.deepEqual(
        single.map((lot) => lot && line(lot)),
        lots,
      )
    } finally {
      client.release(true)
    }
  })
}

test('more newer orders than are read at first still come before an older one', async () => {
  const { client, insert } = await ownTables()
  try {
    const customer_id = crypto.randomUUID()
    const orders = Array.from({ length: 121 }, (_, place) => {
      const known = { customer_id, order_id: `${place}`, package_type: 'ANY', status: 'CONFIRMED', amount: 1_000 }
      return { ...known, credits: 1, grant_entry: place + 1, confirmed_at: new Date(place) }
    })
    await insert('orders', orders)
    const own = createDatabase(client, silentLog)
    for (const [balance, unused] of [
      [121, 1],
      [120, 0],
    ] as const) {
      await client.query('truncate accounts')
      await insert('accounts', [{ customer_id, last_entry: 121, adjusted: 0, held: 0, balance }])
      assert.equal((await findLot(own, customer_id, '0'))?.unused, unused)
    }
  } finally {
    client.release(true)
  }
})
