// Completion scripts for the shells: they complete nouns, verbs, options, and values of options and arguments. The code of
// each script is in completion.bash, .zsh and .fish beside this file; its tables are generated here from the command table.
import { readFileSync } from 'node:fs'
import type { Command } from '../command.ts'
import { optionsOf } from './options.ts'
import { listVerbs } from './parse.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** Completions after the words typed so far, and after an option that takes a value. */
type Tables = { words: string[]; values: string[] }
type Completion = { word: string; description: string }

const helpWord: Completion = { word: 'help', description: 'Explains a command.' }
const helpOption: Completion = { word: '--help', description: 'shows arguments, options and examples' }
const versionOption: Completion = { word: '--version', description: 'prints the version of this program' }

function firstWords(commands: readonly Command[]): Completion[] {
  const nouns = new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))
  return [...nouns].map((word) => {
    const verbs = listVerbs(commands, word).map(({ name }) => name.slice(word.length + 1))
    return { word, description: commands.find(({ name }) => name === word)?.summary ?? verbs.join(', ') }
  })
}

function listNouns(commands: readonly Command[]): { noun: string; verbs: Completion[] }[] {
  return firstWords(commands).flatMap(({ word: noun }) => {
    const verbs = listVerbs(commands, noun).map(({ name, summary }) => ({
      word: name.slice(noun.length + 1),
      description: summary,
    }))
    return verbs.length > 0 ? [{ noun, verbs }] : []
  })
}

type Value = { word: string; choices: readonly string[]; isList: boolean; isFile: boolean }

/** The options whose values the shell can complete. */
function valuesOf(command: Command): Value[] {
  return optionsOf(command).flatMap(({ name, option: { choices = [], isList = false, isFile = false } = {} }) =>
    choices.length > 0 || isFile ? [{ word: `--${name}`, choices, isList, isFile }] : [],
  )
}

const optionWords = (command: Command): Completion[] => [
  ...optionsOf(command).map(({ name, description }) => ({ word: `--${name}`, description })),
  helpOption,
]
const takesFile = ({ arguments: positionals = [] }: Command) => positionals.some(({ isFile }) => isFile)
const choicesOf = ({ arguments: positionals = [] }: Command) => positionals.flatMap(({ choices }) => choices ?? [])
const joinWords = (words: readonly Completion[]) => words.map(({ word }) => word).join(' ')

function bash(commands: readonly Command[]): Tables {
  const first = joinWords(firstWords(commands))
  return {
    words: [
      `' ') words='${first} ${helpWord.word}' options='${joinWords([helpOption, versionOption])}' ;;`,
      `' help ') words='${first}' ;;`,
      ...listNouns(commands).map(({ noun, verbs }) => `' ${noun} ' | ' help ${noun} ') words='${joinWords(verbs)}' ;;`),
      ...commands.map((command) => {
        const words = choicesOf(command).length > 0 ? ` words='${choicesOf(command).join(' ')}'` : ''
        return `' ${command.name} '*) options='${joinWords(optionWords(command))}'${words}${takesFile(command) ? ' files=yes' : ''} ;;`
      }),
    ],
    values: commands.flatMap((command) =>
      valuesOf(command).map(({ word, choices, isList, isFile }) => {
        const then = `words='${choices.join(' ')}'${isList ? ' list=yes' : ''}${isFile ? ' files=yes' : ''}`
        return `' ${command.name}'*' ${word}') options='' ${then} ;;`
      }),
    ),
  }
}

/** In single quotes. */
const forZsh = ({ word, description }: Completion) => `'${`${word}:${description}`.replaceAll("'", "'\\''")}'`

function zsh(commands: readonly Command[]): Tables {
  const found = (words: readonly Completion[]) => ['  found=(', ...words.map((word) => `    ${forZsh(word)}`), '  ) ;;']
  return {
    words: [
      "(' ')",
      ...found([...firstWords(commands), helpWord]),
      "(' help ')",
      ...found(firstWords(commands)),
      ...listNouns(commands).flatMap(({ noun, verbs }) => [`(' ${noun} '|' help ${noun} ')`, ...found(verbs)]),
      ...commands.flatMap((command) => [
        `(' ${command.name} '*)`,
        ...(takesFile(command) ? ['  [[ $words[CURRENT] == -* ]] || { _files; return; }'] : []),
        ...(choicesOf(command).length > 0 ? [`  compadd -- ${choicesOf(command).join(' ')}`] : []),
        ...found(optionWords(command)),
      ]),
    ],
    values: commands.flatMap((command) =>
      valuesOf(command).map(({ word, choices, isList, isFile }) => {
        const list = isFile ? '_files' : `compadd -- ${choices.join(' ')}`
        return `(' ${command.name}'*' ${word}') ${isList ? "compset -P '*,'; " : ''}${list}; return ;;`
      }),
    ),
  }
}

const forFish = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function fish(commands: readonly Command[]): Tables {
  const offered = (condition: string) =>
    function line({ word, description }: Completion): string {
      return `complete -c credits -n '${condition}' -a ${word} -d ${forFish(description)}`
    }
  return {
    words: [
      ...[...firstWords(commands), helpWord].map(offered('__credits_is')),
      ...firstWords(commands).map(offered('__credits_is help')),
      ...listNouns(commands).flatMap(({ noun, verbs }) => [
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
        ...optionsOf(command).map(({ name, description, option }) => {
          const { isFile, choices = [] } = values.get(`--${name}`) ?? {}
          const follows = isFile ? ' -r -F' : ` -x${choices.length > 0 ? ` -a '${choices.join(' ')}'` : ''}`
          return `${complete} -l ${name}${option ? follows : ''} -d ${forFish(description)}`
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
