// Commands about the tokens of the platform's services.
import { defaultScopes, readScopes, scopesRule, tokenScopes } from '../../core/token-scopes.ts'
import { listTokens, updateTokenStatus } from '../../customers/service-tokens.sql.ts'
import { issueToken } from '../../customers/service-tokens.ts'
import type { Command } from '../command.ts'
import { isName } from '../line/options.ts'
import { suspendCommands } from './suspend-commands.ts'

const listLimit = 1_000

const scopesOf = (text: string) => readScopes(text.split(',').map((name) => name.trim()))

export const serviceCommands: Command[] = [
  {
    name: 'services issue',
    summary: 'Issues a token for a service of the platform and prints it once.',
    details: [
      'To rotate a token: issue a second one of the same name, configure it in the service, then suspend the first. Both ' +
        'are valid until then.',
      'A token opens the requests of its scopes: spend (spends and their reversals), hold (holds of its own service), refund ' +
        '(quotes and refunds of unused credits), read (statements, lots, budgets, receipts). With manage-holds it also ' +
        'extends, captures and releases holds of other services. Scopes cannot be changed: issue another token.',
    ],
    options: {
      name: {
        value: 'NAME',
        description: 'the service that uses the token',
        required: true,
        expects: '1 to 100 characters',
        accepts: isName,
      },
      may: {
        value: 'SCOPES',
        description: `what the token may do, separated by commas; default ${defaultScopes.join()}`,
        choices: tokenScopes,
        isList: true,
      },
    },
    examples: [
      { line: 'services issue --name analyses', description: 'prints serviceId, name, scopes and token' },
      { line: 'services issue --name reports --may read', description: 'a token that can only read' },
    ],
    changesData: true,
    check: ({ values: { may } }) => (may === undefined || scopesOf(may) ? undefined : `--may must be ${scopesRule}.`),
    run: ({ database, peppers, values: { name = '', may } }) =>
      issueToken(database, peppers(), name.trim(), may === undefined ? undefined : scopesOf(may)),
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
