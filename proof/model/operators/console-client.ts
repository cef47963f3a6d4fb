// The console as an operator's browser uses it: over HTTP on the internal listener of either service, with a session
// cookie and the origin of the page. Every action has a unique reason, by which it is found in the action log. Requests
// and answers are kept for the checks; the history on disk has them without the keys that an answer shows once.
import type { Random } from '../../../harness/random.ts'
import {
  type Body,
  type ConsoleEndpoint,
  contract,
  type Data,
  type Params,
  type Query,
} from '../../../src/console/contract.ts'
import { apiPath, type EndpointName, endpoints } from '../../../src/console/endpoints.ts'
import type { Role } from '../../../src/operators/permissions.ts'
import { drops } from '../../faults.ts'
import type { Service } from '../../world/service.ts'
import type { World } from '../../world/world.ts'
import type { Exchanger } from '../actions/exchange.ts'
import { type Checked, checkEnvelope, type History, type Outcome, type ServiceName } from '../history.ts'

export type Session = { cookie: string; fromMs: number }

export type Operator = { name: string; role: Role; password: string; session: Session | null }

/** Wrong or missing on purpose: refused before anything else is checked. */
export type Flaw = 'origin' | 'session' | 'password' | 'ended session'

export type ConsoleCall<Name extends EndpointName = EndpointName> = {
  number: number
  service: ServiceName
  operator: string
  role: Role
  endpoint: Name
  params: Record<string, string>
  body: Record<string, unknown>
  query: Record<string, string>
  reason: string | null
  flaw: Flaw | null
  /** Null: without a session. */
  sessionFromMs: number | null
  /** Since when the process has served. */
  processFromMs: number
  invokedAtMs: number
  endedAtMs: number
  outcome: Outcome
  breach: string | null
}

export type ConsoleRequest<Name extends EndpointName> = {
  params?: Params<Name>
  query?: Query<Name>
  body?: Omit<Body<Name>, 'reason'>
  flaw?: Flaw
  /** The cookie of a former session. */
  cookie?: string
  /** By default either of the two. */
  service?: Service
}

/**
 * The command of each action in the action log: repeated here, so that an action that is not logged any more is missed.
 */
export const actionNames: Partial<Record<EndpointName, string>> = {
  settleOrder: 'orders settle',
  refundOrder: 'orders refund',
  refundUnused: 'orders refund',
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
const connectionRefused = 'ECONNREFUSED'

export type ConsoleParts = { world: World; history: History; exchanger: Exchanger; mayDrop(): boolean }
export type ConsoleClient = ReturnType<typeof createConsoleClient>

export function createConsoleClient({ world, history, exchanger, mayDrop }: ConsoleParts) {
  const calls: ConsoleCall[] = []
  let started = 0

  /** To either service, or to the other where the connection is refused. */
  async function send<Name extends EndpointName>(
    operator: Operator,
    random: Random,
    endpoint: Name,
    request: ConsoleRequest<Name> = {},
  ): Promise<ConsoleCall<Name>> {
    const [one, other] = random.shuffled(world.services) as [Service, Service]
    const call = await sendTo(request.service ?? one, operator, random, endpoint, request)
    return isConnectionRefused(call) && !request.service ? sendTo(other, operator, random, endpoint, request) : call
  }

  async function sendTo<Name extends EndpointName>(
    service: Service,
    operator: Operator,
    random: Random,
    endpoint: Name,
    request: ConsoleRequest<Name>,
  ): Promise<ConsoleCall<Name>> {
    started += 1
    const number = started
    const { body: takesBody }: ConsoleEndpoint = contract[endpoint]
    const reason = actionNames[endpoint] ? `as call ${number} of ${operator.name}` : null
    const { flaw = null } = request
    const cookie = flaw === 'session' ? undefined : (request.cookie ?? operator.session?.cookie)
    const sentBody = { ...(request.body as object), ...(reason !== null && { reason }) }
    const drop =
      mayDrop() && random.chance(dropShare) ? { kind: random.pick(drops), afterMs: random.integer(0, 40) } : undefined
    const about = { operator: operator.name, endpoint, params: (request.params ?? {}) as Record<string, string> }
    const invokedAtMs = history.nowMs()
    history.note('operator request', { number, service: service.name, ...about, reason, flaw })
    const answer = await exchanger.exchange({
      ...addressOf(service, endpoint, request),
      headers: {
        ...(flaw !== 'origin' && { origin: service.internalUrl }),
        ...(cookie !== undefined && { cookie }),
        ...(takesBody && { 'content-type': 'application/json' }),
      },
      ...(takesBody && { body: JSON.stringify(sentBody) }),
      timeoutMs: random.pick(answerLimitsMs),
      drop,
    })
    const hasData = endpoint !== 'signOut'
    const checked = checkEnvelope({ status: 200, hasMessage: false, hasData }, answer)
    history.note('operator answer', { number, ...withoutKeys(checked) })
    if (endpoint === 'signIn' && checked.outcome.kind === 'ok' && answer.kind === 'answer') {
      operator.session = { cookie: answer.cookies[0]?.split(';')[0] ?? '', fromMs: invokedAtMs }
    }
    const call: ConsoleCall<Name> = {
      number,
      service: service.name,
      role: operator.role,
      ...about,
      endpoint,
      reason,
      flaw,
      body: sentBody,
      query: (request.query ?? {}) as Record<string, string>,
      sessionFromMs: cookie === undefined ? null : (operator.session?.fromMs ?? null),
      processFromMs: service.now().readyMs,
      invokedAtMs,
      endedAtMs: history.nowMs(),
      ...checked,
    }
    calls.push(call)
    return call
  }

  return { calls, send }
}

function addressOf<Name extends EndpointName>(
  service: Service,
  endpoint: Name,
  { params, query }: ConsoleRequest<Name>,
) {
  const [method = '', path = ''] = endpoints[endpoint].split(' ')
  const ids = (params ?? {}) as Record<string, string>
  const url = new URL(`${service.internalUrl}${apiPath}${path.replace(/:(\w+)/g, (_, name) => ids[name] ?? '')}`)
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, string>)) url.searchParams.set(name, value)
  return { url: url.href, method: method as 'GET' | 'POST' | 'DELETE' }
}

/** Only the ids of an answer with a key are logged. */
function withoutKeys({ outcome, breach }: Checked): object {
  if (outcome.kind !== 'ok') return { outcome, breach }
  const { apiKey: _, ...data } = (outcome.data ?? {}) as Record<string, unknown>
  const text = JSON.stringify(data)
  return {
    outcome: { ...outcome, data: text.length > shownCharacters ? text.slice(0, shownCharacters) : data },
    breach,
  }
}

/** The part of an answer that is logged: pages are long. */
const shownCharacters = 2_000

/** No process listened: nothing was sent, so nothing can happen later. */
export function isConnectionRefused({ outcome }: Pick<ConsoleCall, 'outcome'>): boolean {
  return outcome.kind === 'info' && outcome.cause === connectionRefused
}

/** The data of a success; undefined otherwise. */
export function dataOf<Name extends EndpointName>({ outcome }: ConsoleCall<Name>): Data<Name> | undefined {
  return outcome.kind === 'ok' ? (outcome.data as Data<Name>) : undefined
}
