// The console's API for signing in: any number of listeners on one database, as separate processes would be, and requests as
// browsers send them, from any address of this machine.
import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { silentLog } from '../../../harness/silent-log.ts'
import { actionLogHandlers } from '../../../src/console/action-log/action-log.ts'
import { apiPath, type EndpointName, endpoints } from '../../../src/console/endpoints.ts'
import { createGuard } from '../../../src/console/guard.ts'
import { apiRoutes, type Handlers } from '../../../src/console/routes.ts'
import { sessionHandlers } from '../../../src/console/session/session.ts'
import { createTokens } from '../../../src/console/session/tokens.ts'
import type { Peppers } from '../../../src/customers/api-keys.ts'
import { type Connections, createDatabase } from '../../../src/db/database.ts'
import { buildApiListener } from '../../../src/http/api-listener.ts'
import type { UnwrittenEnd } from '../../../src/operators/action-log.ts'
import { insertOperator } from '../../../src/operators/operators.sql.ts'
import { createPasswords, type Passwords } from '../../../src/operators/passwords.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import { closeNow } from '../closing.ts'
import type { OwnTestDatabase } from '../database/database.ts'
import { createWatchedLog } from '../leaks.ts'
import { type Answer, assertEnvelope, testPeppers } from '../service/service.ts'

export type SignInRequest = {
  body?: object
  cookie?: string
  headers?: Record<string, string>
  /** The source address, one of this machine. */
  from?: string
}
export type SignInApi = Awaited<ReturnType<typeof openSignInApi>>

export const password = 'correct horse battery'
export const nextPassword = 'staple of another kind'

/** The real costs are two thousand times as high. */
const cheapCosts = { N: 64, r: 8, p: 1 }
const cheapPasswords = createPasswords(cheapCosts)

/** The same hash each time. */
export function cheapHash(text: string): string {
  const salt = Buffer.alloc(16, 7)
  const key = scryptSync(text, salt, 32, cheapCosts)
  return `$scrypt$n=64,r=8,p=1$${salt.toString('base64url')}$${key.toString('base64url')}`
}

let operators = 0

/** With a permanent password, unless `mustChange` is set. */
export async function newOperator(
  database: OwnTestDatabase,
  {
    role = 'viewer',
    mustChange = false,
    hash = cheapHash(password),
  }: { role?: Role; mustChange?: boolean; hash?: string },
): Promise<string> {
  operators += 1
  const name = `operator-${operators}`
  const operator = { operatorId: `opr_${operators}`, name, role, passwordHash: hash }
  await insertOperator(createDatabase(database.pool, silentLog), operator)
  await database.query('update operators set must_change_password = $2 where name = $1', [name, mustChange])
  return name
}

/** The cookie of a session without a sign-in, which saves the time of hashing a password. */
export async function newSession(
  { query }: OwnTestDatabase,
  name: string,
  peppers: Peppers = testPeppers,
): Promise<string> {
  const { token, sessionHash } = createTokens(peppers).newToken()
  const rows = await query(
    `insert into operator_sessions (session_hash, operator_id, access_version)
     select $1, operator_id, access_version from operators where name = $2
     returning operator_id`,
    [sessionHash, name],
  )
  assert.equal(rows.length, 1)
  return `credits_console=${token}`
}

export async function openSignInApi(
  { pool }: { pool: Connections },
  {
    secureCookies = false,
    peppers = testPeppers as Peppers,
    passwords = cheapPasswords,
  }: { secureCookies?: boolean; peppers?: Peppers; passwords?: Passwords } = {},
) {
  const lines: string[] = []
  const { log, assertNoSecret } = createWatchedLog({ PASSWORD: password, NEXT_PASSWORD: nextPassword }, (line) =>
    lines.push(line),
  )
  const database = createDatabase(pool, log)
  const app = buildApiListener({
    authenticate: () => assert.fail('the routes of the console have a guard of their own'),
    log,
    bodyLimitBytes: 16_384,
  })
  const guard = createGuard(app, { database, peppers, secureCookies })
  const actionLog = { database, onUnwritten: ({ text }: UnwrittenEnd) => assert.fail(text) }
  apiRoutes(app, {
    guard,
    actionLog,
    handlers: {
      ...sessionHandlers({ database, firstPasswordHours: 72 }, guard, actionLog, passwords),
      ...actionLogHandlers({ database }),
    } as Handlers,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo

  async function request(
    name: EndpointName,
    { body, cookie, headers, from = '127.0.0.1' }: SignInRequest = {},
  ): Promise<Answer> {
    const [method = '', path = ''] = endpoints[name].split(' ')
    const sent = httpRequest({
      host: '127.0.0.1',
      port,
      localAddress: from,
      method,
      path: `${apiPath}${path}`,
      agent: false,
      headers: {
        ...(headers ?? { 'sec-fetch-site': 'same-origin' }),
        ...(body && { 'content-type': 'application/json' }),
        ...(cookie && { cookie }),
      },
    })
    sent.end(body && JSON.stringify(body))
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve)
      sent.once('error', reject)
    })
    const text = `${await buffer(response)}`
    const answered = new Headers(
      Object.entries(response.headersDistinct).flatMap(([each, values = []]) =>
        values.map((value): [string, string] => [each, value]),
      ),
    )
    const answer = { status: response.statusCode ?? 0, headers: answered, text, body: JSON.parse(text) }
    assertEnvelope(answer)
    return answer
  }

  return {
    request,
    lines,
    url: `http://127.0.0.1:${port}`,
    signIn: (name: string, typed = password, from?: string) =>
      request('signIn', { body: { name, password: typed }, ...(from && { from }) }),
    /** Signs in and returns the cookie. */
    async enter(name: string, typed = password): Promise<string> {
      const answer = await request('signIn', { body: { name, password: typed } })
      assert.equal(answer.status, 200, answer.text)
      return cookieOf(answer)
    },
    async close(): Promise<void> {
      await closeNow(app)
      assertNoSecret()
    },
  }
}

export function cookieOf({ headers }: Pick<Answer, 'headers'>): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}
