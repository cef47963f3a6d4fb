// Commands about the books: are they right by themselves, do they agree with the gateway, what is open.
import { uuidPattern } from '../core/ids.ts'
import { recordedAudit } from '../payments/audit/audit.ts'
import { isDoubtful, type Reconciliation, reconcile } from '../payments/books/reconcile.ts'
import { listOpenDiscrepancies, resolveDiscrepancy } from '../payments/recovery/discrepancies.sql.ts'
import { tellUnwritten } from './backup/unwritten.ts'
import type { Command, Values } from './command.ts'
import { dateOption, reasonOption } from './line/options.ts'
import { readTime } from './line/times.ts'

const listLimit = 1_000

const readSpan = ({ from, to }: Values) => ({ from: readTime(from, '00:00:00'), to: readTime(to, '23:59:59') })

/** The last day or second is included. */
const behind = (last: Date) => new Date((Math.floor(last.getTime() / 1_000) + 1) * 1_000)

export const bookCommands: Command[] = [
  {
    name: 'audit',
    does: 'Checks every rule the books must keep, beside running traffic.',
    more: [
      'Reads everything in small pieces: it slows nobody down and needs little memory, however large the books are. What ' +
        'is broken is listed with the rule, the row and what is wrong.',
      'What a worker should have ended by now is counted as stranded, and is no violation: after a restore or a long stop no ' +
        'worker has had the time. The nightly audit of a worker judges it.',
      'Its result is kept beside those of the nightly audits, for the console and the metrics, where the role may write.',
    ],
    examples: [
      { line: 'audit', does: 'ok: true, or the violations' },
      { line: 'audit --json', does: 'the same for a script, with exit code 1 when a rule is broken' },
    ],
    failsWhen: 'a rule is broken',
    changes: false,
    run: ({ database, onProgress, signal }) =>
      recordedAudit(database, 'COMMAND', {
        signal,
        liveness: 'counted',
        onProgress: (done, total) => onProgress('rows', done, total),
        onUnwritten: tellUnwritten,
      }),
    failed: (result) => !(result as { ok: boolean }).ok,
  },
  {
    name: 'reconcile',
    does: `Compares the gateway's list with the books, both ways. Repairs what is certain.`,
    more: [
      'The worker does the same every day by itself. What no rule can decide is left as a discrepancy, for a person: see ' +
        'discrepancies list. It can be run again at any time.',
    ],
    options: {
      from: { ...dateOption('the first day or moment'), needed: true },
      to: { ...dateOption('the last day or moment'), needed: true },
    },
    examples: [{ line: 'reconcile --from 2026-01-01 --to 2026-01-31', does: 'all of January in Korea' }],
    failsWhen: 'something disagrees, or the gateway did not tell',
    changes: true,
    check: ({ values }) => {
      const { from, to } = readSpan(values)
      return from && to && from < to ? undefined : '--to must be after --from'
    },
    async run({ payments, values, onProgress }) {
      const { from, to } = readSpan(values)
      if (!from || !to) throw new Error('no dates')
      return reconcile(await payments(), { from, to: behind(to) }, onProgress)
    },
    failed: (result) => isDoubtful(result as Reconciliation),
  },
  {
    name: 'discrepancies list',
    does: `Lists what a person has to look at, oldest first, ${listLimit} at most.`,
    examples: [{ line: 'discrepancies list', does: 'a table, or None.' }],
    changes: false,
    run: ({ database }) => listOpenDiscrepancies(database, listLimit),
  },
  {
    name: 'discrepancies resolve',
    does: 'Closes a discrepancy with what was found out about it.',
    more: ['If the gateway and the books still differ, the next reconciliation opens it again.'],
    arguments: [{ name: 'ID', about: 'the discrepancyId', listedBy: 'discrepancies list' }],
    options: { reason: reasonOption('what was found out') },
    examples: [
      {
        line: 'discrepancies resolve 0b1c7f0e-62f5-4a3c-9d55-3a2f2f1f7c11 --reason "agreed with the buyer"',
        does: 'it is listed no more',
      },
    ],
    changes: true,
    check: ({ positionals: [id = ''] }) =>
      uuidPattern.test(id) ? undefined : 'ID is the discrepancyId of: discrepancies list',
    async run({ database, positionals: [id = ''], values }) {
      const resolution = values.reason?.trim() ?? ''
      const kind = await resolveDiscrepancy(database, id, resolution)
      if (!kind) throw new Error(`There is no open discrepancy ${id}.`)
      return { discrepancyId: id, kind, resolution }
    },
  },
]
