// Commands about operators: the people who may sign in to the console.
import { listOperators, type OperatorStatus, updateRole, updateStatus } from '../../operators/operators.sql.ts'
import { addOperator, operatorNamePattern, resetOperator } from '../../operators/operators.ts'
import { defaultFirstPasswordHours } from '../../operators/passwords.ts'
import { type Role, roles } from '../../operators/permissions.ts'
import type { Argument, Call, Command, Option } from '../command.ts'

const listLimit = 1_000

const operatorArgument: Argument = { name: 'NAME', description: 'the operator', listedBy: 'operators list' }

const roleOption: Option = {
  value: 'ROLE',
  description: 'viewer, support, finance or admin',
  required: true,
  choices: roles,
}

const nameRule =
  'NAME is 2 to 40 lower-case letters, digits, dots, hyphens and underscores, and begins with a letter or a digit.'

function requireFound<Found>(found: Found | undefined, name: string): Found {
  if (found === undefined) throw new Error(`There is no operator ${name}.`)
  return found
}

const validity = `FIRST_PASSWORD_HOURS (${defaultFirstPasswordHours})`

const setTo = (status: OperatorStatus) =>
  async function run({ database, positionals: [name = ''] }: Call): Promise<object> {
    const { operatorId } = requireFound(await updateStatus(database, name, status), name)
    return { operatorId, name, status }
  }

export const operatorCommands: Command[] = [
  {
    name: 'operators add',
    summary: 'Adds an operator, who may sign in to the console, and prints their first password once.',
    details: [
      `They must change it when they first sign in, within ${validity}. A viewer only reads; support settles ` +
        'orders, resends events, creates customers and suspends keys; finance settles, refunds, reconciles and exports; an ' +
        'admin may do everything.',
    ],
    arguments: [{ name: 'NAME', description: 'the name to sign in with, such as kim' }],
    options: { role: roleOption },
    examples: [
      {
        line: 'operators add kim --role support',
        description: 'prints operatorId, name, role, firstPassword and how long it is valid',
      },
    ],
    changesData: true,
    check: ({ positionals: [name = ''] }) => (operatorNamePattern.test(name) ? undefined : nameRule),
    async run({ database, positionals: [name = ''], values, firstPasswordHours: validForHours }) {
      const added = await addOperator(database, name, values.role as Role)
      if (!added) throw new Error(`The operator ${name} exists already.`)
      return { ...added, validForHours }
    },
  },
  {
    name: 'operators list',
    summary: `Lists the operators by name, at most ${listLimit}.`,
    examples: [{ line: 'operators list', description: 'a table, one line per operator' }],
    changesData: false,
    run: ({ database }) => listOperators(database, listLimit),
  },
  {
    name: 'operators role',
    summary: "Changes an operator's role, effective from their next request.",
    arguments: [operatorArgument],
    options: { role: roleOption },
    examples: [{ line: 'operators role kim --role finance', description: 'kim may refund from now on' }],
    changesData: true,
    async run({ database, positionals: [name = ''], values }) {
      const role = values.role as Role
      const { operatorId } = requireFound(await updateRole(database, name, role), name)
      return { operatorId, name, role }
    },
  },
  {
    name: 'operators reset',
    summary: 'Gives an operator a new first password, prints it once, and ends their sessions.',
    details: [
      `For a forgotten password. The old one is no longer valid. The operator must change the new one within ${validity}.`,
    ],
    arguments: [operatorArgument],
    examples: [
      { line: 'operators reset kim', description: 'prints operatorId, name, firstPassword and how long it is valid' },
    ],
    changesData: true,
    run: async ({ database, positionals: [name = ''], firstPasswordHours: validForHours }) => ({
      ...requireFound(await resetOperator(database, name), name),
      validForHours,
    }),
  },
  {
    name: 'operators suspend',
    summary: 'Suspends an operator and ends their sessions at once, on every instance.',
    details: ['To undo: operators activate.'],
    arguments: [operatorArgument],
    examples: [{ line: 'operators suspend kim', description: 'kim is signed out and cannot sign in' }],
    changesData: true,
    run: setTo('SUSPENDED'),
  },
  {
    name: 'operators activate',
    summary: 'Lets a suspended operator sign in again, with the same password.',
    arguments: [operatorArgument],
    examples: [{ line: 'operators activate kim', description: 'kim can sign in again' }],
    changesData: true,
    run: setTo('ACTIVE'),
  },
]
