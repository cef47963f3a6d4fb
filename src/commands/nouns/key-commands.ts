// Commands about API keys.
import { newCustomerId, uuidPattern } from '../../core/ids.ts'
import { issueKey } from '../../customers/api-keys.ts'
import { findKey, listKeys, updateKeyStatus } from '../../customers/customers.sql.ts'
import type { Call, Command } from '../command.ts'
import { customerOption, isName } from '../line/options.ts'
import { findCustomerId } from './customer-option.ts'
import { findSimilarCustomer } from './similar-customer.ts'
import { suspendCommands } from './suspend-commands.ts'

const listLimit = 1_000

/** Chosen before the customer exists, because the action is logged before it begins. */
function idForNewCustomer(customer = ''): string {
  return uuidPattern.test(customer.trim()) ? customer.trim().toLowerCase() : newCustomerId()
}

/** A name that is nearly that of another customer may be a typing error. */
async function confirmNewCustomer(call: Call) {
  const name = call.values.customer?.trim() ?? ''
  if (uuidPattern.test(name) || (await findCustomerId(call))) return undefined
  const similar = await findSimilarCustomer(call.database, name)
  if (!similar) return undefined
  const preview = { newCustomer: name, existingCustomer: similar.name, customerId: similar.customerId }
  return { preview, question: 'A customer with a similar name exists. Create another one?' }
}

/** A script is not asked: a typing error must not create a customer. */
async function refuseSimilarName(call: Call): Promise<void> {
  const similar = await confirmNewCustomer(call)
  if (!similar) return
  const { newCustomer, existingCustomer, customerId } = similar.preview
  throw new Error(
    `No key was issued: there is no customer ${newCustomer}, but ${existingCustomer} (${customerId}). To create another one: --yes.`,
  )
}

export const keyCommands: Command[] = [
  {
    name: 'keys issue',
    summary: 'Issues an API key, for a new or an existing customer, and prints it once.',
    details: [
      'An unknown name creates a customer of that name; an unknown UUID creates a customer with that id. All keys of a ' +
        'customer have access to the same orders and the same balance.',
      'It asks before it creates a customer whose name is nearly that of another one; without a terminal it refuses, unless ' +
        '--yes is given.',
    ],
    options: {
      customer: {
        ...customerOption,
        description: "the key's customer: a name of one line, or a UUID",
        expects: 'a name of 1 to 100 characters',
        accepts: isName,
      },
    },
    examples: [
      { line: 'keys issue --customer acme', description: 'prints keyId, customerId and apiKey' },
      { line: 'keys issue --customer "Acme Corporation" --json', description: 'the same, for a script' },
    ],
    changesData: true,
    findSubject: async (call) => (await findCustomerId(call)) ?? idForNewCustomer(call.values.customer),
    confirm: confirmNewCustomer,
    async run(call, shown) {
      const { database, peppers, values, subject } = call
      if (!shown && !values.yes) await refuseSimilarName(call)
      return issueKey(database, peppers(), values.customer?.trim() ?? '', subject ?? undefined)
    },
  },
  ...suspendCommands({
    noun: 'keys',
    what: 'key',
    idName: 'keyId',
    sampleId: 'key_4fTq0ZB7yWc2LxVhN8sD',
    // Logged under the customer, as the console's actions on keys are.
    findSubject: async ({ database, positionals: [keyId = ''] }) =>
      (await findKey(database, keyId))?.customerId ?? keyId,
    update: updateKeyStatus,
  }),
  {
    name: 'keys list',
    summary: `Lists the keys, newest first, at most ${listLimit}.`,
    details: ['Shows the id, the last four characters and the status of each key. The keys themselves are not stored.'],
    examples: [{ line: 'keys list', description: 'a table, one line per key' }],
    changesData: false,
    run: ({ database }) => listKeys(database, listLimit),
  },
]
