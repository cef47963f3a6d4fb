// The trail against what operators asked for. An action is on it before it happens and has its end before it is answered: so
// what was answered is there from beginning to end, as it was asked for and as it ended, and what is there was asked for. An
// end may be missing where the process was killed, or where the service has said that it could not be written.
import { readFileSync } from 'node:fs'
import { type ConsoleEndpoint, contract } from '../../src/console/contract.ts'
import { may } from '../../src/operators/permissions.ts'
import { type DeskCall, metNobody, trailNames } from '../desk/console.ts'
import type { Books } from '../world/postgres.ts'
import type { Service } from '../world/service.ts'
import { limits, type World } from '../world/world.ts'
import type { Check, Evidence } from './evidence.ts'

export type Row = {
  actionId: string
  actor: string
  command: string
  arguments: string[]
  subject: string | null
  reason: string | null
  outcome: string | null
  about: Record<string, string> | null
  /** On the clock on the wall, in milliseconds. */
  begunAt: number
  /** Of the run that it carries out; null where there is none, or it has not finished. */
  runFinishedAt: number | null
}

/** A run goes on after its answer, as an action of its own for the same reason. */
export const carryOut = 'reconcile carry-out'

async function readTrail(books: Books): Promise<Row[]> {
  return books.query<Row>(
    `select b.action_id as "actionId", b.actor, b.command, b.arguments, b.subject, b.reason, e.outcome, e.about,
      extract(epoch from b.happened_at)::float8 * 1000 as "begunAt",
      extract(epoch from r.finished_at)::float8 * 1000 as "runFinishedAt"
    from operator_actions b left join operator_actions e on e.action_id = b.action_id and e.step = 'ENDED'
    left join reconciliations r on b.command = '${carryOut}' and b.subject = r.reconciliation_id::text
    where b.step = 'BEGUN' and b.actor like '% from %'`,
  )
}

export async function checkTrail(world: World, evidence: Evidence): Promise<Check[]> {
  const rows = await readTrail(world.books)
  const byReason = Map.groupBy(rows, ({ command, reason }) => `${command}: ${reason}`)
  const of = ({ endpoint, reason }: DeskCall) => byReason.get(`${trailNames[endpoint]}: ${reason}`) ?? []
  const excuses = world.services.map(readExcuses)
  return [
    {
      id: 'O-1',
      title: 'every action that was answered is on the trail, as it was asked for and as it ended',
      violations: evidence.desk.flatMap((call) => asAnswered(evidence, call, of(call))),
    },
    {
      id: 'O-2',
      title: 'everything on the trail was asked for by somebody who may, once, and has its end',
      violations: [...asAsked(evidence, rows), ...withoutEnd(evidence, rows, excuses)],
    },
    { id: 'O-3', title: 'who came and went is on the trail', violations: comingAndGoing(evidence, rows) },
  ]
}

function endpointOf({ endpoint }: DeskCall): ConsoleEndpoint {
  return contract[endpoint]
}

export function mayAsk({ endpoint, role, amiss }: DeskCall): boolean {
  const { for: access }: ConsoleEndpoint = contract[endpoint]
  return amiss === null && (access === 'anybody' || access === 'signed in' || may(role, access))
}

function subjectOf({ shop }: Evidence, call: DeskCall): string | null {
  const [id = null] = Object.values(call.params)
  if (endpointOf(call).subject !== 'the customer of the key') return id
  const isTheirs = ({ keyId }: { keyId: string }) => keyId === id
  return shop.customers.find(({ key, formerKeys }) => [key, ...formerKeys].some(isTheirs))?.customerId ?? null
}

function outcomeOf(call: DeskCall): string | undefined {
  const { outcome } = call
  const failed = endpointOf(call).failed as ((data: object) => boolean) | undefined
  if (outcome.kind === 'ok') return failed?.(outcome.data) ? 'failed' : 'ok'
  return outcome.kind === 'fail' ? `${outcome.code}: ${outcome.message}` : undefined
}

function asAnswered(evidence: Evidence, call: DeskCall, rows: Row[]): string[] {
  const name = `operator call ${call.number} (${call.endpoint})`
  if (!trailNames[call.endpoint]) return []
  if (!mayAsk(call)) return rows.map(() => `${name} was not allowed, and is on the trail`)
  const { outcome, reason, params, operator } = call
  if (outcome.kind === 'info') return []
  const [row] = rows
  if (rows.length !== 1 || !row) return [`${name} is on the trail ${rows.length} times`]
  const { reason: _, ...told } = call.body
  const named = Object.entries(told).flatMap(([option, value]) => [`--${option}`, `${value}`])
  const asked = [`${operator} in the console from 127.0.0.1`, [...Object.values(params), ...named].join(' ')]
  const expected = [...asked, subjectOf(evidence, call), reason].join(', ')
  const written = [row.actor, row.arguments.join(' '), row.subject, row.reason].join(', ')
  // An end that could not be written is told in the log; see below.
  const ended = row.outcome === null || row.outcome === outcomeOf(call)
  return [
    ...(expected === written ? [] : [`${name} is on the trail as ${written}, and was ${expected}`]),
    ...(ended ? [] : [`${name} ended with ${row.outcome} on the trail, and was answered ${outcomeOf(call)}`]),
    ...(row.about && outcome.kind === 'ok' ? otherIds(name, row.about, outcome.data as object) : []),
  ]
}

function otherIds(name: string, about: Record<string, string>, data: object): string[] {
  return Object.entries(data)
    .filter(([field, value]) => field.endsWith('Id') && typeof value === 'string' && about[field] !== value)
    .map(([field, value]) => `${name} was answered ${field} ${value}, on the trail is ${about[field]}`)
}

const ownName = /^console /

function callsByReason({ desk }: Evidence): Map<string | null, DeskCall> {
  return new Map(desk.filter(({ reason }) => reason !== null).map((call) => [call.reason, call]))
}

function asAsked(evidence: Evidence, rows: Row[]): string[] {
  const asked = callsByReason(evidence)
  const seen = new Set<string>()
  return rows.flatMap(({ command, reason, actor, actionId }) => {
    if (ownName.test(command)) return []
    const call = asked.get(reason)
    const name = `${actionId}: ${command} by ${actor} for "${reason}"`
    const isTwice = seen.has(`${command}: ${reason}`)
    seen.add(`${command}: ${reason}`)
    if (!call) return [`${name} was asked for by nobody`]
    const isIts = command === trailNames[call.endpoint] || (call.endpoint === 'reconcile' && command === carryOut)
    return [
      ...(isIts ? [] : [`${name} was ${call.endpoint}`]),
      ...(isTwice ? [`${name} is there twice`] : []),
      ...(mayAsk(call) ? [] : [`${name} was not theirs to ask for`]),
    ]
  })
}

type Excuses = { service: Service; unwritten: Set<string>; uncertainBeginnings: number }

/** What a service has said about its trail: ends it could not write, and beginnings of which it was not told that they are. */
function readExcuses(service: Service): Excuses {
  const lines = readFileSync(service.logFile, 'utf8').split('\n')
  const unwritten = lines.map(
    (line) => /The end of action ([\w-]{36}) is missing in the action log/.exec(line)?.[1] ?? '',
  )
  const failedBeginnings = lines.filter(
    (line) => line.includes('"msg":"statement failed"') && line.includes('"operators.beginAction"'),
  )
  // After a failure of another kind it is tried again.
  const givenUp = failedBeginnings.filter((line) => /"attempt":3\b|"kind":"busy"/.test(line))
  return { service, unwritten: new Set(unwritten), uncertainBeginnings: givenUp.length }
}

/**
 * Whether the process was killed while the action may have been under way. Whatever it is, it ends in less than a stop waits
 * for; only a run that is carried out takes as long as it takes.
 */
function wasKilled({ killsMs }: Service, { invokedAtMs }: DeskCall, { command, begunAt, runFinishedAt }: Row): boolean {
  const lastAt = command === carryOut ? (runFinishedAt ?? Number.POSITIVE_INFINITY) : begunAt
  const untilMs = lastAt - performance.timeOrigin + limits.shutdownTimeoutMs
  return killsMs.some((ms) => ms > invokedAtMs && ms < untilMs)
}

function withoutEnd(evidence: Evidence, rows: Row[], excuses: Excuses[]): string[] {
  const asked = callsByReason(evidence)
  const uncertain = new Map(excuses.map(({ service, uncertainBeginnings }) => [service.name, uncertainBeginnings]))
  return rows
    .filter(({ outcome, command }) => outcome === null && !ownName.test(command))
    .flatMap((row) => {
      const { actionId, command, reason } = row
      const call = asked.get(reason)
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
      return [`${actionId}: ${command} of operator call ${call.number} has no end, and its process was not killed`]
    })
}

const signedIn = 'console sign-in'

/** By name: as many as were told so, and no more than may have been. */
function comingAndGoing({ desk }: Evidence, rows: Row[]): string[] {
  const names = [...new Set(desk.map(({ operator }) => operator))]
  const came = names.flatMap((name) => [
    ...between(name, signedIn, desk, rows, 'signIn'),
    ...between(name, 'console sign-out', desk, rows, 'signOut'),
  ])
  const wrong = desk.filter(({ amiss, outcome }) => amiss === 'password' && outcome.kind === 'fail').length
  const noted = rows.filter(({ command, actor }) => command === signedIn && actor.startsWith('somebody')).length
  return [...came, ...(noted >= wrong ? [] : [`${wrong} wrong passwords, ${noted} on the trail`])]
}

function between(name: string, command: string, desk: DeskCall[], rows: Row[], endpoint: string): string[] {
  const asked = desk.filter((call) => call.operator === name && call.endpoint === endpoint && call.amiss === null)
  const least = asked.filter(({ outcome }) => outcome.kind === 'ok').length
  const most = asked.filter((call) => call.outcome.kind !== 'fail' && !metNobody(call)).length
  const found = rows.filter((row) => row.command === command && row.actor.startsWith(`${name} in`)).length
  return found >= least && found <= most ? [] : [`${name}: ${found} of ${command}, between ${least} and ${most} asked`]
}
