// The platform's sibling services: over the internal API of either service they spend credits, or hold them, extend the hold,
// capture parts of it, and then capture, release or forget it, some also holds of others; and they give credits back. Each
// chooses its own references; some are sent several times at once, some again much later with another amount, for another
// customer, or for the other operation. They retry until the outcome is known, and get receipts of what they and the customers
// did.
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../harness/random.ts'
import { anyOf, type Shop } from '../../world/shop.ts'
import type {
  Call,
  EndRequest,
  ExtendRequest,
  HoldRequest,
  PartRequest,
  ReceiptRequest,
  Request,
  ReverseRequest,
  SpendRequest,
  UseRequest,
} from '../history.ts'
import { type Client, type ClientParts, createClient } from './client.ts'

type Task = {
  client: Client
  random: Random
  shop: Shop
  /** Every request sent with a new reference. */
  sent: UseRequest[]
  /** Those that succeeded. */
  made: UseRequest[]
  newReference(): string
  /** Answers that must not occur. */
  wrong: string[]
}

export type Siblings = ReturnType<typeof createSiblings>

export function createSiblings(parts: Omit<ClientParts, 'random'>) {
  const { shop, stopped } = parts
  const sent: UseRequest[] = []
  const made: UseRequest[] = []
  const wrong: string[] = []
  const underWay = new Set<Promise<void>>()
  let references = 0
  const newReference = () => {
    references += 1
    return `use-${references}`
  }

  return {
    wrong,
    /** With a seed of its own: what runs at the same time does not change what it does. */
    begin(what: keyof typeof tasks, seed: number): void {
      const random = createRandom(seed)
      const task = { client: createClient({ ...parts, random }), random, shop, sent, made, newReference, wrong }
      const doing = tasks[what](task).catch((error) => {
        if (!stopped.aborted) wrong.push(`${what}: ${(error as Error).stack}`)
      })
      underWay.add(doing)
      doing.finally(() => underWay.delete(doing))
    },
    async finish(): Promise<void> {
      await Promise.all(underWay)
    },
  }
}

const tasks = { spend, hold: holdAndEnd, reverse, receipt: getReceipt }

async function spend(task: Task): Promise<void> {
  const { random } = task
  const request = twisted(task, (await newUse(task, 'spend')) as SpendRequest)
  const others = random.chance(0.08) ? [{ ...request, credits: request.credits + random.integer(1, 3) }] : []
  const calls = await sendAll(task, [...copiesOf(random, request), ...others])
  if (calls.some(({ outcome }) => outcome.kind === 'ok')) task.made.push(request)
}

const soonSeconds = { least: 2, most: 8 }
const soonShare = 0.35
/** Never captured or released: they expire, but for a few that are still active at the end. */
const forgottenSoonShare = 0.9
/** How much before or after its expiry a hold is ended. */
const aroundExpiryMs = 200
const atMostShare = 0.15
const partsShare = 0.25
const extendShare = 0.2
/** The share of requests about a hold that another service sends than the one that opened it: only the first sibling may. */
const otherServiceShare = 0.1
const managerShare = 0.8

async function holdAndEnd(task: Task): Promise<void> {
  const { random } = task
  const ending = anyOf(random, weightedEndings) ?? (() => [])
  const isSoon = random.chance(ending === forget ? forgottenSoonShare : soonShare)
  const expiresInSeconds = isSoon ? random.integer(soonSeconds.least, soonSeconds.most) : null
  const atMost = random.chance(atMostShare)
  const request = twisted(task, { ...((await newUse(task, 'hold')) as HoldRequest), expiresInSeconds, atMost })
  const calls = await sendAll(task, copiesOf(random, request))
  const opened = calls.find(({ outcome }) => outcome.kind === 'ok')?.outcome
  if (opened?.kind !== 'ok' || Array.isArray(opened.data)) return
  task.made.push(request)
  const atExpiryMs = (request.expiresInSeconds ?? 0) * 1_000 + random.integer(-aroundExpiryMs, aroundExpiryMs)
  await sleep(request.expiresInSeconds !== null && random.chance(0.3) ? atExpiryMs : random.integer(0, 1_200))
  const { customer, sibling } = request
  const hold = { customer, sibling, holdId: String(opened.data.holdId) }
  await work(task, hold, request.credits)
  const own = withCaller(task, hold)
  const endRequests = ending(request.credits, random).map(
    (credits): EndRequest => (credits === 0 ? { ...own, op: 'release' } : { ...own, op: 'capture', credits }),
  )
  await sendAll(task, endRequests)
}

type HoldKey = Pick<PartRequest, 'customer' | 'sibling' | 'holdId'>

function withCaller({ random, shop }: Task, hold: HoldKey): HoldKey {
  if (!random.chance(otherServiceShare)) return hold
  const sibling = random.chance(managerShare) ? 0 : random.integer(0, shop.siblings.length - 1)
  return { ...hold, sibling }
}

/** While the hold is active, as far as the job knows: parts, some of them more than is left, and a later expiry. */
async function work(task: Task, hold: HoldKey, credits: number): Promise<void> {
  const { random, newReference } = task
  const parts = Array.from({ length: random.chance(partsShare) ? random.integer(1, 3) : 0 }, (): PartRequest[] =>
    copiesOf(random, {
      ...withCaller(task, hold),
      op: 'part',
      credits: part(credits, random),
      reference: newReference(),
    }),
  )
  const extensions = random.chance(extendShare)
    ? copiesOf<ExtendRequest>(random, {
        ...withCaller(task, hold),
        op: 'extend',
        expiresInSeconds: random.integer(2, 12),
      })
    : []
  await sendAll<PartRequest | ExtendRequest>(task, random.shuffled([...parts.flat(), ...extensions]))
}

/** The requests sent at once about an active hold: the credits of a capture, null for all of them, 0 for a release. */
type EndingOf = (credits: number, random: Random) => (number | null)[]

const forget: EndingOf = () => []
const part = (credits: number, random: Random) => random.integer(1, credits)

const endings: { weight: number; end: EndingOf }[] = [
  { weight: 6, end: () => [null] },
  { weight: 6, end: (credits, random) => [part(credits, random)] },
  { weight: 5, end: () => [0] },
  { weight: 5, end: forget },
  { weight: 2, end: (credits, random) => Array(random.integer(2, 4)).fill(part(credits, random)) },
  { weight: 1, end: () => [0, 0, 0] },
  { weight: 2, end: (credits, random) => [null, part(credits, random), part(credits, random)] },
  { weight: 4, end: (credits, random) => random.shuffled([0, 0, null, part(credits, random)]) },
  { weight: 1, end: (credits, random) => [credits + random.integer(1, 9), part(credits, random)] },
]
const weightedEndings = endings.flatMap(({ weight, end }) => Array<EndingOf>(weight).fill(end))

const madeShare = 0.85

/**
 * What was spent or held earlier, or was not: whole or a part, some more than there is. Up to three reversals of it at
 * once are together often more than there is, and some have the reference of another with other credits.
 */
async function reverse(task: Task): Promise<void> {
  const { shop, random, sent, made, newReference } = task
  const use = anyOf(random, random.chance(madeShare) ? made : sent)
  if (!use) return
  const { customer, reference: reversed } = use
  // Another service has not spent it.
  const sibling = (use.sibling + (random.chance(0.05) ? 1 : 0)) % shop.siblings.length
  const some = () => (random.chance(0.3) ? null : random.integer(1, use.credits + (random.chance(0.1) ? 5 : 0)))
  const requests = Array.from({ length: random.chance(0.3) ? random.integer(2, 3) : 1 }, (): ReverseRequest => {
    const reference = random.chance(0.04) ? reversed : newReference()
    return { op: 'reverse', customer, sibling, reversed, credits: some(), reference }
  })
  const others = requests.filter(() => random.chance(0.1)).map((request) => ({ ...request, credits: some() }))
  await sendAll(task, random.shuffled([...requests.flatMap((request) => copiesOf(random, request)), ...others]))
}

/** Right after the answer, when the log does not have the entries yet. */
const newestShare = 0.5

/** Gets the receipt of an acknowledged order or use. The history keeps it, for the checks. */
async function getReceipt(task: Task): Promise<void> {
  const { shop, random, made } = task
  const oneOf = <Value>(values: Value[]) => (random.chance(newestShare) ? values.at(-1) : anyOf(random, values))
  const sibling = random.integer(0, shop.siblings.length - 1)
  const order = oneOf([...shop.orders.values()].filter(({ confirmedBy }) => confirmedBy !== null))
  const use = oneOf(made)
  const ofOrder = order && { customer: order.customer, of: { orderId: order.orderId } }
  const ofUse = use && { customer: use.customer, of: { reference: use.reference } }
  const chosen = random.chance(0.5) ? (ofOrder ?? ofUse) : (ofUse ?? ofOrder)
  if (chosen) await sendAll<ReceiptRequest>(task, [{ op: 'receipt', sibling, ...chosen }])
}

const allCreditsShare = 0.08

async function newUse(task: Task, op: UseRequest['op']): Promise<Omit<UseRequest, 'expiresInSeconds' | 'atMost'>> {
  const { shop, random, newReference } = task
  const customer = shop.anyCustomer(random).index
  const sibling = random.integer(0, shop.siblings.length - 1)
  const some = random.integer(1, random.pick([3, 10, 40]))
  const credits = (random.chance(allCreditsShare) && (await readLeft(task, customer))) || some
  return { op, customer, sibling, credits, reference: newReference() }
}

/** All that is left: a repeated request then finds nothing, and must not be refused for that. */
async function readLeft({ client }: Task, customer: number): Promise<number> {
  const { outcome } = await client.send({ op: 'balance', customer })
  return outcome.kind === 'ok' && !Array.isArray(outcome.data) ? Number(outcome.data.credits) : 0
}

type Twist = { share: number; twist(fresh: UseRequest, earlier: UseRequest): Partial<UseRequest> }

/** Uses of a reference that was used before, by the same sibling service, whose id the ledger entry has. */
const twists: Twist[] = [
  { share: 0.1, twist: (_, { customer, credits }) => ({ customer, credits }) },
  { share: 0.04, twist: ({ credits }, { customer }) => ({ customer, credits }) },
  { share: 0.04, twist: () => ({}) },
]

/** The request, or one of the same kind with a reference that was sent before. */
function twisted<Of extends UseRequest>({ random, sent }: Task, fresh: Of): Of {
  const chosen = twists.find(({ share }) => random.chance(share))
  const earlier = anyOf(random, sent)
  if (chosen && earlier) {
    const { sibling, reference } = earlier
    return { ...fresh, ...chosen.twist(fresh, earlier), sibling, reference }
  }
  sent.push(fresh)
  return fresh
}

function copiesOf<Of extends Request>(random: Random, request: Of): Of[] {
  return Array<Of>(random.chance(0.3) ? random.integer(2, 5) : 1).fill(request)
}

/** In parallel, over both services. */
async function sendAll<Of extends Request>({ client, wrong }: Task, requests: Of[]): Promise<Call<Of>[]> {
  const calls = await Promise.all(requests.map((request, copy) => client.sendPatiently(request, copy)))
  for (const { number, request, outcome } of calls) {
    if (outcome.kind === 'info') wrong.push(`call ${number}: no answer to ${JSON.stringify(request)}`)
  }
  return calls
}
