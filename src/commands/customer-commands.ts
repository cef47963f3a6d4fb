// Commands about a customer: why the balance is what it is, and below what it is told of.
import { updateLowCredits } from '../credits/low-credits.ts'
import { balancesAt } from '../credits/statement.ts'
import { statementCsv } from '../credits/statement-csv.ts'
import { type EntryKind, entryKinds } from '../credits/statement-sql.ts'
import type { Command, Words } from './command.ts'
import { customerOf, needsCustomer } from './customer.ts'
import { dateFormat, readTime } from './times.ts'

/** Of a day. */
const lastMoment = '23:59:59.999'

function readKinds(kind: string | undefined): EntryKind[] | null {
  return kind ? (kind.split(',') as EntryKind[]) : null
}

function checkExport({ values: { from, to, kind, json } }: Words): string | undefined {
  if (json) return 'a statement is written as CSV: leave out --json'
  if (from !== undefined && !readTime(from, '00:00:00')) return `--from: expected ${dateFormat}`
  if (to !== undefined && !readTime(to, lastMoment)) return `--to: expected ${dateFormat}`
  const unknown = readKinds(kind)?.find((each) => !entryKinds.includes(each))
  return unknown === undefined ? undefined : `--kind: "${unknown}" is none of ${entryKinds.join(', ')}`
}

function checkMoment({ values: { at } }: Words): string | undefined {
  return at === undefined || readTime(at, lastMoment) ? undefined : `--at: expected ${dateFormat}`
}

function checkThreshold({ values: { credits = '' } }: Words): string | undefined {
  return /^(off|[1-9]\d{0,14})$/.test(credits) ? undefined : '--credits N is needed, at least 1, or off'
}

export const customerCommands: Command[] = [
  {
    name: 'statements export',
    takes: '--customer NAME|UUID [--from DATE] [--to DATE] [--kind A,B]',
    does: 'Writes every movement of a customer as CSV, oldest first.',
    changes: false,
    check: (words) => needsCustomer(words) ?? checkExport(words),
    async *stream(call) {
      const { from, to } = call.values
      const span = { from: readTime(from, '00:00:00') ?? null, to: readTime(to, lastMoment) ?? null }
      yield* statementCsv(call.database, {
        customerId: await customerOf(call),
        ...span,
        kinds: readKinds(call.values.kind),
      })
    },
  },
  {
    name: 'balances show',
    takes: '--customer NAME|UUID [--at TIME]',
    does: 'Shows what a customer has, or had at a moment: the balance, what is set aside, what can be spent.',
    changes: false,
    check: (words) => needsCustomer(words) ?? checkMoment(words),
    async run(call) {
      const customerId = await customerOf(call)
      const at = readTime(call.values.at, lastMoment)
      return { customerId, at: at ?? 'now', ...(await balancesAt(call.database, customerId, at ?? null)) }
    },
  },
  {
    name: 'customers low-credits',
    takes: '--customer NAME|UUID --credits N|off',
    does: 'Below N credits the event credits.low is sent, once each time the balance falls past it.',
    changes: true,
    check: (words) => needsCustomer(words) ?? checkThreshold(words),
    async run(call) {
      const customerId = await customerOf(call)
      const lowCredits = call.values.credits === 'off' ? null : Number(call.values.credits)
      await updateLowCredits(call.database, customerId, lowCredits)
      return { customerId, lowCredits }
    },
  },
]
