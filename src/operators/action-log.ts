// Who did what and why, and what came of it: written around everything by which an operator changes something, by a command or
// in the console. Nothing is changed before its beginning is on record; an end that cannot be written does not undo what was
// done, it is told. No secret gets in: of what comes of it only ids are taken, and what looks like a secret is struck out.
import type { Database } from '../db/database.ts'
import { beginAction, type Ending, endAction } from './action-log.sql.ts'

/** Characters: as much of a word, or of the text of an error, as tells what it was. A reason always fits. */
const longestText = 300

/** Keys, tokens and signing secrets of ours, and the gateway's: somebody may take one for an id. */
const secrets = /\b(cpk_|cst_|whsec_|(?:test|live)_g?sk_)[A-Za-z0-9+/=_-]+/g

export function withoutSecrets(text: string): string {
  return text.replace(secrets, '$1...')
}

function shortened(text: string): string {
  // By characters: half of one is no text.
  return [...withoutSecrets(text)].slice(0, longestText).join('')
}

/** `keyId`, `orderId` and their like; not what is shown once. */
function idsIn(result: object | null | undefined): Record<string, string> {
  const ids = Object.entries(result ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string')
  return Object.fromEntries(ids)
}

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return shortened([code, message ?? error].filter((part) => typeof part === 'string').join(': ')) || 'failed'
}

export type Trail = { database: Database; onUnwritten(text: string): void }

export type Action = {
  actor: string
  command: string
  arguments: string[]
  /** The id of what it is about. */
  subject: string | null
  reason: string | null
}

async function begin({ database }: Trail, action: Action): Promise<string> {
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

async function end({ database, onUnwritten }: Trail, actionId: string, ending: Ending): Promise<void> {
  await endAction(database, actionId, ending).catch((error) =>
    onUnwritten(`How the action ${actionId} ended is not in the trail: ${errorText(error)}`),
  )
}

/** What the work gives back, or its error. */
export async function recorded<Result extends object | null | undefined>(
  trail: Trail,
  action: Action,
  work: () => Promise<Result>,
  failed?: (result: NonNullable<Result>) => boolean,
): Promise<Result> {
  const actionId = await begin(trail, action)
  try {
    const result = await work()
    await end(trail, actionId, { outcome: result && failed?.(result) ? 'failed' : 'ok', about: idsIn(result) })
    return result
  } catch (error) {
    await end(trail, actionId, { outcome: errorText(error), about: {} })
    throw error
  }
}

/** Of what has ended already, or has come to nothing. */
export async function noted(trail: Trail, action: Action, outcome: string): Promise<void> {
  await end(trail, await begin(trail, action), { outcome, about: {} })
}
