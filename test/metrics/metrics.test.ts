// /metrics reports the work of a day correctly: orders, credits, the gateway, the backlog. It contains no personal data,
// and it works while the database is unreachable.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { Registry } from 'prom-client'
import { callerOf } from '../../harness/processes.ts'
import { silentLog } from '../../harness/silent-log.ts'
import { createDatabase, type Statement } from '../../src/db/database.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { createRequestCounts } from '../../src/http/request-counts.ts'
import { recordedAudit } from '../../src/payments/audit/audit.ts'
import { readBacklog } from '../../src/payments/books/backlog.sql.ts'
import { createBacklogReader } from '../../src/telemetry/backlog.ts'
import { addGatewayMetrics, countedGateway, createGatewayCounts } from '../../src/telemetry/gateway.ts'
import { addRequestMetrics } from '../../src/telemetry/requests.ts'
import { addPoolMetrics } from '../../src/telemetry/work.ts'
import { testServer } from '../support/database/database.ts'
import { readExposition, samplesOf, sumOf } from '../support/documents/exposition.ts'
import { startWholeService } from '../support/service/whole-service.ts'
import { spendingCalls } from '../support/spending/spending.ts'

const service = await startWholeService({ after }, { WORKER: 'off' })
const { apiKey, customerId } = await service.newKey()
const { token } = await service.newToken()
const caller = callerOf(service.publicUrl, apiKey)
const sibling = spendingCalls(service.internalUrl, token)

async function paid(packageType: string, result?: string) {
  const { orderId, amount } = (await caller.purchase(packageType)).body.data
  const paymentKey = await service.sandbox.pay(orderId, amount, result)
  return { orderId, paymentKey, confirm: () => caller.call('confirm', { orderId, paymentKey, amount }) }
}
const cancel = (paymentKey: string) => caller.call('cancel', { paymentKey, reason: 'changed my mind' })

/** 2 confirmed (131 credits), 1 declined, 1 cancelled, 1 left open, 1 pending; 5 spent, 7 of a hold of 10 captured. */
async function work(): Promise<string> {
  await (await paid('PRO')).confirm()
  const cancelled = await paid('STANDARD')
  await cancelled.confirm()
  await (await paid('BASIC', 'decline')).confirm()
  await cancel(cancelled.paymentKey)
  await cancel(cancelled.paymentKey)
  await caller.purchase('BASIC')
  for (let turn = 0; turn < 2; turn += 1) await sibling.spend(customerId, 5, 'once')
  const hold = () => sibling.hold(customerId, 10, { reference: 'a-hold' })
  await hold()
  const { holdId } = (await hold()).body.data
  await sibling.capture(customerId, holdId, 7)
  for (let turn = 0; turn < 2; turn += 1) await sibling.reverse(customerId, 'once', { credits: 2, reference: 'back' })
  await service.sandbox.setFaults([{ on: 'confirm', kind: 'error-after', times: 1 }])
  const lost = await paid('BASIC')
  assert.equal((await lost.confirm()).body.code, 'SVC001')
  await service.database.query(
    `update payment_operations set opened_at = now() - interval '10 minutes' where order_id = $1`,
    [lost.orderId],
  )
  await service.database.query(`insert into discrepancies (subject, kind, detail) values ('a', 'SECOND_PAYMENT', '{}')`)
  await service.database.query(
    `insert into event_endpoints (endpoint_id, url, types, secrets)
     values ('ep_1', 'https://example.com', '{}', '[{}]'), ('ep_off', 'https://example.com', '{}', '[{}]')`,
  )
  await service.database.query(`update event_endpoints set status = 'DISABLED' where endpoint_id = 'ep_off'`)
  await service.database.query(
    `insert into event_queues (customer_id, endpoint_id, next_event, last_event)
     select $1, endpoint_id, 2, 3 from event_endpoints`,
    [customerId],
  )
  await service.database.query(
    `insert into dead_events (customer_id, endpoint_id, event_number, attempts, last_error)
     values ($1, 'ep_1', 1, 10, 'HTTP 500')`,
    [customerId],
  )
  const database = createDatabase(service.database.pool, silentLog)
  const { auditViolations, auditAgeSeconds } = await readBacklog(database)
  assert.deepEqual([auditViolations, auditAgeSeconds >= 0 && auditAgeSeconds < 3_600], [null, true])
  violations = (await recordedAudit(database, 'DAILY', { onUnwritten: assert.fail })).violationCount
  await service.database.query(
    `insert into audits (audit_id, cause, begun_at, ended_at, rules, checked, violation_count, findings)
     select gen_random_uuid(), 'COMMAND', t, t, 1, '{}', 7, '[{}]' from (select now() - interval '1 day' as t) yesterday`,
  )
  return service.scrape()
}

let text = ''
let violations: number | undefined

test('orders, credits and gateway calls are counted as they happened, a repetition once', async () => {
  text = await work()
  const numbers = (name: string, label: string) =>
    Object.fromEntries(samplesOf(text, name).map(({ labels, value }) => [labels[label], value]))
  assert.deepEqual(numbers('credits_orders_total', 'transition'), {
    created: 5,
    confirmed: 2,
    failed: 1,
    expired: 0,
    cancelled: 1,
    refunded: 0,
  })
  assert.deepEqual(numbers('credits_moved_total', 'movement'), {
    granted: 131,
    spent: 5,
    held: 10,
    captured: 7,
    released: 3,
    rolled_back: 21,
    refunded: 0,
    reversed: 2,
  })
  const calls = samplesOf(text, 'credits_gateway_calls_total').filter(({ value }) => value > 0)
  const callLines = calls.map(({ labels, value }) => `${labels.operation} ${labels.outcome} ${labels.reason} ${value}`)
  assert.deepEqual(callLines.toSorted(), [
    'cancel approved none 1',
    'confirm approved none 2',
    'confirm rejected refused 1',
    'confirm unknown server_error 1',
  ])
  assert.equal(sumOf(text, 'credits_gateway_call_duration_seconds_count', { operation: 'confirm' }), 4)
  assert.equal(sumOf(text, 'credits_gateway_breaker_state', { state: 'closed' }), 1)
  assert.equal(sumOf(text, 'credits_gateway_breaker_state'), 1)
})

test('the backlog is reported: open operations and the age of the oldest, events, dead letters, discrepancies', () => {
  assert.equal(sumOf(text, 'credits_database_up'), 1)
  assert.equal(sumOf(text, 'credits_operations_open'), 1)
  assert.equal(sumOf(text, 'credits_operations_open', { kind: 'confirm', state: 'waiting' }), 1)
  const oldest = sumOf(text, 'credits_operations_oldest_open_seconds') ?? 0
  assert.ok(oldest >= 600 && oldest < 700, `${oldest}`)
  // Events of a disabled endpoint are not counted: they wait for an operator.
  assert.equal(sumOf(text, 'credits_events_undelivered'), 2)
  assert.ok((sumOf(text, 'credits_events_oldest_undelivered_seconds') ?? 0) > 0)
  assert.equal(sumOf(text, 'credits_events_dead'), 1)
  assert.equal(sumOf(text, 'credits_discrepancies_open'), 1)
})

test('the last complete audit is reported, whatever started it: its violations and its age', () => {
  assert.ok(violations !== undefined)
  assert.equal(sumOf(text, 'credits_audit_violations'), violations)
  const age = sumOf(text, 'credits_audit_age_seconds') ?? -1
  assert.ok(age >= 0 && age < 3_600, `${age}`)
})

test('a batch is counted with its size, by the name of its statement', () => {
  const named = (name: string) => sumOf(text, `credits_batch_size_${name}`, { statement: 'payments.claimConfirms' })
  assert.deepEqual([named('count'), named('sum')], [4, 4])
  assert.equal(sumOf(text, 'credits_batch_size_sum', { statement: 'credits.spend' }), 2)
})

test('the metrics are as they were recorded: names, types, labels, help', (t) => {
  const families = readExposition(text).map(({ name, type, help, samples }) => {
    // Which labels the metrics of Node have depends on what the process is doing.
    if (!name.startsWith('credits_')) return `${name} ${type}\n  ${help}\n`
    const labels = [...new Set(samples.flatMap((sample) => Object.keys(sample.labels)))].sort()
    return `${name} ${type} {${labels.join(', ')}}\n  ${help}\n`
  })
  const serializers = [(written: string) => written]
  t.assert.fileSnapshot(families.sort().join(''), 'test/recorded/metrics.txt', { serializers })
})

test('names follow the conventions, and no label identifies a customer', () => {
  for (const { name, type, help, samples } of readExposition(text)) {
    assert.match(name, /^[a-z][a-z0-9_]+$/)
    assert.ok(help.length > 0, name)
    if (!name.startsWith('credits_')) continue
    assert.match(help, /\.$/, name)
    assert.equal(type === 'counter', name.endsWith('_total'), name)
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|bytes_total_total)$/)
    // There is no worker here.
    assert.ok(samples.length > 0 || name === 'credits_worker_runs_total', name)
  }
  assert.doesNotMatch(text, new RegExp(`${customerId}|${apiKey}|ord_|sandb|${token}|webhooks/toss/[^:]`))
})

test('/metrics needs no authentication, has its own content type, and counts its own route', async () => {
  const response = await fetch(`${service.internalUrl}/metrics`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4; charset=utf-8/)
  assert.equal(sumOf(await response.text(), 'credits_http_requests_total', { route: '/metrics', code: 'SUCCESS' }), 1)
  assert.equal((await fetch(`${service.publicUrl}/metrics`)).status, 401)
})

test('connections are reported as all, idle and waited for; requests as under way, waiting and refused early; the states of gateway and breaker by name', async () => {
  const registry = new Registry()
  addPoolMetrics(registry, { serving: { totalCount: 5, idleCount: 2, waitingCount: 3 } })
  const internal = createRequestCounts()
  internal.work.set('read', { running: () => 7, waiting: () => 11 })
  internal.earlyRefusals['rate limit'] = 13
  addRequestMetrics(registry, { public: createRequestCounts(), internal, webhook: createRequestCounts() })
  const gateway = { state: () => ({ state: 'refusing our credentials' }) } as Gateway
  addGatewayMetrics(registry, { counts: createGatewayCounts(), gateway, breakerState: () => 'half open' })
  const shown = await registry.metrics()
  const ones = (name: string) =>
    samplesOf(shown, name).flatMap(({ labels, value }) => (value === 1 ? [labels.state] : []))
  const pool = { pool: 'serving' }
  const read = { listener: 'internal', work: 'read' }
  assert.deepEqual(
    [
      sumOf(shown, 'credits_database_connections', pool),
      sumOf(shown, 'credits_database_connections_idle', pool),
      sumOf(shown, 'credits_database_connections_waiting', pool),
      sumOf(shown, 'credits_admission_requests_under_way', read),
      sumOf(shown, 'credits_admission_requests_waiting', read),
      sumOf(shown, 'credits_admission_refused_total', { listener: 'internal', reason: 'rate_limit' }),
      ones('credits_gateway_state'),
      ones('credits_gateway_breaker_state'),
    ],
    [5, 2, 3, 7, 11, 13, ['refusing_our_credentials'], ['half_open']],
  )
})

test('the backlog is counted by index scans only, however large the tables are', async () => {
  const executed: Statement[] = []
  await readBacklog({
    async run<Row extends object>(statement: Statement): Promise<Row[]> {
      executed.push(statement)
      return [{} as Row]
    },
  })
  const plans = await Promise.all(executed.map(planOf))
  assert.equal(plans.length, 4)
  assert.match(plans.join('\n'), /Index Scan using payment_operations_(to_settle|one_open)/)
  assert.doesNotMatch(plans.join('\n'), /Seq Scan/)
})

async function planOf({ text }: Statement): Promise<string> {
  const { rows } = await service.database.pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

test('many scrapes at once, and again within seconds, are one reading of the database', async () => {
  let reads = 0
  const reader = createBacklogReader({
    ping: async () => ({ standbys: 2 }),
    read() {
      reads += 1
      return Promise.reject(new Error('unreachable'))
    },
  })
  const backlogs = await Promise.all([reader().backlog, reader().backlog, reader().backlog])
  assert.deepEqual(backlogs, [undefined, undefined, undefined])
  assert.deepEqual(await reader().ping, { standbys: 2 })
  assert.equal(reads, 1)
})

test('a database that answers is up, even when the backlog cannot be counted in time; that is not a database failure', async (t) => {
  const beside = await startWholeService(t, { WORKER: 'off' })
  const client = await beside.database.ownerPool.connect()
  await client.query('begin; lock table discrepancies in access exclusive mode')
  const late = await beside.scrape()
  await client.query('rollback')
  client.release()
  assert.equal(sumOf(late, 'credits_database_up'), 1)
  assert.equal(sumOf(late, 'credits_discrepancies_open'), undefined)
  assert.equal(sumOf(late, 'credits_database_failures_total'), 0)
})

test('the reason of an unknown outcome is reported by its class; a gateway code is not a connection error', async () => {
  const reasons: Record<string, string> = {
    ECONNRESET: 'connection',
    EPIPE: 'connection',
    EAI_AGAIN: 'connection',
    UND_ERR_SOCKET: 'connection',
    TimeoutError: 'timeout',
    HTTP_502: 'server_error',
    GATEWAY_HELD_BACK: 'held_back',
    EXCEED_MAX_AMOUNT: 'other',
    EXISTING_SOMETHING: 'other',
    UNAUTHORIZED_KEY: 'credentials',
  }
  for (const [code, reason] of Object.entries(reasons)) {
    const counts = createGatewayCounts()
    const gateway = { fetchPayment: async () => ({ kind: 'unknown', code }) } as unknown as Gateway
    await countedGateway(gateway, counts).fetchPayment({} as never)
    const counted = [...counts.calls.values()].filter(({ count }) => count > 0).map((call) => call.reason)
    assert.deepEqual(counted, [reason], code)
  }
})

test('while the database is unreachable the scrape reports that, omits unknown values, and reports the rest', async (t) => {
  const beside = await startWholeService(t, { WORKER: 'off' })
  const { database } = beside.database.connection
  const server = new pg.Client(testServer())
  await server.connect()
  await server.query(`alter database ${database} with allow_connections false`)
  await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database])
  const scraped = await beside.scrape()
  await server.query(`alter database ${database} with allow_connections true`)
  await server.end()
  assert.equal(sumOf(scraped, 'credits_database_up'), 0)
  assert.equal(sumOf(scraped, 'credits_operations_oldest_open_seconds'), undefined)
  assert.equal(sumOf(scraped, 'credits_discrepancies_open'), undefined)
  assert.equal(sumOf(scraped, 'credits_orders_total'), 0)
  assert.ok((sumOf(scraped, 'process_resident_memory_bytes') ?? 0) > 0)
  assert.ok((sumOf(scraped, 'credits_event_loop_active_seconds_total') ?? 0) > 0)
})

test('the backlog leaves out what is resolved, processed or of a disabled endpoint, and tells leased operations from waiting ones', async () => {
  const database = createDatabase(service.database.pool, silentLog)
  for (const statement of [
    `update webhook_notifications set (processed_at, outcome) = (now(), 'agrees') where processed_at is null`,
    `insert into webhook_notifications (transmission_id, event_type, order_id)
     values ('waits', 'PAYMENT_STATUS_CHANGED', 'ord_any')`,
    `update discrepancies set (resolved_at, resolution) = (now(), 'agreed')`,
    `update payment_operations set lease_until = now() + interval '1 hour' where state = 'OPEN'`,
    `update event_endpoints set status = 'DISABLED'`,
    `insert into audits (audit_id, cause, begun_at, rules, checked, violation_count, findings)
     values (gen_random_uuid(), 'COMMAND', now() - interval '2 hours', 1, '{}', 3, '[{}]')`,
  ]) {
    await service.database.query(statement)
  }
  const { auditAgeSeconds, oldestOperationSeconds, ...backlog } = await readBacklog(database)
  assert.ok(auditAgeSeconds < 3_600 && (oldestOperationSeconds ?? 0) >= 600)
  assert.deepEqual(backlog, {
    operations: [{ kind: 'CONFIRM', state: 'under way', count: 1 }],
    undeliveredEvents: 0,
    oldestEventSeconds: null,
    deadEvents: 1,
    openDiscrepancies: 0,
    waitingNotifications: 1,
    auditViolations: 3,
  })
})
