// What a command of the operator is: its words, what it takes, and what it does with the parts it asks for. Parts are
// opened when they are asked for, so a command that needs no gateway starts none.
import type { Peppers } from '../customers/api-keys.ts'
import type { Database } from '../db/database.ts'
import type { DeliveryContext } from '../events/deliver.ts'
import type { PaymentContext } from '../payments/context.ts'
import type { Progress } from '../payments/reconcile.ts'

export type Values = {
  customer?: string
  name?: string
  url?: string
  types?: string
  kind?: string
  credits?: string
  endpoint?: string
  at?: string
  reason?: string
  from?: string
  to?: string
  limit?: string
  /** Who does it, for the trail; taken by every command that changes something. */
  by?: string
  json?: boolean
  help?: boolean
}
export type Words = { positionals: string[]; values: Values }

export type Call = Words & {
  database: Database
  peppers(): Peppers
  payments(): Promise<PaymentContext>
  deliveries(): DeliveryContext
  /** Shows how far a long run has come. */
  onProgress: Progress
}

export type Command = {
  name: string
  takes: string
  does: string
  /** Whether it changes something: then it goes into the trail (src/commands/trail.ts). */
  changes: boolean
  /** What is missing or wrong in the call, if anything. */
  check(words: Words): string | undefined
  run?(call: Call): Promise<object | object[]>
  /** For what is too long to be a result: written as it comes. */
  stream?(call: Call): AsyncIterable<string>
  /** Whether what was found is a failure: exit code 1. */
  failed?(result: object): boolean
}

/** For the commands that are about one thing. */
export function needsOne(what: string, hint: string): (words: Pick<Words, 'positionals'>) => string | undefined {
  return ({ positionals }) => (positionals.length === 1 ? undefined : `exactly one ${what} is needed${hint}`)
}

export function needsNothing({ positionals }: Pick<Words, 'positionals'>): string | undefined {
  return positionals.length === 0 ? undefined : `"${positionals[0]}" is one word too many`
}

/** A reason in one line, not blank: what the gateway takes, and PostgreSQL holds. */
export const reasonPattern = /^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u
