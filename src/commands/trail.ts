// Who did what, and what came of it: written around every command that changes something. Nothing is changed before its
// beginning is on record; an end that cannot be written does not undo what was done, it is told. No secret gets in: of what a
// command gives back only ids are taken, and what looks like a secret among the arguments is struck out.
import { userInfo } from 'node:os'
import type { Database } from '../db/database.ts'
import { beginAction, type Ending, endAction } from './action-sql.ts'
import type { Command, Values, Words } from './command.ts'

/** As much of a word, or of the text of an error, as tells what it was. */
const longestText = 300

/** Keys, tokens and signing secrets of ours, and the gateway's: somebody may take one for an id. */
const secrets = /\b(cpk_|cst_|whsec_|(?:test|live)_g?sk_)[A-Za-z0-9+/=_-]+/g

export function withoutSecrets(text: string): string {
  return text.replace(secrets, '$1...')
}

function shortened(text: string): string {
  return withoutSecrets(text).slice(0, longestText)
}

/** The rest of an address may be as good as a password. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}

/** The words of a call as they were typed, but for how the answer is to look and by whom it is. */
export function argumentsOf({ positionals, values }: Words): string[] {
  const { json: _, by: __, help: ___, ...told } = values
  const named = Object.entries(told).flatMap(([name, value]) => [
    `--${name}`,
    name === 'url' ? originOf(`${value}`) : `${value}`,
  ])
  return [...positionals, ...named].map(shortened)
}

/** The user of this machine too: a name is easily given. */
export function actorOf({ by }: Values): string {
  return by === undefined ? userName() : `${by.trim()} as ${userName()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/** `keyId`, `orderId` and their like; not what is shown once. */
function idsIn(result: object | undefined): Record<string, string> {
  const ids = Object.entries(result ?? {}).filter(([name, value]) => name.endsWith('Id') && typeof value === 'string')
  return Object.fromEntries(ids)
}

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return shortened([code, message ?? error].filter((part) => typeof part === 'string').join(': ')) || 'failed'
}

export type Trail = { database: Database; onUnwritten(text: string): void }

/** What the work gives back, or its error. */
export async function recorded<Result extends object>(
  { database, onUnwritten }: Trail,
  { name, failed }: Pick<Command, 'name' | 'failed'>,
  words: Words,
  work: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const actionId = crypto.randomUUID()
  const end = (ending: Ending) =>
    endAction(database, actionId, ending).catch((error) =>
      onUnwritten(`How it ended is not in the trail: ${errorText(error)}`),
    )
  await beginAction(database, { actionId, actor: actorOf(words.values), command: name, arguments: argumentsOf(words) })
  try {
    const result = await work()
    await end({ outcome: result && failed?.(result) ? 'failed' : 'ok', about: idsIn(result) })
    return result
  } catch (error) {
    await end({ outcome: errorText(error), about: {} })
    throw error
  }
}
