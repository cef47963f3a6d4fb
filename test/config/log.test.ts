// What gets into the log, and what does not whatever is handed to it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog, neverShown } from '../../src/log.ts'

function capture() {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => void lines.push(line) })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> & { err?: object } }
}

test('of an error there is what names the fault, and nothing that a row may have held', () => {
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

test('the cause of an error is told in the same way', () => {
  const { log, last } = capture()
  log.error({ err: new Error('outer', { cause: Object.assign(new Error('inner'), { detail: 'a row' }) }) }, 'failed')
  const { cause } = last().err as { cause: Record<string, unknown> }
  assert.deepEqual([cause.message, cause.detail], ['inner', undefined])
})

test('errors within errors are told, also where each is within the other', () => {
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

test('something thrown that is no error is not shown at all', () => {
  const { log, lines } = capture()
  log.error({ err: 'cpk_of_somebody' }, 'failed')
  assert.doesNotMatch(lines.join(''), /cpk_of_somebody/)
})

test('a text that is given as the error of a line is in it', () => {
  const { log, last } = capture()
  log.warn({ error: 'HTTP 503' }, 'an event was not taken')
  assert.equal(last().error, 'HTTP 503')
})

test('what is struck out is all that is secret or personal in what we handle', () => {
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
  test(`a field called ${name} is struck out at the top and below`, () => {
    const { log, lines } = capture()
    log.info({ [name]: 'do-not-show' }, 'top')
    log.info({ one: { [name]: 'do-not-show' } }, 'below')
    log.info({ one: { two: { [name]: 'do-not-show' } } }, 'further below')
    assert.equal(lines.length, 3)
    assert.doesNotMatch(lines.join(''), /do-not-show/)
  })
}

test('each entry is one line, whatever is in it', () => {
  const { log, lines } = capture()
  log.info({ orderId: 'a\r\n{"level":60}\u2028' }, 'one line')
  assert.equal(lines.join('').trimEnd().split('\n').length, 1)
})
