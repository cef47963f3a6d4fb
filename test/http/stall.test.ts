// A process that was stalled detects it, and does not report the delay as a fault of the client.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOfParserError } from '../../src/http/error-handler.ts'
import { watchForStalls } from '../../src/http/limits/event-loop.ts'

test('a process that did not run for more than a second has stalled, within the requested period', () => {
  let time = 0
  const watch = watchForStalls(() => time)
  assert.equal(watch.hasStalledWithin(10_000), false)
  time += 900
  assert.equal(watch.hasStalledWithin(10_000), false)
  time += 1_500
  assert.equal(watch.hasStalledWithin(10_000), true)
  for (let tick = 0; tick < 20; tick += 1) {
    time += 500
    watch.hasStalledWithin(10_000)
  }
  assert.equal(watch.hasStalledWithin(10_000), true)
  time += 500
  assert.equal(watch.hasStalledWithin(10_000), false)
  watch.stop()
})

test('a late request is VAL001, and SVC001 when this process was stalled', () => {
  const late = { code: 'ERR_HTTP_REQUEST_TIMEOUT' }
  assert.equal(codeOfParserError(late, false), 'VAL001')
  assert.equal(codeOfParserError(late, true), 'SVC001')
  assert.equal(codeOfParserError({ code: 'HPE_INVALID_METHOD' }, true), 'VAL001')
})
