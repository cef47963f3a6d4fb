// The texts of an audit's findings: every rule, and every value that the service writes about where it is broken, has a text
// in both languages.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audits as english } from '../../../console/src/words/en/audits.ts'
import { audits as korean } from '../../../console/src/words/ko/audits.ts'
import { ruleTexts } from '../../../src/payments/audit/audit.ts'
import { brokenGuards } from '../../support/audit/guard-cases.ts'

// The page is compiled with its own settings, which differ from those of this program.
const { describeWhere } = (await import('../../../console/src/pages/books/audits/audit-where.ts' as string)) as {
  describeWhere(subject: Record<string, unknown>, words: object): string
}
const hangul = /[가-힣]/

test('every rule of the audit has a Korean text, and is shown unchanged in English', () => {
  assert.deepEqual(Object.keys(korean.ruleWords).toSorted(), ruleTexts.toSorted())
  for (const words of Object.values(korean.ruleWords)) assert.match(words, hangul)
  assert.deepEqual(english.ruleWords, {})
})

/** Values that the check of the guards writes and that have no case in brokenGuards. */
const rarely = { kinds: ['setting'], faults: ['keeps triggers from firing'] }

test('the place where a rule is broken is shown in the language of the reader: every kind of guard, every fault, every table', () => {
  const found = brokenGuards.flatMap((sabotage) => sabotage.found)
  const kinds = [...new Set([...found.map(([kind]) => kind), ...rarely.kinds])].map((kind) => ({ kind }))
  const faults = [...new Set([...found.map(([, , , fault]) => fault), ...rarely.faults])].map((fault) => ({ fault }))
  const scans = Object.keys(english.kinds).map((scan) => ({ scan }))
  for (const subject of [...kinds, ...faults, ...scans, { table: 'all tables' }]) {
    assert.match(describeWhere(subject, { audits: korean }), /^[가-힣 ]+: [가-힣 PG]+$/, JSON.stringify(subject))
    assert.match(describeWhere(subject, { audits: english }), /^[A-Z][a-z ]+: [A-Za-z: ]+$/)
  }
  const slow = { customerId: null, orderId: null, scan: 'entries', from: ['a', 7], rows: 100 }
  assert.equal(describeWhere(slow, { audits: english }), 'Record type: Ledger entries, From: a 7, Batch size: 100')
  assert.equal(describeWhere({ table: 'orders', of: 'x' }, { audits: english }), 'Table: orders, of: x')
})
