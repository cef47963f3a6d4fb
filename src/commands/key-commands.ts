// Commands about API keys.
import { issueKey } from '../customers/api-keys.ts'
import { type KeyStatus, listKeys, updateKeyStatus } from '../customers/sql.ts'
import { type Call, type Command, needsOne } from './command.ts'

const listLimit = 1_000
/** One line of text. */
const customerPattern = /^[^\p{C}]{1,100}$/u

const needsKeyId = needsOne('KEYID', ' (see: keys list)')

async function setStatus({ database, positionals }: Call, status: KeyStatus): Promise<object> {
  const [keyId = ''] = positionals
  if (!(await updateKeyStatus(database, keyId, status))) throw new Error(`There is no key ${keyId}.`)
  return { keyId, status }
}

export const keyCommands: Command[] = [
  {
    name: 'keys issue',
    takes: '--customer NAME|UUID',
    does: 'Issues an API key, for a new customer or one more for a known one. Shown this once.',
    check: ({ positionals, values }) => {
      if (positionals.length > 0)
        return `"${positionals[0]}" is one word too many: a name of several words needs quotes`
      if (!customerPattern.test(values.customer?.trim() ?? ''))
        return '--customer NAME|UUID is needed, a name of 1 to 100 characters'
    },
    run: ({ database, peppers, values }) => issueKey(database, peppers(), values.customer?.trim() ?? ''),
  },
  {
    name: 'keys suspend',
    takes: 'KEYID',
    does: 'Suspends a key: AUTH003 within a second on every instance.',
    check: needsKeyId,
    run: (call) => setStatus(call, 'SUSPENDED'),
  },
  {
    name: 'keys activate',
    takes: 'KEYID',
    does: 'Makes a suspended key work again.',
    check: needsKeyId,
    run: (call) => setStatus(call, 'ACTIVE'),
  },
  {
    name: 'keys list',
    takes: '',
    does: `Lists the keys, newest first, ${listLimit} at most.`,
    check: ({ positionals }) => (positionals.length === 0 ? undefined : 'keys list takes no arguments'),
    run: ({ database }) => listKeys(database, listLimit),
  },
]
