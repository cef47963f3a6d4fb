// The help texts: an overview of all commands, of the commands of a noun, and everything about one command. Generated from
// the command table, which the parser reads too, so that they cannot disagree.
import type { Command, CommandGroup, Option } from '../command.ts'
import { optionsOf } from './options.ts'
import { listVerbs } from './parse.ts'

export const program = 'credits'

/** Longer lines are hard to read. */
const maxColumns = 100
const indent = '  '

const exitCodes = {
  0: 'done',
  1: 'refused or failed: the reason is on stderr',
  2: 'invalid command line: nothing was done',
  130: 'interrupted',
}

export type HelpOptions = { groups: readonly CommandGroup[]; columns: number | undefined }

export function overview({ groups, columns }: HelpOptions): string {
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name))
  const width = Math.max(...names.map((name) => name.length))
  const lines = groups.flatMap(({ title, commands }) => [
    '',
    title,
    ...commands.map(({ name, summary }) => hanging(name.padEnd(width), firstSentence(summary), columns)),
  ])
  return text([
    `Usage: ${program} <command> [options]`,
    ...lines,
    '',
    `${program} help <command>       arguments, options, examples and exit codes`,
    `${program} <command> --json     one JSON document on stdout, for scripts`,
    `${program} --version            the version of this program`,
    '',
    `"${program}" is bin/credits, or: npm run -s credits --`,
  ])
}

export function nounHelp(noun: string, { groups, columns }: HelpOptions): string {
  const commands = listVerbs(
    groups.flatMap((group) => group.commands),
    noun,
  )
  const lines = commands.flatMap((command) => [
    ...synopsisLines(command, columns),
    wrapped(command.summary, columns, 6),
  ])
  return text([`Usage: ${program} ${noun} <verb> [options]`, '', ...lines, '', `More: ${program} help ${noun} <verb>`])
}

export function commandHelp(command: Command, columns: number | undefined): string {
  const { summary, details = [], arguments: positionals = [], examples, failsWhen, undecidedWhen } = command
  const parameters = [
    ...positionals.map(({ name, description, listedBy, choices }) => {
      const hint = listedBy ? ` (see: ${program} ${listedBy})` : ''
      return { name, description: `${description}${choices ? `: ${choices.join(', ')}` : ''}${hint}` }
    }),
    ...optionsOf(command).map(({ name, description, option }) => ({ name: withValue(name, option), description })),
  ]
  const width = Math.max(0, ...parameters.map(({ name }) => name.length))
  return text([
    wrapped(summary, columns),
    ...details.flatMap((paragraph) => ['', wrapped(paragraph, columns)]),
    '',
    'Usage',
    ...synopsisLines(command, columns),
    ...(parameters.length > 0 ? ['', 'Arguments and options'] : []),
    ...parameters.map(({ name, description }) => hanging(name.padEnd(width), description, columns)),
    '',
    'Examples',
    ...examples.flatMap(({ line, description }) => [`${indent}${program} ${line}`, wrapped(description, columns, 6)]),
    '',
    'Exit codes',
    ...Object.entries({ ...exitCodes, ...(undecidedWhen && { 3: undecidedWhen }) }).map(([code, meaning]) => {
      const also = code === '1' && failsWhen ? `; or ${failsWhen}` : ''
      return hanging(code.padEnd(3), `${meaning}${also}`, columns)
    }),
  ])
}

/** On one line. */
export function synopsis(command: Command): string {
  return [program, command.name, ...parametersOf(command)].join(' ')
}

function parametersOf(command: Command): string[] {
  const { arguments: positionals = [] } = command
  return [
    ...positionals.map(({ name, optional, isRepeated }) => (optional ? `[${name}]` : isRepeated ? `${name}...` : name)),
    ...optionsOf(command).map(({ name, option }) => {
      const shown = option?.required ? withValue(name, option) : `[${withValue(name, option)}]`
      return option?.isRepeated ? `${shown}...` : shown
    }),
  ]
}

const withValue = (name: string, option: Option | undefined) => `--${name}${option ? ` ${option.value}` : ''}`

function synopsisLines(command: Command, columns: number | undefined): string[] {
  const limit = limitOf(columns)
  const lines = [`${indent}${program} ${command.name}`]
  for (const parameter of parametersOf(command)) {
    const line = `${lines.at(-1)} ${parameter}`
    if (line.length <= limit) lines[lines.length - 1] = line
    else lines.push(`${' '.repeat(indent.length + program.length)} ${parameter}`)
  }
  return lines
}

const firstSentence = (sentences: string) => /^.*?[.:](?= |$)/.exec(sentences)?.[0].slice(0, -1) ?? sentences

const text = (lines: string[]) => `${lines.join('\n')}\n`

const limitOf = (columns: number | undefined) => Math.min(maxColumns, columns ?? maxColumns)

/** A name, and beside it a text whose further lines are indented to the same column. */
function hanging(name: string, description: string, columns: number | undefined): string {
  const left = indent.length + name.length + 2
  return `${indent}${name}  ${wrapped(description, columns, left).trimStart()}`
}

function wrapped(sentences: string, columns: number | undefined, left = 0): string {
  const limit = Math.max(20, limitOf(columns) - left)
  const lines = ['']
  for (const word of sentences.split(' ')) {
    const line = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`
    if (line.length <= limit) lines[lines.length - 1] = line
    else lines.push(word)
  }
  return lines.map((line) => `${' '.repeat(left)}${line}`).join('\n')
}
