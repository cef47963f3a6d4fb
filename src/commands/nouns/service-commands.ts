// Commands about the tokens of the platform's services.
import { listTokens, updateTokenStatus } from '../../customers/service-tokens.sql.ts'
import { issueToken } from '../../customers/service-tokens.ts'
import type { Command } from '../command.ts'
import { isName } from '../line/options.ts'
import { suspendCommands } from './suspend-commands.ts'

const listLimit = 1_000

export const serviceCommands: Command[] = [
  {
    name: 'services issue',
    summary: 'Issues a token for a service of the platform and prints it once.',
    details: [
      'To rotate a token: issue a second one of the same name, configure it in the service, then suspend the first. Both ' +
        'are valid until then.',
    ],
    options: {
      name: {
        value: 'NAME',
        description: 'the service that uses the token',
        required: true,
        expects: '1 to 100 characters',
        accepts: isName,
      },
    },
    examples: [{ line: 'services issue --name analyses', description: 'prints serviceId, name and token' }],
    changesData: true,
    run: ({ database, peppers, values }) => issueToken(database, peppers(), values.name?.trim() ?? ''),
  },
  ...suspendCommands({
    noun: 'services',
    what: 'token',
    idName: 'serviceId',
    sampleId: 'svc_Yk31bQx8RnT5eLwZ0aGd',
    update: updateTokenStatus,
  }),
  {
    name: 'services list',
    summary: `Lists the tokens, newest first, at most ${listLimit}.`,
    examples: [{ line: 'services list', description: 'a table, one line per token' }],
    changesData: false,
    run: ({ database }) => listTokens(database, listLimit),
  },
]
