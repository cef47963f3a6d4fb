// The operators at work, each for themselves and one thing after the other, chosen by weight from a table of what their role
// allows. What they do follows from the seed; what they meet does not. Some of what they ask is not theirs to ask for.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../harness/random.ts'
import { may, type Permission } from '../../src/operators/permissions.ts'
import { type ClientParts, createClient } from '../load/client.ts'
import type { Deed } from '../load/operator.ts'
import { anyOf, type Customer } from '../world/shop.ts'
import { readCustomer, readHome, readPage, reconcile, resolveOne } from './books.ts'
import type { DeskConsole, DeskOperator } from './console.ts'
import { issueAndSuspend, type KeyTurn, rotate, suspendForAWhile } from './keys.ts'
import { type OrderTurn, readStory, refund, resendEvents, search, settle } from './orders.ts'
import { beSignedIn, signOutAndIn } from './roster.ts'

type Turn = OrderTurn & KeyTurn

/** How often each is chosen by those who may. */
const table: { for: Permission; weight: number; act(turn: Turn): Promise<void> }[] = [
  { for: 'read', weight: 2, act: readHome },
  { for: 'read', weight: 4, act: search },
  { for: 'read', weight: 5, act: readStory },
  { for: 'read', weight: 3, act: readPage },
  { for: 'read', weight: 2, act: readCustomer },
  { for: 'read', weight: 1, act: signOutAndIn },
  { for: 'read', weight: 2, act: askForTooMuch },
  { for: 'settle', weight: 5, act: settle },
  { for: 'resend events', weight: 4, act: resendEvents },
  { for: 'refund', weight: 10, act: refund },
  { for: 'reconcile', weight: 3, act: reconcile },
  { for: 'resolve discrepancies', weight: 8, act: resolveOne },
  { for: 'issue keys', weight: 6, act: rotate },
  { for: 'issue keys', weight: 4, act: issueAndSuspend },
  // It issues a new key where it is not known how a suspension ended.
  { for: 'issue keys', weight: 10, act: suspendForAWhile },
]

export type DeskParts = Omit<ClientParts, 'random'> & {
  operators: DeskOperator[]
  console: DeskConsole
  seed: number
}

const rhythmMs = 250

export type Desk = ReturnType<typeof startDesk>

export function startDesk(parts: DeskParts) {
  const { operators, console, world, seed, stopped } = parts
  const deeds: Deed[] = []
  const wrong: string[] = []
  const inHand = new Set<Customer>()
  let over = false

  async function work(operator: DeskOperator, place: number): Promise<void> {
    const random = createRandom(seed * 61 + place)
    const client = createClient({ ...parts, random })
    const turn: Turn = { ...parts, ...world, console, operator, random, client, deeds, wrong, inHand }
    const lots = table
      .filter((row) => may(operator.role, row.for))
      .flatMap(({ weight, act }) => Array<typeof act>(weight).fill(act))
    while (!over && !stopped.aborted) {
      await beSignedIn(turn)
      const act = anyOf(random, lots) ?? readHome
      await act(turn).catch((error) => wrong.push(`${operator.name}: ${(error as Error).stack}`))
      await sleep(random.integer(0, 2 * rhythmMs))
    }
  }

  const done = Promise.all(operators.map(work))
  return {
    operators,
    console,
    deeds,
    /** What nobody may meet here. */
    wrong,
    async finish(): Promise<void> {
      over = true
      await done
    },
  }
}

/** What the role does not allow, or what the browser of another page would send. */
async function askForTooMuch(turn: Turn): Promise<void> {
  const { console, operator, random, shop } = turn
  const order = shop.anyOrder(random)
  const { customerId } = shop.anyCustomer(random)
  if (!order) return
  const params = { orderId: order.orderId }
  const amiss = random.pick(['origin', 'session', 'role'])
  if (amiss !== 'role') await console.ask(operator, random, 'settleOrder', { params, amiss })
  else if (!may(operator.role, 'refund')) await console.ask(operator, random, 'refundOrder', { params })
  else if (!may(operator.role, 'issue keys'))
    await console.ask(operator, random, 'issueKey', { params: { customerId } })
}
