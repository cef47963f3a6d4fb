// The action log compared with the operators' requests. An action is logged before it happens, and its end before the
// answer: so every answered action is there with its arguments and its outcome, and every entry was requested. Every action has
// an end; it may be unknown where the process was killed, or where the service has logged that it could not write it.
import { type ConsoleEndpoint, contract } from '../../../src/console/contract.ts'
import { may } from '../../../src/operators/permissions.ts'
import type { Books } from '../../world/postgres.ts'
import type { Service } from '../../world/service.ts'
import { limits } from '../../world/settings.ts'
import type { World } from '../../world/world.ts'
import { actionNames, type ConsoleCall, isConnectionRefused } from '../operators/console-client.ts'
import { type Check, checksOf, type Evidence } from './evidence.ts'

export type Row = {
  actionId: string
  actor: string
  command: string
  arguments: string[]
  subject: string | null
  reason: string | null
  outcome: string | null
  about: Record<string, string> | null
  /** Wall clock, in milliseconds. */
  begunAt: number
  /** When the reconciliation that it carries out finished; null where there is none, or it has not finished. */
  runFinishedAt: number | null
}

/** A reconciliation continues after its answer, as an action of its own with the same reason. */
export const carryOut = 'reconcile carry-out'

async function readActionLog(books: Books): Promise<Row[]> {
  return books.query<Row>(
    `select b.action_id as "actionId", b.actor, b.command, b.arguments, b.subject, b.reason, e.outcome, e.about,
      extract(epoch from b.happened_at)::float8 * 1000 as "begunAt",
      extract(epoch from r.finished_at)::float8 * 1000 as "runFinishedAt"
    from operator_actions b left join lateral (
      select l.outcome, l.about from operator_actions l
      where l.action_id = b.action_id and l.step <> 'BEGUN' order by l.step limit 1) e on true
    left join reconciliations r on b.command = '${carryOut}' and b.subject = r.reconciliation_id::text
    where b.step = 'BEGUN'`,
  )
}

const unknown = 'unknown'

export async function checkActionLog(world: World, evidence: Evidence): Promise<Check[]> {
  const all = await readActionLog(world.books)
  // Actions in the console: not of commands, nor of services.
  const rows = all.filter(({ actor }) => actor.includes(' from '))
  const byReason = Map.groupBy(rows, ({ command, reason }) => `${command}: ${reason}`)
  const of = ({ endpoint, reason }: ConsoleCall) => byReason.get(`${actionNames[endpoint]}: ${reason}`) ?? []
  const excuses = world.services.map(readExcuses)
  return checksOf({
    'O-1 every answered action is in the action log, with its arguments and its outcome': evidence.consoleCalls.flatMap(
      (call) => asAnswered(evidence, call, of(call), excuses),
    ),
    'O-2 every entry of the action log was requested by a permitted operator, once, and has its end': [
      ...asRequested(evidence, rows),
      ...withoutEnd(all),
      ...wronglyUnknown(evidence, rows, excuses),
    ],
    'O-3 sign-ins and sign-outs are in the action log': signInsAndOuts(evidence, rows),
  })
}

function endpointOf({ endpoint }: ConsoleCall): ConsoleEndpoint {
  return contract[endpoint]
}

export function isPermitted({ endpoint, role, flaw }: ConsoleCall): boolean {
  const { for: access }: ConsoleEndpoint = contract[endpoint]
  return flaw === null && (access === 'public' || access === 'signed in' || may(role, access))
}

function subjectOf({ shop }: Evidence, call: ConsoleCall): string | null {
  const [id = null] = Object.values(call.params)
  if (endpointOf(call).subject !== 'the customer of the key') return id
  const isTheirs = ({ keyId }: { keyId: string }) => keyId === id
  return shop.customers.find(({ key, formerKeys }) => [key, ...formerKeys].some(isTheirs))?.customerId ?? null
}

function outcomeOf(call: ConsoleCall): string | undefined {
  const { outcome } = call
  const failed = endpointOf(call).failed as ((data: object) => boolean) | undefined
  if (outcome.kind === 'ok') return failed?.(outcome.data) ? 'failed' : 'ok'
  return outcome.kind === 'fail' ? `${outcome.code}: ${outcome.message}` : undefined
}

function asAnswered(evidence: Evidence, call: ConsoleCall, rows: Row[], excuses: Excuses[]): string[] {
  const name = `operator call ${call.number} (${call.endpoint})`
  if (!actionNames[call.endpoint]) return []
  if (!isPermitted(call)) return rows.map(() => `${name} was not permitted, and is in the action log`)
  const { outcome, reason, params, operator } = call
  if (outcome.kind === 'info') return []
  const [row] = rows
  if (rows.length !== 1 || !row) return [`${name} is in the action log ${rows.length} times`]
  const { reason: _, ...options } = call.body
  const named = Object.entries(options).flatMap(([option, value]) => [`--${option}`, `${value}`])
  const requested = [`${operator} in the console from 127.0.0.1`, [...Object.values(params), ...named].join(' ')]
  const expected = [...requested, subjectOf(evidence, call), reason].join(', ')
  const written = [row.actor, row.arguments.join(' '), row.subject, row.reason].join(', ')
  // The service logs an end that it could not write, and may be killed before it can.
  const isLost = row.outcome === unknown && excuses.some(({ unwritten }) => unwritten.has(row.actionId))
  const ended = isLost || row.outcome === outcomeOf(call)
  return [
    ...(expected === written ? [] : [`${name} is in the action log as ${written}, and was ${expected}`]),
    ...(ended ? [] : [`${name} ended with ${row.outcome} in the action log, and was answered with ${outcomeOf(call)}`]),
    ...(row.about && !isLost && outcome.kind === 'ok' ? otherIds(name, row.about, outcome.data as object) : []),
  ]
}

function otherIds(name: string, about: Record<string, string>, data: object): string[] {
  return Object.entries(data)
    .filter(([field, value]) => field.endsWith('Id') && typeof value === 'string' && about[field] !== value)
    .map(([field, value]) => `${name} was answered with ${field} ${value}, the action log has ${about[field]}`)
}

const consoleCommand = /^console /

function callsByReason({ consoleCalls }: Evidence): Map<string | null, ConsoleCall> {
  return new Map(consoleCalls.filter(({ reason }) => reason !== null).map((call) => [call.reason, call]))
}

function asRequested(evidence: Evidence, rows: Row[]): string[] {
  const requested = callsByReason(evidence)
  const seen = new Set<string>()
  return rows.flatMap(({ command, reason, actor, actionId }) => {
    if (consoleCommand.test(command)) return []
    const call = requested.get(reason)
    const name = `${actionId}: ${command} by ${actor} for "${reason}"`
    const isTwice = seen.has(`${command}: ${reason}`)
    seen.add(`${command}: ${reason}`)
    if (!call) return [`${name} was not requested`]
    const isIts = command === actionNames[call.endpoint] || (call.endpoint === 'reconcile' && command === carryOut)
    return [
      ...(isIts ? [] : [`${name} was ${call.endpoint}`]),
      ...(isTwice ? [`${name} is there twice`] : []),
      ...(isPermitted(call) ? [] : [`${name} was not permitted`]),
    ]
  })
}

type Excuses = { service: Service; unwritten: Set<string>; uncertainBeginnings: number }

/** From the service's log: ends it could not write, and beginnings whose commit is not known. */
function readExcuses(service: Service): Excuses {
  const lines = service.readLog().split('\n')
  const unwritten = lines.map((line) => /The end of action ([\w-]{36}) .*is missing/.exec(line)?.[1] ?? '')
  const failedBeginnings = lines.filter(
    (line) => line.includes('"msg":"statement failed"') && line.includes('"operators.beginAction"'),
  )
  // Other failures are retried.
  const givenUp = failedBeginnings.filter((line) => /"attempt":3\b|"kind":"busy"/.test(line))
  return { service, unwritten: new Set(unwritten), uncertainBeginnings: givenUp.length }
}

/**
 * Whether the process was killed while the action may have been under way. Every action ends within the shutdown
 * timeout, except a reconciliation.
 */
function wasKilled(
  { killsMs }: Service,
  { invokedAtMs }: ConsoleCall,
  { command, begunAt, runFinishedAt }: Row,
): boolean {
  const lastAt = command === carryOut ? (runFinishedAt ?? Number.POSITIVE_INFINITY) : begunAt
  const untilMs = lastAt - performance.timeOrigin + limits.shutdownTimeoutMs
  return killsMs.some((ms) => ms > invokedAtMs && ms < untilMs)
}

function withoutEnd(rows: Row[]): string[] {
  return rows
    .filter(({ outcome }) => outcome === null)
    .map(({ actionId, command, actor }) => `${actionId}: ${command} by ${actor} has no end`)
}

function wronglyUnknown(evidence: Evidence, rows: Row[], excuses: Excuses[]): string[] {
  const requested = callsByReason(evidence)
  const uncertain = new Map(excuses.map(({ service, uncertainBeginnings }) => [service.name, uncertainBeginnings]))
  return rows
    .filter(({ outcome, command }) => outcome === unknown && !consoleCommand.test(command))
    .flatMap((row) => {
      const { actionId, command, reason } = row
      const call = requested.get(reason)
      const own = excuses.find(({ service }) => service.name === call?.service)
      if (!call || !own || own.unwritten.has(actionId)) return []
      const isAnswered = call.outcome.kind !== 'info' && command !== carryOut
      const isUnavailable = call.outcome.kind === 'info' && call.outcome.cause === 'SVC001'
      if (!isAnswered && !isUnavailable && wasKilled(own.service, call, row)) return []
      const left = uncertain.get(call.service) ?? 0
      if (!isAnswered && left > 0) {
        uncertain.set(call.service, left - 1)
        return []
      }
      return [`${actionId}: ${command} of operator call ${call.number} is unknown, and its process was not killed`]
    })
}

const signIn = 'console sign-in'

/** By name: at least those that were acknowledged, and no more than may have happened. */
function signInsAndOuts({ consoleCalls }: Evidence, rows: Row[]): string[] {
  const names = [...new Set(consoleCalls.map(({ operator }) => operator))]
  const counted = names.flatMap((name) => [
    ...between(name, signIn, consoleCalls, rows, 'signIn'),
    ...between(name, 'console sign-out', consoleCalls, rows, 'signOut'),
  ])
  const wrong = consoleCalls.filter(({ flaw, outcome }) => flaw === 'password' && outcome.kind === 'fail').length
  const logged = rows.filter(
    ({ command, actor }) => command === signIn && !names.some((name) => actor.startsWith(`${name} in`)),
  ).length
  return [...counted, ...(logged >= wrong ? [] : [`${wrong} wrong passwords, ${logged} in the action log`])]
}

function between(name: string, command: string, consoleCalls: ConsoleCall[], rows: Row[], endpoint: string): string[] {
  const requested = consoleCalls.filter(
    (call) => call.operator === name && call.endpoint === endpoint && call.flaw === null,
  )
  const least = requested.filter(({ outcome }) => outcome.kind === 'ok').length
  const most = requested.filter((call) => call.outcome.kind !== 'fail' && !isConnectionRefused(call)).length
  const found = rows.filter((row) => row.command === command && row.actor.startsWith(`${name} in`)).length
  return found >= least && found <= most ? [] : [`${name}: ${found} of ${command}, expected ${least} to ${most}`]
}
