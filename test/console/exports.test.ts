// CSV exports: their content, that a spreadsheet opens them unchanged, and which roles may download them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../../harness/until.ts'
import { csvLine } from '../../src/core/csv.ts'
import { addDays, koreanDayOf } from '../../src/core/korean-days.ts'
import { outstandingPages } from '../../src/credits/lots/liability-csv.ts'
import type { Database } from '../../src/db/database.ts'
import { review } from '../../src/payments/recovery/review.ts'
import { refund } from '../../src/payments/refunds/refund.ts'
import { closeAll } from '../support/closing.ts'
import { type ConsoleApi, type Operator, openConsoleApi } from '../support/console/console-api.ts'
import { acceptPartOf } from '../support/service/parts.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'
import { startInternal } from '../support/spending/spending.ts'

let service: TestService
let api: ConsoleApi
let finance: Operator
let customer: TestCustomer

before(async () => {
  service = await startTestService()
  api = await openConsoleApi(service)
  finance = await api.newOperator('finance')
  customer = await service.newCustomer('Buyers')
})
after(() => closeAll(api, service))

const today = () => koreanDayOf(new Date())

/** Removes the byte order mark; the first line names the columns. */
async function linesOf(response: Response): Promise<{ [name: string]: string }[]> {
  assert.equal(response.status, 200)
  const bytes = new Uint8Array(await response.arrayBuffer())
  assert.deepEqual([...bytes.slice(0, 3)], [0xef, 0xbb, 0xbf])
  const [head = '', ...lines] = new TextDecoder().decode(bytes).split('\r\n').slice(0, -1)
  const names = head.split(',')
  return lines.map((line) => Object.fromEntries(line.split(',').map((value, place) => [names[place] ?? '', value])))
}

test('the payments file has the operations approved in a range of Korean days, each with its VAT to the nearest won, and their sum is what was paid less refunded', async () => {
  await customer.confirmedOrder('PRO')
  const cancelled = await customer.confirmedOrder('STANDARD')
  await customer.cancel(cancelled.paymentKey)
  const refunded = await customer.confirmedOrder('STANDARD')
  await refund(service.payments, { orderId: refunded.orderId, reason: 'a complaint' })
  await (await customer.paidOrder('BASIC', 'decline')).confirm()
  const response = await finance.save(`/books/payments.csv?from=${today()}&to=${today()}`)
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(response.headers.get('content-disposition'), `attachment; filename="payments-${today()}-${today()}.csv"`)
  const lines = await linesOf(response)
  assert.deepEqual(
    lines.map(({ kind, krw }) => `${kind} ${krw}`),
    ['CONFIRM 100000', 'CONFIRM 20000', 'CANCEL -20000', 'CONFIRM 20000', 'REFUND -20000'],
  )
  assert.deepEqual([lines[2]?.orderId, lines[2]?.paymentKey], [cancelled.orderId, cancelled.paymentKey])
  assert.ok(lines.every((line) => line.transactionKey !== '' && line.customerId === customer.customerId))
  const { customerName, packageType, credits, supply, vat, status, reason, timeKst, time } = lines[2] ?? {}
  assert.deepEqual([customerName, packageType, credits], ['Buyers', 'STANDARD', '-21'])
  assert.deepEqual([supply, vat, status, reason], ['-18182', '-1818', 'CANCELLED', 'changed my mind'])
  assert.deepEqual([lines[0]?.supply, lines[0]?.vat], ['90909', '9091'])
  assert.equal(
    new Date(`${timeKst?.replace(' ', 'T')}+09:00`).getTime(),
    Math.floor(Date.parse(`${time}`) / 1_000) * 1_000,
  )
  const { today: shown } = await finance.get('home')
  assert.equal(
    lines.reduce((sum, { krw }) => sum + Number(krw), 0),
    shown.netPaid,
  )
  assert.equal(
    lines.reduce((sum, { credits }) => sum + Number(credits), 0),
    shown.creditsSold - shown.creditsTakenBack,
  )
  const yesterday = addDays(today(), -1)
  assert.deepEqual(await linesOf(await finance.save(`/books/payments.csv?from=${yesterday}&to=${yesterday}`)), [])
})

test('the headings are in the language of the page, and a refund names the operator with the reason', async () => {
  const { orderId } = await customer.confirmedOrder('BASIC')
  await finance.get('refundOrder', { params: { orderId }, body: { reason: 'asked by phone' } })
  const path = `/books/payments.csv?from=${today()}&to=${today()}&language=`
  const korean = (await linesOf(await finance.save(`${path}ko`))).at(-1)
  const names = [
    '시각 (KST)',
    '고객',
    '패키지',
    '구분',
    '금액(원)',
    '공급가액(원)',
    '부가세(원)',
    '주문 상태',
    '운영자',
    '사유',
  ]
  assert.deepEqual(
    names.slice(2).map((name) => korean?.[name]),
    ['BASIC', '환불', '-1000', '-909', '-91', '환불됨', finance.name, 'asked by phone'],
  )
  assert.match(korean?.[names[0] ?? ''] ?? '', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  const english = (await linesOf(await finance.save(`${path}en`))).at(-1)
  assert.deepEqual([english?.['Order status'], english?.Operator, english?.Type], ['REFUNDED', finance.name, 'REFUND'])
  assert.equal((await finance.save(`${path}fr`)).status, 400)
  await (await api.newOperator('finance')).get('refundOrder', { params: { orderId }, body: { reason: 'once more' } })
  assert.equal((await linesOf(await finance.save(`${path}en`))).at(-1)?.Operator, finance.name)
  const files = ['/books/days.csv', '/books/discrepancies.csv', '/books/liability.csv']
  for (const file of [...files, `/customers/${customer.customerId}/statement.csv`]) {
    const [head = ''] = (await (await finance.save(`${file}?language=ko`)).text()).split('\r\n')
    assert.ok(
      head.split(',').every((heading) => /[가-힣]/.test(heading)),
      head,
    )
  }
})

test('a cancellation at the gateway names the operator who accepted it, and none where it was adopted', async () => {
  const operatorOf = async (orderId: string) => {
    const lines = await linesOf(await finance.save(`/books/payments.csv?from=${today()}&to=${today()}`))
    return lines.find((line) => line.orderId === orderId && line.kind !== 'CONFIRM')?.operator
  }
  const body = { reason: 'agreed by mail' }
  const other = await service.newCustomer()
  const [partly, wholly] = [await other.confirmedOrder('STANDARD'), await other.confirmedOrder('STANDARD')]
  await service.sandbox.cancel(partly.paymentKey, 5_000)
  await finance.get('settleOrder', { params: { orderId: partly.orderId }, body })
  const { openDiscrepancies } = await finance.get('order', { params: { orderId: partly.orderId } })
  const discrepancyId = openDiscrepancies[0]?.discrepancyId ?? assert.fail('nothing was found')
  await finance.get('acceptDiscrepancy', { params: { discrepancyId }, body: { ...body, credits: 0 } })
  await service.sandbox.cancel(wholly.paymentKey)
  await finance.get('settleOrder', { params: { orderId: wholly.orderId }, body })
  assert.deepEqual([await operatorOf(partly.orderId), await operatorOf(wholly.orderId)], [finance.name, ''])
})

test('more payments than one chunk holds are all in the file, each once, in order of time', async () => {
  const [order] = await service.database.query<{ order_id: string }>('select order_id from orders limit 1')
  await service.database.queryUnguarded(
    `insert into payment_operations (customer_id, operation_id, order_id, kind, payment_key, amount, reason, state,
       holder_id, lease_until, closed_at, closed_by)
     select $1, gen_random_uuid(), $2, 'RETURN', 'pay_many_' || n, 1000, 'as a test has it', 'APPROVED', gen_random_uuid(),
       now(), '2026-03-01 00:00:00+09'::timestamptz + n / 3 * interval '1 microsecond', gen_random_uuid()
     from generate_series(0, 10500) n`,
    [customer.customerId, order?.order_id],
  )
  const lines = await linesOf(await finance.save('/books/payments.csv?from=2026-03-01&to=2026-03-01'))
  assert.equal(lines.length, 10_501)
  assert.equal(new Set(lines.map(({ paymentKey }) => paymentKey)).size, 10_501)
  assert.deepEqual(
    lines.map(({ time }) => time).toSorted(),
    lines.map(({ time }) => time),
  )
  // Returning money that was never counted as paid takes nothing off.
  assert.deepEqual([...new Set(lines.map(({ krw }) => krw))], ['0'])
  await service.database.query(`delete from payment_operations where payment_key like 'pay_many_%'`)
})

test('a text that a spreadsheet would read as a formula is escaped in the file', async () => {
  await service.database.query(
    `insert into discrepancies (subject, kind, detail)
     values ('＝cmd()', 'UNKNOWN_ORDER', '{"a": "b"}'), ('=cmd()', 'UNKNOWN_ORDER', '{"a": "b"}')`,
  )
  const text = await (await finance.save('/books/discrepancies.csv')).text()
  assert.match(text, /,UNKNOWN_ORDER,'=cmd\(\),/)
  assert.match(text, /,UNKNOWN_ORDER,'＝cmd\(\),/)
  assert.equal(csvLine(['\n=1', '1=1', '-1', -1]), `"'\n=1",1=1,'-1,-1\r\n`)
  assert.match(text, /,"\{""a"":""b""\}"\r\n$/)
})

test('a reason that is the name of a member of every object is written as it is, in every language', async () => {
  const another = await service.newCustomer()
  const { paymentKey } = await another.confirmedOrder('BASIC')
  assert.equal((await another.cancel(paymentKey, 'constructor')).status, 200)
  for (const [language, reason] of [
    ['', 'reason'],
    ['&language=en', 'Reason'],
    ['&language=ko', '사유'],
  ] as const) {
    const response = await finance.save(`/books/payments.csv?from=${today()}&to=${today()}${language}`)
    assert.equal((await linesOf(response)).at(-1)?.[reason], 'constructor')
  }
})

test('in the payments file an accepted part lowers the sum, and money that went back for a FAILED order does not', async () => {
  const other = await service.newCustomer()
  const [partly, failed] = [await other.confirmedOrder('STANDARD'), await other.paidOrder('BASIC', 'decline')]
  await service.sandbox.cancel(partly.paymentKey, 5_000)
  await acceptPartOf(service.payments, { customerId: other.customerId, orderId: partly.orderId })
  await failed.confirm()
  const paymentKey = await service.sandbox.pay(failed.orderId, failed.amount)
  await service.sandbox.capture(paymentKey, failed.orderId, failed.amount)
  await review(service.payments, { customerId: other.customerId, orderId: failed.orderId }, paymentKey)
  const lines = await linesOf(await finance.save(`/books/payments.csv?from=${today()}&to=${today()}`))
  assert.deepEqual(
    lines.filter(({ customerId }) => customerId === other.customerId).map(({ kind, krw }) => `${kind} ${krw}`),
    ['CONFIRM 20000', 'PART -5000', 'RETURN 0'],
  )
})

test('customers whose lots are read too slowly together are read apart, and none is left out', async () => {
  const { database } = service.payments
  const run: typeof database.run = async (statement, values = []) => {
    const isMany = statement.name === 'credits.listOutstandingLots' && (values[0] as string[]).length > 1
    if (isMany) throw new Error('too slow', { cause: { code: '57014' } })
    return database.run(statement, values)
  }
  const before = new Date(Date.now() + 1_000)
  const read = (from: Database) => Array.fromAsync(outstandingPages(from, before))
  const lots = await read(database)
  assert.ok(new Set(lots.flat().map(({ customerId }) => customerId)).size > 2)
  assert.deepEqual(await read({ ...database, run }), lots)
})

test('the liability file of a day has what was granted on that day, with the name of the customer, and the file of the day before has not', async () => {
  const { orderId } = await (await service.newCustomer('Unspent')).confirmedOrder('BASIC')
  const { order } = await finance.get('order', { params: { orderId } })
  const day = koreanDayOf(new Date(order.confirmedAt ?? assert.fail('not confirmed')))
  const unspentOn = async (to: string) => {
    const lines = await linesOf(await finance.save(`/books/liability.csv?to=${to}`))
    return lines
      .filter((line) => line.orderId === orderId)
      .map(({ customerName, unspent }) => `${customerName} ${unspent}`)
  }
  assert.deepEqual([await unspentOn(day), await unspentOn(addDays(day, -1))], [['Unspent 1'], []])
})

test('the days file has the days of the page, with empty cells for a day that was not compared', async () => {
  const lines = await linesOf(await finance.save('/books/days.csv'))
  const { day, state, movements, gatewayNet, difference } = lines[0] ?? {}
  assert.deepEqual([day, state, movements, gatewayNet, difference], [today(), 'not compared', '', '', ''])
  assert.equal(lines.length, 31)
})

test('the statement of a customer equals the output of the command, and an unknown customer is not found', async () => {
  const lines = await linesOf(await finance.save(`/customers/${customer.customerId}/statement.csv`))
  assert.deepEqual(
    lines.map(({ kind }) => kind),
    ['GRANT', 'GRANT', 'HOLD', 'ROLLBACK', 'GRANT', 'HOLD', 'REFUND', 'GRANT', 'HOLD', 'REFUND'],
  )
  const grants = await linesOf(await finance.save(`/customers/${customer.customerId}/statement.csv?kind=GRANT`))
  assert.equal(grants.length, 4)
  const wrongWay = '?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z'
  assert.equal((await finance.save(`/customers/${customer.customerId}/statement.csv${wrongWay}`)).status, 400)
  for (const id of [crypto.randomUUID(), 'unknown']) {
    assert.equal((await finance.save(`/customers/${id}/statement.csv`)).status, 404)
  }
})

test('the usage file has the rows of the page, by what is chosen, and an unknown customer is not found', async () => {
  const user = await service.newCustomer()
  await user.confirmedOrder('PRO')
  const { customerId } = user
  const internal = await startInternal(service.payments)
  await internal.spend(customerId, 3, 'a', { label: '=1+1', units: 7 })
  await internal.spend(customerId, 2, 'b')
  await internal.close()
  const { rows, total } = await finance.get('use', { params: { customerId }, query: { by: 'label' } })
  assert.deepEqual(total, { credits: 5, units: 7, count: 2 })
  const lines = await linesOf(await finance.save(`/customers/${customerId}/use.csv?by=label`))
  const [day] = rows.map((row) => row.day)
  assert.deepEqual(
    lines.map((line) => ({ ...line })),
    [
      { day, label: `'=1+1`, credits: '3', units: '7', count: '1' },
      { day, label: '', credits: '2', units: '0', count: '1' },
    ],
  )
  const tooLong = '?from=2025-01-01&to=2025-12-31'
  assert.equal((await finance.save(`/customers/${customerId}/use.csv${tooLong}`)).status, 400)
  assert.equal((await finance.save(`/customers/${crypto.randomUUID()}/use.csv`)).status, 404)
})

type LoggedRow = { command: string; arguments: string[]; subject: string | null; outcome: string | null }
const actionsText = `
  select b.command, b.arguments, b.subject, e.outcome
  from operator_actions b left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
  where b.step = 'BEGUN' order by b.happened_at desc limit 1`

test('every export is in the action log with its parameters and its outcome', async () => {
  // Unknown parameters are ignored and not logged.
  const query = '?kind=GRANT&note=1&note=2&%00=%00'
  await linesOf(await finance.save(`/customers/${customer.customerId}/statement.csv${query}`))
  const find = async () => (await service.database.query<LoggedRow>(actionsText))[0]
  await until('its end is in the action log', async () => (await find())?.outcome !== null)
  assert.deepEqual(await find(), {
    command: 'export statement',
    arguments: [customer.customerId, '--kind', 'GRANT'],
    subject: customer.customerId,
    outcome: 'ok',
  })
})

test('an export whose beginning cannot be written to the action log sends nothing of the file', async () => {
  await service.database.query(`alter table operator_actions add constraint no_begin check (step <> 'BEGUN') not valid`)
  const refused = await finance
    .save('/books/days.csv')
    .finally(() => service.database.query('alter table operator_actions drop constraint no_begin'))
  const { code } = (await refused.json()) as { code: string }
  assert.deepEqual([refused.status, code], [500, 'INT001'])
})

test('the discrepancies file has the open ones or the resolved ones, each once, also more than one chunk holds', async () => {
  await service.database.queryUnguarded(
    `insert into discrepancies (subject, kind, detail, resolved_at, resolution)
     select 'pay_chunk_' || n, 'UNKNOWN_ORDER', '{}', case when n = 0 then now() end, case when n = 0 then 'seen' end
     from generate_series(0, 5001) n`,
  )
  const subjects = async (query: string) => {
    const lines = await linesOf(await finance.save(`/books/discrepancies.csv${query}`))
    return lines.flatMap(({ subject = '' }) => (subject.startsWith('pay_chunk_') ? [subject] : []))
  }
  const [open, resolved] = [await subjects(''), await subjects('?state=resolved')]
  assert.deepEqual([open.length, new Set(open).size, resolved], [5_001, 5_001, ['pay_chunk_0']])
  await service.database.queryUnguarded(`delete from discrepancies where subject like 'pay_chunk_%'`)
})

test('an export that the client aborts is logged as failed, and holds no slot of the concurrency limit while it is not read', async () => {
  // More than a page of the export, and more than the buffers of a connection hold.
  await service.database.queryUnguarded(
    `insert into discrepancies (subject, kind, detail)
     select 'pay_long_' || n, 'UNKNOWN_ORDER', json_build_object('text', repeat('long ', 1000)) from generate_series(1, 5001) n`,
  )
  const unread = await Promise.all(Array.from({ length: 3 }, () => finance.save('/books/discrepancies.csv?state=open')))
  assert.equal((await linesOf(await finance.save('/books/days.csv'))).length, 31)
  // On a slow machine the service has ended them by now: a connection that is not read has a time limit.
  await Promise.allSettled(unread.map((response) => response.body?.cancel()))
  const outcomes = () =>
    service.database.query<{ outcome: string | null; count: number }>(
      `select e.outcome, count(*)::int from operator_actions b
       left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
       where b.step = 'BEGUN' and b.arguments = '{--state,open}' group by e.outcome`,
    )
  await until('their ends are in the action log', async () =>
    (await outcomes()).every(({ outcome }) => outcome !== null),
  )
  const ends = await outcomes()
  for (const { outcome } of ends) assert.match(outcome ?? '', /^(ERR_STREAM_PREMATURE_CLOSE|SVC001)/)
  assert.equal(
    ends.reduce((sum, { count }) => sum + count, 0),
    3,
  )
  await service.database.queryUnguarded(`delete from discrepancies where subject like 'pay_long_%'`)
})

test('only finance and admin may download files, and no caller without a session', async () => {
  const paths = [
    '/books/days.csv',
    '/books/payments.csv',
    '/books/discrepancies.csv',
    `/customers/${customer.customerId}/statement.csv`,
  ]
  for (const path of paths) {
    for (const role of ['viewer', 'support'] as const) {
      const response = await (await api.newOperator(role)).save(path)
      assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [403, 'AUTH003'], path)
    }
    assert.equal((await (await api.newOperator('admin')).save(path)).status, 200)
    assert.equal((await fetch(`${api.base}${path}`)).status, 401)
  }
  assert.equal((await finance.save('/books/days.csv?from=2026-02-30')).status, 400)
})
