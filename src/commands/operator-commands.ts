// Commands about the people who may sign in to the console.
import { listOperators, type OperatorStatus, updateRole, updateStatus } from '../operators/operators.sql.ts'
import { addOperator, operatorNamePattern, resetOperator } from '../operators/operators.ts'
import { type Role, roles } from '../operators/permissions.ts'
import type { Argument, Call, Command, Option } from './command.ts'

const listLimit = 1_000

const operatorArgument: Argument = { name: 'NAME', about: 'the operator', listedBy: 'operators list' }

const roleOption: Option = {
  value: 'ROLE',
  about: 'what they may do: viewer, support, finance or admin',
  needed: true,
  choices: roles,
}

const nameRule =
  'NAME is 2 to 40 small letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.'

function known<Found>(found: Found | undefined, name: string): Found {
  if (found === undefined) throw new Error(`There is no operator ${name}.`)
  return found
}

const setTo = (status: OperatorStatus) =>
  async function run({ database, positionals: [name = ''] }: Call): Promise<object> {
    const { operatorId } = known(await updateStatus(database, name, status), name)
    return { operatorId, name, status }
  }

export const operatorCommands: Command[] = [
  {
    name: 'operators add',
    does: 'Adds somebody who may sign in to the console, and shows their first password this once.',
    more: [
      'They have to change it when they sign in, within FIRST_PASSWORD_HOURS (72). A viewer reads; support settles orders, resends events, makes customers and suspends keys; ' +
        'finance settles, refunds, reconciles and exports; an admin does all of it.',
    ],
    arguments: [{ name: 'NAME', about: 'what they sign in as, such as kim' }],
    options: { role: roleOption },
    examples: [{ line: 'operators add kim --role support', does: 'shows operatorId, name, role and firstPassword' }],
    changes: true,
    check: ({ positionals: [name = ''] }) => (operatorNamePattern.test(name) ? undefined : nameRule),
    async run({ database, positionals: [name = ''], values }) {
      const added = await addOperator(database, name, values.role as Role)
      if (!added) throw new Error(`There is an operator ${name} already.`)
      return added
    },
  },
  {
    name: 'operators list',
    does: `Lists the operators by name, ${listLimit} at most.`,
    examples: [{ line: 'operators list', does: 'a table, one operator a line' }],
    changes: false,
    run: ({ database }) => listOperators(database, listLimit),
  },
  {
    name: 'operators role',
    does: 'Gives an operator another role, from their next click on.',
    arguments: [operatorArgument],
    options: { role: roleOption },
    examples: [{ line: 'operators role kim --role finance', does: 'kim may refund from now on' }],
    changes: true,
    async run({ database, positionals: [name = ''], values }) {
      const role = values.role as Role
      const { operatorId } = known(await updateRole(database, name, role), name)
      return { operatorId, name, role }
    },
  },
  {
    name: 'operators reset',
    does: 'Gives an operator a new first password, shown this once, and ends their sessions.',
    more: [
      'For operators who have forgotten theirs. The old one no longer works. They have to change the new one within FIRST_PASSWORD_HOURS (72).',
    ],
    arguments: [operatorArgument],
    examples: [{ line: 'operators reset kim', does: 'shows operatorId, name and firstPassword' }],
    changes: true,
    run: async ({ database, positionals: [name = ''] }) => known(await resetOperator(database, name), name),
  },
  {
    name: 'operators suspend',
    does: 'Suspends an operator and ends their sessions at once, on every instance.',
    more: ['It can be taken back: operators activate.'],
    arguments: [operatorArgument],
    examples: [{ line: 'operators suspend kim', does: 'kim is signed out and cannot sign in' }],
    changes: true,
    run: setTo('SUSPENDED'),
  },
  {
    name: 'operators activate',
    does: 'Lets a suspended operator sign in again, with the password they had.',
    arguments: [operatorArgument],
    examples: [{ line: 'operators activate kim', does: 'kim can sign in again' }],
    changes: true,
    run: setTo('ACTIVE'),
  },
]
