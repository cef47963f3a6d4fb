// `toss-sandbox scenarios` against two shops: our own, in which all twenty hold, and a naive one, whose mistakes are found.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { callerOf } from '../../../harness/processes.ts'
import { runScenariosCommand } from '../../../sandbox/scenarios/command.ts'
import { type Evidence, type GatewayPayment, judge, type RuleName, rules } from '../../../sandbox/scenarios/rules.ts'
import { type Ending, scenarios } from '../../../sandbox/scenarios/scenarios.ts'
import { openShop } from '../../storefront/shop.ts'
import { closeAll } from '../../support/closing.ts'
import { secretKey } from '../../support/gateway/sandbox-shop.ts'
import { startWholeService } from '../../support/service/whole-service.ts'
import { startNaiveShop } from './naive-shop.ts'

type Report = { passed: number; failed: number; skipped: number; scenarios: Scenario[] }
type Scenario = { name: string; verdict: string; skipped: string | null; findings: { rule: string; text: string }[] }

/** The command in this process. */
async function run(args: string[], onWrite: (text: string) => void = () => undefined) {
  let [stdout, stderr] = ['', '']
  const code = await runScenariosCommand(args, {
    environment: process.env,
    sandboxOptions: () => ({ host: '127.0.0.1', port: 0, clientKey: '', secretKey, dataDir: '', strict: true }),
    write(text) {
      onWrite(text)
      stdout += text
    },
    complain(text) {
      stderr += text
    },
    quietMs: 150,
  })
  return { code, stdout, stderr }
}

/** The options of a shop that has an address for each. */
function addressesOf(url: string): string[] {
  const addresses = {
    order: `${url}/order`,
    status: `${url}/status/{orderId}`,
    cancel: `${url}/cancel/{orderId}/{paymentKey}`,
  }
  return Object.entries(addresses).flatMap(([name, address]) => [`--${name}`, address])
}

/** Our own shop with the addresses that the command wants. */
async function startOwnShop() {
  const service = await startWholeService(
    { after },
    {
      SANDBOX_STRICT: '1',
      LOG_LEVEL: 'silent',
      GATEWAY_TIMEOUT_MS: '700',
      GATEWAY_LOOKUP_TIMEOUT_MS: '500',
      OPERATION_LEASE_MS: '1200',
      OPERATION_WAIT_MS: '500',
    },
  )
  const { apiKey } = await service.newKey()
  const shop = await openShop({ apiUrl: service.publicUrl, apiKey, sandboxUrl: service.sandboxUrl })
  const caller = callerOf(service.publicUrl, apiKey)
  const server = createServer(async (request, response) => {
    const [path = '', what, orderId = '', paymentKey] = /^\/(\w+)\/?([^/?]*)\/?([^/?]*)/.exec(request.url ?? '') ?? []
    assert.ok(path)
    if (what === 'order') {
      const fresh = { orderId: await shop.buy('BASIC'), amount: 1_000, successUrl: `${url}/success` }
      response.end(JSON.stringify(fresh))
    } else if (what === 'success') {
      const { status, html } = await shop.get(request.url ?? '')
      response.writeHead(status).end(html)
    } else if (what === 'cancel') {
      const { status } = await caller.call('cancel', { paymentKey, reason: 'changed my mind' })
      response.writeHead(status).end()
    } else response.end(await caller.status(orderId))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, sandboxUrl: service.sandboxUrl, close: () => closeAll({ close: () => void server.close() }, shop) }
}

test('all twenty hold in our own shop, whose webhook is registered already', async (t) => {
  const shop = await startOwnShop()
  t.after(() => shop.close())
  const { code, stdout, stderr } = await run(['--sandbox', shop.sandboxUrl, '--json', ...addressesOf(shop.url)])
  assert.equal(stderr, '')
  const report = JSON.parse(stdout) as Report
  assert.deepEqual(
    report.scenarios.filter(({ verdict }) => verdict !== 'ok'),
    [],
  )
  assert.deepEqual([code, report.passed, scenarios.length], [0, 20, 20])
})

test('each rule has evidence that breaks it alone, and none is broken by a payment as it has to be', () => {
  const payment: GatewayPayment = {
    paymentKey: 'pay-1',
    orderId: 'order-1',
    status: 'DONE',
    approvedAt: '2026-08-10T09:30:00+09:00',
    totalAmount: 1_000,
    balanceAmount: 1_000,
    cancels: null,
  }
  const confirm = {
    number: 1,
    at: '2026-08-10T09:30:00+09:00',
    operation: 'confirm' as const,
    paymentKey: 'pay-1',
    orderId: 'order-1',
    amount: 1_000,
    idempotencyKey: 'k-1',
    replay: false,
    fault: null,
    status: 200,
    code: null,
  }
  const right: Evidence = {
    order: { orderId: 'order-1', amount: 1_000 },
    payments: [payment],
    requests: [confirm, { ...confirm, replay: true }],
    deliveries: [{ paymentKey: 'pay-1', state: 'delivered', attempts: [{ status: 200, error: null }] }],
    pages: [200],
    status: 'paid',
  }
  const otherKey = { ...confirm, idempotencyKey: 'k-2' }
  const lookup = { ...confirm, operation: 'lookup' as const, idempotencyKey: null, amount: null }
  const open = { ...payment, approvedAt: null }
  const attempts = [{ status: null, error: 'TimeoutError' }]
  const returned = { ...payment, balanceAmount: 0, cancels: [{ cancelAmount: 400 }, { cancelAmount: 600 }] }
  const broken: Record<RuleName, [Partial<Evidence>, Ending]> = {
    'captured-twice': [{ payments: [payment, { ...payment, paymentKey: 'pay-2' }] }, 'paid'],
    'wrong-amount': [{ requests: [{ ...confirm, amount: 100 }] }, 'paid'],
    'repeated-blindly': [{ requests: [confirm, otherKey] }, 'paid'],
    'not-captured': [{ payments: [open], status: null }, 'paid'],
    'captured-anyway': [{}, 'unpaid'],
    'unknown-as-refused': [{ status: 'failed' }, 'paid'],
    'paid-without-money': [{ payments: [open] }, 'consistent'],
    'left-open': [{ status: 'pending' }, 'paid'],
    'not-returned': [{ payments: [returned], status: 'cancelled' }, 'cancelled'],
    'webhook-not-received': [{ deliveries: [{ paymentKey: 'pay-1', state: 'pending', attempts }] }, 'paid'],
    'error-page': [{ pages: [502] }, 'paid'],
  }
  for (const rule of Object.keys(rules) as RuleName[]) {
    const [evidence, ending] = broken[rule]
    assert.deepEqual(
      judge({ ...right, ...evidence }, ending).map((finding) => finding.rule),
      [rule],
    )
  }
  assert.deepEqual(judge(right, 'paid'), [])
  assert.deepEqual(judge({ ...right, requests: [confirm, lookup, otherKey] }, 'paid'), [])
  assert.deepEqual(judge({ ...right, requests: [{ ...confirm, status: 429 }, otherKey] }, 'paid'), [])
})

/** The rules that a report in text names, by scenario. */
function rulesIn(report: string): Record<string, string[]> {
  const rows = [...report.matchAll(/^ {2}(ok|FAILED|skipped) +(\S+) .*\n((?: {4}.*\n)*)/gm)]
  const named = rows.map(([, , name = '', lines = '']) => {
    const found = [...lines.matchAll(/^ +([a-z-]+): [A-Z\d₩]/gm)].map(([, rule = '']) => rule)
    return [name, [...new Set(found)]]
  })
  return Object.fromEntries(named)
}

test('the mistakes of a naive shop are found, with a sandbox of the command itself', async (t) => {
  const shop = await startNaiveShop(secretKey)
  t.after(() => shop.close())
  const connect = (text: string) => {
    const [, gatewayUrl] = /with the sandbox at (\S+)/.exec(text) ?? []
    if (gatewayUrl) shop.connectTo(gatewayUrl)
  }
  const found: Record<string, string[]> = {
    paid: [],
    'returned-twice': ['repeated-blindly', 'unknown-as-refused'],
    'paid-in-two-windows': ['captured-twice'],
    'amount-tampered': ['wrong-amount', 'captured-anyway'],
    declined: [],
    'webhook-twice': [],
    'webhook-lost': ['unknown-as-refused'],
    'webhook-forged': ['paid-without-money'],
    'cancel-answer-lost': ['repeated-blindly', 'left-open'],
  }
  const { code, stdout, stderr } = await run(
    [
      ...addressesOf(shop.url),
      '--webhook',
      `${shop.url}/webhook`,
      '--only',
      Object.keys(found).join(','),
      '--wait',
      '1',
    ],
    connect,
  )
  assert.equal(stderr, '')
  assert.deepEqual(rulesIn(stdout), found)
  assert.match(stdout, /\n3 passed, 6 failed, 0 skipped\n$/)
  assert.equal(code, 1)

  // The shop is asked by commands, and has no webhook to learn from.
  const lost = await run(
    ['--order', `curl -s -X POST ${shop.url}/order`, '--only', 'reset-after,webhook-twice,cancel-answer-lost'].concat([
      '--status',
      `curl -s "${shop.url}/status/$ORDER_ID"`,
      '--wait',
      '1',
    ]),
    connect,
  )
  assert.deepEqual([lost.code, lost.stderr], [1, ''])
  assert.deepEqual(rulesIn(lost.stdout), {
    'reset-after': ['unknown-as-refused'],
    'webhook-twice': [],
    'cancel-answer-lost': [],
  })
  assert.match(lost.stdout, /skipped +webhook-twice +needs --webhook\n.*skipped +cancel-answer-lost +needs --cancel\n/)
})

/** An address at which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return `http://127.0.0.1:${port}`
}

test('what is missing or wrong in the options or the shop is exit code 2 and a line', async (t) => {
  const shop = await startNaiveShop(secretKey)
  t.after(() => shop.close())
  const nowhere = await closedAddress()
  shop.connectTo(nowhere)
  const order = ['--order', 'echo \'{"orderId":"order-1","amount":1000}\'']
  const wrong: [string[], RegExp][] = [
    [[], /^--order is missing/],
    [['--orders', 'x'], /^Unknown option '--orders'/],
    [[...order, '--only', 'nothing'], /^--only: there is no nothing; the scenarios are paid, returned-twice, /],
    [[...order, '--wait', '0'], /^--wait: expected 1 to 600 seconds/],
    [['--order', 'https://shop.example/order'], /^--order leads to shop\.example: another machine needs --remote\.$/],
    [['--order', 'echo hello'], /^--order: expected JSON, got "hello"\.$/],
    [['--order', 'exit 3'], /^exit 3: Command failed/],
    [order, /^Where the buyer comes back: --return URL/],
    [[...order, '--return', `${nowhere}/success`], /^Nothing listens at http:\S+: start the shop first\.$/],
    [[...order, '--sandbox', nowhere], /^No sandbox answers at http:\S+: ECONNREFUSED$/],
    [[...addressesOf(shop.url), '--wait', '1'], /^The shop sent nothing to the sandbox\. Set its base URL/],
  ]
  for (const [args, message] of wrong) {
    const { code, stderr } = await run(args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr.trim(), message)
  }
})
