// Operators of a whole service: one of each role with its own session, and the console's API as the page calls it, by the
// names of the contract. Signing in with a password has its own tests; here a session is created without one.
import { silentLog } from '../../../harness/silent-log.ts'
import type { Body, Data, Params, Query } from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints } from '../../../src/console/endpoints.ts'
import { startSession } from '../../../src/console/session/session.sql.ts'
import { createTokens } from '../../../src/console/session/tokens.ts'
import { createDatabase } from '../../../src/db/database.ts'
import { insertOperator } from '../../../src/operators/operators.sql.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import type { OwnTestDatabase } from '../database/database.ts'
import { type Answer, assertEnvelope, assertSuccess, testPeppers } from '../service/service.ts'
import { assertListedFields } from './fields.ts'

export type ConsoleService = { internalUrl: string; database: OwnTestDatabase }
export type Operator = Awaited<ReturnType<typeof signedIn>>

type Input<Name extends EndpointName> = { params?: Params<Name>; query?: Query<Name>; body?: Body<Name> }

export const cookieName = 'credits_console'

export async function signedIn({ internalUrl, database }: ConsoleService, role: Role, name: string = role) {
  const direct = createDatabase(database.pool, silentLog)
  const [operatorId, passwordHash] = [`opr_${name}`, '$scrypt$unknown']
  await insertOperator(direct, { operatorId, name, role, passwordHash })
  await database.query('update operators set must_change_password = false where operator_id = $1', [operatorId])
  const { token, sessionHash } = createTokens(testPeppers).newToken()
  await startSession(direct, { sessionHash, operatorId, passwordHash })
  const headers = { cookie: `${cookieName}=${token}`, 'sec-fetch-site': 'same-origin' }

  async function request<Name extends EndpointName>(
    endpoint: Name,
    input: Input<Name> = {},
  ): Promise<Answer<Data<Name>>> {
    const [method = '', path = ''] = endpoints[endpoint].split(' ')
    const params = (input.params ?? {}) as Record<string, string>
    const filled = path.replace(/:(\w+)/g, (_, each) => encodeURIComponent(params[each] ?? ''))
    const url = new URL(`${internalUrl}${apiPath}${filled}`)
    for (const [key, value] of Object.entries(input.query ?? {})) url.searchParams.set(key, `${value}`)
    const json = input.body && { 'content-type': 'application/json' }
    const body = input.body ? { body: JSON.stringify(input.body) } : {}
    const response = await fetch(url, { method, headers: { ...headers, ...json }, ...body })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    assertEnvelope(answer)
    assertListedFields(endpoint, answer.body.data)
    return answer
  }
  return {
    name,
    role,
    token,
    request,
    /** Returns the data of a success, and fails otherwise. */
    async get<Name extends EndpointName>(endpoint: Name, input: Input<Name> = {}): Promise<Data<Name>> {
      const answer = await request(endpoint, input)
      assertSuccess(answer, 200)
      return answer.body.data
    },
  }
}
