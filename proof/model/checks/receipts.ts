// Receipts that the history has kept, as an outsider would check them: each verifies with the published verifier under the
// known key of the log, a later receipt has what an earlier one had, at the same places, and the log as it is now contains
// every checkpoint.
import { isDeepStrictEqual } from 'node:util'
import { type Verified, verify } from '../../../client/src/verify/verify.js'
import type { Database } from '../../../src/db/database.ts'
import { rootAtSize } from '../../../src/transparency/log.ts'
import { logKeysOf } from '../../../src/transparency/note.ts'
import { logOrigin } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import type { Call, ReceiptRequest } from '../history.ts'
import { at, type Check, type Evidence } from './evidence.ts'

type ReceiptCall = Call<ReceiptRequest>

/** The same for every service that asks. */
export const keyOfReceipt = ({ customer, of }: ReceiptRequest) => JSON.stringify([customer, of])

export async function checkReceipts(
  { runOutside, peppers }: Pick<World, 'runOutside' | 'peppers'>,
  { shop, callsOf: { receipt: calls } }: Evidence,
): Promise<Check> {
  const keys = logKeysOf(peppers, logOrigin).map(({ vkey }) => vkey)
  const read = await runOutside(() => Promise.all(calls.map((call) => readReceipt(call, keys))))
  const verified = read.flatMap((each) => (typeof each === 'object' ? [each] : []))
  return {
    id: 'T-1',
    title: 'every receipt verifies, and what it has is in every later receipt and in the log',
    violations: [
      ...read.flatMap((each) => (typeof each === 'string' ? [each] : [])),
      ...neverGiven(calls),
      ...verified.flatMap((each) => ofAnother(each, shop.customers[each.call.request.customer]?.customerId)),
      ...movedEntries(verified),
      ...missingEntries(verified),
      ...(await missingCheckpoints(shop.database, verified)),
    ],
  }
}

type ReadReceipt = Verified & { call: ReceiptCall }

/** Verified once: receipts do not change. */
const known = new WeakMap<ReceiptCall, ReadReceipt | string>()

/** A text: what is wrong with it; undefined: there was no answer. Only what was acknowledged is asked for. */
async function readReceipt(call: ReceiptCall, keys: string[]): Promise<ReadReceipt | string | undefined> {
  const { outcome } = call
  if (outcome.kind === 'info') return undefined
  if (outcome.kind === 'fail') return `${at(call)}: a receipt was refused with ${outcome.code}`
  const found =
    known.get(call) ??
    (await verify(JSON.stringify(outcome.data), keys).then(
      (verified): ReadReceipt => ({ ...verified, call }),
      (error) => `${at(call)}: ${error}`,
    ))
  known.set(call, found)
  return found
}

/** The last request for it, at a quiet moment, got no answer. */
function neverGiven(calls: ReceiptCall[]): string[] {
  const last = new Map(calls.map((call) => [keyOfReceipt(call.request), call]))
  return [...last.values()]
    .filter(({ outcome }) => outcome.kind === 'info')
    .map((call) => `${at(call)}: there is no receipt of ${JSON.stringify(call.request.of)}`)
}

function ofAnother({ call, subject, entries }: ReadReceipt, customerId = ''): string[] {
  const { of } = call.request
  const wanted = 'orderId' in of ? { order: of.orderId } : { reference: of.reference, customer: customerId }
  const isOwn = isDeepStrictEqual(subject, wanted) && entries[0]?.customer === customerId
  return isOwn ? [] : [`${at(call)}: a receipt of ${JSON.stringify(subject)} of ${entries[0]?.customer}`]
}

/** A log that only grows can still have a second leaf for an entry. */
function movedEntries(receipts: ReadReceipt[]): string[] {
  const placeOf = ({ leaf, index }: Verified['entries'][number]) => `${index} ${leaf}`
  const places = new Map<string, string>()
  return receipts.flatMap(({ call, entries }) =>
    entries.flatMap((entry) => {
      const key = `${entry.customer}/${entry.entry}`
      const before = places.get(key) ?? placeOf(entry)
      places.set(key, before)
      return before === placeOf(entry) ? [] : [`${at(call)}: entry ${key} is at ${placeOf(entry)}, was at ${before}`]
    }),
  )
}

function missingEntries(receipts: ReadReceipt[]): string[] {
  const groups = Map.groupBy(receipts, ({ call }) => keyOfReceipt(call.request)).values()
  return [...groups].flatMap((group) =>
    group.flatMap((later) => {
      const numbers = new Set(later.entries.map(({ entry }) => entry))
      const before = group.filter(({ call }) => call.endedAtMs < later.call.invokedAtMs)
      const lost = before.find(({ entries }) => entries.some(({ entry }) => !numbers.has(entry)))
      return lost ? [`${at(later.call)}: has not all entries of ${at(lost.call)}`] : []
    }),
  )
}

async function missingCheckpoints(database: Database, receipts: ReadReceipt[]): Promise<string[]> {
  const found: string[] = []
  const roots = new Map<string, Buffer | null>()
  for (const { call, checkpoints } of receipts) {
    for (const { size, root } of checkpoints) {
      const now = roots.get(`${size}`) ?? (await rootAtSize(database, Number(size)))
      roots.set(`${size}`, now)
      if (now?.toString('base64') !== root) found.push(`${at(call)}: the log of ${size} entries had the root ${root}`)
    }
  }
  return found
}
