// The command line of the campaign. Everything has a default, so that `npm run chaos` alone is a whole run; whatever is
// wrong with the arguments is one line for people.
import { parseArgs } from 'node:util'

export type Options = {
  seed: number
  /** How long the services are under load; the quiet end and the checks come on top. */
  minutes: number
  /** A file for the report as JSON. */
  json: string | undefined
  /** Keeps the directory of a run that passed too. */
  keep: boolean
}

export class WrongArguments extends Error {
  override name = 'WrongArguments'
}

const largestSeed = 2 ** 32 - 1
const leastMinutes = 0.2
const mostMinutes = 24 * 60
const defaultMinutes = 5

export const usage = 'npm run chaos -- [--seed N] [--minutes M] [--json FILE] [--keep]'

export function readOptions(args: string[], randomSeed: number): Options {
  const { seed, minutes, json, keep = false } = parse(args)
  return {
    seed: seed === undefined ? randomSeed : readSeed(seed),
    minutes: minutes === undefined ? defaultMinutes : readMinutes(minutes),
    json,
    keep,
  }
}

function parse(args: string[]) {
  try {
    const options = {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      json: { type: 'string' },
      keep: { type: 'boolean' },
    } as const
    return parseArgs({ args, options, strict: true }).values
  } catch (error) {
    throw new WrongArguments(`${String((error as Error).message).split('\n')[0]} (${usage})`)
  }
}

function readSeed(text: string): number {
  const seed = Number(text)
  if (/^\d+$/.test(text) && seed <= largestSeed) return seed
  throw new WrongArguments(`--seed: expected a whole number from 0 to ${largestSeed}, got "${text}" (${usage})`)
}

function readMinutes(text: string): number {
  const minutes = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && minutes >= leastMinutes && minutes <= mostMinutes) return minutes
  throw new WrongArguments(
    `--minutes: expected a number from ${leastMinutes} to ${mostMinutes}, got "${text}" (${usage})`,
  )
}
