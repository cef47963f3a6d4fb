// Signing in and out, the own password, and the two lists about operators. A wrong password and a name that nobody has are
// answered alike and cost the same; whoever has too many waits, longer each time, and only from the network they are in.
import { createHash } from 'node:crypto'
import { refuse, refuseFields } from '../../core/errors.ts'
import { networkOf } from '../../http/limits/wrong-key-delay.ts'
import { noted, recorded, type Trail } from '../../operators/action-log.ts'
import {
  changePassword,
  type FoundOperator,
  findOperator,
  listOperators,
  renewPasswordHash,
} from '../../operators/operators.sql.ts'
import { hashPassword, isOutdated, isPassword } from '../../operators/passwords.ts'
import { may, type Permission, permissions } from '../../operators/permissions.ts'
import { createPlaces, createTurns } from '../../operators/sign-in-slots.ts'
import { listTrail } from '../action-log/action-log.sql.ts'
import type { Guard, SignedIn } from '../guard.ts'
import type { ConsoleParts } from '../parts.ts'
import { refuseBecause } from '../refusals.ts'
import { actorOf, type Handlers } from '../routes.ts'
import { countTry, endSession, findSession, startSession, takeBackTry, uncountTry } from './session.sql.ts'

/** Wrong passwords before the first pause: for one name, and from one network, where many people may be behind one address. */
const freeOfName = 5
const freeOfNetwork = 20
/** Tries that are being counted, a statement each: in all, and from one network. */
const mostCounted = 64
const mostCountedOfNetwork = 16
/** One whose password is looked at and those who wait for it: those at the end of the line wait for some seconds. */
const mostInLine = 9
const mostInLineOfNetwork = 2
const mostOperators = 1_000

type Names = 'signIn' | 'session' | 'signOut' | 'changePassword' | 'trail' | 'operators'

export function sessionHandlers(
  { database, firstPasswordHours }: Pick<ConsoleParts, 'database' | 'firstPasswordHours'>,
  guard: Guard,
  trail: Trail,
): Handlers<Names> {
  const counting = createPlaces(mostCounted, mostCountedOfNetwork)
  const line = createTurns(mostInLine, mostInLineOfNetwork)

  /**
   * Does the work for whoever's password it is, in their turn; undefined: it is nobody's. Whoever has to pause is told before
   * the line, and takes no place in it.
   */
  async function whenRight<Value>(
    { name, password, ip }: { name: string; password: string; ip: string },
    work: (operator: FoundOperator) => Promise<Value>,
  ): Promise<Value | undefined> {
    const network = networkOf(ip)
    const [ofName, ofNetwork] = [subjectOf('name', name, network), subjectOf('network', network)]
    const counted = [
      { subject: ofName, free: freeOfName },
      { subject: ofNetwork, free: freeOfNetwork },
    ]
    if (counting.isFull(network) || line.isFull(network)) throw noPlace()
    const waitSeconds = await counting.hold(network, () => countTry(database, counted))
    if (waitSeconds > 0) throw tooMany(waitSeconds)
    if (line.isFull(network)) {
      await uncountTry(database, [ofName, ofNetwork])
      throw noPlace()
    }
    return line.hold(network, async () => {
      const operator = await findOperator(database, name, firstPasswordHours)
      const isRight = await isPassword(password, operator?.passwordHash)
      if (!operator || !isRight || operator.status !== 'ACTIVE') return undefined
      await takeBackTry(database, ofName, ofNetwork)
      return work(operator)
    })
  }

  return {
    async signIn({ body: { name: typed, password }, request, reply }) {
      const tried = { name: typed.trim().toLowerCase(), password, ip: request.ip }
      const operator = await whenRight(tried, (known) => hashedAnew(known, password))
      if (!operator) {
        await noted(trail, actionOf('sign-in', `somebody from ${request.ip}`), 'refused')
        throw refuse('AUTH001', { message: 'The name or the password is wrong, or the operator is suspended.' })
      }
      const action = actionOf('sign-in', actorOf({ operator, ip: request.ip }))
      // Only a person who has the password learns it; to a guesser it is a wrong one like any other.
      if (operator.isLapsed) {
        await noted(trail, action, 'refused: the first password has lapsed')
        throw lapsedPassword()
      }
      return recorded(trail, action, async () => {
        const held = guard.sessionHashOf(request)
        if (held) await endSession(database, held)
        const { operatorId, passwordHash } = operator
        const { token, sessionHash } = guard.newToken()
        await startSession(database, { sessionHash, operatorId, passwordHash })
        const session = await findSession(database, sessionHash)
        if (!session) throw refuse('AUTH001', { message: 'The password was changed a moment ago.' })
        guard.giveCookie(reply, token)
        return sessionData({ ...session, sessionHash })
      })
    },

    session: async ({ operator }) => sessionData(operator),

    signOut: ({ operator, request, reply }) =>
      recorded(trail, actionOf('sign-out', actorOf({ operator, ip: request.ip })), async () => {
        await endSession(database, operator.sessionHash)
        guard.takeCookie(reply)
        return null
      }),

    changePassword: ({ operator, body: { current, next }, request }) =>
      recorded(trail, actionOf('password', actorOf({ operator, ip: request.ip })), async () => {
        if (next === current) throw refuseFields('VAL003', [{ field: 'next', rule: 'must be another password' }])
        const { name, operatorId, sessionHash: keptSessionHash } = operator
        const tried = { name, password: current, ip: request.ip }
        const isChanged = await whenRight(tried, async ({ passwordHash: from, isLapsed }) => {
          if (isLapsed) throw lapsedPassword()
          return changePassword(database, { operatorId, from, to: await hashPassword(next), keptSessionHash })
        })
        if (!isChanged) throw wrongPassword()
        return sessionData({ ...operator, mustChangePassword: false })
      }),

    trail: ({ query }) => listTrail(database, query),

    operators: async () => ({ operators: await listOperators(database, mostOperators) }),
  }

  /** With what it is kept as from now on; undefined: by now it is another password. */
  async function hashedAnew(operator: FoundOperator, password: string): Promise<FoundOperator | undefined> {
    const { operatorId, name, passwordHash: from } = operator
    if (!isOutdated(from)) return operator
    const to = await hashPassword(password)
    await renewPasswordHash(database, operatorId, from, to)
    // Another process may have done the same a moment before.
    const kept = await findOperator(database, name, firstPasswordHours)
    const isSame = kept?.passwordHash === to || (await isPassword(password, kept?.passwordHash))
    return isSame ? kept : undefined
  }
}

function sessionData({ name, role, mustChangePassword, endsAt, idleEndsAt }: SignedIn) {
  const allowed = (Object.keys(permissions) as Permission[]).filter((permission) => may(role, permission))
  return { name, role, permissions: allowed, mustChangePassword, endsAt, idleEndsAt }
}

/** A name may be a password that was typed into the wrong field: what is kept does not show it. */
function subjectOf(...parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

function actionOf(what: string, actor: string) {
  return { actor, command: `console ${what}`, arguments: [], subject: null, reason: null }
}

function wrongPassword() {
  return refuseFields('VAL003', [{ field: 'current', rule: 'must be your password of now' }])
}

function lapsedPassword() {
  const message = 'This first password was not changed in time and is not good any more. Ask an admin for a new one.'
  return refuseBecause('AUTH003', 'lapsed password', message)
}

function noPlace() {
  return refuseBecause('SVC001', 'signing in', 'Too many are signing in. Try again in a moment.')
}

function tooMany(waitSeconds: number) {
  const message = `Too many wrong passwords. Try again in ${waitSeconds} seconds.`
  const metadata = { retryAfterSeconds: waitSeconds }
  return refuseBecause('SVC001', 'wrong passwords', message, { retryAfterSeconds: waitSeconds, metadata })
}
