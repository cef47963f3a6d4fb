// The workloads by name. Each connection plays a workload on its own: `next` returns the next request, and may read the
// body of the answer before it.
import { packageOf } from '../../src/payments/packages.ts'
import { balance, type Customer, cancel, confirm, packages, purchase, type Request, spend, status } from './requests.ts'

export type Order = { customer: number; orderId: string; amount: number }

export type World = {
  token: string
  customers: Customer[]
  /** Orders that exist: for status and confirm, each used once. */
  orders: Order[]
  /** Unique for each measurement: part of references, payment keys and idempotency keys. */
  run: string
  /** Counts requests over all connections. */
  index: number
}

type Player = (body: string) => Request

export const workloadNames = [
  'purchase',
  'purchase with key',
  'confirm',
  'status',
  'balance',
  'packages',
  'spend over many customers',
  'spend on one customer',
  'mixed day',
] as const
export type WorkloadName = (typeof workloadNames)[number]

function at<Each>(list: Each[], index: number): Each {
  return list[index % list.length] as Each
}

function each(make: (world: World, index: number) => Request): (world: World) => Player {
  return (world) => () => make(world, world.index++)
}

/** An order and its customer. No order is confirmed twice. */
function orderAt({ orders, customers }: World, index: number, again: boolean): { customer: Customer; order: Order } {
  if (!again && index >= orders.length) throw new Error(`all ${orders.length} prepared orders are used up`)
  const order = at(orders, index)
  return { order, customer: at(customers, order.customer) }
}

export const workloads: Record<WorkloadName, (world: World) => Player> = {
  purchase: each(({ customers }, index) => purchase(at(customers, index))),
  'purchase with key': each(({ customers, run }, index) => purchase(at(customers, index), `${run}-${index}`)),
  confirm: each((world, index) => {
    const { customer, order } = orderAt(world, index, false)
    return confirm(customer, order, `pay_${world.run}_${index}`)
  }),
  status: each((world, index) => {
    const { customer, order } = orderAt(world, index, true)
    return status(customer, order.orderId)
  }),
  balance: each(({ customers }, index) => balance(at(customers, index))),
  packages: each(({ customers }, index) => packages(at(customers, index))),
  'spend over many customers': each(({ token, customers, run }, index) =>
    spend(token, at(customers, index), `${run}-${index}`),
  ),
  'spend on one customer': each(({ token, customers, run }, index) =>
    spend(token, at(customers, 0), `${run}-${index}`),
  ),
  'mixed day': inTurn(playCustomers),
}

/** Loads that are not workloads of their own. */
export type PlayName = WorkloadName | 'pay'
export const plays: Record<PlayName, (world: World) => Player> = { ...workloads, pay: inTurn(playPayers) }

function inTurn(play: (world: World) => Generator<Request, never, string>): (world: World) => Player {
  return (world) => {
    const requests = play(world)
    return (body) => requests.next(body).value
  }
}

/** Spends, balances and status reads for each purchase, and one cancel in that many. */
const day = { spends: 6, balances: 4, statusReads: 2, cancelEvery: 10 }

/**
 * One customer after the other: the packages, a purchase, its status, the confirm, the balance, then spends with a read
 * of the balance in between; every tenth cancels.
 */
function* playCustomers(world: World): Generator<Request, never, string> {
  for (let round = 1; ; round += 1) {
    const index = world.index++
    const customer = at(world.customers, index)
    const paymentKey = `pay_${world.run}_${index}`
    yield packages(customer)
    const orderId = orderIdIn(yield purchase(customer, `${world.run}-${index}`))
    yield status(customer, orderId)
    yield confirm(customer, { orderId, amount: packageOf('BASIC').price }, paymentKey)
    for (let read = 1; read < day.statusReads; read += 1) yield status(customer, orderId)
    if (round % day.cancelEvery === 0) yield cancel(customer, paymentKey)
    for (let number = 0; number < day.spends; number += 1) {
      if (number < day.balances) yield balance(customer)
      yield spend(world.token, customer, `${world.run}-${index}-${number}`)
    }
  }
}

/** Payers: a purchase, its confirm, and as many cancels as on a mixed day. */
function* playPayers(world: World): Generator<Request, never, string> {
  for (let round = 1; ; round += 1) {
    const index = world.index++
    const customer = at(world.customers, index)
    const paymentKey = `pay_${world.run}_${index}`
    const orderId = orderIdIn(yield purchase(customer))
    yield confirm(customer, { orderId, amount: packageOf('BASIC').price }, paymentKey)
    if (round % day.cancelEvery === 0) yield cancel(customer, paymentKey)
  }
}

function orderIdIn(body: string): string {
  const [, orderId = ''] = /"orderId":"([^"]+)"/.exec(body) ?? []
  return orderId
}
