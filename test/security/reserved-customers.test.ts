// Two ids mean something else where a customer is named: the smallest UUID stands for all customers, the largest for the platform.
// No customer gets one, and no request or command takes one for a customer.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Call } from '../../src/commands/command.ts'
import { commands } from '../../src/commands/command-table.ts'
import { leastUuid } from '../../src/core/ids.ts'
import { issueKey } from '../../src/customers/api-keys.ts'
import { findOrCreateCustomer } from '../../src/customers/customers.sql.ts'
import { platformCustomer } from '../../src/events/outbox.sql.ts'
import { callCommand } from '../support/service/command-calls.ts'
import { assertRefused, testPeppers, testSigner } from '../support/service/service.ts'
import {
  assertFieldRefused,
  creditsPath,
  type SpendingService,
  startSpendingService,
} from '../support/spending/spending.ts'

let service: SpendingService
before(async () => {
  service = await startSpendingService()
  await findOrCreateCustomer(service.payments.database, platformCustomer, null)
})
after(() => service.close())

const meanings = {
  [leastUuid]: 'all customers',
  [platformCustomer]: 'the platform',
}
const ids = Object.keys(meanings).flatMap((id) => [...new Set([id, id.toUpperCase()])])

test('every command refuses them as a customer, and says what they stand for and what to do', async () => {
  const parts = { database: service.payments.database, peppers: () => testPeppers, signer: () => testSigner }
  const values = { credits: '1', reason: 'a reason', scope: 'CUSTOMER', period: 'DAY', reference: 'one' }
  const ofEvents = ['events list', 'events dead', 'events resend']
  for (const [id, meaning] of Object.entries(meanings)) {
    const expected = new RegExp(`^Error: ${id} stands for ${meaning}: .* Name the customer`, 'i')
    for (const command of commands) {
      const { name, options = {}, arguments: [argument] = [] } = command
      const isNamed = options.customer || argument?.name === 'CUSTOMER'
      // The platform has a queue of events.
      if (!isNamed || (ofEvents.includes(name) && id === platformCustomer)) continue
      const taken = Object.fromEntries(Object.entries(values).filter(([option]) => Object.hasOwn(options, option)))
      const input = options.customer
        ? { positionals: [], values: { ...taken, customer: ` ${id} ` } }
        : { positionals: [id.toUpperCase()], values: taken }
      const run = async () => {
        if ('findSubject' in command) await command.findSubject?.({ ...parts, ...input } as unknown as Call)
        return callCommand([command], name, input, parts)
      }
      await assert.rejects(run, expected, name)
    }
  }
})

test('the internal API takes them for no customer: VAL003 in a body, NOT000 in a path', async () => {
  const { internal } = service
  for (const id of ids) {
    assertFieldRefused(await internal.spend(id, 1), 'VAL003', 'customerId')
    assertFieldRefused(await internal.hold(id, 1), 'VAL003', 'customerId')
    assertFieldRefused(await internal.release(id, crypto.randomUUID()), 'VAL003', 'customerId')
    const answer = await internal.call(`${creditsPath}/spend`, { body: { customerId: id, credits: 1, reference: 'r' } })
    const [{ rule } = { rule: '' }] = (answer.body.metadata as { fields: { rule: string }[] }).fields
    assert.match(rule, /all customers.*the platform/)
    assertRefused(await internal.statement(id), 'NOT000')
    assertRefused(await internal.lots(id), 'NOT000')
    assertRefused(await internal.call(`/internal/v1/customers/${id}/budgets`), 'NOT000')
    assertRefused(await internal.statementReceipt(id, { from: '1', to: '1' }), 'NOT000')
  }
})

test('a customer that has such an id already keeps its orders and its credits, and the audit its books', async () => {
  const triggers = { customers: 'customers_have_ids_of_their_own', api_keys: 'api_keys_are_of_customers' }
  const set = async (what: 'disable' | 'enable') => {
    for (const [table, trigger] of Object.entries(triggers))
      await service.database.query(`alter table ${table} ${what} trigger ${trigger}`)
  }
  await set('disable')
  const { apiKey } = await issueKey(service.payments.database, testPeppers, leastUuid)
  await set('enable')
  const balance = await service.call<{ credits: number }>('/public/v1/payments/credits', { key: apiKey })
  assert.equal(balance.body.data.credits, 0)
  const { body } = await service.call('/public/v1/payments/purchase', {
    key: apiKey,
    body: { packageType: 'BASIC', paymentMethod: 'CARD' },
  })
  assert.equal(body.code, 'SUCCESS')
})

test('the schema refuses them: no customer of all customers, no name and no key of the platform', async () => {
  const { database } = service.payments
  const refused = { code: '23001' }
  for (const id of ids) {
    await assert.rejects(issueKey(database, testPeppers, id), refused, id)
    await assert.rejects(
      service.database.query(`insert into customers (customer_id, name) values ($1, 'named')`, [id]),
      refused,
      id,
    )
  }
})
