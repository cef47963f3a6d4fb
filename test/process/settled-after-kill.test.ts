// SIGKILL at the worst moment: the gateway has moved the money and its answer is lost. The caller does not retry. The next
// process completes the order by itself, within the lease and five seconds.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  copyDataDir,
  demoKeyIn,
  openBooks,
  type RunningService,
  startService,
  usedDataDir,
} from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { clientOf, codeOf } from '../support/service/clients.ts'
import { sandboxControl } from '../support/service/service.ts'

const leaseMs = 4_000
const settings = {
  GATEWAY_TIMEOUT_MS: '3000',
  GATEWAY_LOOKUP_TIMEOUT_MS: '1000',
  OPERATION_LEASE_MS: `${leaseMs}`,
}

const wholeFile = { after }
const stopped = await usedDataDir(wholeFile)
const first = await startService(wholeFile, stopped, settings)
const key = demoKeyIn(first.output.stdout) ?? assert.fail('no key was printed')
await first.stop()

/** Sends a request that the gateway executes and never answers; resolves when the money has moved. */
async function hangAfter({ sandboxUrl }: RunningService, orderId: string, status: string, request: Promise<unknown>) {
  request.catch(() => undefined)
  const control = sandboxControl(sandboxUrl)
  await until('the money has moved', async () => (await control.paymentsOf(orderId))[0]?.status === status)
}

for (const [on, moved, ends, credits] of [
  ['confirm', 'DONE', 'CONFIRMED', 21],
  ['cancel', 'CANCELED', 'CANCELLED', 0],
] as const) {
  test(`a ${on} whose process was killed after the gateway executed it is completed within the lease and 5 s, without a retry of the caller`, async (t) => {
    const dataDir = copyDataDir(t, stopped)
    const service = await startService(t, dataDir, settings)
    const control = sandboxControl(service.sandboxUrl)
    // A notification would complete it sooner: the worker is tested here.
    await control.setFaults([
      { on, kind: 'hang-after', times: 1 },
      { on: 'webhook', kind: 'drop', times: 9 },
    ] as never)
    const client = clientOf(service.publicUrl, key)
    const { orderId, amount } = await client.purchaseCredits({ packageType: 'STANDARD' })
    if (on === 'cancel') await client.confirm(orderId, amount)
    const request = on === 'confirm' ? client.confirm(orderId, amount) : client.cancel(orderId)
    await hangAfter(service, orderId, moved, request)

    const killedAt = performance.now()
    await service.kill()
    const next = await startService(t, dataDir, settings)
    const readyAt = performance.now()
    const customer = clientOf(next.publicUrl, key)
    await until(`the order is ${ends}`, async () => (await customer.status(orderId)) === ends)
    const completedAt = performance.now()
    t.diagnostic(`completed ${Math.round(completedAt - killedAt)} ms after the kill, with a lease of ${leaseMs} ms`)
    // A start takes longer than the lease on a machine that is busy with other tests.
    assert.ok(completedAt < Math.max(killedAt + leaseMs, readyAt) + 5_000)
    assert.equal(await customer.credits(), credits)
    const books = await openBooks(t, dataDir)
    const [operation] = await books.query<{ attempts: number }>(
      `select attempts from payment_operations where order_id = $1 and kind = $2`,
      [orderId, on.toUpperCase()],
    )
    assert.ok((operation?.attempts ?? 0) > 0, 'the worker completed it')
    if (on === 'cancel') {
      // Decision: no caller has had the answer of the cancel yet, so the first retry gets it.
      assert.deepEqual(
        [await codeOf(customer.cancel(orderId)), await codeOf(customer.cancel(orderId))],
        ['SUCCESS', 'PAYMENT_CANCEL_FAILED'],
      )
    }
  })
}
