// Commands about API keys.
import { newCustomerId, uuidPattern } from '../core/ids.ts'
import { issueKey } from '../customers/api-keys.ts'
import { findKey, listKeys, updateKeyStatus } from '../customers/customers.sql.ts'
import type { Command } from './command.ts'
import { customerAbout } from './customer.ts'
import { customerOption, isName } from './line/options.ts'
import { suspensionCommands } from './suspension.ts'

const listLimit = 1_000

/** Whom nobody knows yet is made with it: the trail has it before. */
function idOfNew(customer = ''): string {
  return uuidPattern.test(customer.trim()) ? customer.trim().toLowerCase() : newCustomerId()
}

export const keyCommands: Command[] = [
  {
    name: 'keys issue',
    does: 'Issues an API key, for a new customer or one more for a known one. Shown this once.',
    more: [
      'A name that is not known makes a customer of that name; a UUID that is not known makes one with that id. All keys ' +
        'of a customer open the same orders and the same balance.',
    ],
    options: {
      customer: {
        ...customerOption,
        about: 'whose key it is: a name of one line, or a UUID',
        expects: 'a name of 1 to 100 characters',
        accepts: isName,
      },
    },
    examples: [
      { line: 'keys issue --customer acme', does: 'shows keyId, customerId and apiKey' },
      { line: 'keys issue --customer "Acme Corporation" --json', does: 'the same, for a script' },
    ],
    changes: true,
    about: async (call) => (await customerAbout(call)) ?? idOfNew(call.values.customer),
    run: ({ database, peppers, values, subject }) =>
      issueKey(database, peppers(), values.customer?.trim() ?? '', subject ?? undefined),
  },
  ...suspensionCommands({
    noun: 'keys',
    what: 'key',
    idName: 'keyId',
    sampleId: 'key_4fTq0ZB7yWc2LxVhN8sD',
    // The trail of its customer, as of what is done to a key in the console.
    about: async ({ database, positionals: [keyId = ''] }) => (await findKey(database, keyId))?.customerId ?? keyId,
    update: updateKeyStatus,
  }),
  {
    name: 'keys list',
    does: `Lists the keys, newest first, ${listLimit} at most.`,
    more: ['Of a key there is its id, its last four characters and its status. The key itself is not kept.'],
    examples: [{ line: 'keys list', does: 'a table, one key a line' }],
    changes: false,
    run: ({ database }) => listKeys(database, listLimit),
  },
]
