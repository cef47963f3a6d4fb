// Who works at the console: one operator of each role, with a password that is theirs already. They sign in by it, with
// what that costs; what happens to a first password is told by tests of its own.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom, type Random } from '../../harness/random.ts'
import { sessionMaxMs } from '../../src/console/session/times.ts'
import { insertOperator } from '../../src/operators/operators.sql.ts'
import { hashPassword } from '../../src/operators/passwords.ts'
import { roles } from '../../src/operators/permissions.ts'
import type { Service } from '../world/service.ts'
import type { Shop } from '../world/shop.ts'
import type { World } from '../world/world.ts'
import type { DeskConsole, DeskOperator, Session } from './console.ts'

/** One password for all: to hash it takes a third of a second. */
export async function hireOperators({ books, secrets }: World, { database }: Shop): Promise<DeskOperator[]> {
  const password = randomBytes(18).toString('hex')
  secrets['the password of the operators'] = password
  const passwordHash = await hashPassword(password)
  for (const role of roles)
    await insertOperator(database, { operatorId: `opr_${role}`, name: role, role, passwordHash })
  await books.query('update operators set must_change_password = false')
  return roles.map((role) => ({ name: role, role, password, session: null }))
}

/** What an operator works with. */
export type Seat = {
  console: DeskConsole
  operator: DeskOperator
  random: Random
  secrets: Record<string, string>
  stopped: AbortSignal
}

const signInForMs = 90_000
const pauseMs = 500
/** Before it ends by itself. */
const renewedAfterMs = sessionMaxMs / 2

/** Two at each service, which looks at one password after the other. */
export async function signInAll(world: World, console: DeskConsole, operators: DeskOperator[], stopped: AbortSignal) {
  const { services, secrets } = world
  const random = createRandom(1)
  const seats = operators.map((operator) => ({ console, operator, random, secrets, stopped }))
  await Promise.all(seats.map((seat, place) => signIn(seat, services[place % 2])))
}

/** Until there is a session, or it has been long enough. Whether it is refused is for the checks to see. */
export async function signIn(seat: Seat, service?: Service): Promise<void> {
  const { console, operator, random, secrets, stopped } = seat
  const { name, password } = operator
  const limit = performance.now() + signInForMs
  operator.session = null
  while (!operator.session && performance.now() < limit && !stopped.aborted) {
    const { outcome } = await console.ask(operator, random, 'signIn', {
      body: { name, password },
      ...(service && { service }),
    })
    if (outcome.kind === 'fail') return
    if (outcome.kind === 'info') await sleep(pauseMs)
  }
  const { cookie = '' }: Partial<Session> = operator.session ?? {}
  // Their last one by its text; those of before are known by their form.
  if (cookie) secrets[`the session of ${name}`] = cookie.slice(cookie.indexOf('=') + 1)
}

export async function beSignedIn(seat: Seat): Promise<void> {
  const { session } = seat.operator
  if (!session || performance.now() - session.fromMs > renewedAfterMs) await signIn(seat)
}

const mistypedShare = 0.5

/** What was ended lets nobody in any more. Some mistype their password before they are in again. */
export async function signOutAndIn(seat: Seat): Promise<void> {
  const { console, operator, random } = seat
  const { cookie = '' }: Partial<Session> = operator.session ?? {}
  const { outcome } = await console.ask(operator, random, 'signOut')
  if (outcome.kind === 'ok') await console.ask(operator, random, 'home', { cookie, amiss: 'ended session' })
  operator.session = null
  if (random.chance(mistypedShare)) {
    const body = { name: operator.name, password: `${operator.password}x` }
    await console.ask(operator, random, 'signIn', { body, amiss: 'password' })
  }
  await signIn(seat)
}
