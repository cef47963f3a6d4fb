// Commands about the tokens of the platform's services.
import { listTokens, updateTokenStatus } from '../customers/service-tokens.sql.ts'
import { issueToken } from '../customers/service-tokens.ts'
import type { Command } from './command.ts'
import { isName } from './line/options.ts'
import { suspensionCommands } from './suspension.ts'

const listLimit = 1_000

export const serviceCommands: Command[] = [
  {
    name: 'services issue',
    does: 'Issues a token for a service of the platform. Shown this once; a second of the same name rotates the first.',
    more: ['To rotate: issue a second one, give it to the service, then suspend the first. Both work until then.'],
    options: {
      name: {
        value: 'NAME',
        about: 'the service that spends with it',
        needed: true,
        expects: '1 to 100 characters',
        accepts: isName,
      },
    },
    examples: [{ line: 'services issue --name analyses', does: 'shows serviceId, name and token' }],
    changes: true,
    run: ({ database, peppers, values }) => issueToken(database, peppers(), values.name?.trim() ?? ''),
  },
  ...suspensionCommands({
    noun: 'services',
    what: 'token',
    idName: 'serviceId',
    sampleId: 'svc_Yk31bQx8RnT5eLwZ0aGd',
    update: updateTokenStatus,
  }),
  {
    name: 'services list',
    does: `Lists the tokens, newest first, ${listLimit} at most.`,
    examples: [{ line: 'services list', does: 'a table, one token a line' }],
    changes: false,
    run: ({ database }) => listTokens(database, listLimit),
  },
]
