// What an operator's command consists of: its name, arguments, options, help texts and function. Help, completion, parsing
// and the tests of the documents all read this description. A command gets functions that open the gateway and the
// deliveries, so one that needs neither opens neither.
import type { Peppers } from '../customers/api-keys.ts'
import type { Database } from '../db/database.ts'
import type { OpenOptions } from '../db/open.ts'
import type { DeliveryContext } from '../events/deliver.ts'
import type { AdjustmentSettings } from '../operators/adjustment-limits.ts'
import type { ReconcileProgress } from '../payments/books/movement-list.ts'
import type { PaymentContext } from '../payments/context.ts'
import type { LogName, LogSigner } from '../transparency/note.ts'

/** The options of all commands. An option means the same in every command that takes it. */
export type Values = {
  customer?: string
  name?: string
  may?: string
  role?: string
  status?: string
  /** The key of a payment, or an approval number. */
  payment?: string
  url?: string
  types?: string
  kind?: string
  credits?: string
  scope?: string
  value?: string
  period?: string
  reference?: string
  'warn-at'?: string
  /** What the use is added up by. */
  per?: string
  endpoint?: string
  at?: string
  reason?: string
  /** A span: of days or times; in `receipt` of entry numbers. */
  from?: string
  to?: string
  old?: string
  limit?: string
  key?: string[]
  checkpoint?: string[]
  log?: string
  /** The operator's name for the action log; taken by every command that changes something. */
  by?: string
  unused?: boolean
  /** Skips the question; taken by every command that asks for confirmation. */
  yes?: boolean
  json?: boolean
  help?: boolean
}
export type SwitchName = 'unused'
export type OptionName = Exclude<keyof Values, SwitchName | 'by' | 'yes' | 'json' | 'help'>

/** The arguments and options of one call. */
export type CommandInput = { positionals: string[]; values: Values }

export type Argument = {
  /** In capitals: ORDERID. */
  name: string
  description: string
  /** The command that lists the possible values. */
  listedBy?: string
  choices?: readonly string[]
  /** The shell completes it as a path. */
  isFile?: boolean
  /** Only the last argument may be optional. */
  optional?: boolean
  /** One or more; only the last argument. */
  isRepeated?: boolean
}

export type Option = {
  /** The placeholder of its value in help: NAME|UUID. */
  value: string
  description: string
  required?: boolean
  /** The accepted format, for the error about any other value. */
  expects?: string
  accepts?(text: string): boolean
  /** All possible values: checked, and completed by the shell. */
  choices?: readonly string[]
  /** Several of the choices, separated by commas. */
  isList?: boolean
  /** May be given several times: its value is a list. Of any other option the last one counts. */
  isRepeated?: boolean
  /** The shell completes it as a path. */
  isFile?: boolean
}

/** `line` is without the name of the program: `keys issue --customer acme`. */
export type Example = { line: string; description: string }

/** What an operator sees before a command that cannot be undone, or is probably a mistake. */
export type Confirmation = {
  /** What the command will do, shown in the format of a result. */
  preview: object
  /** `Refund this order?` */
  question: string
}

/** For commands that open the database themselves, or need none. */
export type StandaloneCall = CommandInput & {
  /** The database of this environment, for src/db/open.ts. */
  databaseOptions: Omit<OpenOptions, 'use'>
  /** The configured peppers, or the generated one of an earlier start. Does not generate one. */
  knownPeppers(): Peppers | undefined
  /** The name of the transparency log in this environment. */
  logName(): LogName
  /** Resolves a typed path against the directory where it was typed. */
  resolvePath(typed: string): string
  onProgress: ReconcileProgress
  /** A line for the person who waits, on stderr. */
  print(line: string): void
  /** Aborted by an interrupt. The command then removes partial output; it need not return a result. */
  signal: AbortSignal
}

export type Call = StandaloneCall & {
  /** The id under which the action log files this call. */
  subject: string | null
  database: Database
  peppers(): Peppers
  adjustments: AdjustmentSettings
  firstPasswordHours: number
  /** Signs the transparency log. */
  signer(): LogSigner
  payments(): Promise<PaymentContext>
  deliveries(): Promise<DeliveryContext>
}

type CommandDescription = {
  /** A noun and a verb, or a verb alone. */
  name: string
  /** One line. */
  summary: string
  /** Further paragraphs of the help. */
  details?: readonly string[]
  arguments?: readonly Argument[]
  options?: Partial<Record<OptionName, Option>>
  /** Options without a value, with their descriptions. */
  switches?: Partial<Record<SwitchName, string>>
  examples: readonly [Example, ...Example[]]
  /** The results that end with exit code 1, besides errors. */
  failsWhen?: string
  /** The results that end with exit code 3: neither done nor failed. */
  undecidedWhen?: string
  /** The output format of a command that writes no result and so has no --json: CSV. */
  writes?: string
  /** The state an interrupt leaves behind, where the general sentence of src/cli.ts does not fit. */
  afterInterrupt?: string
  changesData: boolean
  /** Whether it writes out whole books. Its calls are in the action log (src/operators/action-log.ts), as those that change data. */
  exportsData?: boolean
  /** The fault of the input, if any, beyond those of single arguments and options. */
  check?(input: CommandInput): string | undefined
  /** Whether a result counts as a failure: exit code 1. */
  failed?(result: object): boolean
  /** Whether a result waits for a second person: the action log has it as requested. */
  requested?(result: object): boolean
  /** Whether a result is undecided: exit code 3. */
  undecided?(result: object): boolean
}

export type DatabaseCommand = CommandDescription & {
  /** `shown` is the preview that the operator has confirmed; undefined when there was no question. */
  run?(call: Call, shown?: object): Promise<object | object[]>
  /** For output that is too long for a result: written piece by piece. */
  stream?(call: Call): AsyncIterable<string>
  /** Only reads. Returns undefined where no question is needed. */
  confirm?(call: Call): Promise<Confirmation | undefined>
  /** The subject in the action log, where that is not the first argument. Null: none. */
  findSubject?(call: Omit<Call, 'subject'>): Promise<string | null>
  runStandalone?: never
}

/** A standalone command writes its own entry in the action log, if there is a log to write to. */
export type StandaloneCommand = CommandDescription & {
  /** A string is written as it is, anything else as a result. */
  runStandalone(call: StandaloneCall): Promise<object | object[] | string>
  confirm?(call: StandaloneCall): Promise<Confirmation | undefined>
  run?: never
  stream?: never
}

export type Command = DatabaseCommand | StandaloneCommand

export const isRecorded = ({ changesData, exportsData = false }: Command): boolean => changesData || exportsData
export type CommandGroup = { title: string; commands: readonly Command[] }
