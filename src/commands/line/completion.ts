// Scripts for the shells: they complete nouns, verbs, options, and what an option or an argument may be. How a shell is
// spoken to is in completion.bash, .zsh and .fish beside this file; here its tables are filled in from the table of commands.
import { readFileSync } from 'node:fs'
import type { Command } from '../command.ts'
import { optionsOf } from './options.ts'
import { verbsOf } from './parse.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What a script lets follow: after the words that were typed, and after an option that takes a value. */
type Tables = { words: string[]; values: string[] }
type Named = { word: string; about: string }

const helpWord: Named = { word: 'help', about: 'Explains a command.' }
const helpOption: Named = { word: '--help', about: 'what it takes, with examples' }

/** The words a command line can begin with. */
function firstWords(commands: readonly Command[]): Named[] {
  const nouns = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))
  return [...nouns].map((word) => {
    const verbs = verbsOf(commands, word).map(({ name }) => name.slice(word.length + 1))
    return { word, about: commands.find(({ name }) => name === word)?.does ?? verbs.join(', ') }
  })
}

/** A noun with its verbs. */
function nounsOf(commands: readonly Command[]): { noun: string; verbs: Named[] }[] {
  return firstWords(commands).flatMap(({ word: noun }) => {
    const verbs = verbsOf(commands, noun).map(({ name, does }) => ({ word: name.slice(noun.length + 1), about: does }))
    return verbs.length > 0 ? [{ noun, verbs }] : []
  })
}

type Value = { word: string; choices: readonly string[]; many: boolean; isFile: boolean }

/** What may follow an option, where a shell can know it. */
function valuesOf(command: Command): Value[] {
  return optionsOf(command).flatMap(({ name, option: { choices = [], many = false, isFile = false } = {} }) =>
    choices.length > 0 || isFile ? [{ word: `--${name}`, choices, many, isFile }] : [],
  )
}

const optionWords = (command: Command): Named[] => [
  ...optionsOf(command).map(({ name, about }) => ({ word: `--${name}`, about })),
  helpOption,
]
const takesFile = ({ arguments: words = [] }: Command) => words.some(({ isFile }) => isFile)
const choicesOf = ({ arguments: words = [] }: Command) => words.flatMap(({ choices }) => choices ?? [])
const listOf = (words: readonly Named[]) => words.map(({ word }) => word).join(' ')

function bash(commands: readonly Command[]): Tables {
  const beginnings = listOf(firstWords(commands))
  return {
    words: [
      `' ') words='${beginnings} ${helpWord.word}' options='${helpOption.word}' ;;`,
      `' help ') words='${beginnings}' ;;`,
      ...nounsOf(commands).map(({ noun, verbs }) => `' ${noun} ' | ' help ${noun} ') words='${listOf(verbs)}' ;;`),
      ...commands.map((command) => {
        const words = choicesOf(command).length > 0 ? ` words='${choicesOf(command).join(' ')}'` : ''
        return `' ${command.name} '*) options='${listOf(optionWords(command))}'${words}${takesFile(command) ? ' files=yes' : ''} ;;`
      }),
    ],
    values: commands.flatMap((command) =>
      valuesOf(command).map(({ word, choices, many, isFile }) => {
        const then = `words='${choices.join(' ')}'${many ? ' list=yes' : ''}${isFile ? ' files=yes' : ''}`
        return `' ${command.name}'*' ${word}') options='' ${then} ;;`
      }),
    ),
  }
}

/** In single quotes. */
const forZsh = ({ word, about }: Named) => `'${`${word}:${about}`.replaceAll("'", "'\\''")}'`

function zsh(commands: readonly Command[]): Tables {
  const found = (words: readonly Named[]) => ['  found=(', ...words.map((word) => `    ${forZsh(word)}`), '  ) ;;']
  return {
    words: [
      "(' ')",
      ...found([...firstWords(commands), helpWord]),
      "(' help ')",
      ...found(firstWords(commands)),
      ...nounsOf(commands).flatMap(({ noun, verbs }) => [`(' ${noun} '|' help ${noun} ')`, ...found(verbs)]),
      ...commands.flatMap((command) => [
        `(' ${command.name} '*)`,
        ...(takesFile(command) ? ['  [[ $words[CURRENT] == -* ]] || { _files; return; }'] : []),
        ...(choicesOf(command).length > 0 ? [`  compadd -- ${choicesOf(command).join(' ')}`] : []),
        ...found(optionWords(command)),
      ]),
    ],
    values: commands.flatMap((command) =>
      valuesOf(command).map(({ word, choices, many, isFile }) => {
        const list = isFile ? '_files' : `compadd -- ${choices.join(' ')}`
        return `(' ${command.name}'*' ${word}') ${many ? "compset -P '*,'; " : ''}${list}; return ;;`
      }),
    ),
  }
}

const forFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(commands: readonly Command[]): Tables {
  const offered = (condition: string) =>
    function line({ word, about }: Named): string {
      return `complete -c credits -n '${condition}' -a ${word} -d ${forFish(about)}`
    }
  return {
    words: [
      ...[...firstWords(commands), helpWord].map(offered('__credits_is')),
      ...firstWords(commands).map(offered('__credits_is help')),
      ...nounsOf(commands).flatMap(({ noun, verbs }) => [
        ...verbs.map(offered(`__credits_is ${noun}`)),
        ...verbs.map(offered(`__credits_is help ${noun}`)),
      ]),
    ],
    values: commands.flatMap((command) => {
      const complete = `complete -c credits -n '__credits_begins ${command.name}'`
      const values = new Map(valuesOf(command).map((value) => [value.word, value]))
      return [
        ...choicesOf(command).map((choice) => `${complete} -a ${choice}`),
        ...(takesFile(command) ? [`${complete} -F`] : []),
        ...optionsOf(command).map(({ name, about, option }) => {
          const { isFile, choices = [] } = values.get(`--${name}`) ?? {}
          const follows = isFile ? ' -r -F' : ` -x${choices.length > 0 ? ` -a '${choices.join(' ')}'` : ''}`
          return `${complete} -l ${name}${option ? follows : ''} -d ${forFish(about)}`
        }),
      ]
    }),
  }
}

const tablesOf: Record<Shell, (commands: readonly Command[]) => Tables> = { bash, zsh, fish }

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const tables = tablesOf[shell](commands)
  const script = readFileSync(new URL(`./completion.${shell}`, import.meta.url), 'utf8')
  return script.replaceAll(/^( *)#: (words|values)$/gm, (_, indent: string, name: keyof Tables) =>
    tables[name].map((line) => `${indent}${line}`).join('\n'),
  )
}
