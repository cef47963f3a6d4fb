// The database ends the sessions of a service under load, one every few milliseconds. An error can then arrive on a connection
// at any moment, also while it passes from one statement to the next: none of them may end the process.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isCreditsError } from '../../client/src/index.ts'
import { demoKeyIn, openBooks, startService, usedDataDir } from '../../harness/processes.ts'
import { until } from '../../harness/until.ts'
import { assertGatewayAgrees, assertInvariants } from '../support/audit/invariants.ts'
import { isLong } from '../support/long.ts'
import { clientOf } from '../support/service/clients.ts'
import { sandboxControl } from '../support/service/service.ts'

/** Without a listener on every connection a hundred were enough to end the process. */
const endedSessions = isLong ? 5_000 : 400
const connections = 24
const callers = 48
const pauseMs = 2
/** A short lease: what a request could not release is settled soon. */
const settings = {
  DATABASE_CONNECTIONS: `${connections}`,
  PENDING_ORDERS_PER_CUSTOMER: '0',
  GATEWAY_TIMEOUT_MS: '1500',
  GATEWAY_LOOKUP_TIMEOUT_MS: '1500',
  OPERATION_LEASE_MS: '4000',
  LOG_LEVEL: 'error',
}

test(`${endedSessions} sessions ended a few milliseconds apart do not end the service, and the books stay right`, async (t) => {
  const dataDir = await usedDataDir(t)
  const service = await startService(t, dataDir, settings)
  const client = clientOf(service.publicUrl, demoKeyIn(service.output.stdout) ?? assert.fail('no key was printed'))
  const books = await openBooks(t, dataDir)
  const codes = new Map<string, number>()
  let isOver = false
  const bug = () => service.output.stdout.split('\n').find((line) => line.includes('a bug outside of any request'))

  async function call(): Promise<void> {
    while (!isOver && !bug()) {
      const code = await client.buy('BASIC').then(
        () => 'SUCCESS',
        (error) => (isCreditsError(error) ? error.code : assert.fail(error)),
      )
      codes.set(code, (codes.get(code) ?? 0) + 1)
    }
  }

  async function endSessions(): Promise<number> {
    let ended = 0
    while (ended < endedSessions && !bug()) {
      const [session] = await books.query<{ ended: boolean }>(
        `select pg_terminate_backend(pid) as ended
        from (select pid from pg_stat_activity where usename = 'credits_service' order by random() limit 1) victim`,
      )
      if (session?.ended) ended += 1
      await sleep(pauseMs)
    }
    return ended
  }

  const calling = Promise.all(Array.from({ length: callers }, call))
  const startedMs = performance.now()
  const ended = await endSessions()
  const seconds = (performance.now() - startedMs) / 1_000
  isOver = true
  t.diagnostic(`${ended} sessions in ${seconds.toFixed(1)} s, ${JSON.stringify(Object.fromEntries(codes))}`)
  assert.equal(bug(), undefined, `after ${ended} sessions`)
  await calling
  assert.ok((codes.get('SUCCESS') ?? 0) > 0)
  // A caller may give up on a busy machine; no answer at all would be a process that has ended.
  const expected = ['SUCCESS', 'SVC001', 'TIMED_OUT']
  assert.deepEqual(
    [...codes.keys()].filter((code) => !expected.includes(code)),
    [],
  )
  const open = `select count(*) as count from payment_operations where state = 'OPEN'`
  await until(
    'the worker has settled what is open',
    async () => (await books.query<{ count: number }>(open))[0]?.count === 0,
  )
  await assertInvariants(books)
  await assertGatewayAgrees(books, await sandboxControl(service.sandboxUrl).payments())
  await service.stop()
})
