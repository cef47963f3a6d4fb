// Commands about customers' credits: the balance, the statement, the lots and the low-credits threshold.
import { updateLowCredits } from '../../credits/accounts.sql.ts'
import { liabilityCsv } from '../../credits/lots/liability-csv.ts'
import { listLots } from '../../credits/lots/lots.sql.ts'
import { type EntryKind, entryKinds } from '../../credits/statement/statement.sql.ts'
import { balancesAt } from '../../credits/statement/statement.ts'
import { statementCsv } from '../../credits/statement/statement-csv.ts'
import type { Command } from '../command.ts'
import { customerOption, dateOption, limitOption, timeOption } from '../line/options.ts'
import { readTime } from '../line/times.ts'
import { findCustomerId, requireCustomerId } from './customer-option.ts'

const maxLots = 1_000
const endOfDay = '23:59:59.999'

function readKinds(kind: string | undefined): EntryKind[] | null {
  return kind ? (kind.split(',').map((each) => each.trim()) as EntryKind[]) : null
}

export const customerCommands: Command[] = [
  {
    name: 'balances show',
    summary: "Shows a customer's balance, held credits and available credits, now or at an earlier time.",
    options: { customer: customerOption, at: timeOption('the time; a date without a time means the end of that day') },
    examples: [
      { line: 'balances show --customer acme', description: 'now' },
      { line: 'balances show --customer acme --at 2026-01-31', description: 'at the end of January in Korea' },
    ],
    changesData: false,
    async run(call) {
      const customerId = await requireCustomerId(call)
      const at = readTime(call.values.at, endOfDay)
      return { customerId, at: at ?? 'now', ...(await balancesAt(call.database, customerId, at ?? null)) }
    },
  },
  {
    name: 'statements export',
    summary: "Writes a customer's ledger entries as CSV, oldest first.",
    options: {
      customer: customerOption,
      from: dateOption('the first day or time'),
      to: dateOption('the last day or time'),
      kind: {
        value: 'A,B',
        description: `only entries of these kinds: ${entryKinds.join(', ')}`,
        choices: entryKinds,
        isList: true,
      },
    },
    examples: [
      { line: 'statements export --customer acme', description: 'all entries' },
      {
        line: 'statements export --customer acme --from 2026-01-01 --to 2026-01-31 --kind SPEND,CAPTURE',
        description: 'the credits spent in January',
      },
    ],
    writes: 'CSV',
    changesData: false,
    async *stream(call) {
      const { from, to } = call.values
      yield* statementCsv(call.database, {
        customerId: await requireCustomerId(call),
        from: readTime(from, '00:00:00') ?? null,
        to: readTime(to, endOfDay) ?? null,
        kinds: readKinds(call.values.kind),
      })
    },
  },
  {
    name: 'lots list',
    summary:
      "Lists what is left of a customer's orders, newest first: used, held, unused and taken back credits, and the value.",
    options: { customer: customerOption, limit: limitOption(maxLots) },
    examples: [{ line: 'lots list --customer acme', description: 'a table of orders' }],
    changesData: false,
    async run(call) {
      const limit = Number(call.values.limit ?? maxLots)
      return listLots(call.database, await requireCustomerId(call), { below: null, limit })
    },
  },
  {
    name: 'lots export',
    summary:
      'Writes the outstanding liability as CSV: every order with unspent credits, of all customers, and their value in won.',
    options: { at: timeOption('the time; a date without a time means the end of that day; default: now') },
    examples: [
      { line: 'lots export', description: 'now' },
      { line: 'lots export --at 2026-01-31', description: 'at the end of January in Korea' },
    ],
    writes: 'CSV',
    changesData: false,
    async *stream({ database, values }) {
      const at = readTime(values.at, endOfDay) ?? new Date()
      yield* liabilityCsv(database, new Date(at.getTime() + 1))
    },
  },
  {
    name: 'customers low-credits',
    summary:
      'Sets the balance below which the event credits.low is sent. It is sent once each time the balance falls below.',
    options: {
      customer: customerOption,
      credits: {
        value: 'N|off',
        description: 'the threshold, or off',
        required: true,
        expects: 'at least 1, or off',
        accepts: (text) => /^(off|[1-9]\d{0,14})$/.test(text),
      },
    },
    examples: [
      {
        line: 'customers low-credits --customer acme --credits 10',
        description: 'sends credits.low when fewer than 10 are left',
      },
      { line: 'customers low-credits --customer acme --credits off', description: 'switches the event off' },
    ],
    changesData: true,
    findSubject: findCustomerId,
    async run(call) {
      const customerId = await requireCustomerId(call)
      const lowCredits = call.values.credits === 'off' ? null : Number(call.values.credits)
      await updateLowCredits(call.database, customerId, lowCredits)
      return { customerId, lowCredits }
    },
  },
]
