// Commands about a customer: why the balance is what it is, and below what it is told of.
import { updateLowCredits } from '../credits/accounts.sql.ts'
import { type EntryKind, entryKinds } from '../credits/statement.sql.ts'
import { balancesAt } from '../credits/statement.ts'
import { statementCsv } from '../credits/statement-csv.ts'
import type { Command } from './command.ts'
import { customerAbout, customerOf } from './customer.ts'
import { customerOption, dateOption, timeOption } from './line/options.ts'
import { readTime } from './line/times.ts'

/** Of a day. */
const lastMoment = '23:59:59.999'

function readKinds(kind: string | undefined): EntryKind[] | null {
  return kind ? (kind.split(',').map((each) => each.trim()) as EntryKind[]) : null
}

export const customerCommands: Command[] = [
  {
    name: 'balances show',
    does: 'Shows what a customer has, or had at a moment: the balance, what is set aside, what can be spent.',
    options: { customer: customerOption, at: timeOption('the moment; the end of a day that is given alone') },
    examples: [
      { line: 'balances show --customer acme', does: 'now' },
      { line: 'balances show --customer acme --at 2026-01-31', does: 'at the end of January in Korea' },
    ],
    changes: false,
    async run(call) {
      const customerId = await customerOf(call)
      const at = readTime(call.values.at, lastMoment)
      return { customerId, at: at ?? 'now', ...(await balancesAt(call.database, customerId, at ?? null)) }
    },
  },
  {
    name: 'statements export',
    does: 'Writes every movement of a customer as CSV, oldest first.',
    options: {
      customer: customerOption,
      from: dateOption('the first day or moment'),
      to: dateOption('the last day or moment'),
      kind: {
        value: 'A,B',
        about: `only these kinds of movements: ${entryKinds.join(', ')}`,
        choices: entryKinds,
        many: true,
      },
    },
    examples: [
      { line: 'statements export --customer acme', does: 'all of it' },
      {
        line: 'statements export --customer acme --from 2026-01-01 --to 2026-01-31 --kind SPEND,CAPTURE',
        does: 'what was spent in January',
      },
    ],
    writes: 'CSV',
    changes: false,
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
    name: 'customers low-credits',
    does: 'Sets below how many credits the event credits.low is sent. Once each time the balance falls past it.',
    options: {
      customer: customerOption,
      credits: {
        value: 'N|off',
        about: 'the threshold, or off',
        needed: true,
        expects: 'at least 1, or off',
        accepts: (text) => /^(off|[1-9]\d{0,14})$/.test(text),
      },
    },
    examples: [
      { line: 'customers low-credits --customer acme --credits 10', does: 'tells when fewer than 10 are left' },
      { line: 'customers low-credits --customer acme --credits off', does: 'tells no more' },
    ],
    changes: true,
    about: customerAbout,
    async run(call) {
      const customerId = await customerOf(call)
      const lowCredits = call.values.credits === 'off' ? null : Number(call.values.credits)
      await updateLowCredits(call.database, customerId, lowCredits)
      return { customerId, lowCredits }
    },
  },
]
