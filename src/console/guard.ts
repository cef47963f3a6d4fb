// Access to every route of the console: a request that changes something has to come from the console's own page, its operator
// has to be signed in, and the role has to allow it. Each request reads the session from the database, so that a suspension,
// a new role or a sign-out elsewhere takes effect at once in every process.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { type Refusal, refuse } from '../core/errors.ts'
import type { Peppers } from '../customers/api-keys.ts'
import type { Database } from '../db/database.ts'
import { valuesOf } from '../http/headers.ts'
import { may, type Permission, permissions } from '../operators/permissions.ts'
import { type ConcurrencyLimits, createConcurrencyLimits, limitFor } from './concurrency-limit.ts'
import { apiPath } from './endpoints.ts'
import { refuseBecause } from './refusals.ts'
import { findSession, type SessionRow } from './session/session.sql.ts'
import { createTokens, type NewToken } from './session/tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in to the console. */
    operator: SignedIn | null
  }
}

export type SignedIn = SessionRow & { sessionHash: Buffer }

export type Access = Permission | 'public' | 'signed in'

export type Guard = {
  /** Every request that queries the database runs under one of them, from the lookup of its session on. */
  limits: ConcurrencyLimits
  onRequest(access: Access): onRequestAsyncHookHandler
  /** The hash of the session that the browser holds; undefined: none, or one that is not to be trusted. */
  sessionHashOf(request: FastifyRequest): Buffer | undefined
  newToken(): NewToken
  giveCookie(reply: FastifyReply, token: string): void
  takeCookie(reply: FastifyReply): void
}

type GuardParts = { database: Database; peppers: Peppers; secureCookies: boolean }

const cookieName = 'credits_console'

export function createGuard(app: FastifyInstance, { database, peppers, secureCookies }: GuardParts): Guard {
  app.decorateRequest('operator', null)
  const tokens = createTokens(peppers)
  const cookies = cookiesOf(secureCookies)
  const limits = createConcurrencyLimits()

  function sessionHashOf(request: FastifyRequest): Buffer | undefined {
    const token = cookies.tokenOf(request)
    return token === undefined ? undefined : tokens.hashOf(token)
  }

  /** A missing or invented token costs no statement, and gets the same answer as one of an ended session. */
  async function signedIn(request: FastifyRequest, isUse: boolean): Promise<SignedIn> {
    const sessionHash = sessionHashOf(request)
    const find = (hash: Buffer) => limitFor(limits, request.method).run(() => findSession(database, hash, isUse))
    const session = sessionHash && (await find(sessionHash))
    if (!session) throw refuse('AUTH001', { message: 'You are not signed in.' })
    return { ...session, sessionHash }
  }

  return {
    limits,
    sessionHashOf,
    newToken: tokens.newToken,
    giveCookie: cookies.give,
    takeCookie: cookies.take,
    onRequest: (access) =>
      async function guard(request) {
        if (request.method !== 'GET' && !isFromOwnPage(request)) throw notFromOwnPage()
        if (access === 'public') return
        // The page polls its session by itself: that alone keeps no session alive.
        request.operator = await signedIn(request, access !== 'signed in')
        if (access !== 'signed in') requirePermission(request.operator, access)
      },
  }
}

/**
 * Cookies ignore ports: a page at another port of this host can set one of the same name, for a longer path, and browsers
 * send it first. Where there are two, neither is trusted, and signing in deletes the other one. Over TLS the name has the
 * prefix `__Host-`, with which browsers accept no cookie for a longer path.
 */
function cookiesOf(isSecure: boolean) {
  const name = isSecure ? `__Host-${cookieName}` : cookieName
  const flags = `HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  const gone = `${name}=; Max-Age=0`
  function set(reply: FastifyReply, cookie: string): void {
    const own = `${cookie}; Path=${isSecure ? '/' : '/console'}; ${flags}`
    reply.header('set-cookie', isSecure ? own : [own, `${gone}; Path=${apiPath}; ${flags}`])
  }
  return {
    tokenOf({ raw }: FastifyRequest): string | undefined {
      const all = valuesOf(raw, 'cookie').flatMap((value) => value.split(';').map((each) => each.trim()))
      const own = all.filter((each) => each.startsWith(`${name}=`)).map((each) => each.slice(name.length + 1))
      return own.length === 1 ? own[0] : undefined
    },
    give: (reply: FastifyReply, token: string) => set(reply, `${name}=${token}`),
    take: (reply: FastifyReply) => set(reply, gone),
  }
}

function requirePermission({ role, mustChangePassword }: SignedIn, permission: Permission): void {
  if (mustChangePassword) {
    const message = 'Change your first password before anything else.'
    throw refuseBecause('AUTH003', 'password', message)
  }
  if (may(role, permission)) return
  const roles = permissions[permission]
  const message = `Your role is ${role}. This is for ${roles.join(' and ')}.`
  throw refuseBecause('AUTH003', 'role', message, { metadata: { roles } })
}

/**
 * Browsers say where a request comes from, and no page can make them say something else. One that is too old to do so names
 * the origin of the page.
 */
function isFromOwnPage({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin = '', host } = headers
  if (site !== undefined) return site === 'same-origin'
  return URL.canParse(`http://${host ?? ''}`) && [`http://${host}`, `https://${host}`].includes(origin)
}

function notFromOwnPage(): Refusal {
  const message = 'This can only be asked for by a page of the console itself.'
  return refuseBecause('AUTH003', 'origin', message)
}
