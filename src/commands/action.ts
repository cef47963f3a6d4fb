// What the trail says of a command: who called it, with which words, about what and why.
import { userInfo } from 'node:os'
import { uuidPattern } from '../core/ids.ts'
import type { Action } from '../operators/action-log.ts'
import type { Command, Values, Words } from './command.ts'

/** The rest of an address may be as good as a password. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}

/** The words of a call as they were typed, but for how the answer is to look, by whom it is and why. */
function argumentsOf({ positionals, values }: Words): string[] {
  const { json: _, by: __, help: ___, reason: ____, ...told } = values
  const named = Object.entries(told).flatMap(([name, value]) => [
    `--${name}`,
    name === 'url' ? originOf(`${value}`) : `${value}`,
  ])
  return [...positionals, ...named]
}

/** The user of this machine too: a name is easily given. */
function actorOf({ by }: Values): string {
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

/** The first argument, as ids are kept. */
export function subjectOf({ positionals: [first] }: Words): string | null {
  return (first && uuidPattern.test(first) ? first.toLowerCase() : first) ?? null
}

export function actionOf({ name }: Pick<Command, 'name'>, words: Words, subject = subjectOf(words)): Action {
  const reason = words.values.reason?.trim() ?? null
  return { actor: actorOf(words.values), command: name, arguments: argumentsOf(words), subject, reason }
}
