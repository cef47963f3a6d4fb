// Whatever the database says when it fails, the caller learns nothing of it: one of two codes, a fixed text, and for a bug
// the id by which it is found in the log, which is ours and not the caller's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { message, sendRaw } from '../../harness/raw-http.ts'
import { assertAnswer } from '../support/hostile.ts'
import { startTestService, type TestCustomer, type TestService } from '../support/service/service.ts'

const logged: string[] = []
let service: TestService
let customer: TestCustomer
before(async () => {
  service = await startTestService({ onLogged: (line) => logged.push(line) })
  customer = await service.newCustomer()
  await service.database.query(
    `create function fail() returns trigger language plpgsql as $$ begin
       raise exception using errcode = tg_argv[0], message = 'select hush from orders where hush = 1',
         detail = 'Key (hush)=(hush) already exists.', hint = 'hush', constraint = 'orders_hush', table = 'orders';
     end $$`,
  )
})
after(() => service.close())

/** From this moment on every new order fails in this way; what was stored is untouched. */
async function failWith(sqlstate: string): Promise<void> {
  await service.database.query('drop trigger if exists fail on orders')
  await service.database.query(
    `create trigger fail before insert on orders for each row execute function fail('${sqlstate}')`,
  )
}

const body = '{"packageType":"BASIC"}'
const foreignIds = ['request-id', 'x-request-id', 'x-correlation-id', 'x-amzn-trace-id']
const purchase = () =>
  message(
    'POST /public/v1/payments/purchase',
    [
      'host: service',
      `service-api-key: ${customer.apiKey}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
      ...foreignIds.map((name) => `${name}: the-callers-own`),
    ],
    body,
  )

/** By the table in src/db/database.ts: what may be better soon is SVC001, what is a fault of ours INT001. */
const answers = {
  '22021 character not in repertoire': 'INT001',
  '22P02 invalid text representation': 'INT001',
  '23505 unique violation': 'INT001',
  '23514 check violation': 'INT001',
  '42P01 undefined table': 'INT001',
  '42501 insufficient privilege': 'INT001',
  'XX000 internal error': 'INT001',
  '40001 serialization failure': 'SVC001',
  '53300 too many connections': 'SVC001',
  '57014 query canceled': 'SVC001',
} as const

for (const [name, code] of Object.entries(answers)) {
  test(`${name} is ${code}, without a word of what the database said, nor of what the caller called it`, async () => {
    const sqlstate = name.slice(0, 5)
    await failWith(sqlstate)
    const lines = logged.length
    const answer = await sendRaw(service.port, purchase())
    assertAnswer(answer, code)
    assert.doesNotMatch(answer.head + answer.text, new RegExp(`hush|${sqlstate}|orders|the-callers-own`))
    const entries = logged.slice(lines).map((line) => JSON.parse(line) as { requestId?: string })
    assert.doesNotMatch(JSON.stringify(entries), /the-callers-own/)
    if (code === 'SVC001') {
      assert.deepEqual([answer.body.metadata, answer.headers.get('retry-after')], [null, '1'])
      return
    }
    const { requestId } = answer.body.metadata as { requestId: string }
    assert.deepEqual(Object.keys(answer.body.metadata ?? {}), ['requestId'])
    assert.equal(entries.filter((entry) => entry.requestId === requestId).length, 1)
    assert.match(requestId, /^[0-9A-Za-z]{10}-\d+$/)
  })
}

test('afterwards purchases work again', async () => {
  await service.database.query('drop trigger fail on orders')
  assertAnswer(await sendRaw(service.port, purchase()), 'SUCCESS', 201)
})
