// The operators of the console. Each does one action after the other, chosen by weight from those that the role allows;
// some requests are forbidden on purpose. The actions follow from the seed; what happens to them does not.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../harness/random.ts'
import { may, type Permission } from '../../../src/operators/permissions.ts'
import { anyOf, type Customer } from '../../world/shop.ts'
import { type ClientParts, createClient } from '../actions/client.ts'
import type { Reversal } from '../actions/outside-actions.ts'
import { readCustomer, readHome, readPage, reconcile, resolveOne } from './books.ts'
import type { ConsoleClient, Operator } from './console-client.ts'
import { issueAndSuspend, type KeyContext, rotate, suspendForAWhile } from './keys.ts'
import { type OrderContext, readStory, refund, resendEvents, search, settle } from './orders.ts'
import { beSignedIn, signOutAndIn } from './sign-in.ts'

export type StaffContext = OrderContext & KeyContext
type Context = StaffContext

/** How often each is chosen by operators with the permission. */
export const operatorActions: { for: Permission; weight: number; act(context: Context): Promise<void> }[] = [
  { for: 'read', weight: 2, act: readHome },
  { for: 'read', weight: 4, act: search },
  { for: 'read', weight: 5, act: readStory },
  { for: 'read', weight: 3, act: readPage },
  { for: 'read', weight: 2, act: readCustomer },
  { for: 'read', weight: 1, act: signOutAndIn },
  { for: 'read', weight: 2, act: sendForbidden },
  { for: 'settle', weight: 5, act: settle },
  { for: 'resend events', weight: 4, act: resendEvents },
  { for: 'refund', weight: 10, act: refund },
  { for: 'reconcile', weight: 3, act: reconcile },
  { for: 'resolve discrepancies', weight: 8, act: resolveOne },
  { for: 'issue keys', weight: 6, act: rotate },
  { for: 'issue keys', weight: 4, act: issueAndSuspend },
  // It issues a new key when the outcome of a suspension is unknown.
  { for: 'issue keys', weight: 10, act: suspendForAWhile },
]

export type OperatorsParts = Omit<ClientParts, 'random'> & {
  operators: Operator[]
  console: ConsoleClient
  seed: number
}

const intervalMs = 250

export type Operators = ReturnType<typeof startOperators>

export function startOperators(parts: OperatorsParts) {
  const { operators, console, world, seed, stopped } = parts
  const reversals: Reversal[] = []
  const wrong: string[] = []
  const locked = new Set<Customer>()
  let over = false

  async function work(operator: Operator, place: number): Promise<void> {
    const random = createRandom(seed * 61 + place)
    const client = createClient({ ...parts, random })
    const context: Context = { ...parts, ...world, console, operator, random, client, reversals, wrong, locked }
    const weighted = operatorActions
      .filter((row) => may(operator.role, row.for))
      .flatMap(({ weight, act }) => Array<typeof act>(weight).fill(act))
    while (!over && !stopped.aborted) {
      await beSignedIn(context)
      // A failover can last longer than an operator tries to sign in.
      if (!operator.session) continue
      const act = anyOf(random, weighted) ?? readHome
      await act(context).catch((error) => wrong.push(`${operator.name}: ${(error as Error).stack}`))
      await sleep(random.integer(0, 2 * intervalMs))
    }
  }

  const done = Promise.all(operators.map(work))
  return {
    operators,
    console,
    reversals,
    /** Errors that must not occur. */
    wrong,
    async finish(): Promise<void> {
      over = true
      await done
    },
  }
}

/** What the role does not allow, or what a page of another origin would send. */
async function sendForbidden(context: Context): Promise<void> {
  const { console, operator, random, shop } = context
  const order = shop.anyOrder(random)
  const { customerId } = shop.anyCustomer(random)
  if (!order) return
  const params = { orderId: order.orderId }
  const flaw = random.pick(['origin', 'session', 'role'])
  if (flaw !== 'role') await console.send(operator, random, 'settleOrder', { params, flaw })
  else if (!may(operator.role, 'refund')) await console.send(operator, random, 'refundOrder', { params })
  else if (!may(operator.role, 'issue keys'))
    await console.send(operator, random, 'issueKey', { params: { customerId } })
}
