// Commands about API keys.
import { issueKey } from '../customers/api-keys.ts'
import { listKeys, updateKeyStatus } from '../customers/sql.ts'
import type { Command } from './command.ts'
import { suspensionCommands } from './suspension.ts'

const listLimit = 1_000
/** One line of text. */
const customerPattern = /^[^\p{C}]{1,100}$/u

export const keyCommands: Command[] = [
  {
    name: 'keys issue',
    takes: '--customer NAME|UUID',
    does: 'Issues an API key, for a new customer or one more for a known one. Shown this once.',
    changes: true,
    check: ({ positionals, values }) => {
      if (positionals.length > 0)
        return `"${positionals[0]}" is one word too many: a name of several words needs quotes`
      if (!customerPattern.test(values.customer?.trim() ?? ''))
        return '--customer NAME|UUID is needed, a name of 1 to 100 characters'
    },
    run: ({ database, peppers, values }) => issueKey(database, peppers(), values.customer?.trim() ?? ''),
  },
  ...suspensionCommands({ noun: 'keys', what: 'key', idName: 'keyId', update: updateKeyStatus }),
  {
    name: 'keys list',
    takes: '',
    does: `Lists the keys, newest first, ${listLimit} at most.`,
    changes: false,
    check: ({ positionals }) => (positionals.length === 0 ? undefined : 'keys list takes no arguments'),
    run: ({ database }) => listKeys(database, listLimit),
  },
]
