// From the words on the command line to what they ask for: a call of a command, help about something, or what is wrong with
// them in a sentence, with the nearest thing that would be right. Reads nothing but the words and the table of commands.
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Argument, Command, Option, Values, Words } from '../command.ts'
import { optionsOf, type TakenOption } from './options.ts'
import { nearest } from './suggest.ts'

export type Parsed =
  | { kind: 'call'; command: Command; words: Words }
  /** About a command, about all that begin with a noun, or about everything. */
  | { kind: 'help'; about: Command | string | undefined }
  /** Nothing to be called: what there is, in place of an error. */
  | { kind: 'nothing'; noun: string | undefined }
  | { kind: 'fault'; text: string; command?: Command; noun?: string }

/** What was asked for, whether or not it can be done. */
export const asksForJson = (args: readonly string[]): boolean => args.includes('--json')

const switches = ['yes', 'json', 'help']

/** One name means one thing in all commands, so words can be read before the command among them is known. */
function allOptions(commands: readonly Command[]): NonNullable<ParseArgsConfig['options']> {
  const named = commands.flatMap((command) => optionsOf(command)).filter(({ option }) => option)
  return {
    ...Object.fromEntries(named.map(({ name }) => [name, { type: 'string' as const }])),
    ...Object.fromEntries(switches.map((name) => [name, { type: 'boolean' as const }])),
    help: { type: 'boolean', short: 'h' },
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
  // Also in the place of a value that somebody is looking for.
  const isHelp = ({ name, value, inlineValue }: (typeof given)[number]) =>
    name === 'help' || (!inlineValue && (value === '--help' || value === '-h'))
  if (given.some(isHelp)) return helpAbout(commands, positionals)

  const command = findCommand(commands, positionals)
  const [noun] = positionals
  if (!command) {
    const isNoun = positionals.length <= 1 && (noun === undefined || verbsOf(commands, noun).length > 0)
    return isNoun && given.length === 0 ? { kind: 'nothing', noun } : noCommand(commands, positionals)
  }
  const values: Record<string, string | boolean> = {}
  for (const { name, rawName, value, inlineValue } of given) {
    const fault = optionFault(commands, command, { name, rawName, value, isInline: inlineValue === true })
    if (fault) return { kind: 'fault', text: fault, command }
    values[name] = value ?? true
  }
  const words = { positionals: positionals.slice(command.name.split(' ').length), values: values as Values }
  const fault = faultIn(command, words)
  return fault ? { kind: 'fault', text: fault, command } : { kind: 'call', command, words }
}

/** Most are a noun and a verb, some a verb alone. */
function findCommand(commands: readonly Command[], positionals: string[]): Command | undefined {
  return commands.find(({ name }) => `${positionals.join(' ')} `.startsWith(`${name} `))
}

export function verbsOf(commands: readonly Command[], noun: string): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${noun} `))
}

function helpAbout(commands: readonly Command[], positionals: string[]): Parsed {
  const command = findCommand(commands, positionals)
  if (command) return { kind: 'help', about: command }
  const [noun] = positionals
  if (noun === undefined) return { kind: 'help', about: undefined }
  if (positionals.length === 1 && verbsOf(commands, noun).length > 0) return { kind: 'help', about: noun }
  return noCommand(commands, positionals)
}

function noCommand(commands: readonly Command[], positionals: string[]): Parsed {
  const [noun = '', verb] = positionals
  if (noun === '') return { kind: 'fault', text: 'There is no command.' }
  const typed = positionals.slice(0, 2).join(' ')
  const names = commands.map(({ name }) => name)
  const verbs = verbsOf(commands, noun).map(({ name }) => name.slice(noun.length + 1))
  const meant =
    verbs.length > 0
      ? nearest(verb ?? '', verbs)
      : (nearest(typed, names) ?? nearest(noun, [...new Set(names.flatMap((name) => name.split(' ')[0] ?? []))]))
  const full = verbs.length > 0 && meant !== undefined ? `${noun} ${meant}` : meant
  const otherwise = verbs.length > 0 ? ` With ${noun} there are: ${verbs.join(', ')}.` : ''
  const hint = full === undefined ? otherwise : ` Did you mean "${full}"?`
  return { kind: 'fault', text: `There is no command "${typed}".${hint}`, ...(verbs.length > 0 && { noun }) }
}

type Given = { name: string; rawName: string; value: string | undefined; isInline: boolean }

/** What a command takes is what its help says it takes: an option that it would ignore is refused. */
function optionFault(commands: readonly Command[], command: Command, given: Given): string | undefined {
  const { name, rawName, value, isInline } = given
  const taken = optionsOf(command)
  const match = taken.find((each) => each.name === name)
  if (!match) return notTaken(commands, command, taken, given)
  if (!match.option) return isInline ? `${rawName} takes no value` : undefined
  // What looks like an option is one that was typed too early, unless it is tied to the name.
  if (value === undefined || (!isInline && value.startsWith('-')))
    return `${rawName} ${match.option.value}: the value is missing`
}

function notTaken(
  commands: readonly Command[],
  { writes }: Command,
  taken: TakenOption[],
  { name, rawName }: Given,
): string {
  if (name === 'json' && writes) return `it writes ${writes}: leave out --json`
  const isKnown = commands.some((each) => optionsOf(each).some((option) => option.name === name))
  if (isKnown) return `${rawName} is not taken`
  const meant = nearest(
    name,
    taken.map((option) => option.name),
  )
  return `there is no option ${rawName}.${meant === undefined ? '' : ` Did you mean --${meant}?`}`
}

/** What is wrong with the arguments and options of a call, the first of it. */
export function faultIn(command: Command, { positionals, values }: Words): string | undefined {
  const fault = argumentFault(command.arguments ?? [], positionals)
  if (fault) return fault
  for (const { name, option } of optionsOf(command)) {
    const value = values[name as keyof Values]
    const wrong = option && valueFault(name, option, typeof value === 'string' ? value : undefined)
    if (wrong) return wrong
  }
  return command.check?.({ positionals, values })
}

function argumentFault(expected: readonly Argument[], positionals: string[]): string | undefined {
  const needed = expected.filter(({ optional }) => !optional)
  const [only, ...others] = expected
  if (only && others.length === 0 && !only.optional && positionals.length !== 1) {
    const quotes = positionals.length > 1 ? '; a text of several words needs quotes' : ''
    return `exactly one ${only.name} is needed${only.listedBy ? ` (see: ${only.listedBy})` : ''}${quotes}`
  }
  if (positionals.length < needed.length) return `${expected[positionals.length]?.name} is needed`
  const surplus = positionals[expected.length]
  if (surplus !== undefined) return `"${surplus}" is one word too many: a text of several words needs quotes`
  for (const [index, { name, choices }] of expected.entries()) {
    const typed = positionals[index]
    if (typed !== undefined && choices && !choices.includes(typed)) return `${name}: ${noneOf(typed, choices)}`
  }
}

function valueFault(name: string, { value, needed, expects, accepts, choices, many }: Option, text?: string) {
  const tells = expects === undefined ? '' : `, ${expects}`
  if (text === undefined) return needed ? `--${name} ${value} is needed${tells}` : undefined
  if (choices) {
    const unknown = (many ? text.split(',').map((each) => each.trim()) : [text]).find((each) => !choices.includes(each))
    if (unknown !== undefined) return `--${name}: ${noneOf(unknown, choices)}`
  }
  if (accepts?.(text) ?? true) return undefined
  return needed ? `--${name} ${value} is needed${tells}` : `--${name}: expected ${expects ?? value}`
}

/** All of them are few enough to be told: nobody has to guess. */
function noneOf(typed: string, choices: readonly string[]): string {
  return `"${typed}" is none of ${choices.join(', ')}`
}
