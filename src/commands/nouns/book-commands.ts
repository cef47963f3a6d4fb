// Commands about the books: audit them, reconcile them with the gateway, list and resolve discrepancies.
import { readFileSync } from 'node:fs'
import { verifyFiles } from '../../../client/src/verify/files.ts'
import { newOperationId, uuidPattern } from '../../core/ids.ts'
import { isRequest } from '../../credits/adjustments/adjust.ts'
import { withCustomerNames } from '../../customers/names.sql.ts'
import { recordedAudit } from '../../payments/audit/audit.ts'
import { isRunExplained } from '../../payments/books/reconcile.sql.ts'
import { isDoubtful, type Reconciliation, reconcile } from '../../payments/books/reconcile.ts'
import { sidesOf, spanStateOf } from '../../payments/books/span-state.ts'
import {
  findDiscrepancyOrder,
  listOpenDiscrepancies,
  resolveDiscrepancy,
} from '../../payments/recovery/discrepancies.sql.ts'
import { amountOf } from '../../payments/recovery/discrepancy-amount.ts'
import { acceptPart, creditsToTake, quotePart } from '../../payments/refunds/accept.ts'
import { type KeptCheckpoint, readKeptCheckpoints } from '../../transparency/kept.ts'
import { knownKeys } from '../../transparency/publication/published.ts'
import { findHoldingRestore, heldBackText } from '../../transparency/restored/restores.sql.ts'
import { personOf } from '../action-log-entry.ts'
import type { Call, Command, CommandInput, Confirmation, Values } from '../command.ts'
import { dateOption, reasonOption } from '../line/options.ts'
import { readTime } from '../line/times.ts'
import { warnUnrecordedAudit } from '../unrecorded-audit.ts'
import { limitsOfPerson, needsSecondPerson } from './person-limits.ts'

const listLimit = 1_000

const readSpan = ({ from, to }: Values) => ({ from: readTime(from, '00:00:00'), to: readTime(to, '23:59:59') })

/** The exclusive end of a span whose last day or second is included. */
const endAfter = (last: Date) => new Date((Math.floor(last.getTime() / 1_000) + 1) * 1_000)

const checkDiscrepancyId = ({ positionals: [id = ''] }: CommandInput) =>
  uuidPattern.test(id) ? undefined : 'ID is the discrepancyId (see: discrepancies list)'

async function confirmAcceptance(call: Call): Promise<Confirmation | undefined> {
  const { database, payments, positionals, values } = call
  const discrepancyId = (positionals[0] ?? '').toLowerCase()
  const key = await findDiscrepancyOrder(database, discrepancyId)
  if (!key) return undefined
  const quote = await quotePart(await payments(), { ...key, discrepancyId })
  const { orderId, paid, amount, creditsOfTheOrder, creditsUsed, proposed, most, unused, valueAfter } = quote
  const credits = creditsToTake(quote, creditsIn(values))
  const numbers = { orderId, paid, cancelledAtGateway: amount, creditsOfTheOrder, creditsUsed, proposed, most }
  const preview = { ...numbers, creditsTaken: credits, creditsLeft: unused - credits, valueAfter }
  const question = (await needsSecondPerson(call, proposed - credits))
    ? 'Store this as a request? It is booked when another person approves it.'
    : 'Accept this cancellation for good?'
  return { preview, question }
}

const creditsIn = ({ credits }: Values) => (credits === undefined ? undefined : Number(credits))

/** Only files that the log has signed: anything else says nothing about this log. */
async function readKept({ database, signer, values, resolvePath }: Call): Promise<KeptCheckpoint[]> {
  const { checkpoint: files = [] } = values
  const vkeys = files.length > 0 ? await knownKeys(database, signer().keys) : []
  const read = files.map(async (file) => {
    const content = readFileSync(resolvePath(file))
    const {
      ok,
      files: [report],
    } = await verifyFiles([{ name: file, content }], { keys: vkeys })
    if (!ok) throw new Error(`${file} is no checkpoint, receipt or consistency proof of this log: ${report?.result}.`)
    return readKeptCheckpoints(file, content.toString('utf8')) ?? []
  })
  return (await Promise.all(read)).flat()
}

export const bookCommands: Command[] = [
  {
    name: 'audit',
    summary: 'Checks every rule of the books, also while the service runs.',
    details: [
      'Reads in small batches: it does not slow the service down and needs little memory, however large the books are. ' +
        'Each violation is listed with its rule, its row and a description.',
      'Overdue work of the worker is counted as stranded and is not a violation: after a restore or a long stop no worker ' +
        'has had the time for it. The daily audit of a worker does report it as a violation.',
      'The result is stored with those of the daily audits, for the console and the metrics, if the database role may write.',
      'With --checkpoint also that the transparency log still contains a checkpoint that was kept elsewhere: it finds books ' +
        'that were written again with their log. The entries of a receipt are compared with the ledger and with their places ' +
        'in the log. A file that no known key of the log has signed is refused.',
    ],
    options: {
      checkpoint: {
        value: 'FILE',
        description: 'a checkpoint, receipt or consistency proof that was kept',
        isFile: true,
        isRepeated: true,
      },
    },
    examples: [
      { line: 'audit', description: 'ok: true, or the violations' },
      { line: 'audit --json', description: 'the same for a script; exit code 1 if a rule is violated' },
      { line: 'audit --checkpoint kept.checkpoint', description: 'also against an earlier checkpoint' },
    ],
    failsWhen: 'a rule is violated',
    changesData: false,
    async run(call) {
      const result = await recordedAudit(call.database, 'COMMAND', {
        signal: call.signal,
        kept: await readKept(call),
        peppers: call.knownPeppers(),
        liveness: 'counted',
        onProgress: (done, total) => call.onProgress('rows', done, total),
        onUnwritten: warnUnrecordedAudit,
      })
      const restore = await findHoldingRestore(call.database, call.logName())
      return { ...result, ...(restore && { log: heldBackText(restore, call.logName().origin) }) }
    },
    failed: (result) => !(result as { ok: boolean }).ok,
  },
  {
    name: 'reconcile',
    summary: `Compares the gateway's transactions with the books, in both directions. Repairs unambiguous differences.`,
    details: [
      'The worker does the same every day. What cannot be repaired automatically is stored as a discrepancy: see ' +
        'discrepancies list. The command can be repeated at any time.',
      'The state is agrees, repaired, explained (it differs, and each line is settled or resolved) or differs. ' +
        'The lines add up to the difference: gateway net = books net + lines. The amount of a line is what the gateway has ' +
        'more than our books because of it.',
    ],
    options: {
      from: { ...dateOption('the first day or time'), required: true },
      to: { ...dateOption('the last day or time'), required: true },
    },
    examples: [{ line: 'reconcile --from 2026-01-01 --to 2026-01-31', description: 'all of January in Korea' }],
    failsWhen: 'something disagrees or could not be looked up at the gateway',
    changesData: true,
    check: ({ values }) => {
      const { from, to } = readSpan(values)
      return from && to && from < to ? undefined : '--to must be after --from'
    },
    // The id of the run: the console shows it as under way until the action has its end.
    findSubject: async () => newOperationId(),
    async run({ database, payments, values, subject, onProgress }) {
      const { from, to } = readSpan(values)
      if (!from || !to) throw new Error('--from and --to are needed')
      const requestedBy = `${personOf(values)} on the command line`
      const span = { from, to: endAfter(to) }
      const id = subject ?? newOperationId()
      const result = await reconcile(await payments(), span, { requestedBy, id, onProgress })
      const { difference } = sidesOf(result)
      const state = spanStateOf(result, await isRunExplained(database, id))
      return { state, difference, ...result }
    },
    failed: (result) => isDoubtful(result as Reconciliation),
  },
  {
    name: 'discrepancies list',
    summary: `Lists the open discrepancies, oldest first, at most ${listLimit}.`,
    examples: [{ line: 'discrepancies list', description: 'a table, or "None."' }],
    changesData: false,
    async run({ database }) {
      const rows = await withCustomerNames(database, await listOpenDiscrepancies(database, listLimit))
      return rows.map(({ discrepancyId, kind, subject, detail, ...row }) => {
        const amount = amountOf({ kind, subject, detail })
        return { discrepancyId, kind, subject, ...row, amount, detail }
      })
    },
  },
  {
    name: 'discrepancies resolve',
    summary: 'Closes a discrepancy with an explanation.',
    details: ['It stays resolved as long as the gateway says the same.'],
    arguments: [{ name: 'ID', description: 'the discrepancyId', listedBy: 'discrepancies list' }],
    options: { reason: reasonOption('the explanation') },
    examples: [
      {
        line: 'discrepancies resolve 0b1c7f0e-62f5-4a3c-9d55-3a2f2f1f7c11 --reason "agreed with the buyer"',
        description: 'it is no longer listed',
      },
    ],
    changesData: true,
    check: checkDiscrepancyId,
    async run({ database, positionals: [id = ''], values }) {
      const resolution = values.reason?.trim() ?? ''
      const kind = await resolveDiscrepancy(database, id, resolution)
      if (!kind) throw new Error(`There is no open discrepancy ${id}.`)
      return { discrepancyId: id, kind, resolution }
    },
  },
  {
    name: 'discrepancies accept',
    summary:
      'Accepts a part that was cancelled at the gateway: it is booked, and the rest of the order keeps its value.',
    details: [
      'For a discrepancy PARTLY_CANCELLED_AT_GATEWAY. It moves no money. The order stays CONFIRMED, and what is left can be ' +
        'refunded. Without --credits those are taken that the won stand for, one for each 1,000. What is taken less or more ' +
        'counts like an adjustment: more than ADJUSTMENT_APPROVAL_ABOVE, or than is left of the limit today, become a ' +
        'request, which another person approves (adjustments approve). Reconciliation does not find it again.',
    ],
    arguments: [{ name: 'ID', description: 'the discrepancyId', listedBy: 'discrepancies list' }],
    options: {
      credits: {
        value: 'N',
        description: 'the credits that are taken; 0: none',
        expects: 'a whole number from 0 on',
        accepts: (text) => /^(0|[1-9]\d{0,8})$/.test(text),
      },
      reason: reasonOption('the explanation'),
    },
    examples: [
      {
        line: 'discrepancies accept 0b1c7f0e-62f5-4a3c-9d55-3a2f2f1f7c11 --credits 5 --reason "half a project"',
        description: '5 credits are taken, and the rest keeps its value',
      },
    ],
    changesData: true,
    requested: isRequest,
    check: checkDiscrepancyId,
    confirm: confirmAcceptance,
    async run(call) {
      const {
        database,
        payments: open,
        positionals: [id = ''],
        values,
      } = call
      const key = await findDiscrepancyOrder(database, id)
      if (!key) throw new Error(`There is no discrepancy ${id} of an order.`)
      const payments = await open()
      const credits = creditsIn(values)
      const acceptance = { ...key, discrepancyId: id.toLowerCase(), credits, reason: values.reason?.trim() ?? '' }
      return acceptPart(payments, { ...acceptance, actor: personOf(values) }, await limitsOfPerson(call))
    },
  },
]
