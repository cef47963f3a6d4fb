// The statement as CSV: the same entries oldest first, in pieces, safe to open in a spreadsheet.
// processes.test.ts runs the command that writes it.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import type { Values } from '../../src/commands/command.ts'
import { customerCommands } from '../../src/commands/nouns/customer-commands.ts'
import { paidColumnsOf } from '../../src/core/paid-with.ts'
import { type ExportQuery, statementCsv } from '../../src/credits/statement/statement-csv.ts'
import { issueToken } from '../../src/customers/service-tokens.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { createOverrides } from '../support/service/recovery.ts'
import { assertSuccess, testPeppers } from '../support/service/service.ts'
import { parseCsv, readCsv } from '../support/spending/csv.ts'
import { runEveryMovement } from '../support/spending/history.ts'
import { atOnce, type SpendingService, startSpendingService } from '../support/spending/spending.ts'

const { overrides, clear, wrapGateway } = createOverrides()
let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService({ wrapGateway })
  internal = service.internal
})
after(() => service.close())
afterEach(clear)

const columnNames =
  'entryNumber,createdAt,kind,delta,heldDelta,balanceAfter,heldAfter,availableAfter,orderId,reference,holdId,service,keyId,userId,label,units,' +
  'paidMethod,paidProvider,cardAmount,walletAmount,pointsAmount'

async function exportCsv(customerId: string, more: Partial<ExportQuery> = {}): Promise<string[]> {
  const query = { customerId, from: null, to: null, kinds: null, ...more }
  return Array.fromAsync(statementCsv(service.payments.database, query))
}

test('the export has every entry of the statement, oldest first, with a header line and CRLF at the end of every line', async () => {
  const { id, moments } = await runEveryMovement(service, overrides)
  const text = (await exportCsv(id)).join('')
  assert.equal(text.slice(0, text.indexOf('\r\n')), columnNames)
  assert.ok(text.endsWith('\r\n'))
  assert.doesNotMatch(text, /[^\r]\n|\r[^\n]/)
  const { entries } = (await internal.statement(id)).body.data
  const expected = entries
    .toReversed()
    .map(({ paidWith, ...entry }) => ({ ...entry, ...paidColumnsOf(paidWith) }))
    .map((line) => Object.fromEntries(Object.entries(line).map(([name, value]) => [name, `${value ?? ''}`])))
  const rows = readCsv(text)
  assert.deepEqual(rows, expected)

  const [from, to] = [moments[3]?.at ?? null, moments[8]?.at ?? null]
  const inTime = readCsv((await exportCsv(id, { from, to })).join(''))
  assert.deepEqual(inTime, expected.slice(moments[3]?.entries, moments[8]?.entries))
  const held = readCsv((await exportCsv(id, { from, to, kinds: ['HOLD', 'CAPTURE'] })).join(''))
  assert.deepEqual(
    held,
    inTime.filter(({ kind }) => kind === 'HOLD' || kind === 'CAPTURE'),
  )
  const none = { from: new Date('2001-01-01'), to: new Date('2001-01-02') }
  assert.equal((await exportCsv(id, none)).join(''), `${columnNames}\r\n`)
})

test('the export of a customer without entries is the header line; an unknown customer is an error with the id', async () => {
  const { customerId } = await service.newCustomer()
  assert.equal((await exportCsv(customerId)).join(''), `${columnNames}\r\n`)
  const unknownId = crypto.randomUUID()
  await assert.rejects(exportCsv(unknownId), new Error(`There is no customer ${unknownId}.`))
})

/** The text, and its form in the file. */
const texts: [given: string, written: string][] = [
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say"it"', '"say""it"""'],
  [`it's`, `it's`],
  ['=1+1', `'=1+1`],
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['+1', `'+1`],
  ['-1', `'-1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['a=b', 'a=b'],
  ['"', '""""'],
  [',', '","'],
]
test('texts with commas and quotes are quoted, and texts that a spreadsheet would take for a formula are escaped', async () => {
  const customer = await service.customerWith(110)
  const { customerId } = customer
  for (const [given] of texts) assertSuccess(await internal.spend(customerId, 1, given), 200)
  const lines = (await exportCsv(customerId)).join('').split('\r\n').slice(2, -1)
  for (const [index, [given, written]] of texts.entries()) {
    assert.ok(lines[index]?.includes(`,-1,0,${109 - index},0,${109 - index},,${written},,analyses`), given)
  }
})

test('the name of a service is quoted and escaped as well; negative numbers stay numbers', async () => {
  const customer = await service.customerWith(110)
  for (const name of ['=cmd|calc', 'Analyses, "single"', '분석 ✓', '@home']) {
    const { token } = await issueToken(service.payments.database, testPeppers, name)
    assertSuccess(await internal.as(token).spend(customer.customerId, 2), 200)
  }
  const rows = parseCsv((await exportCsv(customer.customerId, { kinds: ['SPEND'] })).join('')).slice(1)
  assert.deepEqual(
    rows.map((row) => [row[3], row[11]]),
    [
      ['-2', `'=cmd|calc`],
      ['-2', 'Analyses, "single"'],
      ['-2', '분석 ✓'],
      ['-2', `'@home`],
    ],
  )
})

test('a statement of more than a page of the export comes in pieces and is complete, also while it grows', async () => {
  const { customerId } = await service.customerWith(110)
  const { credits } = service.payments
  const { serviceId } = internal.issued
  const key = { customerId, serviceId }
  for (let round = 0; round < 26; round += 1) {
    const holds = await atOnce(100, (index) =>
      credits.openHold({
        ...key,
        holdId: crypto.randomUUID(),
        credits: 1,
        reference: `${round}/${index}`,
        expiresInSeconds: 60,
      }),
    )
    await atOnce(100, (index) =>
      credits.endHold({ ...key, holdId: holds[index]?.holdId ?? '', ending: 'RELEASE', captured: null }),
    )
  }
  // As autovacuum does within a minute: the plans of the connections were made for an almost empty table.
  await service.database.query('analyze ledger_entries')
  const pieces: string[] = []
  const all = { customerId, from: null, to: null, kinds: null }
  for await (const piece of statementCsv(service.payments.database, all)) {
    pieces.push(piece)
    assertSuccess(await internal.spend(customerId, 1), 200)
  }
  assert.ok(pieces.length > 2)
  const numbers = readCsv(pieces.join('')).map(({ entryNumber }) => Number(entryNumber))
  assert.deepEqual(
    numbers,
    Array.from({ length: 5_201 }, (_, index) => index + 1),
  )
})

/** Runs a command as the command line does, without a process. */
function run(name: string, values: Values): Promise<unknown> {
  return callCommand(customerCommands, name, { values }, { database: service.payments.database })
}

test('statements export accepts a name or a UUID, times and kinds; a day is a Korean day', async () => {
  const { customerId } = await service.customerWith(100)
  const all = (await exportCsv(customerId)).join('')
  assert.equal(await run('statements export', { customer: customerId.toUpperCase() }), all)
  const [, grant = '', spend = ''] = all.split('\r\n')
  const inKorea = new Date(new Date(grant.split(',')[1] ?? '').getTime() + 9 * 3_600_000).toISOString().slice(0, 10)
  assert.equal(await run('statements export', { customer: customerId, from: inKorea, to: inKorea }), all)
  const spends = await run('statements export', { customer: customerId, kind: 'SPEND, HOLD' })
  assert.equal(spends, `${columnNames}\r\n${spend}\r\n`)
  assert.equal(await run('statements export', { customer: customerId, to: '2001-01-01' }), `${columnNames}\r\n`)
})

test('balances show returns the balance of a customer, now or at the end of a Korean day', async () => {
  const { customerId } = await service.customerWith(100)
  assertSuccess(await internal.hold(customerId, 30), 201)
  const now = { balance: 100, held: 30, available: 70 }
  assert.deepEqual(await run('balances show', { customer: customerId }), { customerId, at: 'now', ...now })
  for (const [at, moment, expected] of [
    ['2001-01-01', '2001-01-01T14:59:59.999Z', { balance: 0, held: 0, available: 0 }],
    ['2101-01-01T00:00:00+09:00', '2100-12-31T15:00:00.000Z', now],
  ] as const) {
    assert.deepEqual(await run('balances show', { customer: customerId, at }), {
      customerId,
      at: new Date(moment),
      ...expected,
    })
  }
})

test('the commands refuse a customer, a time and a kind that do not exist', async () => {
  for (const name of ['statements export', 'balances show']) {
    await assert.rejects(run(name, { customer: 'unknown' }), new Error('There is no customer unknown.'))
    for (const customer of [undefined, '', ' ']) {
      await assert.rejects(run(name, customer === undefined ? {} : { customer }), /--customer NAME\|UUID is needed/)
    }
  }
  for (const kind of ['NONE', 'spend', 'SPEND,', 'SPEND HOLD']) {
    await assert.rejects(run('statements export', { customer: 'x', kind }), /--kind: ".*" is not one of GRANT, /)
  }
  for (const time of ['2026-02-30', 'yesterday', '2026-01-31T09:00:00']) {
    for (const name of ['from', 'to']) {
      await assert.rejects(run('statements export', { customer: 'x', [name]: time }), /: expected 2026-01-31 /)
    }
    await assert.rejects(run('balances show', { customer: 'x', at: time }), /--at: expected 2026-01-31 /)
  }
})
