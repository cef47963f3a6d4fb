// Commands about the tokens of the platform's services.
import { listTokens, updateTokenStatus } from '../customers/service-sql.ts'
import { issueToken } from '../customers/service-tokens.ts'
import { type Command, needsNothing } from './command.ts'
import { suspensionCommands } from './suspension.ts'

const listLimit = 1_000
/** One line of text. */
const namePattern = /^[^\p{C}]{1,100}$/u

export const serviceCommands: Command[] = [
  {
    name: 'services issue',
    takes: '--name NAME',
    does: 'Issues a token for a service of the platform. Shown this once; a second of the same name rotates the first.',
    changes: true,
    check: ({ positionals, values }) =>
      needsNothing({ positionals }) ??
      (namePattern.test(values.name?.trim() ?? '') ? undefined : '--name NAME is needed, 1 to 100 characters'),
    run: ({ database, peppers, values }) => issueToken(database, peppers(), values.name?.trim() ?? ''),
  },
  ...suspensionCommands({ noun: 'services', what: 'token', idName: 'serviceId', update: updateTokenStatus }),
  {
    name: 'services list',
    takes: '',
    does: `Lists the tokens, newest first, ${listLimit} at most.`,
    changes: false,
    check: needsNothing,
    run: ({ database }) => listTokens(database, listLimit),
  },
]
