// Commands about customers: the list, and of one the balance, the statement, the lots, the low-credits thresholds, suspension.
import { uuidPattern } from '../../core/ids.ts'
import { updateLowCredits } from '../../credits/accounts.sql.ts'
import { liabilityCsv } from '../../credits/lots/liability-csv.ts'
import { listLots } from '../../credits/lots/lots.sql.ts'
import { type EntryKind, entryKinds } from '../../credits/movements.ts'
import { balancesAt } from '../../credits/statement/statement.ts'
import { statementCsv } from '../../credits/statement/statement-csv.ts'
import { listCustomers } from '../../customers/customer-list.sql.ts'
import { updateSuspension } from '../../customers/customers.sql.ts'
import type { Argument, Call, Command } from '../command.ts'
import { customerOption, dateOption, limitOption, reasonOption, timeOption } from '../line/options.ts'
import { endOfDay, readTime } from '../line/times.ts'
import { findCustomerId, findNamedCustomer, requireCustomerId } from './customer-option.ts'

const maxLots = 1_000
const listLimit = 1_000

function readKinds(kind: string | undefined): EntryKind[] | null {
  return kind ? (kind.split(',').map((each) => each.trim()) as EntryKind[]) : null
}

const customerArgument: Argument = {
  name: 'CUSTOMER',
  description: 'the customer, by name or UUID',
  listedBy: 'customers list',
}

async function subjectOf({ database, positionals: [customer = ''] }: Omit<Call, 'subject'>): Promise<string> {
  return (await findNamedCustomer(database, customer)) ?? customer
}

async function setSuspended(call: Call, isSuspended: boolean): Promise<object> {
  const customerId = await subjectOf(call)
  if (!uuidPattern.test(customerId) || !(await updateSuspension(call.database, customerId, isSuspended))) {
    throw new Error(`There is no customer ${call.positionals[0]}.`)
  }
  return { customerId, status: isSuspended ? 'SUSPENDED' : 'ACTIVE' }
}

export const customerCommands: Command[] = [
  {
    name: 'customers list',
    summary: `Lists the customers with their balances, newest first, at most ${listLimit}.`,
    details: [
      'What was paid, less what was refunded, the orders and the last purchase are less than a minute old. With --name they are ' +
        'sorted by name.',
    ],
    options: {
      name: { value: 'PREFIX', description: 'only those whose names begin like this, in any case' },
      limit: limitOption(listLimit),
    },
    examples: [
      { line: 'customers list --limit 20', description: 'the last twenty' },
      { line: 'customers list --name ac', description: 'acme, and Acme Corporation' },
    ],
    changesData: false,
    async run({ database, values }) {
      const limit = Number(values.limit ?? listLimit)
      const rows = await listCustomers(database, { name: values.name?.trim() || null, cursor: null, limit })
      return rows.slice(0, limit)
    },
  },
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
    exportsData: true,
    findSubject: findCustomerId,
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
    exportsData: true,
    async *stream({ database, values }) {
      const at = readTime(values.at, endOfDay) ?? new Date()
      yield* liabilityCsv(database, new Date(at.getTime() + 1))
    },
  },
  {
    name: 'customers low-credits',
    summary:
      'Sets the balances below which the event credits.low is sent. It is sent once each time the balance falls below one.',
    options: {
      customer: customerOption,
      credits: {
        value: 'N,N,...|off',
        description: 'one to ten thresholds, or off',
        required: true,
        expects: 'one to ten numbers of at least 1, separated by commas, or off',
        accepts: (text) => /^(off|[1-9]\d{0,14}(,[1-9]\d{0,14}){0,9})$/.test(text),
      },
    },
    examples: [
      {
        line: 'customers low-credits --customer acme --credits 10',
        description: 'sends credits.low when fewer than 10 are left',
      },
      {
        line: 'customers low-credits --customer acme --credits 100,20,5',
        description: 'sends it in three steps, with the lowest one that was passed',
      },
      { line: 'customers low-credits --customer acme --credits off', description: 'switches the event off' },
    ],
    changesData: true,
    findSubject: findCustomerId,
    async run(call) {
      const customerId = await requireCustomerId(call)
      const lowCredits = call.values.credits === 'off' ? [] : (call.values.credits ?? '').split(',').map(Number)
      const steps = await updateLowCredits(call.database, customerId, lowCredits)
      return { customerId, lowCredits: steps?.length ? steps : null }
    },
  },
  {
    name: 'customers suspend',
    summary:
      'Suspends a customer: all its keys are refused with AUTH003 within a second, and its spends and holds at once.',
    details: [
      'Holds that are open can be captured and released, orders are settled and refunded, and background work goes on. To ' +
        'undo: customers activate.',
    ],
    arguments: [customerArgument],
    options: { reason: reasonOption('why, for the action log') },
    examples: [
      {
        line: 'customers suspend acme --reason "key leaked"',
        description: 'no credits of acme can be spent from now on',
      },
    ],
    changesData: true,
    findSubject: subjectOf,
    run: (call) => setSuspended(call, true),
  },
  {
    name: 'customers activate',
    summary: 'Ends the suspension of a customer. Keys that are suspended themselves stay so.',
    arguments: [customerArgument],
    options: { reason: reasonOption('why, for the action log') },
    examples: [{ line: 'customers activate acme --reason "keys replaced"', description: 'its active keys work again' }],
    changesData: true,
    findSubject: subjectOf,
    run: (call) => setSuspended(call, false),
  },
]
