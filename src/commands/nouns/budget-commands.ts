// Commands about budgets: how much may be spent in an hour, a day or a month.
import {
  type BudgetSetting,
  faultOfBudget,
  findBudget,
  listBudgets,
  mostBudgets,
  removeBudget,
  setBudget,
} from '../../credits/budgets/budgets.sql.ts'
import {
  allCustomers,
  type BudgetPeriod,
  type BudgetScope,
  budgetPeriods,
  budgetScopes,
} from '../../credits/budgets/kinds.ts'
import type { Call, Command, CommandInput } from '../command.ts'
import { customerOption } from '../line/options.ts'
import { findCustomerId, requireCustomerId } from './customer-option.ts'

const listLimit = 1_000
const { required: _, ...optionalCustomer } = customerOption

const isWholeNumber = (text: string) => /^(0|[1-9]\d{0,14})$/.test(text)

function settingOf({ values }: CommandInput, customerId: string): BudgetSetting {
  return {
    customerId,
    scope: values.scope as BudgetScope,
    value: values.value?.trim() ?? null,
    period: values.period as BudgetPeriod,
    credits: Number(values.credits),
    warnAt: values['warn-at'] === undefined ? null : Number(values['warn-at']),
  }
}

const isForAll = ({ values }: Pick<CommandInput, 'values'>) => values.customer?.trim() === 'all'

const customerOf = async (call: Call) => (isForAll(call) ? allCustomers : requireCustomerId(call))

export const budgetCommands: Command[] = [
  {
    name: 'budgets set',
    summary: 'Sets how many credits may be spent in an hour, a day or a month of Korean time.',
    details: [
      'Spends and holds beyond the budget are refused with BUS002. Several budgets can apply to one spend: all of them must ' +
        'have room for it. Setting the same scope, value and period again changes the credits; what was used stays.',
      'Without --value, a budget of scope KEY or USER is for each key or user by itself. A budget of a service is for all ' +
        'tokens of that name, for one customer or with --customer all for all customers together. Name a customer called ' +
        '"all" by its UUID.',
    ],
    options: {
      customer: { ...customerOption, value: 'NAME|UUID|all', description: 'the customer, by name or UUID, or all' },
      scope: { value: 'SCOPE', description: 'what the budget is for', required: true, choices: budgetScopes },
      value: {
        value: 'TEXT',
        description: 'the name of the service, the keyId or the userId',
        expects: '1 to 200 characters',
        accepts: (text) => text.trim() !== '' && text.length <= 200,
      },
      period: {
        value: 'PERIOD',
        description: 'how long it lasts until it renews',
        required: true,
        choices: budgetPeriods,
      },
      credits: {
        value: 'N',
        description: 'the credits of a period',
        required: true,
        expects: 'a whole number',
        accepts: isWholeNumber,
      },
      'warn-at': {
        value: 'N',
        description: 'sends budget.low when that many are used; default 80 % of the credits',
        expects: 'a whole number, at least 1',
        accepts: (text) => isWholeNumber(text) && text !== '0',
      },
    },
    examples: [
      {
        line: 'budgets set --customer acme --scope CUSTOMER --period MONTH --credits 5000',
        description: 'the customer spends at most 5,000 a month',
      },
      {
        line: 'budgets set --customer acme --scope KEY --period DAY --credits 100 --warn-at 90',
        description: 'each keyId spends at most 100 a day',
      },
      {
        line: 'budgets set --customer all --scope SERVICE --value analyses --period HOUR --credits 10000',
        description: 'the service spends at most 10,000 an hour, of all customers together',
      },
    ],
    changesData: true,
    check(input) {
      if (isForAll(input) && input.values.scope !== 'SERVICE') return 'A budget of all customers is of scope SERVICE.'
      const fault = faultOfBudget(settingOf(input, allCustomers))
      return fault && `--${fault.field === 'warnAt' ? 'warn-at' : fault.field}: ${fault.rule}.`
    },
    findSubject: async (call) => (isForAll(call) ? null : findCustomerId(call)),
    async run(call) {
      const customerId = await customerOf(call)
      if (isForAll(call) && call.database.groups) {
        throw new Error('A budget over all customers needs one server; on a cluster customers are on several.')
      }
      const setting = settingOf(call, customerId)
      const set = await setBudget(call.database, setting)
      if (!set) {
        const advice = 'Remove one first (see: budgets list).'
        throw new Error(`There are ${mostBudgets} budgets already, the most there can be. ${advice}`)
      }
      return { ...setting, ...set, customerId: isForAll(call) ? 'all' : customerId }
    },
  },
  {
    name: 'budgets remove',
    summary: 'Removes a budget: from now on it refuses nothing.',
    arguments: [{ name: 'BUDGETID', description: 'the id of the budget', listedBy: 'budgets list' }],
    examples: [{ line: 'budgets remove 3f0c8a52-9d1e-4b67-8c34-6a1f5e2d7b90', description: 'the other budgets stay' }],
    changesData: true,
    // Logged under the customer, as the console's actions on budgets are.
    findSubject: async ({ database, positionals: [budgetId = ''] }) =>
      (await findBudget(database, budgetId))?.customerId ?? budgetId,
    async run({ database, positionals: [budgetId = ''] }) {
      const budget = await findBudget(database, budgetId)
      if (!budget) throw new Error(`There is no budget ${budgetId}.`)
      await removeBudget(database, budgetId)
      return { budgetId: budgetId.toLowerCase(), removed: true }
    },
  },
  {
    name: 'budgets list',
    summary: `Lists the budgets with what is used of them now, at most ${listLimit}.`,
    details: ['Where each key or user has the limit for itself, used and left are of the one that has used the most.'],
    options: {
      customer: {
        ...optionalCustomer,
        value: 'NAME|UUID|all',
        description: 'only of this customer, or those over all customers',
      },
    },
    examples: [
      { line: 'budgets list', description: 'all budgets' },
      { line: 'budgets list --customer acme', description: 'the budgets of one customer' },
    ],
    changesData: false,
    async run(call) {
      const customerId = call.values.customer === undefined ? null : await customerOf(call)
      const budgets = await listBudgets(call.database, customerId, listLimit)
      return budgets.map(({ uses, customerId, customerName, ...budget }) => ({
        budgetId: budget.budgetId,
        customer: customerId === allCustomers ? 'all' : (customerName ?? customerId),
        scope: budget.scope,
        value: budget.value,
        period: budget.period,
        credits: budget.credits,
        warnAt: budget.warnAt,
        used: uses[0]?.used ?? 0,
        left: uses[0]?.left ?? budget.credits,
        renewsAt: budget.renewsAt,
        countsSince: budget.countsSince,
      }))
    },
  },
]
