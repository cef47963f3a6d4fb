// Commands that cannot be undone ask for confirmation on a terminal; a script is not prompted.
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { commands } from '../../src/commands/command-table.ts'
import { askToConfirm, isInteractive, type Terminal } from '../../src/commands/line/confirmation.ts'

function terminal({ input = true, output = true } = {}) {
  const typed = Object.assign(new PassThrough(), { isTTY: input })
  const shown = Object.assign(new PassThrough(), { isTTY: output })
  const terminal: Terminal = { input: typed, output: shown, format: {} }
  return { terminal, typed, text: () => String(shown.read() ?? '') }
}

const refund = { preview: { orderId: 'ord_1', backToTheCard: 20_000 }, question: 'Give the money back?' }
const never = new AbortController().signal

for (const [answer, goesOn] of [
  ['y', true],
  ['yes', true],
  [' YES ', true],
  ['', false],
  ['n', false],
  ['no', false],
  ['yesterday', false],
  ['ja', false],
] as const) {
  test(`"${answer}" ${goesOn ? 'goes on' : 'changes nothing'}`, async () => {
    const { terminal: it, typed, text } = terminal()
    typed.write(`${answer}\n`)
    assert.equal(await askToConfirm(it, refund, never), goesOn)
    assert.equal(text(), 'orderId:       ord_1\nbackToTheCard: 20,000\n\nGive the money back? [y/N] ')
  })
}

test('the end of the input changes nothing, and neither does an interrupt', async () => {
  const ended = terminal()
  ended.typed.end()
  assert.equal(await askToConfirm(ended.terminal, refund, never), false)
  assert.ok(ended.text().endsWith('[y/N] \n'))
  const interrupted = terminal()
  const controller = new AbortController()
  const confirmed = askToConfirm(interrupted.terminal, refund, controller.signal)
  controller.abort()
  assert.equal(await confirmed, false)
})

test('there is no prompt without a terminal at both ends, with --yes, or with --json', () => {
  assert.equal(isInteractive(terminal().terminal, {}), true)
  assert.equal(isInteractive(terminal({ input: false }).terminal, {}), false)
  assert.equal(isInteractive(terminal({ output: false }).terminal, {}), false)
  assert.equal(isInteractive(terminal().terminal, { yes: true }), false)
  assert.equal(isInteractive(terminal().terminal, { json: true }), false)
})

test('the commands that cannot be undone ask for confirmation, and the one that may create a customer twice', () => {
  const asking = commands.filter(({ confirm }) => confirm).map(({ name }) => name)
  assert.deepEqual(asking, [
    'keys issue',
    'adjustments grant',
    'adjustments correct',
    'adjustments approve',
    'orders refund',
    'discrepancies accept',
    'endpoints remove',
    'restore',
    'move',
  ])
})
