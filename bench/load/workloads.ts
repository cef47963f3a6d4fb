// What is asked of the service, by name. A workload is played by every connection on its own: `next` gives the next
// request, and may look at the body of the answer before it.
import { packageOf } from '../../src/payments/packages.ts'
import { balance, type Customer, cancel, confirm, packages, purchase, type Request, spend, status } from './requests.ts'

export type Order = { customer: number; orderId: string; amount: number }

export type World = {
  token: string
  customers: Customer[]
  /** Orders that exist: for status and confirm, each used once in turn. */
  orders: Order[]
  /** Makes references, payment keys and idempotency keys new with every measurement. */
  run: string
  /** Counts requests over all connections. */
  turn: number
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

function at<Each>(list: Each[], turn: number): Each {
  return list[turn % list.length] as Each
}

function each(make: (world: World, turn: number) => Request): (world: World) => Player {
  return (world) => () => make(world, world.turn++)
}

/** Whose an order is, and the order: an order that was confirmed once is not confirmed again. */
function orderAt({ orders, customers }: World, turn: number, again: boolean): { customer: Customer; order: Order } {
  if (!again && turn >= orders.length) throw new Error(`all ${orders.length} prepared orders are used up`)
  const order = at(orders, turn)
  return { order, customer: at(customers, order.customer) }
}

export const workloads: Record<WorkloadName, (world: World) => Player> = {
  purchase: each(({ customers }, turn) => purchase(at(customers, turn))),
  'purchase with key': each(({ customers, run }, turn) => purchase(at(customers, turn), `${run}-${turn}`)),
  confirm: each((world, turn) => {
    const { customer, order } = orderAt(world, turn, false)
    return confirm(customer, order, `pay_${world.run}_${turn}`)
  }),
  status: each((world, turn) => {
    const { customer, order } = orderAt(world, turn, true)
    return status(customer, order.orderId)
  }),
  balance: each(({ customers }, turn) => balance(at(customers, turn))),
  packages: each(({ customers }, turn) => packages(at(customers, turn))),
  'spend over many customers': each(({ token, customers, run }, turn) =>
    spend(token, at(customers, turn), `${run}-${turn}`),
  ),
  'spend on one customer': each(({ token, customers, run }, turn) => spend(token, at(customers, 0), `${run}-${turn}`)),
  'mixed day': inTurn(playCustomers),
}

/** What is played beside the workloads, for what it tells of them. */
export type PlayName = WorkloadName | 'pay'
export const plays: Record<PlayName, (world: World) => Player> = { ...workloads, pay: inTurn(playPayers) }

function inTurn(play: (world: World) => Generator<Request, never, string>): (world: World) => Player {
  return (world) => {
    const requests = play(world)
    return (body) => requests.next(body).value
  }
}

/** Spends, balances and looks at a status for each purchase, and one cancel in so many. */
const day = { spends: 6, balances: 4, looks: 2, cancelEvery: 10 }

/**
 * A customer after the other: the packages, a purchase, its status, the confirm, the balance, then spends with a look at
 * the balance in between; every tenth thinks better of it.
 */
function* playCustomers(world: World): Generator<Request, never, string> {
  for (let round = 1; ; round += 1) {
    const turn = world.turn++
    const customer = at(world.customers, turn)
    const paymentKey = `pay_${world.run}_${turn}`
    yield packages(customer)
    const orderId = orderIdIn(yield purchase(customer, `${world.run}-${turn}`))
    yield status(customer, orderId)
    yield confirm(customer, { orderId, amount: packageOf('BASIC').price }, paymentKey)
    for (let look = 1; look < day.looks; look += 1) yield status(customer, orderId)
    if (round % day.cancelEvery === 0) yield cancel(customer, paymentKey)
    for (let number = 0; number < day.spends; number += 1) {
      if (number < day.balances) yield balance(customer)
      yield spend(world.token, customer, `${world.run}-${turn}-${number}`)
    }
  }
}

/** Who only pays: a purchase, its confirm, and as many cancels as on a mixed day. */
function* playPayers(world: World): Generator<Request, never, string> {
  for (let round = 1; ; round += 1) {
    const turn = world.turn++
    const customer = at(world.customers, turn)
    const paymentKey = `pay_${world.run}_${turn}`
    const orderId = orderIdIn(yield purchase(customer))
    yield confirm(customer, { orderId, amount: packageOf('BASIC').price }, paymentKey)
    if (round % day.cancelEvery === 0) yield cancel(customer, paymentKey)
  }
}

function orderIdIn(body: string): string {
  const [, orderId = ''] = /"orderId":"([^"]+)"/.exec(body) ?? []
  return orderId
}
