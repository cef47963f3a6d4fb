// What operators do to the keys of customers: another key in the place of one, a new one and then the old one suspended, one
// suspended for a while. Whoever is not told how it ended asks until it is known, as a customer waits for a key that works;
// meanwhile nobody else has a hand in that customer's keys. A key that was suspended is tried at once and a second later.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EndpointName } from '../../src/console/endpoints.ts'
import type { Client } from '../load/client.ts'
import { anyOf, type Customer, type Key, type Shop } from '../world/shop.ts'
import { type Asked, type DeskCall, dataOf, metNobody } from './console.ts'
import type { Seat } from './roster.ts'

export type KeyTurn = Seat & {
  shop: Shop
  client: Client
  /** Customers whose keys somebody has in hand. */
  inHand: Set<Customer>
  wrong: string[]
}

/** The promise: a second after its suspension a key is refused by every process. */
export const suspensionMs = 1_000

const askForMs = 90_000
const pauseMs = 300
const twinShare = 0.25
const aloneMs = 1_500

/** Until it is answered, each time as an action of its own. */
async function untilAnswered<Name extends EndpointName>(
  { console, operator, random, stopped }: KeyTurn,
  endpoint: Name,
  asked: Asked<Name>,
): Promise<DeskCall<Name>> {
  const limit = performance.now() + askForMs
  for (;;) {
    const call = await console.ask(operator, random, endpoint, asked)
    if (call.outcome.kind !== 'info' || performance.now() > limit || stopped.aborted) return call
    await sleep(pauseMs)
  }
}

/** Of a customer whom nobody else has in hand; half of those are hot ones. */
async function withCustomer(turn: KeyTurn, work: (customer: Customer) => Promise<void>): Promise<void> {
  const { shop, random, inHand } = turn
  const customer = random.chance(0.5) ? shop.anyCustomer(random) : anyOf(random, shop.customers)
  if (!customer || inHand.has(customer)) return
  inHand.add(customer)
  try {
    await work(customer)
  } finally {
    inHand.delete(customer)
  }
}

/** Its programs go on with the new one. */
function adopt(customer: Customer, { keyId, apiKey }: Key): void {
  customer.formerKeys.push(customer.key)
  customer.key = { keyId, apiKey }
}

/** One time in four by two at once, of whom at most one gets a key. A key that was made and not told is nobody's. */
export function rotate(turn: KeyTurn): Promise<void> {
  const { console, operator, random } = turn
  return withCustomer(turn, async (customer) => {
    const old = customer.key
    const rotateOnce = () => console.ask(operator, random, 'rotateKey', { params: { keyId: old.keyId } })
    const rotating = Array.from({ length: random.chance(twinShare) ? 2 : 1 }, rotateOnce)
    const issued = (await Promise.all(rotating)).map(dataOf).find((data) => data !== undefined)
    if (!issued) return replaceWithNew(turn, customer)
    adopt(customer, issued)
    await tryFormer(turn, customer, old)
  })
}

export function issueAndSuspend(turn: KeyTurn): Promise<void> {
  return withCustomer(turn, (customer) => replaceWithNew(turn, customer))
}

async function replaceWithNew(turn: KeyTurn, customer: Customer): Promise<void> {
  const { customerId, key: old } = customer
  const issued = dataOf(await untilAnswered(turn, 'issueKey', { params: { customerId } }))
  if (!issued) return giveUp(turn, customer, 'no key was issued')
  adopt(customer, issued)
  const suspended = dataOf(await untilAnswered(turn, 'suspendKey', { params: { keyId: old.keyId } }))
  if (!suspended) return giveUp(turn, customer, 'the old key was not suspended')
  await tryFormer(turn, customer, old)
}

export function suspendForAWhile(turn: KeyTurn): Promise<void> {
  const { random } = turn
  return withCustomer(turn, async (customer) => {
    const { keyId } = customer.key
    const { calls } = turn.console
    const before = calls.length
    const suspended = dataOf(await untilAnswered(turn, 'suspendKey', { params: { keyId } }))
    if (!suspended) return giveUp(turn, customer, 'the key was not suspended')
    // One that was not answered may still happen, also after an activation: such a key is not used again.
    const isOpen = (call: DeskCall) => call.params.keyId === keyId && call.outcome.kind === 'info' && !metNobody(call)
    if (calls.slice(before).some(isOpen)) return replaceWithNew(turn, customer)
    await sleep(random.integer(0, aloneMs))
    const activated = dataOf(await untilAnswered(turn, 'activateKey', { params: { keyId } }))
    if (!activated) giveUp(turn, customer, 'the key was not activated')
  })
}

/** At both, at once and when the time is over: what they answer is for the checks. */
async function tryFormer({ client }: KeyTurn, { index: customer }: Customer, key: Key): Promise<void> {
  const tryBoth = () => Promise.all([0, 1].map((turn) => client.askWith(key, turn, { op: 'balance', customer })))
  await tryBoth()
  await sleep(suspensionMs)
  await tryBoth()
}

function giveUp({ wrong, stopped, operator }: KeyTurn, { index }: Customer, why: string): void {
  if (!stopped.aborted) wrong.push(`${operator.name} left customer ${index} alone: ${why}`)
}
