// Keys of customers as operators have changed them: from a second after its suspension was acknowledged a key is refused by
// both services, and none is refused that nobody may have suspended. In the end the books have what was acknowledged.

import { type DeskCall, dataOf, metNobody } from '../desk/console.ts'
import { suspensionMs } from '../desk/keys.ts'
import type { Call } from '../history.ts'
import { suspendedCause } from '../load/client.ts'
import type { World } from '../world/world.ts'
import { at, type Check, type Evidence } from './evidence.ts'

/** What may have been done to a key; a call that was refused, or met nobody, has done nothing. */
type Changes = { suspensions: DeskCall[]; activations: DeskCall[] }

function changesOf({ desk }: Evidence): Map<string, Changes> {
  const changes = new Map<string, Changes>()
  for (const call of desk) {
    const { endpoint, params, outcome } = call
    if (params.keyId === undefined || outcome.kind === 'fail' || metNobody(call)) continue
    const ofKey = changes.get(params.keyId) ?? { suspensions: [], activations: [] }
    ofKey[endpoint === 'activateKey' ? 'activations' : 'suspensions'].push(call)
    changes.set(params.keyId, ofKey)
  }
  return changes
}

const isTold = ({ outcome }: DeskCall) => outcome.kind === 'ok'

export async function checkKeys(world: World, evidence: Evidence): Promise<Check[]> {
  const changes = changesOf(evidence)
  return [
    {
      id: 'O-5',
      title: 'no key answers a second after its suspension was acknowledged, and none is refused that nobody suspended',
      violations: evidence.calls.flatMap((call) => answeredWrongly(call, changes.get(call.keyId ?? ''))),
    },
    {
      id: 'O-6',
      title: 'keys are as they were acknowledged, and a rotation gives one key at most',
      violations: await inBooks(world, evidence, changes),
    },
  ]
}

function answeredWrongly(call: Call, changes: Changes = { suspensions: [], activations: [] }): string[] {
  const { outcome, keyId } = call
  if (keyId === null) return []
  const isRefused = outcome.kind === 'info' && outcome.cause === suspendedCause
  if (isRefused)
    return maybeSuspended(call, changes) ? [] : [`${at(call)}: ${keyId} was refused, and nobody suspended it`]
  const isAnswered = outcome.kind !== 'info'
  return isAnswered && surelySuspended(call, changes) ? [`${at(call)}: ${keyId} was suspended, and answered`] : []
}

/** Somebody may have suspended it, and it has not been active again for as long as that may take to be known. */
function maybeSuspended({ invokedAtMs, endedAtMs }: Call, { suspensions, activations }: Changes): boolean {
  return suspensions.some((suspension) => {
    const isUndone = ({ invokedAtMs: from, endedAtMs: to }: DeskCall) =>
      from > suspension.endedAtMs && to + suspensionMs < invokedAtMs
    return suspension.invokedAtMs <= endedAtMs && !(isTold(suspension) && activations.filter(isTold).some(isUndone))
  })
}

/** An activation whose answer was lost may happen at any time after it was asked for. */
function surelySuspended({ invokedAtMs, endedAtMs }: Call, { suspensions, activations }: Changes): boolean {
  return suspensions.filter(isTold).some((suspension) => {
    const mayUndo = (each: DeskCall) =>
      each.invokedAtMs <= endedAtMs && (!isTold(each) || each.endedAtMs >= suspension.invokedAtMs)
    return suspension.endedAtMs + suspensionMs <= invokedAtMs && !activations.some(mayUndo)
  })
}

type BookedKey = { keyId: string; customerId: string; status: string }

async function inBooks({ books }: World, evidence: Evidence, changes: Map<string, Changes>): Promise<string[]> {
  const { shop, desk } = evidence
  const rows = await books.query<BookedKey>(
    `select key_id as "keyId", customer_id as "customerId", status from api_keys`,
  )
  const keys = new Map(rows.map((row) => [row.keyId, row]))
  const inUse = shop.customers.flatMap(({ key: { keyId }, index }) =>
    keys.get(keyId)?.status === 'ACTIVE' ? [] : [`customer ${index}: ${keyId} is ${keys.get(keyId)?.status}`],
  )
  const suspended = [...changes].flatMap(([keyId, { suspensions, activations }]) => {
    const isCertain = suspensions.some(isTold) && activations.length === 0
    return isCertain && keys.get(keyId)?.status !== 'SUSPENDED' ? [`${keyId} was told suspended, and is not`] : []
  })
  const made = desk.filter(({ endpoint }) => endpoint === 'issueKey' || endpoint === 'rotateKey')
  const told = made.flatMap((call) => {
    const { keyId = '', customerId } = (dataOf(call) ?? {}) as Partial<BookedKey>
    const isThere = !isTold(call) || keys.get(keyId)?.customerId === customerId
    return isThere ? [] : [`operator call ${call.number} was told ${keyId}, which is not a key of ${customerId}`]
  })
  const rotations = Map.groupBy(
    made.filter((call) => call.endpoint === 'rotateKey' && isTold(call)),
    ({ params }) => params.keyId,
  )
  const twice = [...rotations].filter(([, ofKey]) => ofKey.length > 1).map(([keyId]) => `${keyId} was rotated twice`)
  const most = shop.customers.length + made.filter((call) => call.outcome.kind !== 'fail' && !metNobody(call)).length
  const unasked = rows.length > most ? [`${rows.length} keys, and at most ${most} were asked for`] : []
  return [...inUse, ...suspended, ...told, ...twice, ...unasked]
}
