// The console as an operator's browser uses it: over HTTP on the internal listener of either service, with the cookie of a
// session and the origin of the page. Every action gets a reason that no other has, by which it is found on the trail. What
// was asked and answered is kept for the checks; the history on disk has it without the keys that an answer shows once.

import type { Random } from '../../harness/random.ts'
import {
  type Body,
  type ConsoleEndpoint,
  contract,
  type Data,
  type Params,
  type Query,
} from '../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints } from '../../src/console/endpoints.ts'
import type { Role } from '../../src/operators/permissions.ts'
import { type History, type Judged, judgeEnvelope, type Outcome, type ServiceName } from '../history.ts'
import { drops, type Exchanger } from '../load/exchange.ts'
import type { Service } from '../world/service.ts'
import type { World } from '../world/world.ts'

export type Session = { cookie: string; fromMs: number }

export type DeskOperator = { name: string; role: Role; password: string; session: Session | null }

/** Told wrong on purpose, or not at all: refused before anything else is looked at. */
export type Amiss = 'origin' | 'session' | 'password' | 'ended session'

export type DeskCall<Name extends EndpointName = EndpointName> = {
  number: number
  service: ServiceName
  operator: string
  role: Role
  endpoint: Name
  params: Record<string, string>
  body: Record<string, unknown>
  /** What was looked for, and who was asked about. */
  query: Record<string, string>
  reason: string | null
  amiss: Amiss | null
  /** Null: without a session. */
  sessionFromMs: number | null
  /** Since when the process serves that was asked. */
  processFromMs: number
  invokedAtMs: number
  endedAtMs: number
  outcome: Outcome
  breach: string | null
}

export type Asked<Name extends EndpointName> = {
  params?: Params<Name>
  query?: Query<Name>
  body?: Omit<Body<Name>, 'reason'>
  amiss?: Amiss
  /** A cookie of before. */
  cookie?: string
  /** Either of the two unless told. */
  service?: Service
}

/** What each action is called on the trail: said once more here, so that one which is not written there any more is missed. */
export const trailNames: Partial<Record<EndpointName, string>> = {
  settleOrder: 'orders settle',
  refundOrder: 'orders refund',
  resendEvents: 'orders resend-events',
  issueKey: 'keys issue',
  suspendKey: 'keys suspend',
  activateKey: 'keys activate',
  rotateKey: 'keys rotate',
  reconcile: 'reconcile',
  resolveDiscrepancy: 'discrepancies resolve',
}

const answerLimitsMs = [4_000, 10_000, 40_000] as const
const dropShare = 0.05
const nobodyThere = 'ECONNREFUSED'

export type ConsoleParts = { world: World; history: History; exchanger: Exchanger; mayDrop(): boolean }
export type DeskConsole = ReturnType<typeof createDeskConsole>

export function createDeskConsole({ world, history, exchanger, mayDrop }: ConsoleParts) {
  const calls: DeskCall[] = []
  let started = 0

  /** At either service; where there is nobody, at the other. */
  async function ask<Name extends EndpointName>(
    operator: DeskOperator,
    random: Random,
    endpoint: Name,
    asked: Asked<Name> = {},
  ): Promise<DeskCall<Name>> {
    const [one, other] = random.shuffled(world.services) as [Service, Service]
    const call = await askAt(asked.service ?? one, operator, random, endpoint, asked)
    return metNobody(call) && !asked.service ? askAt(other, operator, random, endpoint, asked) : call
  }

  async function askAt<Name extends EndpointName>(
    service: Service,
    operator: DeskOperator,
    random: Random,
    endpoint: Name,
    asked: Asked<Name>,
  ): Promise<DeskCall<Name>> {
    started += 1
    const number = started
    const { body: takesBody }: ConsoleEndpoint = contract[endpoint]
    const reason = trailNames[endpoint] ? `as call ${number} of ${operator.name}` : null
    const { amiss = null } = asked
    const cookie = amiss === 'session' ? undefined : (asked.cookie ?? operator.session?.cookie)
    const told = { ...(asked.body as object), ...(reason !== null && { reason }) }
    const drop =
      mayDrop() && random.chance(dropShare) ? { kind: random.pick(drops), afterMs: random.integer(0, 40) } : undefined
    const about = { operator: operator.name, endpoint, params: (asked.params ?? {}) as Record<string, string> }
    const invokedAtMs = history.nowMs()
    history.note('operator asks', { number, service: service.name, ...about, reason, amiss })
    const answer = await exchanger.exchange({
      ...addressOf(service, endpoint, asked),
      headers: {
        ...(amiss !== 'origin' && { origin: service.internalUrl }),
        ...(cookie !== undefined && { cookie }),
        ...(takesBody && { 'content-type': 'application/json' }),
      },
      ...(takesBody && { body: JSON.stringify(told) }),
      timeoutMs: random.pick(answerLimitsMs),
      drop,
    })
    const hasData = endpoint !== 'signOut'
    const judged = judgeEnvelope({ status: 200, hasMessage: false, hasData }, answer)
    history.note('operator is told', { number, ...withoutKeys(judged) })
    if (endpoint === 'signIn' && judged.outcome.kind === 'ok' && answer.kind === 'answer') {
      operator.session = { cookie: answer.cookies[0]?.split(';')[0] ?? '', fromMs: invokedAtMs }
    }
    const call: DeskCall<Name> = {
      number,
      service: service.name,
      role: operator.role,
      ...about,
      endpoint,
      reason,
      amiss,
      body: told,
      query: (asked.query ?? {}) as Record<string, string>,
      sessionFromMs: cookie === undefined ? null : (operator.session?.fromMs ?? null),
      processFromMs: service.now().readyMs,
      invokedAtMs,
      endedAtMs: history.nowMs(),
      ...judged,
    }
    calls.push(call)
    return call
  }

  return { calls, ask }
}

function addressOf<Name extends EndpointName>(service: Service, endpoint: Name, { params, query }: Asked<Name>) {
  const [method = '', path = ''] = endpoints[endpoint].split(' ')
  const ids = (params ?? {}) as Record<string, string>
  const url = new URL(`${service.internalUrl}${apiPath}${path.replace(/:(\w+)/g, (_, name) => ids[name] ?? '')}`)
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, string>)) url.searchParams.set(name, value)
  return { url: url.href, method: method as 'GET' | 'POST' | 'DELETE' }
}

/** An answer with a key is told by its ids alone. */
function withoutKeys({ outcome, breach }: Judged): object {
  if (outcome.kind !== 'ok') return { outcome, breach }
  const { apiKey: _, ...data } = (outcome.data ?? {}) as Record<string, unknown>
  const text = JSON.stringify(data)
  return { outcome: { ...outcome, data: text.length > shownLetters ? text.slice(0, shownLetters) : data }, breach }
}

/** Of an answer, for whoever has to understand a failure: pages are long. */
const shownLetters = 2_000

/** Nobody was there: nothing of it was sent, and nothing can come of it later. */
export function metNobody({ outcome }: Pick<DeskCall, 'outcome'>): boolean {
  return outcome.kind === 'info' && outcome.cause === nobodyThere
}

/** What a success gave; undefined where it was none. */
export function dataOf<Name extends EndpointName>({ outcome }: DeskCall<Name>): Data<Name> | undefined {
  return outcome.kind === 'ok' ? (outcome.data as Data<Name>) : undefined
}
