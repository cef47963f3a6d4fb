// The texts that explain the commands: all of them on one page, those of a noun, and one with everything it takes. Written
// from the table of commands, so that what is said is what is parsed.
import type { Command, CommandGroup } from '../command.ts'
import { optionsOf } from './options.ts'
import { verbsOf } from './parse.ts'

/** What stands in front of every line of help. */
export const program = 'credits'

const widest = 100
const indent = '  '

/** When a command is not begun or not ended: the same for all of them. */
const exitCodes = {
  0: 'done',
  1: 'refused or failed: the reason is on stderr',
  2: 'not a command: nothing was done',
  130: 'interrupted',
}

export type HelpOptions = { groups: readonly CommandGroup[]; columns: number | undefined }

/** Everything, a line each. */
export function overview({ groups, columns }: HelpOptions): string {
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name))
  const width = Math.max(...names.map((name) => name.length))
  const lines = groups.flatMap(({ title, commands }) => [
    '',
    title,
    ...commands.map(({ name, does }) => hanging(name.padEnd(width), firstSentence(does), columns)),
  ])
  return text([
    `Usage: ${program} <command> [options]`,
    ...lines,
    '',
    `${program} help <command>       what it takes, with examples and exit codes`,
    `${program} <command> --json     one JSON document on stdout, for scripts`,
    '',
    `"${program}" is bin/credits, or: npm run -s credits --`,
  ])
}

/** The commands of a noun. */
export function nounHelp(noun: string, { groups, columns }: HelpOptions): string {
  const commands = verbsOf(
    groups.flatMap((group) => group.commands),
    noun,
  )
  const lines = commands.flatMap((command) => [...synopsisLines(command, columns), wrapped(command.does, columns, 6)])
  return text([`Usage: ${program} ${noun} <verb> [options]`, '', ...lines, '', `More: ${program} help ${noun} <verb>`])
}

/** Everything about one. */
export function commandHelp(command: Command, columns: number | undefined): string {
  const { does, more = [], arguments: words = [], examples, failsWhen } = command
  const taken = [
    ...words.map(({ name, about, listedBy, choices }) => {
      const found = listedBy ? ` (see: ${program} ${listedBy})` : ''
      return [name, `${about}${choices ? `: ${choices.join(', ')}` : ''}${found}`]
    }),
    ...optionsOf(command).map(({ name, about, option }) => [`--${name}${option ? ` ${option.value}` : ''}`, about]),
  ]
  const width = Math.max(0, ...taken.map(([name = '']) => name.length))
  return text([
    wrapped(does, columns),
    ...more.flatMap((paragraph) => ['', wrapped(paragraph, columns)]),
    '',
    'Usage',
    ...synopsisLines(command, columns),
    ...(taken.length > 0 ? ['', 'Takes'] : []),
    ...taken.map(([name = '', about = '']) => hanging(name.padEnd(width), about, columns)),
    '',
    'Examples',
    ...examples.flatMap(({ line, does: what }) => [`${indent}${program} ${line}`, wrapped(what, columns, 6)]),
    '',
    'Exit codes',
    ...Object.entries(exitCodes).map(([code, meaning]) => {
      const also = code === '1' && failsWhen ? `; or ${failsWhen}` : ''
      return hanging(code.padEnd(3), `${meaning}${also}`, columns)
    }),
  ])
}

/** How it is called, on one line. */
export function synopsis(command: Command): string {
  return [program, command.name, ...wordsOf(command)].join(' ')
}

function wordsOf(command: Command): string[] {
  const { arguments: words = [] } = command
  return [
    ...words.map(({ name, optional }) => (optional ? `[${name}]` : name)),
    ...optionsOf(command).map(({ name, option }) => {
      const whole = `--${name}${option ? ` ${option.value}` : ''}`
      return option?.needed ? whole : `[${whole}]`
    }),
  ]
}

function synopsisLines(command: Command, columns: number | undefined): string[] {
  const limit = limitOf(columns)
  const lines = [`${indent}${program} ${command.name}`]
  for (const word of wordsOf(command)) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= limit) lines[lines.length - 1] = line
    else lines.push(`${' '.repeat(indent.length + program.length)} ${word}`)
  }
  return lines
}

const firstSentence = (sentences: string) => /^.*?[.:](?= |$)/.exec(sentences)?.[0].slice(0, -1) ?? sentences

const text = (lines: string[]) => `${lines.join('\n')}\n`

const limitOf = (columns: number | undefined) => Math.min(widest, columns ?? widest)

/** A word, and beside it a text that keeps to its own column. */
function hanging(word: string, about: string, columns: number | undefined): string {
  const left = indent.length + word.length + 2
  return `${indent}${word}  ${wrapped(about, columns, left).trimStart()}`
}

/** Lines of words, as wide as the terminal and never wider than is read well. */
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
