// The command lines of proof and bench: names are read by node:util, values by the functions below. Whatever is
// wrong with the arguments is a WrongArguments, whose message is one line followed by the usage.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

export class WrongArguments extends Error {
  override name = 'WrongArguments'
}

export type CommandLine<Names extends ParseArgsOptionsConfig> = {
  options: Names
  /** Appended to every message as it is. */
  usage: string
  allowPositionals?: boolean
}

type Parsed<Names extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Names; strict: true; allowPositionals: boolean }>
>

/** `read` builds the options from the values; an error that it throws is a wrong argument as well. */
export function readArguments<const Names extends ParseArgsOptionsConfig, Options>(
  args: string[],
  { options, usage, allowPositionals = false }: CommandLine<Names>,
  read: (values: Parsed<Names>['values'], positionals: string[]) => Options,
): Options {
  try {
    const { values, positionals } = parseArgs({ args, options, strict: true, allowPositionals })
    return read(values as Parsed<Names>['values'], positionals)
  } catch (error) {
    throw new WrongArguments(`${String((error as Error).message).split('\n')[0]}${usage}`)
  }
}

export type Range = { least: number; most: number }

export const seedRange: Range = { least: 0, most: 2 ** 32 - 1 }
export const mostMinutes = 24 * 60

export function readWholeNumber(name: string, text: string, { least, most }: Range): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new Error(`${name}: expected a whole number from ${least} to ${most}, got "${text}"`)
}

export function readDecimal(name: string, text: string, { least, most }: Range): number {
  const number = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && number >= least && number <= most) return number
  throw new Error(`${name}: expected a number from ${least} to ${most}, got "${text}"`)
}

export function readOneOf<Name extends string>(what: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text)
  if (found) return found
  throw new Error(`${what}: expected one of ${names.join(', ')}, got "${text}"`)
}

/** Values separated by commas. Each is kept once: measuring one twice in a round would count as two rounds. */
export function readList(text: string): string[] {
  return [...new Set(text.split(',').map((each) => each.trim()))]
}
