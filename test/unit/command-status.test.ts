// What a long command writes on stderr while nothing moves.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStatus } from '../../src/commands/line/status.ts'

type Options = { isJson?: boolean; isTTY?: boolean; columns?: number }

function statusOn(t: TestContext, { isJson = false, ...stream }: Options = {}) {
  const written: string[] = []
  let now = 0
  t.mock.timers.enable({ apis: ['setInterval'] })
  const status = createStatus(isJson, { ...stream, write: (text: string) => written.push(text) }, () => now)
  function pass(seconds: number): void {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000
      t.mock.timers.tick(1_000)
    }
  }
  return { status, written, pass }
}

test('a statement under way for five seconds is named, with how far the command is; then every five seconds', (t) => {
  const { status, written, pass } = statusOn(t)
  status.begin()
  status.watch('payments.quick')()
  status.show('rows', 12_000, 30_000)
  const end = status.watch('payments.auditOrders')
  pass(4)
  assert.deepEqual(written, [])
  pass(6)
  end()
  status.end()
  pass(60)
  assert.deepEqual(written, [
    'Waiting for the database for 5 s: payments.auditOrders, rows: 12,000 of 30,000\n',
    'Waiting for the database for 10 s: payments.auditOrders, rows: 12,000 of 30,000\n',
  ])
})

test('a command that waits for something else, such as the gateway, reports how long it runs', (t) => {
  const { status, written, pass } = statusOn(t)
  status.begin()
  pass(5)
  status.end()
  assert.deepEqual(written, ['Running for 5 s\n'])
})

test('a command that writes rows reports how many lines it has written, not on a line of the output', async (t) => {
  const { status, written, pass } = statusOn(t, { isTTY: true, columns: 120 })
  async function* rows() {
    yield 'a,b\n1,2\n'
    pass(6)
    yield '3,4\n'
  }
  status.begin()
  const pieces: string[] = []
  for await (const piece of status.counted(rows())) pieces.push(piece)
  status.end()
  assert.deepEqual(pieces, ['a,b\n1,2\n', '3,4\n'])
  assert.deepEqual(written, ['\r\x1b[KRunning for 5 s, 2 lines written', '\r\x1b[K'])
})

test('while there is progress there is no other line', (t) => {
  const { status, written, pass } = statusOn(t)
  status.begin()
  for (let done = 0; done < 5; done += 1) {
    status.show('rows', done, 5)
    pass(2)
  }
  status.end()
  assert.deepEqual(written, ['rows: 3 of 5 (60 %), 4 s left\n'])
})

test('nothing is written before the command begins, or after it was paused for a question', (t) => {
  const { status, written, pass } = statusOn(t)
  pass(20)
  assert.deepEqual(written, [])
  status.begin()
  status.end()
  pass(20)
  assert.deepEqual(written, [])
})

test('with --json a line is a JSON document, but not on a terminal, where it is redrawn in place', (t) => {
  const piped = statusOn(t, { isJson: true })
  piped.status.begin()
  piped.pass(5)
  assert.deepEqual(piped.written, ['{"progress":"Running for 5 s"}\n'])
  piped.status.end()
  t.mock.timers.reset()
  const terminal = statusOn(t, { isJson: true, isTTY: true, columns: 10 })
  terminal.status.begin()
  terminal.pass(5)
  terminal.status.end()
  assert.deepEqual(terminal.written, ['\r\x1b[KRunning f', '\r\x1b[K'])
})
