// A customer with every kind of credit movement, and the balances after each step, by the database's clock.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { expireHolds } from '../../../src/credits/holds/expire-holds.ts'
import { refund } from '../../../src/payments/refunds/refund.ts'
import type { Overrides } from '../service/recovery.ts'
import { assertSuccess } from '../service/service.ts'
import type { SpendingService } from './spending.ts'

export type Moment = {
  what: string
  at: Date
  balances: { balance: number; held: number; available: number }
  /** The number of entries so far. */
  entries: number
}

export async function runEveryMovement(service: SpendingService, overrides: Overrides) {
  const { internal } = service
  const customer = await service.newCustomer()
  const id = customer.customerId
  const moments: Moment[] = []
  const ids: Record<string, string> = {}

  async function note(what: string, step: () => Promise<unknown>): Promise<void> {
    await step()
    const [row] = await service.database.query<{ at: Date; balance: number; held: number; entries: number }>(
      `select clock_timestamp() as at, balance, held, last_entry as entries from accounts where customer_id = $1`,
      [id],
    )
    assert.ok(row)
    const { at, balance, held, entries } = row
    moments.push({ what, at, entries, balances: { balance, held, available: balance - held } })
    // The API has times in milliseconds.
    await sleep(3)
  }
  async function buy(name: string, packageType: 'BASIC' | 'STANDARD' | 'PRO'): Promise<void> {
    const order = await customer.confirmedOrder(packageType)
    ids[name] = order.orderId
    ids[`${name} key`] = order.paymentKey
  }
  async function hold(name: string, credits: number): Promise<void> {
    const answer = await internal.hold(id, credits, { reference: name })
    assertSuccess(answer, 201)
    ids[name] = answer.body.data.holdId
  }
  const key = (name: string) => ids[name] ?? assert.fail(name)

  await note('nothing yet', async () => undefined)
  await note('GRANT', () => buy('kept', 'PRO'))
  await note('GRANT', () => buy('cancelled', 'STANDARD'))
  await note('SPEND', () => internal.spend(id, 5, 'a-spend'))
  await note('HOLD', () => hold('captured', 10))
  await note('HOLD', () => hold('released', 7))
  await note('CAPTURE', () => internal.capture(id, key('captured'), 4))
  await note('HOLD', () => hold('expired', 3))
  await note('RELEASE', () => internal.release(id, key('released')))
  await note('EXPIRE', async () => {
    await service.database.queryUnguarded('update holds set expires_at = now() where hold_id = $1', [key('expired')])
    assert.equal((await expireHolds(service.payments.database)).expired, 1)
  })
  await note('HOLD, RELEASE', async () => {
    overrides.cancel = async () => ({ kind: 'rejected', code: 'REFUND_REJECTED' })
    assert.equal((await customer.cancel(key('kept key'))).body.code, 'PAYMENT_CANCEL_FAILED')
    delete overrides.cancel
  })
  await note('HOLD, ROLLBACK', async () => assertSuccess(await customer.cancel(key('cancelled key')), 200))
  await note('GRANT', () => buy('refunded', 'STANDARD'))
  await note('HOLD, REFUND', () =>
    refund(service.payments, { orderId: key('refunded'), reason: 'the platform says so' }),
  )
  await note('a spend that is refused', () => internal.spend(id, 1_000))
  await note('HOLD', () => hold('open', 2))
  return { customer, id, moments, ids }
}
