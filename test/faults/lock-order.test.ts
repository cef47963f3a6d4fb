// Statements of two services that use the same rows in different orders must not cause a deadlock: it is retried and does no
// harm, but it costs a second of waiting and a transaction. The requests call the use cases directly, not over HTTP, so that
// large batches of both services run at the same moment.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { forSeeds } from '../../harness/random.ts'
import { confirm } from '../../src/payments/confirm.ts'
import { purchase } from '../../src/payments/purchase.ts'
import { type Cluster, startCluster } from '../support/service/cluster.ts'

let cluster: Cluster
before(async () => {
  cluster = await startCluster(2)
})
after(() => cluster.close())

test('4.1 rule 1: X-Idempotency-Keys sent to two services in different orders cause no deadlock', () =>
  forSeeds(6, async (random) => {
    const { customerId } = await cluster.newCustomer()
    const keys = Array.from({ length: 128 }, (_, index) => `key-${index}`)
    const [one, other] = await Promise.all(
      cluster.contexts.map(async (context) => {
        const order = (idempotencyKey: string) =>
          purchase(context, customerId, { packageType: 'BASIC', paymentMethod: 'CARD', idempotencyKey })
        const sent = random.shuffled(keys).map(async (key) => `${key} ${(await order(key)).orderId}`)
        return (await Promise.all(sent)).sort()
      }),
    )
    assert.deepEqual(one, other)
    await cluster.check()
  }))

test('4.2: the same payment keys sent to two services for different orders cause no deadlock', () =>
  forSeeds(6, async (random) => {
    const { customerId, credits } = await cluster.newCustomer()
    const paymentKeys = Array.from({ length: 128 }, () => crypto.randomUUID())
    const order = { packageType: 'BASIC', paymentMethod: 'CARD', idempotencyKey: null } as const
    const requests = await Promise.all(
      cluster.contexts.map(async (context) => {
        const orders = await Promise.all(paymentKeys.map(() => purchase(context, customerId, order)))
        return random.shuffled(paymentKeys).map((paymentKey, index) => {
          const { orderId = '', amount = 0 } = orders[index] ?? {}
          return () => confirm(context, customerId, { orderId, paymentKey, amount })
        })
      }),
    )
    // The gateway knows none of the keys, so every confirm is refused: by the gateway, or because another order uses the key.
    const answers = await Promise.all(requests.flat().map(codeOf))
    assert.deepEqual([...new Set(answers)], ['VAL003'])
    assert.equal(await credits(), 0)
    await cluster.check()
  }))

/** Retries, as a caller does, while the answer is SVC001: on a slow machine a call may exceed its limit. */
async function codeOf(request: () => Promise<unknown>): Promise<string> {
  const end = performance.now() + 20_000
  for (;;) {
    const code = await request().then(
      () => 'SUCCESS',
      (error) => String(error.code),
    )
    if (code !== 'SVC001' || performance.now() > end) return code
    await sleep(50)
  }
}
