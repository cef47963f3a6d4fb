// What a command of the operator is: its words, what it takes, how it is explained, and what it does with the parts it asks
// for. Help, completion, parsing and the documents' tests all read this one description. Parts are opened when they are
// asked for, so a command that needs no gateway starts none.
import type { Peppers } from '../customers/api-keys.ts'
import type { Database } from '../db/database.ts'
import type { OpenOptions } from '../db/open.ts'
import type { DeliveryContext } from '../events/deliver.ts'
import type { ReconcileProgress } from '../payments/books/movement-list.ts'
import type { PaymentContext } from '../payments/context.ts'

/** What the options of all commands are called. One name means one thing wherever it is taken. */
export type Values = {
  customer?: string
  name?: string
  role?: string
  url?: string
  types?: string
  kind?: string
  credits?: string
  endpoint?: string
  at?: string
  reason?: string
  from?: string
  to?: string
  old?: string
  limit?: string
  /** Who does it, for the trail; taken by every command that changes something. */
  by?: string
  /** Goes on without asking; taken by every command that asks. */
  yes?: boolean
  json?: boolean
  help?: boolean
}
export type OptionName = Exclude<keyof Values, 'by' | 'yes' | 'json' | 'help'>
export type Words = { positionals: string[]; values: Values }

export type Argument = {
  /** In capitals: ORDERID. */
  name: string
  about: string
  /** The command that lists what it may be. */
  listedBy?: string
  choices?: readonly string[]
  /** The shell completes it as a path. */
  isFile?: boolean
  /** It may be left out. Only the last one. */
  optional?: boolean
}

export type Option = {
  /** What stands for its value: NAME|UUID. */
  value: string
  about: string
  needed?: boolean
  /** What a value has to be: told when it is something else. */
  expects?: string
  accepts?(text: string): boolean
  /** All it may be: checked, and completed by the shell. */
  choices?: readonly string[]
  /** Several of the choices, with commas between them. */
  many?: boolean
  /** The shell completes it as a path. */
  isFile?: boolean
}

/** Without the name of the program: `keys issue --customer acme`. */
export type Example = { line: string; does: string }

/** What a command that cannot be taken back is about to do. */
export type Confirmation = {
  /** Shown before the question, as a result is shown. */
  will: object
  /** `Refund this order?` */
  question: string
}

/** For commands that work without the service's database, or before there is one. */
export type BareCall = Words & {
  /** Where the database of this environment is, for src/db/open.ts. */
  place: Omit<OpenOptions, 'use'>
  /** As they are given, or made up by an earlier start; none is made up for this. */
  knownPeppers(): Peppers | undefined
  /** A path as it was typed, seen from where it was typed. */
  pathOf(typed: string): string
  /** Shows how far a long run has come. */
  onProgress: ReconcileProgress
  /** Aborted when the person interrupts. What is half written is removed then; the command need not return anything. */
  signal: AbortSignal
}

export type Call = BareCall & {
  /** The id of what the trail has it about. */
  subject: string | null
  database: Database
  peppers(): Peppers
  payments(): Promise<PaymentContext>
  deliveries(): Promise<DeliveryContext>
}

type Described = {
  /** A noun and a verb, or a verb alone. */
  name: string
  /** One line. */
  does: string
  /** What else there is to know, a paragraph each. */
  more?: readonly string[]
  arguments?: readonly Argument[]
  options?: Partial<Record<OptionName, Option>>
  examples: readonly [Example, ...Example[]]
  /** When it ends with exit code 1, besides being refused. */
  failsWhen?: string
  /** What it writes when that is no result: CSV. There is no --json then. */
  writes?: string
  /** What is left when a person interrupts it, where that is something else than for all that change something. */
  interrupted?: string
  /** Whether it changes something: then it goes into the trail (src/operators/action-log.ts). */
  changes: boolean
  /** What is wrong in the call, if anything, beyond each argument and option for itself. */
  check?(words: Words): string | undefined
  /** Whether what was found is a failure: exit code 1. */
  failed?(result: object): boolean
}

export type DatabaseCommand = Described & {
  run?(call: Call): Promise<object | object[]>
  /** For what is too long to be a result: written as it comes. */
  stream?(call: Call): AsyncIterable<string>
  /** For what cannot be taken back: what it will do, read without changing anything. Nothing is asked when undefined. */
  confirm?(call: Call): Promise<Confirmation | undefined>
  /** On whose trail it is, where that is not its first argument: one looks for it there. Null: on nobody's. */
  about?(call: Omit<Call, 'subject'>): Promise<string | null>
  alone?: never
}

/** Whoever works alone writes into the trail himself, if there is one. */
export type BareCommand = Described & {
  /** A text is written as it is; anything else as a result. */
  alone(call: BareCall): Promise<object | object[] | string>
  confirm?(call: BareCall): Promise<Confirmation | undefined>
  run?: never
  stream?: never
}

export type Command = DatabaseCommand | BareCommand
export type CommandGroup = { title: string; commands: readonly Command[] }
