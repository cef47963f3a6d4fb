// The action log: every change an operator makes, by a command or in the console, with actor, reason and outcome. The beginning
// is written before anything is changed. An end that cannot be written does not undo the change; it is written as soon as the
// database accepts it: by a service in the background, by a command while it waits. The lease of an action is renewed while it
// runs. When its process is gone, or cannot write, the worker ends it as unknown. No secret gets into the log: of a result only
// its ids are stored, and texts that look like a secret are redacted.
import { backoffMs } from '../core/backoff.ts'
import { deadlineIn, sleep, within } from '../core/clock.ts'
import { Refusal } from '../core/errors.ts'
import type { Database, Log } from '../db/database.ts'
import { beginAction, type Ending, endAction, endLostActions, renewAction } from './action-log.sql.ts'

/** Characters kept of an argument or of the text of an error. A reason always fits. */
const longestText = 300

/** Keys, tokens and signing secrets of ours and of the gateway: an operator may type one in place of an id. */
const secrets = /\b(cpk_|cst_|whsec_|(?:test|live)_g?sk_)[A-Za-z0-9+/=_-]+/g

export function withoutSecrets(text: string): string {
  return text.replace(secrets, '$1...')
}

/** A named argument. Of a URL only the origin: its path and query may contain a secret. */
export function argumentOf(name: string, value: string): [name: string, value: string] {
  return [`--${name}`, name === 'url' ? (URL.parse(value)?.origin ?? '') : value]
}

function shortened(text: string): string {
  // By code points: half a surrogate pair is not valid text.
  return [...withoutSecrets(text)].slice(0, longestText).join('')
}

/** `keyId`, `orderId` and so on; not the secrets that are shown once. */
function idsIn(result: object | null | undefined): Record<string, string> {
  const ids = Object.entries(result ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string')
  return Object.fromEntries(ids)
}

/** The page translates it: by the reason of the refusal, or by the first field that was refused. */
function refusalIn(error: unknown): Record<string, string> {
  if (!(error instanceof Refusal)) return {}
  const { reason, fields } = (error.metadata ?? {}) as { reason?: string; fields?: { field: string }[] }
  const refusal = reason ?? fields?.[0]?.field
  return refusal === undefined ? {} : { refusal }
}

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return shortened([code, message ?? error].filter((part) => typeof part === 'string').join(': ')) || 'failed'
}

export type ActionLog = {
  database: Database
  /** Called when the end of an action could not be written. The caller of the action waits for it. */
  onUnwritten(end: UnwrittenEnd): Promise<void> | void
}

export type UnwrittenEnd = {
  /** What is missing, and why. */
  text: string
  /** Tries again. */
  write(): Promise<void>
}

const repeats = { firstMs: 250, longestMs: 2_000, jitter: 0.25 }

/** Until it is written or aborted. */
async function writeLate({ write }: UnwrittenEnd, signal: AbortSignal): Promise<void> {
  for (let retry = 0; !signal.aborted; retry += 1) {
    try {
      await sleep(backoffMs(retry, repeats), signal)
      await write()
      return
    } catch {
      // The first failure was reported.
    }
  }
}

const leftToWorker = 'A worker records its outcome as unknown.'

/** How long a service that stops waits: a failover takes longer, and then the worker of another process ends the action. */
const stopLimitMs = 8_000

/** For a service: answers do not wait for an end that could not be written at once. `finish` does, when the service stops. */
export function createActionLog(
  database: Database,
  log: Log,
  { limitMs = stopLimitMs } = {},
): ActionLog & { finish(): Promise<void> } {
  const late = new Map<Promise<void>, string>()
  const stopping = new AbortController()
  return {
    database,
    onUnwritten(end) {
      log.error({}, end.text)
      const written = writeLate(end, stopping.signal).finally(() => late.delete(written))
      late.set(written, end.text)
    },
    async finish() {
      await within(deadlineIn(limitMs), Promise.all(late.keys()), undefined)
      for (const text of late.values()) log.error({}, `${text} ${leftToWorker}`)
      stopping.abort()
    },
  }
}

/** How long a command waits for an end to be written. */
const commandLimitMs = 30_000

/** For a command: it waits, and says for what. Interrupted, it waits no longer. */
export function createCommandLog(
  database: Database,
  { print, signal, limitMs = commandLimitMs }: { print(line: string): void; signal: AbortSignal; limitMs?: number },
): ActionLog {
  return {
    database,
    async onUnwritten(end) {
      print(`${end.text} Trying again for ${limitMs / 1_000} s.`)
      const stopping = new AbortController()
      const written = writeLate(end, AbortSignal.any([signal, stopping.signal])).then(() => !signal.aborted)
      const isWritten = await within(deadlineIn(limitMs), written, false)
      stopping.abort()
      print(isWritten ? 'The end is in the action log now.' : `${end.text} ${leftToWorker}`)
    },
  }
}

/** The actor of what a service does with its token. */
export const actorOfService = (serviceId: string) => `service ${serviceId}`
export const serviceActor = /^service svc_/

export type Action = {
  actor: string
  command: string
  arguments: string[]
  /** The id of the order, customer, … that the action changes. */
  subject: string | null
  reason: string | null
}

async function begin({ database }: ActionLog, action: Action): Promise<string> {
  const actionId = crypto.randomUUID()
  const { actor, command, subject, reason } = action
  await beginAction(database, {
    actionId,
    actor,
    command,
    arguments: action.arguments.map(shortened),
    subject: subject && shortened(subject),
    reason: reason && shortened(reason),
  })
  return actionId
}

async function end({ database, onUnwritten }: ActionLog, actionId: string, ending: Ending): Promise<void> {
  const write = () => endAction(database, actionId, ending)
  await write().catch((error) => {
    const text = `The end of action ${actionId} (${ending.outcome}) is missing in the action log: ${errorText(error)}.`
    return onUnwritten({ text, write })
  })
}

/** A third of a lease. */
const renewEveryMs = 10_000

/** A renewal that fails is followed by the next. */
function keepLease(database: Database, actionId: string): Disposable {
  const timer = setInterval(() => renewAction(database, actionId).catch(() => undefined), renewEveryMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** What a result says about its action, where it is not simply done. */
export type ActionOutcomes<Result> = {
  failed?: ((result: Result) => boolean) | undefined
  /** Nothing was done yet: another person has to approve it. */
  requested?: ((result: Result) => boolean) | undefined
}

/** Runs the work between the two entries; returns its result or throws its error. */
export async function recordAction<Result extends object | null | undefined>(
  log: ActionLog,
  action: Action,
  work: () => Promise<Result>,
  { failed, requested }: ActionOutcomes<NonNullable<Result>> = {},
): Promise<Result> {
  const actionId = await begin(log, action)
  using _ = keepLease(log.database, actionId)
  try {
    const result = await work()
    const outcome = result && failed?.(result) ? 'failed' : result && requested?.(result) ? 'requested' : 'ok'
    await end(log, actionId, { outcome, about: idsIn(result) })
    return result
  } catch (error) {
    await end(log, actionId, { outcome: errorText(error), about: refusalIn(error) })
    throw error
  }
}

/** For an action that has ended already, or was refused. */
export async function recordEndedAction(log: ActionLog, action: Action, outcome: string): Promise<void> {
  await end(log, await begin(log, action), { outcome, about: {} })
}

const lostAtATime = 100

/** A job of the worker. */
export async function endLost(database: Database, log: Log): Promise<{ more: boolean }> {
  const ended = await endLostActions(database, lostAtATime)
  for (const actionId of ended) log.error({ actionId }, 'the process of an action is gone: its outcome is unknown')
  return { more: ended.length === lostAtATime }
}
