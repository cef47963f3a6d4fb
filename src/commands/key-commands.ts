// Commands about API keys.
import { issueKey } from '../customers/api-keys.ts'
import { listKeys, updateKeyStatus } from '../customers/sql.ts'
import type { Command } from './command.ts'
import { customerOption, isName } from './options.ts'
import { suspensionCommands } from './suspension.ts'

const listLimit = 1_000

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
    run: ({ database, peppers, values }) => issueKey(database, peppers(), values.customer?.trim() ?? ''),
  },
  ...suspensionCommands({
    ...{ noun: 'keys', what: 'key', idName: 'keyId', sampleId: 'key_4fTq0ZB7yWc2LxVhN8sD' },
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
