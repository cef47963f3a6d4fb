// What is written to the log, and what is never written, whatever is passed to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, neverShown } from '../../src/log.ts'

function capture() {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => void lines.push(line) })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> & { err?: object } }
}

test('an error is logged with the fields that name the fault, and without values of rows', () => {
  const { log, lines, last } = capture()
  const error = Object.assign(new Error('duplicate key value violates unique constraint'), {
    code: '23505',
    severity: 'ERROR',
    table: 'orders',
    constraint: 'orders_pkey',
    detail: 'Key (payment_key)=(tviva_secret) already exists.',
    where: 'a row (tviva_secret)',
    hint: 'tviva_secret',
    parameters: ['tviva_secret'],
  })
  log.error({ err: error }, 'unexpected error')
  assert.deepEqual(Object.keys(last().err ?? {}).toSorted(), [
    'code',
    'constraint',
    'message',
    'severity',
    'stack',
    'table',
    'type',
  ])
  assert.doesNotMatch(lines.join(''), /tviva_secret/)
})

test('the cause of an error is logged in the same way', () => {
  const { log, last } = capture()
  log.error({ err: new Error('outer', { cause: Object.assign(new Error('inner'), { detail: 'a row' }) }) }, 'failed')
  const { cause } = last().err as { cause: Record<string, unknown> }
  assert.deepEqual([cause.message, cause.detail], ['inner', undefined])
})

test('nested errors are logged, also when they are circular', () => {
  const { log, last } = capture()
  log.error({ err: new AggregateError([new Error('one address'), new Error('another')], 'no address') }, 'failed')
  const { errors } = last().err as { errors: { message: string }[] }
  assert.deepEqual(
    errors.map(({ message }) => message),
    ['one address', 'another'],
  )
  const circular: Error = new Error('circular')
  circular.cause = circular
  log.error({ err: circular, error: Object.assign(new Error('x'), { detail: 'a row' }) }, 'failed')
  assert.doesNotMatch(JSON.stringify(last()), /a row/)
})

test('a thrown value that is no error is not logged', () => {
  const { log, lines } = capture()
  log.error({ err: 'cpk_of_somebody' }, 'failed')
  assert.doesNotMatch(lines.join(''), /cpk_of_somebody/)
})

test('a text passed as the error of a line is logged', () => {
  const { log, last } = capture()
  log.warn({ error: 'HTTP 503' }, 'an event was not accepted')
  assert.equal(last().error, 'HTTP 503')
})

test('the redacted fields are all secret or personal fields of our data', () => {
  assert.deepEqual(neverShown.toSorted(), [
    '["service-api-key"]',
    'apiKey',
    'authorization',
    'cancelReason',
    'password',
    'paymentKey',
    'reason',
    'secret',
    'secretKey',
    'token',
  ])
})

for (const name of neverShown.map((each) => each.replaceAll(/[["\]]/g, ''))) {
  test(`a field called ${name} is redacted at the top level and below`, () => {
    const { log, lines } = capture()
    log.info({ [name]: 'do-not-show' }, 'top')
    log.info({ one: { [name]: 'do-not-show' } }, 'below')
    log.info({ one: { two: { [name]: 'do-not-show' } } }, 'further below')
    assert.equal(lines.length, 3)
    assert.doesNotMatch(lines.join(''), /do-not-show/)
  })
}

test('each entry is one line, whatever it contains', () => {
  const { log, lines } = capture()
  log.info({ orderId: 'a\r\n{"level":60}\u2028' }, 'one line')
  assert.equal(lines.join('').trimEnd().split('\n').length, 1)
})
