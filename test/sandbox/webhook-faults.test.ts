// Faults of the sandbox's webhooks: sent twice, never, late, out of order, manually, without a receiver; and that no
// answer waits for a webhook.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { until } from '../../harness/until.ts'
import type { JournalEntry } from '../../sandbox/journal.ts'
import { assertRefused, call, type Json, openSandboxes, shop } from '../support/gateway/sandbox-shop.ts'
import { startReceiver } from '../support/gateway/webhook-receiver.ts'

const { directory, start } = openSandboxes()

const receiver = await startReceiver()
const { url } = await start({ webhookUrl: receiver.url })
const toss = shop(url)

async function deliveryOf(paymentKey: string, address = url): Promise<(Json & { attempts: Json[] }) | undefined> {
  const { webhooks } = (await call(`${address}/sandbox/webhooks`, 'GET')).body
  return (webhooks as (Json & { attempts: Json[] })[]).find((delivery) => delivery.paymentKey === paymentKey)
}
const settled = (paymentKey: string, address = url) =>
  until('the delivery has ended', async () => (await deliveryOf(paymentKey, address))?.state !== 'pending')

const resend = (body: unknown, address = url) => call(`${address}/sandbox/webhooks/resend`, 'POST', body)

/** How long after the change each notification of it was to be sent. */
function dueAfterMs(paymentKey: string): number[] {
  const lines = readFileSync(join(directory, 'shared', 'journal.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const announced = lines.flatMap((line) => (JSON.parse(line) as JournalEntry).webhooks ?? [])
  return announced.filter((each) => each.paymentKey === paymentKey).map(({ atMs, dueAtMs }) => dueAtMs - atMs)
}

afterEach(() => {
  receiver.answerWith(200)
  return call(`${url}/sandbox/faults`, 'DELETE')
})

describe('faults', () => {
  test('duplicate: the same transmission is sent twice', async () => {
    await toss.faults({ on: 'webhook', kind: 'duplicate', times: 1 })
    const { paymentKey } = await toss.paid()
    assert.deepEqual(await receiver.statusesOf(paymentKey, 2), ['DONE', 'DONE'])
    const [one, two] = receiver.of(paymentKey)
    assert.deepEqual(one?.body, two?.body)
    const id = 'tosspayments-webhook-transmission-id'
    assert.equal(one?.headers[id], two?.headers[id])
    await settled(paymentKey)
    assert.partialDeepStrictEqual(await deliveryOf(paymentKey), { state: 'delivered', fault: 'duplicate' })
    const next = await toss.paid()
    assert.equal((await receiver.statusesOf(next.paymentKey, 1)).length, 1)
  })

  test('drop: never sent, however much time passes, except manually', async () => {
    await toss.faults({ on: 'webhook', kind: 'drop', times: 1 })
    const dropped = await toss.paid()
    await toss.advance(5 * 24 * 3600_000)
    const next = await toss.paid()
    await receiver.statusesOf(next.paymentKey, 1)
    assert.deepEqual(receiver.of(dropped.paymentKey), [])
    assert.partialDeepStrictEqual(await deliveryOf(dropped.paymentKey), { state: 'dropped', attempts: [] })
    assert.equal((await resend({ paymentKey: dropped.paymentKey })).status, 202)
    assert.deepEqual(await receiver.statusesOf(dropped.paymentKey, 1), ['DONE'])
  })

  test("delay: sent at its time on the sandbox's clock", async () => {
    await toss.faults({ on: 'webhook', kind: 'delay', times: 2, delayMs: 3600_000 })
    const delayed = await toss.paid()
    await toss.faults()
    const next = await toss.paid()
    await receiver.statusesOf(next.paymentKey, 1)
    assert.deepEqual(receiver.of(delayed.paymentKey), [])
    await toss.advance(3600_000)
    assert.deepEqual(await receiver.statusesOf(delayed.paymentKey, 1), ['DONE'])

    await toss.faults({ on: 'webhook', kind: 'delay', times: 1, delayMs: 100 })
    const { paymentKey } = await toss.paid()
    assert.deepEqual(await receiver.statusesOf(paymentKey, 1), ['DONE'])
  })

  test('reorder: held back until the next webhook was sent', async () => {
    await toss.faults({ on: 'webhook', kind: 'reorder', times: 1 })
    const { paymentKey } = await toss.paid()
    await toss.cancel(paymentKey, { cancelReason: 'overtakes' })
    assert.deepEqual(await receiver.statusesOf(paymentKey, 2), ['CANCELED', 'DONE'])
  })

  test('reorder: an overtaken webhook is sent before its second is over', async () => {
    // The machine may be busy, so it has five attempts; without the overtaking none could be this quick.
    for (let tries = 0; tries < 5; tries += 1) {
      await toss.faults({ on: 'webhook', kind: 'reorder', times: 1 })
      const startedAt = performance.now()
      const { paymentKey } = await toss.paid()
      await toss.cancel(paymentKey, { cancelReason: 'overtakes' })
      await receiver.statusesOf(paymentKey, 2)
      if (performance.now() - startedAt < 900) return
    }
    assert.fail('never sent before the second was over')
  })

  test('reorder: sent anyway after a second when nothing follows', async () => {
    await toss.faults({ on: 'webhook', kind: 'reorder', times: 1 })
    const { paymentKey } = await toss.paid()
    assert.deepEqual(receiver.of(paymentKey), [])
    assert.deepEqual(await receiver.statusesOf(paymentKey, 1), ['DONE'])
  })

  test('contradict: the opposite of a payment that is DONE or ABORTED is sent 46 ms later, and is not resent', async () => {
    await toss.faults({ on: 'webhook', kind: 'contradict', times: 2 })
    const declined = await toss.checkout(1000, 'decline')
    await toss.confirm(declined)
    const done = await toss.paid()
    const opposites = { [done.paymentKey]: ['DONE', 'ABORTED'], [declined.paymentKey]: ['ABORTED', 'DONE'] }
    for (const [paymentKey, [status, opposite]] of Object.entries(opposites)) {
      const statuses = await receiver.statusesOf(paymentKey, 2)
      assert.deepEqual(statuses.toSorted(), [status, opposite].toSorted())
      const lookup = (await toss.lookup(paymentKey)).body
      assert.equal(lookup.status, status)
      const sent = new Map(receiver.of(paymentKey).map(({ body }) => [body.data.status, body]))
      assert.deepEqual(sent.get(status)?.data, lookup)
      const { approvedAt, failure, secret } = sent.get(opposite)?.data ?? {}
      assert.deepEqual([approvedAt === null, failure === null], [opposite === 'ABORTED', opposite === 'DONE'])
      assert.equal(secret, lookup.secret)
      const { webhooks } = (await call(`${url}/sandbox/webhooks`, 'GET')).body
      const ofPayment = (webhooks as Json[]).filter((each) => each.paymentKey === paymentKey)
      const [false_, true_] = ofPayment
      assert.deepEqual(
        [false_?.status, false_?.fault, true_?.status, true_?.fault],
        [opposite, 'contradict', status, null],
      )
      assert.deepEqual(dueAfterMs(paymentKey), [46, 0])
      await resend({ paymentKey })
      assert.equal((await receiver.statusesOf(paymentKey, 3))[2], status)
    }
  })

  test('contradict: waits for a payment that has an opposite, and lets others pass', async () => {
    const { paymentKey } = await toss.paid()
    await receiver.statusesOf(paymentKey, 1)
    await toss.faults({ on: 'webhook', kind: 'contradict', times: 1 }, { on: 'webhook', kind: 'duplicate', times: 1 })
    await toss.cancel(paymentKey, { cancelReason: 'has no opposite' })
    assert.deepEqual(await receiver.statusesOf(paymentKey, 3), ['DONE', 'CANCELED', 'CANCELED'])
    const remaining = JSON.parse((await call(`${url}/sandbox/faults`, 'GET')).text)
    assert.deepEqual(remaining, [{ on: 'webhook', kind: 'contradict', times: 1 }])
  })

  test('contradict: the opposite survives a restart', async () => {
    const silent = await start({ name: 'contradicted', webhookUrl: receiver.url })
    const there = shop(silent.url)
    receiver.answerWith(500)
    await there.faults({ on: 'webhook', kind: 'contradict', times: 1 })
    const { paymentKey } = await there.paid()
    await receiver.statusesOf(paymentKey, 2)
    await until('both attempts are recorded', async () => {
      const { webhooks } = (await call(`${silent.url}/sandbox/webhooks`, 'GET')).body
      return (webhooks as { attempts: Json[] }[]).every(({ attempts }) => attempts.length === 1)
    })
    await silent.close()
    receiver.answerWith(200)
    const next = await start({ name: 'contradicted', webhookUrl: receiver.url })
    await shop(next.url).advance(60_000)
    const statuses = await receiver.statusesOf(paymentKey, 4)
    assert.deepEqual(statuses.slice(2).toSorted(), ['ABORTED', 'DONE'])
  })

  test('a kind that is not for webhooks is 400, and so are webhook kinds for requests', async () => {
    const wrong = await toss.faults({ on: 'webhook', kind: 'reset-before', times: 1 })
    assertRefused(wrong, 400, 'INVALID_REQUEST')
    assert.match(String(wrong.body.message), /^Fault 0: kind: expected one of duplicate, drop, delay, reorder/)
    assertRefused(await toss.faults({ on: 'confirm', kind: 'drop', times: 1 }), 400, 'INVALID_REQUEST')
    assertRefused(await toss.faults({ on: 'webhook', kind: 'delay', times: 1 }), 400, 'INVALID_REQUEST')
  })
})

describe('the manual resend', () => {
  test('sends the last notification of the payment once more', async () => {
    const { paymentKey } = await toss.paid()
    await settled(paymentKey)
    const reply = await resend({ paymentKey })
    assert.equal(reply.status, 202)
    assert.deepEqual(await receiver.statusesOf(paymentKey, 2), ['DONE', 'DONE'])
    assert.equal(receiver.of(paymentKey)[1]?.headers['tosspayments-webhook-transmission-id'], reply.body.transmissionId)
  })

  test('ends the retries when it arrives', async () => {
    receiver.answerWith(500)
    const { paymentKey } = await toss.paid()
    await receiver.statusesOf(paymentKey, 1)
    receiver.answerWith(200)
    await until('the attempt is recorded', async () => (await deliveryOf(paymentKey))?.attempts.length === 1)
    await resend({ paymentKey })
    await settled(paymentKey)
    assert.equal((await deliveryOf(paymentKey))?.state, 'delivered')
    await toss.advance(60_000)
    assert.equal(receiver.of(paymentKey).length, 2)
  })

  test('is refused when there is nothing to send', async () => {
    assertRefused(await resend({ paymentKey: 'nobody_knows_it' }), 404, 'NOT_FOUND_PAYMENT')
    assertRefused(await resend({}), 400, 'INVALID_REQUEST')
    const reply = await resend({ paymentKey: (await toss.checkout()).paymentKey })
    assertRefused(reply, 400, 'INVALID_REQUEST')
    assert.match(String(reply.body.message), /IN_PROGRESS is not notified/)
  })
})

describe('the URL', () => {
  const register = (address: string, body: unknown) => call(`${address}/sandbox/webhook`, 'PUT', body)

  test('can be set and removed at run time; without one no webhook is sent', async () => {
    const own = await start({ name: 'register' })
    const there = shop(own.url)
    const before = await there.paid()
    assertRefused(await resend({ paymentKey: before.paymentKey }, own.url), 400, 'INVALID_REQUEST')
    assert.deepEqual((await register(own.url, { url: receiver.url })).body, { url: receiver.url })
    assert.deepEqual((await call(`${own.url}/sandbox/webhook`, 'GET')).body, { url: receiver.url })
    const during = await there.paid()
    assert.deepEqual(await receiver.statusesOf(during.paymentKey, 1), ['DONE'])
    assert.deepEqual(receiver.of(before.paymentKey), [])
    assert.equal((await resend({ paymentKey: before.paymentKey }, own.url)).status, 202)
    assert.deepEqual(await receiver.statusesOf(before.paymentKey, 1), ['DONE'])
    assert.equal((await register(own.url, { url: null })).status, 200)
    const afterwards = await there.paid()
    assert.equal(await deliveryOf(afterwards.paymentKey, own.url), undefined)
  })

  test('pending webhooks wait while there is none', async () => {
    const own = await start({ name: 'waiting', webhookUrl: receiver.url })
    const there = shop(own.url)
    await there.faults({ on: 'webhook', kind: 'delay', times: 1, delayMs: 60_000 })
    const { paymentKey } = await there.paid()
    await register(own.url, { url: null })
    await there.advance(60_000)
    await register(own.url, { url: receiver.url })
    assert.deepEqual(await receiver.statusesOf(paymentKey, 1), ['DONE'])
  })

  test('must be on this machine', async () => {
    const otherHosts = [
      'http://example.com/hook',
      'https://127.0.0.1.example.com/',
      'http://10.0.0.1/',
      'http://0.0.0.0/',
    ]
    for (const otherHost of otherHosts) {
      const reply = await register(url, { url: otherHost })
      assertRefused(reply, 400, 'INVALID_REQUEST')
      assert.match(String(reply.body.message), /^The webhook URL leads to .*: a sandbox delivers to this machine only/)
      await assert.rejects(start({ name: 'other-host', webhookUrl: otherHost }), /delivers to this machine only/)
    }
    for (const nonsense of ['', 'hook', 'ftp://127.0.0.1/', 42, undefined]) {
      assertRefused(await register(url, { url: nonsense }), 400, 'INVALID_REQUEST')
    }
    assert.deepEqual((await call(`${url}/sandbox/webhook`, 'GET')).body, { url: receiver.url })
    const local = await start({ name: 'local' })
    for (const own of ['http://localhost:1/x', 'https://[::1]:1/', 'http://127.8.9.1/']) {
      assert.equal((await register(local.url, { url: own })).status, 200)
    }
  })
})

test('no answer waits for a webhook: 100 payments are confirmed while the receiver is silent', async () => {
  receiver.answerWith(() => undefined)
  const own = await start({ name: 'silent', webhookUrl: receiver.url })
  const there = shop(own.url)
  const paid = await Promise.all(Array.from({ length: 100 }, () => there.paid()))
  const states = await Promise.all(paid.map(({ paymentKey }) => there.statusOf(paymentKey)))
  assert.ok(states.every((status) => status === 'DONE'))
  const startedAt = performance.now()
  await own.close()
  assert.ok(performance.now() - startedAt < 2000, 'a silent receiver does not delay a stop')
})
