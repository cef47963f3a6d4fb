// Parses the command line into a call of a command, a request for help, or a fault with the nearest valid spelling.
// `node:util` parseArgs splits it into tokens; which command they belong to and whether it takes them is decided here, from
// the command table alone.
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Argument, Command, CommandInput, Option, OptionName, Values } from '../command.ts'
import { type CommandOption, optionsOf } from './options.ts'
import { nearest } from './suggest.ts'

export type Parsed =
  | { kind: 'call'; command: Command; input: CommandInput }
  /** About a command, about all commands of a noun, or about all commands. */
  | { kind: 'help'; topic: Command | string | undefined }
  | { kind: 'version' }
  /** No command, or a noun without a verb: help is shown instead of an error. */
  | { kind: 'incomplete'; noun: string | undefined }
  | { kind: 'fault'; text: string; command?: Command; noun?: string }

/** Also for a command line that cannot be parsed: its error is JSON too. */
export const wantsJson = (args: readonly string[]): boolean => args.includes('--json')

/** An option has the same type in all commands, so options can be parsed before the command is known. */
function allOptions(commands: readonly Command[]): NonNullable<ParseArgsConfig['options']> {
  const options = commands.flatMap((command) => optionsOf(command))
  return {
    ...Object.fromEntries(options.map(({ name, option }) => [name, { type: option ? 'string' : 'boolean' }])),
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean' },
  }
}

export function parse(commands: readonly Command[], args: readonly string[]): Parsed {
  const options = allOptions(commands)
  const { positionals, tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given = tokens.filter((token) => token.kind === 'option')
  if (positionals[0] === 'help') return helpAbout(commands, positionals.slice(1))
  // Also in the place of a value: `keys issue --customer --help`.
  const isHelp = ({ name, value, inlineValue }: (typeof given)[number]) =>
    name === 'help' || (!inlineValue && (value === '--help' || value === '-h'))
  if (given.some(isHelp)) return helpAbout(commands, positionals)
  if (positionals.length === 0 && given.some(({ name }) => name === 'version')) return { kind: 'version' }

  const command = findCommand(commands, positionals)
  const [noun] = positionals
  if (!command) {
    const isNoun = positionals.length <= 1 && (noun === undefined || listVerbs(commands, noun).length > 0)
    return isNoun && given.length === 0 ? { kind: 'incomplete', noun } : unknownCommand(commands, positionals)
  }
  const values: Record<string, string | string[] | boolean> = {}
  for (const { name, rawName, value, inlineValue } of given) {
    const fault = optionFault(commands, command, { name, rawName, value, isInline: inlineValue === true })
    if (fault) return { kind: 'fault', text: fault, command }
    const isRepeated = command.options?.[name as OptionName]?.isRepeated
    values[name] = isRepeated ? [...((values[name] ?? []) as string[]), value ?? ''] : (value ?? true)
  }
  const input = { positionals: positionals.slice(command.name.split(' ').length), values: values as Values }
  const fault = faultIn(command, input)
  return fault ? { kind: 'fault', text: fault, command } : { kind: 'call', command, input }
}

/** Most names are a noun and a verb, some a verb alone. */
function findCommand(commands: readonly Command[], positionals: string[]): Command | undefined {
  return commands.find(({ name }) => `${positionals.join(' ')} `.startsWith(`${name} `))
}

export function listVerbs(commands: readonly Command[], noun: string): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${noun} `))
}

function helpAbout(commands: readonly Command[], positionals: string[]): Parsed {
  const command = findCommand(commands, positionals)
  if (command) return { kind: 'help', topic: command }
  const [noun] = positionals
  if (noun === undefined) return { kind: 'help', topic: undefined }
  if (positionals.length === 1 && listVerbs(commands, noun).length > 0) return { kind: 'help', topic: noun }
  return unknownCommand(commands, positionals)
}

function unknownCommand(commands: readonly Command[], positionals: string[]): Parsed {
  const [noun = '', verb] = positionals
  if (noun === '') return { kind: 'fault', text: 'No command was given.' }
  const typed = positionals.slice(0, 2).join(' ')
  const names = commands.map(({ name }) => name)
  const verbs = listVerbs(commands, noun).map(({ name }) => name.slice(noun.length + 1))
  if (verbs.length > 0) {
    const meant = nearest(verb ?? '', verbs)
    const hint = meant === undefined ? `Commands of ${noun}: ${verbs.join(', ')}.` : `Did you mean "${noun} ${meant}"?`
    return { kind: 'fault', text: `There is no command "${typed}". ${hint}`, noun }
  }
  const nouns = new Set(names.flatMap((name) => name.split(' ')[0] ?? []))
  const meant = nearest(typed, names) ?? nearest(noun, [...nouns])
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`
  return { kind: 'fault', text: `There is no command "${typed}".${hint}` }
}

type GivenOption = { name: string; rawName: string; value: string | undefined; isInline: boolean }

/** A command refuses options that it would ignore. */
function optionFault(commands: readonly Command[], command: Command, given: GivenOption): string | undefined {
  const { name, rawName, value, isInline } = given
  const options = optionsOf(command)
  const match = options.find((each) => each.name === name)
  if (!match) return unknownOption(commands, command, options, given)
  if (!match.option) return isInline ? `${rawName} takes no value` : undefined
  // `--customer --json` lacks the value; one that begins with a dash needs an equals sign, unless it is a number.
  if (value === undefined || (!isInline && /^-(?!\d)/.test(value)))
    return `${rawName} ${match.option.value}: the value is missing`
}

function unknownOption(
  commands: readonly Command[],
  { writes }: Command,
  options: CommandOption[],
  { name, rawName }: GivenOption,
): string {
  if (name === 'json' && writes) return `it writes ${writes}: leave out --json`
  const isKnown = commands.some((each) => optionsOf(each).some((option) => option.name === name))
  if (isKnown) return `${rawName} is not an option of this command`
  const meant = nearest(
    name,
    options.map((option) => option.name),
  )
  return `there is no option ${rawName}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`
}

/** The first fault in the arguments and options of a call. */
export function faultIn(command: Command, { positionals, values }: CommandInput): string | undefined {
  const fault = argumentFault(command.arguments ?? [], positionals)
  if (fault) return fault
  for (const { name, option } of optionsOf(command)) {
    const value = values[name as keyof Values]
    const texts = typeof value === 'object' ? value : [typeof value === 'string' ? value : undefined]
    for (const text of texts) {
      const wrong = option && valueFault(name, option, text)
      if (wrong) return wrong
    }
  }
  return command.check?.({ positionals, values })
}

const quotesHint = 'put a text with spaces in quotes'

function argumentFault(expected: readonly Argument[], positionals: string[]): string | undefined {
  const required = expected.filter(({ optional }) => !optional)
  const [only, ...others] = expected
  const isMany = expected.at(-1)?.isRepeated === true
  if (only && others.length === 0 && !only.optional && !isMany && positionals.length !== 1) {
    const hint = positionals.length > 1 ? `; ${quotesHint}` : ''
    return `exactly one ${only.name} is needed${only.listedBy ? ` (see: ${only.listedBy})` : ''}${hint}`
  }
  if (positionals.length < required.length) return `${expected[positionals.length]?.name} is needed`
  const surplus = positionals[expected.length]
  if (surplus !== undefined && !isMany) return `unexpected argument "${surplus}": ${quotesHint}`
  for (const [index, { name, choices }] of expected.entries()) {
    const typed = positionals[index]
    if (typed !== undefined && choices && !choices.includes(typed)) return `${name}: ${unknownChoice(typed, choices)}`
  }
}

function valueFault(name: string, option: Option, text: string | undefined): string | undefined {
  const { value, required, expects, accepts, choices, isList } = option
  const isNeeded = `--${name} ${value} is needed${expects === undefined ? '' : `, ${expects}`}`
  if (text === undefined) return required ? isNeeded : undefined
  if (choices) {
    const typed = isList ? text.split(',').map((each) => each.trim()) : [text]
    const unknown = typed.find((each) => !choices.includes(each))
    if (unknown !== undefined) return `--${name}: ${unknownChoice(unknown, choices)}`
  }
  if (accepts?.(text) ?? true) return undefined
  return required ? isNeeded : `--${name}: expected ${expects ?? value}`
}

function unknownChoice(typed: string, choices: readonly string[]): string {
  return `"${typed}" is not one of ${choices.join(', ')}`
}
