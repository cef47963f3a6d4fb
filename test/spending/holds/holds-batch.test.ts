// Several holds of one customer in one statement: each caller gets the answer about its own hold, whatever order the
// statement works in and whatever happens to the others. The statements are called directly: over HTTP it is random which
// requests share a batch.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newHoldId } from '../../../src/core/ids.ts'
import {
  endHolds,
  findHolds,
  type Hold,
  type HoldEnding,
  type HoldOpening,
  openHolds,
} from '../../../src/credits/holds/holds.sql.ts'
import { makeBeside } from '../../support/database/places.ts'
import { assertSuccess } from '../../support/service/service.ts'
import { type SpendingService, startSpendingService } from '../../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
})
after(() => service.close())

const database = () => service.payments.database
const serviceId = 'svc_of_the_test'

function opening(customerId: string, credits: number, more: Partial<HoldOpening> = {}): HoldOpening {
  const reference = crypto.randomUUID()
  return { customerId, holdId: newHoldId(), credits, reference, serviceId, expiresInSeconds: 60 * credits, ...more }
}

/** With ids in descending order: a statement that works in the order of ids handles these from the last to the first. */
function openingsOf(customerId: string, credits: number[]): HoldOpening[] {
  const holdIds = credits.map(() => newHoldId()).toSorted()
  return credits.map((each, index) => opening(customerId, each, { holdId: holdIds.at(-1 - index) as string }))
}

test('each of several openings returns its own hold, credits, time and balance, also with repeated, spent and uncovered ones among them', async () => {
  const { customerId } = await service.customerWith(30)
  assertSuccess(await service.internal.spend(customerId, 2, 'spent-before'), 200)
  const [known] = await openHolds(database(), [opening(customerId, 3, { reference: 'held-before' })])
  const [five, one, seven] = openingsOf(customerId, [5, 1, 7]) as [HoldOpening, HoldOpening, HoldOpening]
  const unknownCustomer = await makeBeside(database(), customerId, () => ({ customerId: crypto.randomUUID() }))
  const startedAt = Date.now()
  const opened = await openHolds(database(), [
    five,
    opening(customerId, 21),
    opening(customerId, 3, { reference: 'held-before' }),
    one,
    opening(customerId, 2, { reference: 'spent-before' }),
    seven,
    opening(unknownCustomer.customerId, 1),
  ])
  assert.deepEqual(
    opened.map(({ holdId, credits, available, usedFor, isNew }) => ({ holdId, credits, available, usedFor, isNew })),
    [
      { holdId: five.holdId, credits: 5, available: 20, usedFor: null, isNew: true },
      { holdId: null, credits: null, available: 20, usedFor: null, isNew: false },
      { holdId: known?.holdId, credits: 3, available: 25, usedFor: null, isNew: false },
      { holdId: one.holdId, credits: 1, available: 19, usedFor: null, isNew: true },
      { holdId: null, credits: null, available: 28, usedFor: 'SPEND', isNew: false },
      { holdId: seven.holdId, credits: 7, available: 12, usedFor: null, isNew: true },
      { holdId: null, credits: null, available: null, usedFor: null, isNew: false },
    ],
  )
  // A minute for each credit, so that no two of these holds end at the same time.
  const minutes = opened.map(({ expiresAt }) => expiresAt && Math.round((expiresAt.getTime() - startedAt) / 60_000))
  assert.deepEqual(minutes, [5, null, 3, 1, null, 7, null])
})

test('each of several endings returns its own hold, captured credits and balance; those that cannot end return none', async () => {
  const { customerId } = await service.customerWith(30)
  const { customerId: otherId } = await makeBeside(database(), customerId, () => service.customerWith(30))
  const openings = openingsOf(customerId, [5, 1, 7, 2])
  const [five, one, seven, two] = openings as [HoldOpening, HoldOpening, HoldOpening, HoldOpening]
  await openHolds(database(), openings)
  const end = ({ holdId }: HoldOpening, ending: HoldEnding['ending'], captured: number | null, of = customerId) => ({
    customerId: of,
    holdId,
    ending,
    captured,
    serviceId,
  })
  const ended = await endHolds(database(), [
    end(seven, 'CAPTURE', 4),
    end(two, 'CAPTURE', 3),
    end(five, 'RELEASE', null),
    end(two, 'RELEASE', null, otherId),
    end(one, 'CAPTURE', null),
  ])
  const withoutParts = { capturedInParts: 0, isEndedByPart: false }
  // Balances in the order of the ids: seven, one, five.
  const endings = [
    { holdId: seven.holdId, state: 'CAPTURED', credits: 7, captured: 4, ...withoutParts, available: 18 },
    null,
    { holdId: five.holdId, state: 'RELEASED', credits: 5, captured: null, ...withoutParts, available: 23 },
    null,
    { holdId: one.holdId, state: 'CAPTURED', credits: 1, captured: 1, ...withoutParts, available: 18 },
  ]
  assert.deepEqual(
    ended.map((hold) => hold && withoutOrdinal(hold)),
    endings,
  )
  const caller = { serviceId, mayManageHolds: false }
  const found = await findHolds(database(), [
    { ...caller, customerId, holdId: one.holdId },
    { ...caller, customerId: otherId, holdId: one.holdId },
    { ...caller, customerId, holdId: two.holdId },
    { ...caller, customerId, holdId: seven.holdId },
  ])
  const active = { holdId: two.holdId, state: 'ACTIVE', credits: 2, captured: null, ...withoutParts, available: null }
  assert.deepEqual(
    found.map((hold) => hold && withoutOrdinal(hold)),
    [endings[4], null, active, endings[0]],
  )
})

/** Without the number of the input, which the rows of the statement have in addition. */
function withoutOrdinal(hold: Hold & { ordinal?: number }): Hold {
  const { ordinal: _, ...rest } = hold
  return rest
}
