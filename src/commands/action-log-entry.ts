// The action log entry of a command: who called it, with which arguments, about which subject and why.
import { userInfo } from 'node:os'
import { uuidPattern } from '../core/ids.ts'
import { type Action, argumentOf } from '../operators/action-log.ts'
import type { Command, CommandInput, Values } from './command.ts'

/** As typed, without the options that have columns of their own or only format the output. */
function argumentsOf({ positionals, values }: CommandInput): string[] {
  const { json: _, by: __, help: ___, reason: ____, ...logged } = values
  const named = Object.entries(logged).flatMap(([name, value]) => argumentOf(name, `${value}`))
  return [...positionals, ...named]
}

/** --by is not verified, so the user of this machine is logged too. */
function actorOf({ by }: Values): string {
  return by === undefined ? userName() : `${by.trim()} as ${userName()}`
}

/** Without the user of this machine: the name of an operator is the same person in the console. */
export function personOf({ by }: Values): string {
  return (by ?? userName()).trim().toLowerCase()
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a user id that has no name.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}

/** The first argument; a UUID in lower case, as the tables have it. */
export function subjectOf({ positionals: [first] }: CommandInput): string | null {
  return (first && uuidPattern.test(first) ? first.toLowerCase() : first) ?? null
}

export function actionOf({ name }: Pick<Command, 'name'>, input: CommandInput, subject = subjectOf(input)): Action {
  const reason = input.values.reason?.trim() ?? null
  return { actor: actorOf(input.values), command: name, arguments: argumentsOf(input), subject, reason }
}
