// `toss-sandbox scenarios` against two shops: our own, in which all twenty hold, and a naive one, whose mistakes are found.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { callerOf } from '../../../harness/processes.ts'
import { runScenariosCommand } from '../../../sandbox/scenarios/command.ts'
import { type Evidence, evaluate, type GatewayPayment, type RuleName, rules } from '../../../sandbox/scenarios/rules.ts'
import { type Ending, scenarios } from '../../../sandbox/scenarios/scenarios.ts'
import { openShop } from '../../storefront/shop.ts'
import { closeAll } from '../../support/closing.ts'
import { openSandboxes, secretKey } from '../../support/gateway/sandbox-shop.ts'
import { startWholeService } from '../../support/service/whole-service.ts'
import { startNaiveShop } from './naive-shop.ts'

type Report = { passed: number; failed: number; skipped: number; problem: string | null; scenarios: Scenario[] }
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
  const shop = await openShop({ apiUrl: service.publicUrl, apiKey, sandboxUrl: service.sandboxUrl, confirmWaitMs: 700 })
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

/** The rules that a report in text names, by scenario. */
function rulesIn(report: string): Record<string, string[]> {
  const rows = [...report.matchAll(/^ {2}(ok|FAILED|skipped) +(\S+) .*\n((?: {4}.*\n)*)/gm)]
  const named = rows.map(([, , name = '', lines = '']) => {
    const found = [...lines.matchAll(/^ +([a-z-]+): [A-Z\d₩]/gm)].map(([, rule = '']) => rule)
    return [name, [...new Set(found)]]
  })
  return Object.fromEntries(named)
}

const { start } = openSandboxes()

/** A naive shop and a sandbox that runs already. */
async function startConnected(webhooks?: { status: number; lateMs: number }) {
  const shop = await startNaiveShop(secretKey, webhooks)
  const { url } = await start({ name: crypto.randomUUID() })
  shop.connectTo(url)
  const args = [...addressesOf(shop.url), '--sandbox', url, '--wait', '3']
  return { shop, args, webhookUrl: `${shop.url}/webhook` }
}

/** An address at which nothing listens. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return `http://127.0.0.1:${port}`
}

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
    problem: null,
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
    'shop-fails': [{ status: null, problem: 'GET http://127.0.0.1:3000/status: 500' }, 'paid'],
  }
  for (const rule of Object.keys(rules) as RuleName[]) {
    const [evidence, ending] = broken[rule]
    assert.deepEqual(
      evaluate({ ...right, ...evidence }, ending).map((finding) => finding.rule),
      [rule],
    )
  }
  assert.deepEqual(evaluate(right, 'paid'), [])
  assert.deepEqual(evaluate({ ...right, requests: [confirm, lookup, otherKey] }, 'paid'), [])
  assert.deepEqual(evaluate({ ...right, requests: [confirm, { ...lookup, status: 404 }, otherKey] }, 'paid'), [])
  assert.deepEqual(evaluate({ ...right, requests: [{ ...confirm, status: 429 }, otherKey] }, 'paid'), [])

  // A busy shop gets the webhook again; the wrong answer of one that is not busy is final.
  const answered = (state: string, ...statuses: number[]) => {
    const delivery = { paymentKey: 'pay-1', state, attempts: statuses.map((status) => ({ status, error: null })) }
    return evaluate({ ...right, deliveries: [delivery] }, 'paid').map(({ mayPass }) => mayPass)
  }
  assert.deepEqual(answered('pending', 503), [true])
  assert.deepEqual(answered('delivered', 503, 200), [])
  assert.deepEqual(answered('pending', 204), [false])
})

// Each mostly waits.
describe('the command', { concurrency: true }, () => {
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
        '3',
      ],
      connect,
    )
    assert.equal(stderr, '')
    assert.deepEqual(rulesIn(stdout), found)
    assert.match(stdout, /\n3 passed, 6 failed, 0 skipped\n$/)
    assert.equal(code, 1)

    // The shop is asked by commands, and has no webhook to learn from.
    const lost = await run(
      ['--order', `curl -s -X POST ${shop.url}/order`, '--only', 'reset-after,webhook-twice,cancel-answer-lost'].concat(
        ['--status', `test -n "$PAYMENT_KEY" && curl -s "${shop.url}/status/$ORDER_ID"`, '--wait', '3'],
      ),
      connect,
    )
    assert.deepEqual([lost.code, lost.stderr], [1, ''])
    assert.deepEqual(rulesIn(lost.stdout), {
      'reset-after': ['unknown-as-refused'],
      'webhook-twice': [],
      'cancel-answer-lost': [],
    })
    assert.match(
      lost.stdout,
      /skipped +webhook-twice +needs --webhook\n.*skipped +cancel-answer-lost +needs --cancel\n/,
    )
  })

  test('a shop that answers wrongly, fails for a moment or ends is a finding, and the report is whole', async (t) => {
    const noContent = await startConnected({ status: 204, lateMs: 0 })
    t.after(() => noContent.shop.close())
    const only = ['--only', 'paid,cancel-answer-lost', '--json']
    const answered = await run([...noContent.args, '--webhook', noContent.webhookUrl, ...only])
    assert.deepEqual([answered.code, answered.stderr], [1, ''])
    const report = JSON.parse(answered.stdout) as Report
    const found = report.scenarios.map(({ findings }) => new Set(findings.map(({ rule }) => rule)))
    assert.deepEqual(found[0], new Set(['webhook-not-received']))
    assert.ok(found[1]?.has('webhook-not-received') && found[1].has('repeated-blindly'), 'it was cancelled')

    const fragile = await startConnected()
    t.after(() => fragile.shop.close())
    const { code, stdout, stderr } = await run(
      [...fragile.args, '--only', 'paid,declined,session-expired,cancel-answer-lost'],
      (text) => {
        if (/ paid /.test(text)) fragile.shop.failNextStatus()
        if (/ declined /.test(text)) fragile.shop.close()
      },
    )
    assert.deepEqual([code, stderr], [1, ''])
    const ended = ['shop-fails']
    const expected = { paid: [], declined: [], 'session-expired': ended, 'cancel-answer-lost': ended }
    assert.deepEqual(rulesIn(stdout), expected)
  })

  test('no scenario holds because the shop was not asked, not reached or slow', async (t) => {
    const { shop, args, webhookUrl } = await startConnected({ status: 200, lateMs: 300 })
    t.after(() => shop.close())
    const lostAnswers = 'error-after,reset-after,hang,html-answer,answer-of-another-order,lookup-fails-too'
    const unasked = await run(['--order', `${shop.url}/order`, '--only', lostAnswers])
    assert.equal(unasked.stdout.match(/skipped +\S+ +needs --status\n/g)?.length, 6)

    const forged = [...args, '--only', 'webhook-forged', '--webhook']
    assert.deepEqual(rulesIn((await run([...forged, webhookUrl])).stdout), { 'webhook-forged': ['paid-without-money'] })
    const missing = await run([...forged, `${shop.url}/missing`])
    assert.deepEqual(rulesIn(missing.stdout), { 'webhook-forged': ['webhook-not-received'] })
  })

  test('what is missing or wrong in the options or the shop is exit code 2 and a line', async (t) => {
    const shop = await startNaiveShop(secretKey)
    t.after(() => shop.close())
    const nowhere = await closedAddress()
    shop.connectTo(nowhere)
    const order = ['--order', 'echo \'{"orderId":"order-1","amount":1000}\'']
    const elsewhere = 'echo \'{"orderId":"order-1","amount":1000,"successUrl":"https://shop.example/success"}\''
    const forged = ['--webhook', `${shop.url}/webhook`, '--only', 'webhook-forged']
    const wrong: [string[], RegExp][] = [
      [[], /^--order is missing/],
      [['--orders', 'x'], /^Unknown option '--orders'/],
      [[...order, '--only', 'nothing'], /^--only: there is no nothing; the scenarios are paid, returned-twice, /],
      [[...order, '--wait', '0'], /^--wait: expected 1 to 600 seconds/],
      [['--order', 'https://shop.example/order'], /^--order leads to shop\.example: another machine needs --remote\.$/],
      [['--order', 'echo hello'], /^--order: expected JSON, got "hello"\.$/],
      [['--order', 'exit 3'], /^exit 3: Command failed/],
      [order, /^Where the buyer comes back: --return URL/],
      [[...order, '--return', 'file:///etc/hosts'], /^Where the buyer comes back: --return URL/],
      [['--order', elsewhere], /^successUrl leads to shop\.example: another machine needs --remote\.$/],
      [[...order, '--return', `${nowhere}/success`], /^Nothing listens at http:\S+: is the shop running\?$/],
      [[...order, '--sandbox', nowhere], /^No sandbox answers at http:\S+: ECONNREFUSED$/],
      [[...addressesOf(shop.url), '--wait', '3'], /^The shop sent nothing to the sandbox\. Set its base URL/],
      [[...addressesOf(shop.url), ...forged, '--wait', '3'], /^The shop sent nothing to the sandbox\./],
    ]
    for (const [args, message] of wrong) {
      const { code, stderr } = await run(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr.trim(), message)
    }
    const { problem, scenarios: played } = JSON.parse((await run([...order, '--json'])).stdout) as Report
    assert.match(problem ?? '', /^Where the buyer comes back/)
    assert.deepEqual(played, [])
  })
})
