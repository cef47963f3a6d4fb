// Signing in and out, changing the own password, and the list of operators. A wrong password and an unknown name get the same
// answer at the same cost. Too many failures of a name from one network, or of a network, cause growing pauses for that network.
import { createHash } from 'node:crypto'
import { refuse, refuseFields } from '../../core/errors.ts'
import { networkOf } from '../../http/limits/wrong-key-delay.ts'
import { type ActionLog, recordAction, recordEndedAction } from '../../operators/action-log.ts'
import {
  changePassword,
  type FoundOperator,
  findOperator,
  listOperators,
  renewPasswordHash,
} from '../../operators/operators.sql.ts'
import { createPasswords } from '../../operators/passwords.ts'
import { may, type Permission, permissions } from '../../operators/permissions.ts'
import { createSignInLine, createSignInSlots } from '../../operators/sign-in-slots.ts'
import type { ConsoleContext } from '../context.ts'
import type { Guard, SignedIn } from '../guard.ts'
import { refuseBecause } from '../refusals.ts'
import { actorOf, type Handlers } from '../routes.ts'
import { countSignIn, endSession, findSession, forgiveSignIns, startSession, uncountSignIn } from './session.sql.ts'

/** Wrong passwords before the first pause: for one name, and from one network, which many people may share. */
const freeOfName = 5
const freeOfNetwork = 20
/** Sign-ins that are being counted at a time, a statement each: in all, and from one network. */
const mostCounted = 64
const mostCountedOfNetwork = 16
/** The sign-in whose password is being hashed and those queued behind it; the last one waits for some seconds. */
const mostInLine = 9
const mostInLineOfNetwork = 2
const mostOperators = 1_000

type Names = 'signIn' | 'session' | 'signOut' | 'changePassword' | 'operators'

export function sessionHandlers(
  { database, firstPasswordHours }: Pick<ConsoleContext, 'database' | 'firstPasswordHours'>,
  guard: Guard,
  actionLog: ActionLog,
  passwords = createPasswords(),
): Handlers<Names> {
  const counting = createSignInSlots(mostCounted, mostCountedOfNetwork)
  const line = createSignInLine(mostInLine, mostInLineOfNetwork)

  /** Runs the work if the password is correct; undefined: it is not. A sign-in that has to pause does not enter the queue. */
  async function withCorrectPassword<Value>(
    { name, password, ip }: { name: string; password: string; ip: string },
    work: (operator: FoundOperator) => Promise<Value>,
  ): Promise<Value | undefined> {
    const network = networkOf(ip)
    const [ofName, ofNetwork] = [subjectOf('name', name, network), subjectOf('network', network)]
    const counters = [
      { subject: ofName, free: freeOfName },
      { subject: ofNetwork, free: freeOfNetwork },
    ]
    if (counting.isFull(network) || line.isFull(network)) throw tooBusy()
    const waitSeconds = await counting.run(network, () => countSignIn(database, counters))
    if (waitSeconds > 0) throw tooManyFailures(waitSeconds)
    if (line.isFull(network)) {
      await uncountSignIn(database, [ofName, ofNetwork])
      throw tooBusy()
    }
    return line.run(network, async () => {
      const operator = await findOperator(database, name, firstPasswordHours)
      const isCorrect = await passwords.matches(password, operator?.passwordHash)
      if (!operator || !isCorrect || operator.status !== 'ACTIVE') return undefined
      await forgiveSignIns(database, ofName, ofNetwork)
      return work(operator)
    })
  }

  return {
    async signIn({ body: { name: typed, password }, request, reply }) {
      const attempt = { name: typed.trim().toLowerCase(), password, ip: request.ip }
      const operator = await withCorrectPassword(attempt, (known) => rehash(known, password))
      if (!operator) {
        await recordEndedAction(actionLog, actionOf('sign-in', `somebody from ${request.ip}`), 'refused')
        throw refuse('AUTH001', { message: 'The name or the password is wrong, or the operator is suspended.' })
      }
      const action = actionOf('sign-in', actorOf({ operator, ip: request.ip }))
      // Only revealed to a person who knows the password; anyone else gets the answer to a wrong password.
      if (operator.isLapsed) {
        await recordEndedAction(actionLog, action, 'refused: the first password has lapsed')
        throw lapsedPassword()
      }
      return recordAction(actionLog, action, async () => {
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
      recordAction(actionLog, actionOf('sign-out', actorOf({ operator, ip: request.ip })), async () => {
        await endSession(database, operator.sessionHash)
        guard.takeCookie(reply)
        return null
      }),

    changePassword: ({ operator, body: { current, next }, request }) =>
      recordAction(actionLog, actionOf('password', actorOf({ operator, ip: request.ip })), async () => {
        if (next === current) throw refuseFields('VAL003', [{ field: 'next', rule: 'must be another password' }])
        const { name, operatorId, sessionHash: keptSessionHash } = operator
        const attempt = { name, password: current, ip: request.ip }
        const isChanged = await withCorrectPassword(attempt, async ({ passwordHash: from, isLapsed }) => {
          if (isLapsed) throw lapsedPassword()
          return changePassword(database, { operatorId, from, to: await passwords.hash(next), keptSessionHash })
        })
        if (!isChanged) throw wrongPassword()
        return sessionData({ ...operator, mustChangePassword: false })
      }),

    operators: async () => ({ operators: await listOperators(database, mostOperators) }),
  }

  /** The operator with the password hashed at the current costs; undefined: the password has changed meanwhile. */
  async function rehash(operator: FoundOperator, password: string): Promise<FoundOperator | undefined> {
    const { operatorId, name, passwordHash: from } = operator
    if (!passwords.isOutdated(from)) return operator
    const to = await passwords.hash(password)
    await renewPasswordHash(database, operatorId, from, to)
    // Another process may have rehashed it a moment before.
    const stored = await findOperator(database, name, firstPasswordHours)
    const isSame = stored?.passwordHash === to || (await passwords.matches(password, stored?.passwordHash))
    return isSame ? stored : undefined
  }
}

function sessionData({ name, role, mustChangePassword, endsAt, idleEndsAt }: SignedIn) {
  const allowed = (Object.keys(permissions) as Permission[]).filter((permission) => may(role, permission))
  return { name, role, permissions: allowed, mustChangePassword, endsAt, idleEndsAt }
}

/** Hashed, because a password may have been typed into the name field. */
function subjectOf(...parts: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

function actionOf(name: string, actor: string) {
  return { actor, command: `console ${name}`, arguments: [], subject: null, reason: null }
}

function wrongPassword() {
  return refuseFields('VAL003', [{ field: 'current', rule: 'must be your current password' }])
}

function lapsedPassword() {
  const message = 'This first password was not changed in time and has expired. Ask an admin for a new one.'
  return refuseBecause('AUTH003', 'lapsed password', message)
}

function tooBusy() {
  return refuseBecause('SVC001', 'signing in', 'Too many sign-ins at once. Try again in a moment.')
}

function tooManyFailures(waitSeconds: number) {
  const message = `Too many wrong passwords. Try again in ${waitSeconds} seconds.`
  const metadata = { retryAfterSeconds: waitSeconds }
  return refuseBecause('SVC001', 'wrong passwords', message, { retryAfterSeconds: waitSeconds, metadata })
}
