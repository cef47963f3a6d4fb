// The operators' accounts and sessions: one operator of each role, whose password needs no change. They sign in with
// it, at its full cost; tests of their own cover the first password.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../../harness/random.ts'
import { sessionMaxMs } from '../../../src/console/session/times.ts'
import { insertOperator } from '../../../src/operators/operators.sql.ts'
import { createPasswords } from '../../../src/operators/passwords.ts'
import { roles } from '../../../src/operators/permissions.ts'
import type { Service } from '../../world/service.ts'
import type { Shop } from '../../world/shop.ts'
import type { World } from '../../world/world.ts'
import type { ConsoleClient, Operator, Session } from './console-client.ts'

/** One password for all: hashing it takes a third of a second. */
export async function createOperators({ books, secrets }: World, { database }: Shop): Promise<Operator[]> {
  const password = randomBytes(18).toString('hex')
  secrets['the password of the operators'] = password
  const passwordHash = await createPasswords().hash(password)
  for (const role of roles)
    await insertOperator(database, { operatorId: `opr_${role}`, name: role, role, passwordHash })
  await books.query('update operators set must_change_password = false')
  return roles.map((role) => ({ name: role, role, password, session: null }))
}

export type OperatorContext = {
  console: ConsoleClient
  operator: Operator
  random: Random
  secrets: Record<string, string>
  stopped: AbortSignal
}

const signInForMs = 90_000
const pauseMs = 500
/** Before the session expires. */
const renewedAfterMs = sessionMaxMs / 2

/** Two at each service, which checks one password after the other. */
export async function signInAll(world: World, console: ConsoleClient, operators: Operator[], stopped: AbortSignal) {
  const { services, secrets } = world
  const random = createRandom(1)
  const contexts = operators.map((operator) => ({ console, operator, random, secrets, stopped }))
  await Promise.all(contexts.map((context, place) => signIn(context, services[place % 2])))
}

/** Until there is a session or the time is over. A refusal is checked later. */
export async function signIn(context: OperatorContext, service?: Service): Promise<void> {
  const { console, operator, random, secrets, stopped } = context
  const { name, password } = operator
  const limit = performance.now() + signInForMs
  operator.session = null
  while (!operator.session && performance.now() < limit && !stopped.aborted) {
    const { outcome } = await console.send(operator, random, 'signIn', {
      body: { name, password },
      ...(service && { service }),
    })
    if (outcome.kind === 'fail') return
    if (outcome.kind === 'info') await sleep(pauseMs)
  }
  const { cookie = '' }: Partial<Session> = operator.session ?? {}
  // The last session by its text; former ones are found by their form.
  if (cookie) secrets[`the session of ${name}`] = cookie.slice(cookie.indexOf('=') + 1)
}

export async function beSignedIn(context: OperatorContext): Promise<void> {
  const { session } = context.operator
  if (!session || performance.now() - session.fromMs > renewedAfterMs) await signIn(context)
}

const mistypedShare = 0.5

/** The ended session is tried once more. Some mistype their password before they sign in again. */
export async function signOutAndIn(context: OperatorContext): Promise<void> {
  const { console, operator, random } = context
  const { cookie = '' }: Partial<Session> = operator.session ?? {}
  const { outcome } = await console.send(operator, random, 'signOut')
  if (outcome.kind === 'ok') await console.send(operator, random, 'home', { cookie, flaw: 'ended session' })
  operator.session = null
  if (random.chance(mistypedShare)) {
    const body = { name: operator.name, password: `${operator.password}x` }
    await console.send(operator, random, 'signIn', { body, flaw: 'password' })
  }
  await signIn(context)
}
