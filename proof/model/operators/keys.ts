// What operators do with the keys of customers: rotate one, issue a new one and suspend the old one, suspend one for a
// while. Requests are retried until the outcome is known, because the customer needs a key that works; meanwhile no
// other operator changes that customer's keys. A suspended key is tried at once and a second later.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EndpointName } from '../../../src/console/endpoints.ts'
import { anyOf, type Customer, type Key, type Shop } from '../../world/shop.ts'
import type { Client } from '../actions/client.ts'
import { type ConsoleCall, type ConsoleRequest, dataOf, isConnectionRefused } from './console-client.ts'
import type { OperatorContext } from './sign-in.ts'

export type KeyContext = OperatorContext & {
  shop: Shop
  client: Client
  /** Customers whose keys are being changed. */
  locked: Set<Customer>
  wrong: string[]
}

/** The guarantee: a second after its suspension every process refuses a key. */
export const suspensionMs = 1_000

const retryForMs = 90_000
const pauseMs = 300
const doubleShare = 0.25
const longestSuspensionMs = 1_500

/** Each attempt is an action of its own. */
async function untilAnswered<Name extends EndpointName>(
  { console, operator, random, stopped }: KeyContext,
  endpoint: Name,
  request: ConsoleRequest<Name>,
): Promise<ConsoleCall<Name>> {
  const limit = performance.now() + retryForMs
  for (;;) {
    const call = await console.send(operator, random, endpoint, request)
    if (call.outcome.kind !== 'info' || performance.now() > limit || stopped.aborted) return call
    await sleep(pauseMs)
  }
}

/** With a customer whose keys no other operator is changing; half of them are hot customers. */
async function withCustomer(context: KeyContext, work: (customer: Customer) => Promise<void>): Promise<void> {
  const { shop, random, locked } = context
  const customer = random.chance(0.5) ? shop.anyCustomer(random) : anyOf(random, shop.customers)
  if (!customer || locked.has(customer)) return
  locked.add(customer)
  try {
    await work(customer)
  } finally {
    locked.delete(customer)
  }
}

/** Its programs use the new one from now on. */
function adopt(customer: Customer, { keyId, apiKey }: Key): void {
  customer.formerKeys.push(customer.key)
  customer.key = { keyId, apiKey }
}

/** One in four twice at once, of which at most one gets a key. A key whose answer was lost is never used. */
export function rotate(context: KeyContext): Promise<void> {
  const { console, operator, random } = context
  return withCustomer(context, async (customer) => {
    const old = customer.key
    const rotateOnce = () => console.send(operator, random, 'rotateKey', { params: { keyId: old.keyId } })
    const rotating = Array.from({ length: random.chance(doubleShare) ? 2 : 1 }, rotateOnce)
    const issued = (await Promise.all(rotating)).map(dataOf).find((data) => data !== undefined)
    if (!issued) return replaceWithNew(context, customer)
    adopt(customer, issued)
    await tryFormer(context, customer, old)
  })
}

export function issueAndSuspend(context: KeyContext): Promise<void> {
  return withCustomer(context, (customer) => replaceWithNew(context, customer))
}

async function replaceWithNew(context: KeyContext, customer: Customer): Promise<void> {
  const { customerId, key: old } = customer
  const issued = dataOf(await untilAnswered(context, 'issueKey', { params: { customerId } }))
  if (!issued) return giveUp(context, customer, 'no key was issued')
  adopt(customer, issued)
  const suspended = dataOf(await untilAnswered(context, 'suspendKey', { params: { keyId: old.keyId } }))
  if (!suspended) return giveUp(context, customer, 'the old key was not suspended')
  await tryFormer(context, customer, old)
}

export function suspendForAWhile(context: KeyContext): Promise<void> {
  const { random } = context
  return withCustomer(context, async (customer) => {
    const { keyId } = customer.key
    const { calls } = context.console
    const before = calls.length
    const suspended = dataOf(await untilAnswered(context, 'suspendKey', { params: { keyId } }))
    if (!suspended) return giveUp(context, customer, 'the key was not suspended')
    // A suspension without an answer may still happen, even after an activation: such a key is not used again.
    const isOpen = (call: ConsoleCall) =>
      call.params.keyId === keyId && call.outcome.kind === 'info' && !isConnectionRefused(call)
    if (calls.slice(before).some(isOpen)) return replaceWithNew(context, customer)
    await sleep(random.integer(0, longestSuspensionMs))
    const activated = dataOf(await untilAnswered(context, 'activateKey', { params: { keyId } }))
    if (!activated) giveUp(context, customer, 'the key was not activated')
  })
}

/** At both services, at once and after the guaranteed time. The answers are checked later. */
async function tryFormer({ client }: KeyContext, { index: customer }: Customer, key: Key): Promise<void> {
  const tryBoth = () =>
    Promise.all([0, 1].map((attempt) => client.sendWithKey(key, attempt, { op: 'balance', customer })))
  await tryBoth()
  await sleep(suspensionMs)
  await tryBoth()
}

function giveUp({ wrong, stopped, operator }: KeyContext, { index }: Customer, why: string): void {
  if (!stopped.aborted) wrong.push(`${operator.name} gave up on customer ${index}: ${why}`)
}
