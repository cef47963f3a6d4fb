// What a spend or a hold was for: it is stored once, with its entry, and a customer has at most a hundred labels, also when they
// are first used at once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setBudget } from '../../../src/credits/budgets/budgets.sql.ts'
import { mostLabels } from '../../../src/credits/use/details.sql.ts'
import { type Answer, assertSuccess } from '../../support/service/service.ts'
import {
  assertFieldRefused,
  atOnce,
  type SpendingService,
  startInternal,
  startSpendingService,
} from '../../support/spending/spending.ts'

let service: SpendingService
let internal: SpendingService['internal']
before(async () => {
  service = await startSpendingService()
  internal = service.internal
})
after(() => service.close())

/** As `KIND key user label units`, oldest first. */
async function detailsOf(customerId: string): Promise<string[]> {
  const rows = await service.database.query<{ line: string }>(
    `select concat_ws(' ', e.kind, d.key_id, d.user_id, d.label, d.units) as line
    from use_details d join ledger_entries e using (customer_id, entry_number)
    where customer_id = $1 order by entry_number`,
    [customerId],
  )
  return rows.map(({ line }) => line)
}

async function labelsOf(customerId: string): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    'select count(*)::int as count from use_labels where customer_id = $1',
    [customerId],
  )
  return row?.count ?? 0
}

async function fillLabels(customerId: string, count: number): Promise<void> {
  await service.database.query(
    `insert into use_labels (customer_id, label, place) select $1, 'label-' || n, n from generate_series(1, $2) as n`,
    [customerId, count],
  )
}

const all = { keyId: 'key-1', userId: 'user-1', label: 'summary', units: 12 }
const whole = 'key-1 user-1 summary 12'

test('what a spend and a hold were for is stored with their entries, and nothing for those without', async () => {
  const { customerId } = await service.customerWith(50)
  assertSuccess(await internal.spend(customerId, 1), 200)
  assertSuccess(await internal.spend(customerId, 1, 'all', all), 200)
  assertSuccess(await internal.spend(customerId, 1, 'units', { units: 0 }), 200)
  assertSuccess(await internal.hold(customerId, 5, all), 201)
  const { holdId } = (await internal.hold(customerId, 5, { userId: 'user-2' })).body.data
  assertSuccess(await internal.capture(customerId, holdId, 2), 200)
  assertSuccess(await internal.reverse(customerId, 'all'), 200)
  assert.deepEqual(await detailsOf(customerId), [`SPEND ${whole}`, 'SPEND 0', `HOLD ${whole}`, 'HOLD user-2'])
})

test('the statement has them for every entry that belongs to the spend or hold, and the units once', async () => {
  const { customerId } = await service.customerWith(50)
  const details = { keyId: 'key-1', userId: 'user-1', label: 'summary', units: 12 }
  await internal.spend(customerId, 2, 'spent', details)
  await internal.reverse(customerId, 'spent', { credits: 1 })
  const { holdId } = (await internal.hold(customerId, 9, { label: 'search', units: 5, reference: 'held' })).body.data
  await internal.capturePart(customerId, holdId, 2)
  await internal.capture(customerId, holdId, 3)
  await internal.reverse(customerId, 'held', { credits: 1 })
  const { entries } = (await internal.statement(customerId)).body.data
  const shown = entries
    .toReversed()
    .map(({ kind, keyId, userId, label, units }) => [kind, keyId, userId, label, units].join(' '))
  assert.deepEqual(shown.slice(-6), [
    'SPEND key-1 user-1 summary 12',
    'REVERSAL key-1 user-1 summary ',
    'HOLD   search 5',
    'CAPTURE   search ',
    'CAPTURE   search ',
    'REVERSAL   search ',
  ])
})

test('a repeat stores nothing more, whatever it says', async () => {
  const { customerId } = await service.customerWith(50)
  const hold = { reference: 'held', label: 'summary' }
  const first = await internal.hold(customerId, 5, hold)
  await internal.spend(customerId, 2, 'spent', all)
  const answers = [
    await internal.spend(customerId, 2, 'spent', all),
    await internal.spend(customerId, 2, 'spent', { label: 'another', units: 99 }),
    await internal.spend(customerId, 2, 'spent'),
  ]
  for (const answer of answers) assert.deepEqual(answer.body.data, { reference: 'spent', credits: 2, balance: 43 })
  assert.deepEqual((await internal.hold(customerId, 5, { ...hold, label: 'another' })).body.data, first.body.data)
  assert.deepEqual(await detailsOf(customerId), ['HOLD summary', `SPEND ${whole}`])
  assert.equal(await labelsOf(customerId), 1)
})

test('repeats at once of a spend with a label that is new store one entry with its details', async () => {
  const { customerId } = await service.customerWith(50)
  const other = await startInternal(service.payments)
  const answers = await atOnce(8, (index) => (index % 2 ? internal : other).spend(customerId, 2, 'once', all))
  await other.close()
  for (const answer of answers) assertSuccess(answer, 200)
  assert.deepEqual(await detailsOf(customerId), [`SPEND ${whole}`])
  assert.equal(await labelsOf(customerId), 1)
})

test('a customer with budgets has the same details', async () => {
  const { customerId } = await service.customerWith(50)
  const budget = { customerId, scope: 'KEY', value: null, period: 'DAY', credits: 10, warnAt: null } as const
  await setBudget(service.payments.database, budget)
  assertSuccess(await internal.spend(customerId, 4, 'all', all), 200)
  assertSuccess(await internal.hold(customerId, 4, { ...all, label: 'second' }), 201)
  assert.equal((await internal.spend(customerId, 4, 'over', { ...all, label: 'third' })).body.code, 'BUS002')
  assert.deepEqual(await detailsOf(customerId), [`SPEND ${whole}`, 'HOLD key-1 user-1 second 12'])
  assert.equal(await labelsOf(customerId), 2)
})

test('a spend that is refused takes no place of a label', async () => {
  const { customerId } = await service.customerWith(5)
  assert.equal((await internal.spend(customerId, 6, 'too-much', all)).body.code, 'BUS002')
  assert.equal((await internal.hold(customerId, 6, all)).body.code, 'BUS002')
  assert.equal(await labelsOf(customerId), 0)
})

test('a label beyond the hundredth is refused with its field, and known ones go on', async () => {
  const { customerId } = await service.customerWith(50)
  await fillLabels(customerId, mostLabels - 1)
  assertSuccess(await internal.spend(customerId, 1, 'last', { label: 'last' }), 200)
  const refused = [
    await internal.spend(customerId, 1, 'a', { label: 'one-more' }),
    await internal.spend(customerId, 1, 'a', { label: 'one-more', dryRun: true }),
    await internal.hold(customerId, 1, { label: 'one-more' }),
    await internal.hold(customerId, 1, { label: 'one-more', dryRun: true }),
  ]
  for (const answer of refused) {
    assertFieldRefused(answer, 'VAL003', 'label')
    assert.match(answer.text, /the customer has 100 different labels already, the most there can be/)
  }
  for (const label of ['last', 'label-1']) {
    assertSuccess(await internal.spend(customerId, 1, label, { label }), 200)
    assertSuccess(await internal.hold(customerId, 1, { label, dryRun: true }), 200)
  }
  assertSuccess(await internal.spend(customerId, 1, 'a'), 200)
})

test('new labels that are first used at once are never more than there can be', async () => {
  const { customerId } = await service.customerWith(50)
  await fillLabels(customerId, mostLabels - 3)
  const other = await startInternal(service.payments)
  const answers = await atOnce<Answer<unknown>>(12, (index) =>
    index % 2
      ? internal.spend(customerId, 1, `new-${index}`, { label: `new-${index}` })
      : other.hold(customerId, 1, { label: `new-${index}` }),
  )
  await other.close()
  const refused = answers.filter(({ status }) => status >= 400)
  for (const answer of refused) assertFieldRefused(answer, 'VAL003', 'label')
  assert.equal(refused.length, 9)
  assert.equal(await labelsOf(customerId), mostLabels)
})

test('labels of another customer take no place', async () => {
  const [first, second] = [await service.customerWith(5), await service.customerWith(5)]
  await fillLabels(first.customerId, mostLabels)
  assertSuccess(await internal.spend(second.customerId, 1, 'a', { label: 'new' }), 200)
  assert.deepEqual(await detailsOf(second.customerId), ['SPEND new'])
})

for (const [field, values] of Object.entries({
  label: ['', 'two words', 'é', 'x'.repeat(201), 1],
  units: [-1, 1.5, 1_000_000_000_001, '1'],
})) {
  test(`${field} that is not allowed is refused`, async () => {
    const { customerId } = await service.customerWith(5)
    for (const value of values) {
      assertFieldRefused(await internal.spend(customerId, 1, 'a', { [field]: value }), 'VAL003', field)
      assertFieldRefused(await internal.hold(customerId, 1, { [field]: value }), 'VAL003', field)
    }
  })
}

test('the longest label and the most units are stored', async () => {
  const { customerId } = await service.customerWith(5)
  const label = '~'.repeat(200)
  assertSuccess(await internal.spend(customerId, 1, 'a', { label, units: 1_000_000_000_000 }), 200)
  assert.deepEqual(await detailsOf(customerId), [`SPEND ${label} 1000000000000`])
})
