// The command line of the fuzzer. Everything has a default, so that `npm run fuzz` alone is a whole run; whatever is wrong
// with the arguments is one line for people.
import { parseArgs } from 'node:util'

export type Options = {
  seed: number
  /** How long requests are sent; the start and the checks at the end come on top. */
  minutes: number
  /** How many are open at a time, each with inputs of its own. */
  connections: number
  /** A file for the report as JSON. */
  json: string | undefined
}

export class WrongArguments extends Error {
  override name = 'WrongArguments'
}

const largestSeed = 2 ** 32 - 1
const leastMinutes = 0.1
const mostMinutes = 24 * 60
const defaultMinutes = 3
const mostConnections = 256
const defaultConnections = 16

export const usage = 'npm run fuzz -- [--seed N] [--minutes M] [--connections C] [--json FILE]'

export function readOptions(args: string[], randomSeed: number): Options {
  const { seed, minutes, connections, json } = parse(args)
  return {
    seed: seed === undefined ? randomSeed : readWhole('--seed', seed, 0, largestSeed),
    minutes: minutes === undefined ? defaultMinutes : readMinutes(minutes),
    connections:
      connections === undefined ? defaultConnections : readWhole('--connections', connections, 1, mostConnections),
    json,
  }
}

function parse(args: string[]) {
  try {
    const options = {
      seed: { type: 'string' },
      minutes: { type: 'string' },
      connections: { type: 'string' },
      json: { type: 'string' },
    } as const
    return parseArgs({ args, options, strict: true }).values
  } catch (error) {
    throw new WrongArguments(`${String((error as Error).message).split('\n')[0]} (${usage})`)
  }
}

function readWhole(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= least && value <= most) return value
  throw new WrongArguments(`${name}: expected a whole number from ${least} to ${most}, got "${text}" (${usage})`)
}

function readMinutes(text: string): number {
  const minutes = Number(text)
  if (/^\d+(\.\d+)?$/.test(text) && minutes >= leastMinutes && minutes <= mostMinutes) return minutes
  throw new WrongArguments(
    `--minutes: expected a number from ${leastMinutes} to ${mostMinutes}, got "${text}" (${usage})`,
  )
}
