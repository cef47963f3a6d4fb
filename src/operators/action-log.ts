// The action log: every change an operator makes, by a command or in the console, with actor, reason and outcome. The beginning
// is written before anything is changed. An end that cannot be written does not undo the change; it is reported. No secret gets
// into the log: of a result only its ids are stored, and texts that look like a secret are redacted.
import type { Database } from '../db/database.ts'
import { beginAction, type Ending, endAction } from './action-log.sql.ts'

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

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return shortened([code, message ?? error].filter((part) => typeof part === 'string').join(': ')) || 'failed'
}

export type ActionLog = {
  database: Database
  /** Called when the end of an action could not be written. */
  onUnwritten(text: string): void
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
  await endAction(database, actionId, ending).catch((error) =>
    onUnwritten(`The end of action ${actionId} is missing in the action log: ${errorText(error)}`),
  )
}

/** Runs the work between the two entries; returns its result or throws its error. */
export async function recordAction<Result extends object | null | undefined>(
  log: ActionLog,
  action: Action,
  work: () => Promise<Result>,
  failed?: (result: NonNullable<Result>) => boolean,
): Promise<Result> {
  const actionId = await begin(log, action)
  try {
    const result = await work()
    await end(log, actionId, { outcome: result && failed?.(result) ? 'failed' : 'ok', about: idsIn(result) })
    return result
  } catch (error) {
    await end(log, actionId, { outcome: errorText(error), about: {} })
    throw error
  }
}

/** For an action that has ended already, or was refused. */
export async function recordEndedAction(log: ActionLog, action: Action, outcome: string): Promise<void> {
  await end(log, await begin(log, action), { outcome, about: {} })
}
