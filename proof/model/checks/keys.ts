// Customers' keys that operators changed: from a second after its suspension was acknowledged both services refuse a
// key, and no key is refused without a suspension. At the end the books have what was acknowledged.
import type { World } from '../../world/world.ts'
import { suspendedCause } from '../actions/client.ts'
import type { Call } from '../history.ts'
import { type ConsoleCall, dataOf, isConnectionRefused } from '../operators/console-client.ts'
import { suspensionMs } from '../operators/keys.ts'
import { at, type Check, checksOf, type Evidence } from './evidence.ts'

type Change = Pick<ConsoleCall, 'invokedAtMs' | 'endedAtMs'> & { outcome: { kind: string } }

/** What may have happened to a key; a call that was refused, or not connected, has changed nothing. */
type Changes = { suspensions: Change[]; activations: Change[] }

function changesOf({ consoleCalls }: Evidence): Map<string, Changes> {
  const changes = new Map<string, Changes>()
  for (const call of consoleCalls) {
    const { endpoint, params, outcome } = call
    if (params.keyId === undefined || outcome.kind === 'fail' || isConnectionRefused(call)) continue
    const ofKey = changes.get(params.keyId) ?? { suspensions: [], activations: [] }
    ofKey[endpoint === 'activateKey' ? 'activations' : 'suspensions'].push(call)
    changes.set(params.keyId, ofKey)
  }
  return changes
}

/** A customer is suspended with all of its keys. */
function changesOfCustomer({ suspensions }: Evidence, customer: number): Changes {
  const own = suspensions.filter((each) => each.customer === customer)
  const done = (times: Omit<Change, 'outcome'>): Change => ({ ...times, outcome: { kind: 'ok' } })
  return {
    suspensions: own.map(({ suspended }) => done(suspended)),
    activations: own.flatMap(({ activated }) => (activated ? [done(activated)] : [])),
  }
}

const isAcknowledged = ({ outcome }: Change) => outcome.kind === 'ok'

export async function checkKeys(world: World, evidence: Evidence): Promise<Check[]> {
  const changes = changesOf(evidence)
  return checksOf({
    'O-5 no key works a second after its suspension was acknowledged, and none is refused without a suspension':
      evidence.calls.flatMap((call) =>
        answeredWrongly(call, [
          changes.get(call.keyId ?? '') ?? { suspensions: [], activations: [] },
          changesOfCustomer(evidence, call.request.customer),
        ]),
      ),
    'O-6 keys are as they were acknowledged, and a rotation gives one key at most': await inBooks(
      world,
      evidence,
      changes,
    ),
  })
}

/** `changes`: of the key, and of its customer. */
function answeredWrongly(call: Call, changes: Changes[]): string[] {
  const { outcome, keyId } = call
  if (keyId === null) return []
  const isRefused = outcome.kind === 'info' && outcome.cause === suspendedCause
  if (isRefused)
    return changes.some((each) => maybeSuspended(call, each))
      ? []
      : [`${at(call)}: ${keyId} was refused, and was not suspended`]
  const isAnswered = outcome.kind !== 'info'
  const isSuspended = isAnswered && changes.some((each) => surelySuspended(call, each))
  return isSuspended ? [`${at(call)}: ${keyId} was suspended, and answered`] : []
}

/** It may have been suspended, and no activation has been acknowledged for long enough to be known everywhere. */
function maybeSuspended({ invokedAtMs, endedAtMs }: Call, { suspensions, activations }: Changes): boolean {
  return suspensions.some((suspension) => {
    const isUndone = ({ invokedAtMs: from, endedAtMs: to }: Change) =>
      from > suspension.endedAtMs && to + suspensionMs < invokedAtMs
    return (
      suspension.invokedAtMs <= endedAtMs &&
      !(isAcknowledged(suspension) && activations.filter(isAcknowledged).some(isUndone))
    )
  })
}

/** An activation whose answer was lost may happen at any time after its request. */
function surelySuspended({ invokedAtMs, endedAtMs }: Call, { suspensions, activations }: Changes): boolean {
  return suspensions.filter(isAcknowledged).some((suspension) => {
    const mayUndo = (each: Change) =>
      each.invokedAtMs <= endedAtMs && (!isAcknowledged(each) || each.endedAtMs >= suspension.invokedAtMs)
    return suspension.endedAtMs + suspensionMs <= invokedAtMs && !activations.some(mayUndo)
  })
}

type BookedKey = { keyId: string; customerId: string; status: string }

async function inBooks({ books }: World, evidence: Evidence, changes: Map<string, Changes>): Promise<string[]> {
  const { shop, consoleCalls } = evidence
  const rows = await books.query<BookedKey>(
    `select key_id as "keyId", customer_id as "customerId", status from api_keys`,
  )
  const keys = new Map(rows.map((row) => [row.keyId, row]))
  const inUse = shop.customers.flatMap(({ key: { keyId }, index }) =>
    keys.get(keyId)?.status === 'ACTIVE' ? [] : [`customer ${index}: ${keyId} is ${keys.get(keyId)?.status}`],
  )
  const suspended = [...changes].flatMap(([keyId, { suspensions, activations }]) => {
    const isCertain = suspensions.some(isAcknowledged) && activations.length === 0
    return isCertain && keys.get(keyId)?.status !== 'SUSPENDED'
      ? [`${keyId} was acknowledged as suspended, and is not`]
      : []
  })
  const made = consoleCalls.filter(({ endpoint }) => endpoint === 'issueKey' || endpoint === 'rotateKey')
  const missing = made.flatMap((call) => {
    const { keyId = '', customerId } = (dataOf(call) ?? {}) as Partial<BookedKey>
    const isThere = !isAcknowledged(call) || keys.get(keyId)?.customerId === customerId
    return isThere ? [] : [`operator call ${call.number} issued ${keyId}, which is not a key of ${customerId}`]
  })
  const rotations = Map.groupBy(
    made.filter((call) => call.endpoint === 'rotateKey' && isAcknowledged(call)),
    ({ params }) => params.keyId,
  )
  const twice = [...rotations].filter(([, ofKey]) => ofKey.length > 1).map(([keyId]) => `${keyId} was rotated twice`)
  const most =
    shop.customers.length + made.filter((call) => call.outcome.kind !== 'fail' && !isConnectionRefused(call)).length
  const unrequested = rows.length > most ? [`${rows.length} keys, and at most ${most} were requested`] : []
  return [...inUse, ...suspended, ...missing, ...twice, ...unrequested]
}
